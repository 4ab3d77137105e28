//! Line items: a campaign's, one of them with all that belongs to it, and their forms.

use ads::account_context::AccountContext as Records;
use ads::field_kind::IdFormat;
use ads::resources::campaigns::CAMPAIGN;
use ads::resources::line_items::LINE_ITEM;
use ads::resources::servability;
use ads::{AdsCaller, access::RequiredRole};
use base::{Error, PostId, UserId, Vocabulary};
use pages::manager::{Act, AdsManager, Block, Cell, Empty, Facts, Link, Row, Table};
use serde_json::Value;
use store::Tx;

use super::ask::{Desk, number, text};
use super::campaigns::{columns, or_dash, turns};
use super::figures::{self, Figures};
use super::forms::{Ask, Plan, Then};
use super::stand::{Stand, offered};
use super::words::{self, badge, said};
use super::{account, belongs, column, plans};

/// What a line item is called; it need not have a name.
pub(super) fn name_of(item: &Value) -> String {
    match text(item, "name") {
        "" => format!("Line item {}", text(item, "id")),
        name => name.to_owned(),
    }
}

/// In which state a line item really is, and why.
fn state(tx: &mut Tx<'_>, desk: &Desk, item: &Value) -> Result<(String, String), Error> {
    let stored = text(item, "entity_status");
    let caller = AdsCaller {
        user: desk.asking.user,
        app: None,
        speech: Vocabulary::Post,
        sandbox: desk.account.flag("sandbox"),
    };
    let mut records = Records::new(tx, caller);
    records.open_account(desk.account.id, RequiredRole::CampaignReader, false, false)?;
    let id = IdFormat::Short.parse("id", text(item, "id"))?;
    let (Some(item), now) = (records.find_record(&LINE_ITEM, id)?, records.now()) else {
        return Ok((stored.to_owned(), String::new()));
    };
    let campaign = records.find_record(&CAMPAIGN, item.int("campaign_id").unwrap_or(0))?;
    let Some(campaign) = campaign else {
        return Ok((stored.to_owned(), String::new()));
    };
    let both = [campaign, item];
    let means = servability::load_delivery_resources(&mut records, &both)?;
    let [campaign, item] = both;
    let approval = desk.account.text("approval_status");
    let state = servability::line_item_servability(&item, &campaign, approval, &means, now);
    let reasons: Vec<String> = state.reasons.iter().map(|reason| said(reason)).collect();
    Ok((state.effective.to_owned(), reasons.join(", ")))
}

/// The line items of a campaign.
pub(super) fn table(
    tx: &mut Tx<'_>,
    desk: &Desk,
    campaign: &str,
    stand: &Stand,
    add: Option<Link>,
) -> Result<Block, Error> {
    let pairs = [
        ("campaign_ids", campaign.to_owned()),
        ("with_draft", "true".to_owned()),
        ("count", "100".to_owned()),
    ];
    let found = desk.list(tx, "line_items", &pairs)?;
    let ids: Vec<&str> = found.rows.iter().map(|one| text(one, "id")).collect();
    let figures = Figures::of(tx, desk, "LINE_ITEM", &ids, figures::days(stand))?;
    let here = format!("/campaigns/{campaign}");
    let mut rows = Vec::new();
    for item in &found.rows {
        let (effective, reasons) = state(tx, desk, item)?;
        let reasons = match effective.as_str() {
            "RUNNING" | "PAUSED" => String::new(),
            _ => reasons,
        };
        let id = text(item, "id");
        let (budget, total) = words::budget(item);
        let mut cells = vec![
            Cell::of(name_of(item))
                .leads(desk.path(&format!("/line-items/{id}")))
                .below(said(text(item, "objective"))),
            Cell::badge(badge(&effective)).below(reasons),
            Cell::of(budget).below(total),
        ];
        cells.extend(figures.cells(id, text(item, "currency")));
        rows.push(Row {
            name: name_of(item),
            cells,
            acts: turns(desk, "line-items", item, &here),
        });
    }
    Ok(Block::Table(Table {
        title: "Line items".to_owned(),
        columns: columns("Line item", figures.are_known()),
        lead: if rows.is_empty() {
            String::new()
        } else {
            figures.said()
        },
        empty: Empty {
            title: "No line item yet".to_owned(),
            text: "A line item says what is promoted, to whom, when, and at what price.".to_owned(),
            link: add.clone().map(|link| link.kind("primary")),
        },
        actions: add.filter(|_| !rows.is_empty()).into_iter().collect(),
        rows,
        ..Table::default()
    }))
}

/// One line item, and what belongs to it.
pub(super) fn one(
    tx: &mut Tx<'_>,
    desk: &Desk,
    id: &str,
    stand: &Stand,
) -> Result<AdsManager, Error> {
    let item = desk.one(tx, "line_items/{}", id)?;
    let campaign = desk.one(tx, "campaigns/{}", text(&item, "campaign_id"))?;
    let (effective, reasons) = state(tx, desk, &item)?;
    let here = format!("/line-items/{id}");
    let above = desk.path(&format!("/campaigns/{}", text(&campaign, "id")));
    let charts = figures::of_one(tx, desk, stand, "LINE_ITEM", &item, &here)?;
    let mut blocks: Vec<Block> = charts.into_iter().collect();
    match text(&item, "product_type") {
        "MEDIA" => {}
        "PROMOTED_ACCOUNT" => {
            blocks.push(accounts(tx, desk, id)?);
            blocks.push(posts(tx, desk, &item, stand)?);
        }
        _ => blocks.push(posts(tx, desk, &item, stand)?),
    }
    blocks.extend(belongs::blocks(tx, desk, &item)?);
    blocks.push(targeting(tx, desk, id)?);
    blocks.push(tags(tx, desk, id)?);
    blocks.push(settings(&item));
    blocks.extend(account::history(tx, desk, "LINE_ITEM", &item)?);
    Ok(AdsManager {
        trail: vec![
            Link::to("Campaigns", desk.path("")),
            Link::to(text(&campaign, "name"), above),
        ],
        heading: name_of(&item),
        badge: Some(badge(&effective)),
        lead: reasons,
        actions: offered([
            desk.offer("PUT", "line_items/{}", "Edit", &format!("{here}/edit")),
            desk.offer(
                "DELETE",
                "line_items/{}",
                "Delete",
                &format!("{here}/delete"),
            )
            .map(|link| link.kind("danger-quiet")),
        ]),
        blocks,
        ..AdsManager::default()
    })
}

/// The link to the question whether to delete something.
pub(super) fn remove(desk: &Desk, path: &str, part: &str, id: &str) -> Vec<Act> {
    let act = Act {
        text: match part {
            "promoted-posts" | "promoted-accounts" | "scheduled-promoted" => "Stop promoting",
            _ => "Delete",
        },
        path: desk.path(&format!("/{part}/{id}/delete")),
        ..Act::default()
    };
    let may = desk.may("DELETE", path);
    may.then_some(act).into_iter().collect()
}

/// Everything of a line item.
pub(super) fn of_item(id: &str) -> [(&'static str, String); 2] {
    [
        ("line_item_ids", id.to_owned()),
        ("count", "200".to_owned()),
    ]
}

fn posts(tx: &mut Tx<'_>, desk: &Desk, item: &Value, stand: &Stand) -> Result<Block, Error> {
    let (id, currency) = (text(item, "id"), text(item, "currency"));
    let found = desk.list(tx, "promoted_<posts>", &of_item(id))?;
    let ids: Vec<&str> = found.rows.iter().map(|one| text(one, "id")).collect();
    let figures = Figures::of(tx, desk, "PROMOTED_POST", &ids, figures::days(stand))?;
    let mut rows = Vec::new();
    for one in &found.rows {
        let own = text(one, "id");
        let said = match PostId::parse(text(one, "post_id")) {
            Some(post) => store::posts::find_by_id(tx, post)?.map(|post| post.text),
            None => None,
        };
        let said: String = said.unwrap_or_default().chars().take(140).collect();
        let mut cells = vec![
            Cell::of(or_dash(&said)).below(format!("Post {}", text(one, "post_id"))),
            Cell::badge(badge(text(one, "entity_status"))),
            Cell::badge(badge(text(one, "approval_status"))),
        ];
        cells.extend(figures.cells(own, currency));
        rows.push(Row {
            name: text(one, "post_id").to_owned(),
            cells,
            acts: remove(desk, "promoted_<posts>/{}", "promoted-posts", own),
        });
    }
    let path = format!("/line-items/{id}/promote");
    let add = desk.offer("POST", "promoted_<posts>", "Promote a post", &path);
    let mut columns = columns("Post", figures.are_known());
    if let Some(third) = columns.get_mut(2) {
        third.name = "Review";
    }
    Ok(Block::Table(Table {
        title: "Promoted posts".to_owned(),
        columns,
        ..with(
            add,
            rows,
            "No post is promoted",
            "It is shown as soon as it is accepted.",
        )
    }))
}

/// A table that is added to above its rows, or in their place.
pub(super) fn with(add: Option<Link>, rows: Vec<Row>, none: &str, text: &str) -> Table {
    Table {
        empty: Empty {
            title: none.to_owned(),
            text: text.to_owned(),
            link: add.clone(),
        },
        actions: add.filter(|_| !rows.is_empty()).into_iter().collect(),
        rows,
        ..Table::default()
    }
}

fn accounts(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Block, Error> {
    let found = desk.list(tx, "promoted_accounts", &of_item(id))?;
    let mut rows = Vec::new();
    for one in &found.rows {
        let user = text(one, "user_id");
        let known = match UserId::parse(user) {
            Some(user) => store::users::find_by_id(tx, user)?,
            None => None,
        };
        let name = known.map_or_else(|| user.to_owned(), |user| format!("@{}", user.username));
        rows.push(Row {
            name: name.clone(),
            cells: vec![
                Cell::of(name).below(user),
                Cell::badge(badge(text(one, "entity_status"))),
                Cell::badge(badge(text(one, "approval_status"))),
            ],
            acts: remove(
                desk,
                "promoted_accounts/{}",
                "promoted-accounts",
                text(one, "id"),
            ),
        });
    }
    let path = format!("/line-items/{id}/account");
    let add = desk.offer("POST", "promoted_accounts", "Promote an account", &path);
    Ok(Block::Table(Table {
        title: "Promoted accounts".to_owned(),
        columns: ["User", "Status", "Review"].map(column).into(),
        ..with(
            add,
            rows,
            "No account is promoted",
            "Say whom people are to follow.",
        )
    }))
}

fn targeting(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Block, Error> {
    let found = desk.list(tx, "targeting_criteria", &of_item(id))?;
    let rows = found.rows.iter().map(|one| {
        let (name, value) = (text(one, "name"), text(one, "targeting_value"));
        let name = if name.is_empty() { value } else { name };
        Row {
            name: name.to_owned(),
            cells: vec![
                Cell::of(said(text(one, "targeting_type"))),
                Cell::of(said(text(one, "operator_type"))),
                Cell::of(name).below(if name == value { "" } else { value }),
            ],
            acts: remove(desk, "targeting_criteria/{}", "targeting", text(one, "id")),
        }
    });
    let rows = rows.collect();
    let path = format!("/line-items/{id}/target");
    let add = desk.offer("POST", "targeting_criteria", "Add targeting", &path);
    let path = format!("/line-items/{id}/audience");
    let audience = desk.offer("POST", "targeting_criteria", "Target an audience", &path);
    let mut table = with(
        add,
        rows,
        "Everybody is targeted",
        "Narrow it down by place, language, keyword, or to people whom you know …",
    );
    table.actions.extend(audience);
    Ok(Block::Table(Table {
        title: "Targeting".to_owned(),
        columns: ["Kind", "Meaning", "Value"].map(column).into(),
        ..table
    }))
}

fn tags(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Block, Error> {
    let found = desk.list(tx, "tracking_tags", &of_item(id))?;
    let rows = found.rows.iter().map(|one| Row {
        name: text(one, "tracking_tag_url").to_owned(),
        cells: vec![
            Cell::of(said(text(one, "tracking_tag_type"))),
            Cell::of(text(one, "tracking_tag_url")),
        ],
        acts: belongs::acts_of_tag(desk, text(one, "id")),
    });
    let rows = rows.collect();
    let path = format!("/line-items/{id}/track");
    let add = desk.offer("POST", "tracking_tags", "Add a tracking tag", &path);
    Ok(Block::Table(Table {
        title: "Tracking".to_owned(),
        columns: ["Called when", "Address"].map(column).into(),
        ..with(
            add,
            rows,
            "No tracking tag",
            "Measurement partners give you their address.",
        )
    }))
}

fn settings(item: &Value) -> Block {
    let (budget, total) = words::budget(item);
    let bid = number(item, "bid_amount_local_micro");
    let bid = bid.map(|bid| words::money(bid, text(item, "currency")));
    let word = |name: &str| Cell::of(said(text(item, name)));
    Block::Facts(Facts {
        title: "Settings".to_owned(),
        actions: Vec::new(),
        rows: vec![
            ("Objective", word("objective")),
            ("Goal", word("goal")),
            ("Paid for", word("pay_by")),
            ("Bid", word("bid_strategy").below(bid.unwrap_or_default())),
            ("Shown in", Cell::of(words::all_said(item, "placements"))),
            ("Budget", Cell::of(budget).below(total)),
            ("Starts", Cell::of(words::day(text(item, "start_time")))),
            ("Ends", Cell::of(words::day(text(item, "end_time")))),
            ("Promotes", word("product_type")),
            ("ID", Cell::of(text(item, "id"))),
        ],
    })
}

/// The form of a new one.
pub(super) fn create(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Option<Plan>, Error> {
    let campaign = desk.one(tx, "campaigns/{}", id)?;
    let here = format!("/campaigns/{id}");
    let products = ["PROMOTED_POSTS", "PROMOTED_ACCOUNT", "MEDIA"];
    let places = [
        ("ALL_ON_TWITTER", "Everywhere"),
        ("TWITTER_TIMELINE", "Timelines"),
        ("TWITTER_SEARCH", "Search results"),
        ("TWITTER_PROFILE,TWITTER_TIMELINE", "Profiles and timelines"),
        ("PUBLISHER_NETWORK", "Publisher network"),
    ];
    let places = places.map(|(value, text)| (value.to_owned(), text.to_owned()));
    let mut asks = vec![
        Ask::text("name", "Name"),
        Ask::words(
            "objective",
            "Objective",
            ads::resources::line_items::OBJECTIVES,
        )
        .at_first("ENGAGEMENTS"),
        Ask::words("product_type", "Promotes", &products),
        Ask::choice("placements", "Shown in", places.into()),
    ];
    asks.extend(changeable(&Value::Null, &campaign));
    Ok(Some(Plan {
        heading: "Add a line item".to_owned(),
        trail: vec![
            Link::to("Campaigns", desk.path("")),
            Link::to(text(&campaign, "name"), desk.path(&here)),
        ],
        path: "line_items",
        fixed: vec![("campaign_id", id.to_owned())],
        asks,
        submit: "Create line item",
        action: desk.path(&format!("{here}/line-item")),
        then: Then::Made(desk.path("/line-items")),
        done: "created",
        ..Plan::at(desk, &here)
    }))
}

/// The form of a change.
pub(super) fn edit(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Option<Plan>, Error> {
    let now = desk.one(tx, "line_items/{}", id)?;
    let campaign = desk.one(tx, "campaigns/{}", text(&now, "campaign_id"))?;
    let here = format!("/line-items/{id}");
    let mut asks = vec![Ask::text("name", "Name").at_first(text(&now, "name"))];
    asks.extend(changeable(&now, &campaign));
    Ok(Some(Plan {
        heading: "Edit the line item".to_owned(),
        trail: vec![
            Link::to("Campaigns", desk.path("")),
            Link::to(name_of(&now), desk.path(&here)),
        ],
        method: "PUT",
        path: "line_items/{}",
        ids: vec![id.to_owned()],
        asks,
        submit: "Save changes",
        action: desk.path(&format!("{here}/edit")),
        ..Plan::at(desk, &here)
    }))
}

fn changeable(now: &Value, campaign: &Value) -> Vec<Ask> {
    let word = |name, label, all: &[&str]| {
        let ask = Ask::words(name, label, all);
        match text(now, name) {
            "" => ask.or_nothing("As the objective suggests"),
            set => ask.at_first(set),
        }
    };
    let amount = |name: &str| number(now, name).map(words::amount).unwrap_or_default();
    let moment = |name: &str| words::typed_moment(text(now, name));
    let whole = |name: &str| {
        number(now, name)
            .map(|one| one.to_string())
            .unwrap_or_default()
    };
    let plain = |name: &'static str, label: &str| Ask::text(name, label).at_first(text(now, name));
    let bid = "bid_amount_local_micro";
    let mut asks = vec![
        word("bid_strategy", "Bid", &["AUTO", "MAX", "TARGET"]),
        Ask::amount(bid, "Bid amount")
            .at_first(amount(bid))
            .help("For a maximum bid or a target cost: for each result, as 0.15."),
        Ask::moment("start_time", "Starts (UTC)").at_first(moment("start_time")),
        Ask::moment("end_time", "Ends (UTC)").at_first(moment("end_time")),
        plans::status(text(now, "entity_status")),
    ];
    if text(campaign, "budget_optimization") == "LINE_ITEM" {
        asks.extend(plans::budgets(now));
    }
    let kinds = ads::resources::line_items::GOALS;
    let paid = ads::resources::line_items::PAY_BY;
    let categories: Vec<&str> = super::ask::items(now, "categories")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let rarely = [
        word("goal", "Goal", kinds),
        word("pay_by", "Paid for", paid),
        Ask::text("frequency_cap", "Times per person").at_first(whole("frequency_cap")),
        Ask::text("duration_in_days", "In so many days")
            .at_first(whole("duration_in_days"))
            .help("1, 7 or 30."),
        Ask::text("categories", "IAB categories")
            .at_first(categories.join(","))
            .help("Separated by commas, as IAB17."),
        plain("advertiser_domain", "Advertiser’s domain"),
        plain("primary_web_event_tag", "Web event tag"),
        plain("android_app_store_identifier", "Android app"),
        plain("ios_app_store_identifier", "iOS app"),
    ];
    asks.extend(rarely.into_iter().map(Ask::rarely));
    asks
}
