//! Line items: list, details and forms.

use ads::resources::accounts::ACCOUNT;
use ads::resources::campaigns::CAMPAIGN;
use ads::resources::line_items::LINE_ITEM;
use ads::resources::servability;
use ads_engine::{AccountContext, AdsCaller, IdFormat, RequiredRole};
use base::{Error, PostId, UserId, Vocabulary};
use pages::manager::{
    ActionButton, AdsManagerPage, DataTable, DetailList, EmptyState, NavLink, PageBlock, TableCell, TableRow,
};
use serde_json::Value;
use store::Tx;

use super::campaigns::{or_dash, stats_columns, status_button};
use super::forms::{FormDefinition, FormFieldSpec, FormRedirect};
use super::labels::{self, status_badge, word_label};
use super::request::{ManagerAccount, json_int, json_text};
use super::route::{ManagerRoute, collect_links};
use super::stats::{self, EntityStats};
use super::{account, form_routes, line_item_parts, text_column};

/// Falls back to the ID.
pub(super) fn line_item_name(item: &Value) -> String {
    match json_text(item, "name") {
        "" => format!("Line item {}", json_text(item, "id")),
        name => name.to_owned(),
    }
}

/// The effective status, and the reasons if it cannot serve.
fn effective_state(tx: &mut Tx<'_>, ctx: &ManagerAccount, item: &Value) -> Result<(String, String), Error> {
    let stored = json_text(item, "entity_status");
    let caller =
        AdsCaller { user: ctx.request.user, app: None, speech: Vocabulary::Post, sandbox: ctx.record.flag("sandbox") };
    let mut records = AccountContext::new(tx, caller);
    records.open_account((&ACCOUNT, ctx.record.id), RequiredRole::CampaignReader, false, false)?;
    let id = IdFormat::Short.parse("id", json_text(item, "id"))?;
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
    let approval = ctx.record.text("approval_status");
    let state = servability::line_item_servability(&item, &campaign, approval, &means, now);
    let reasons: Vec<String> = state.reasons.iter().map(|reason| word_label(reason)).collect();
    Ok((state.effective.to_owned(), reasons.join(", ")))
}

pub(super) fn line_items_block(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    campaign: &str,
    route: &ManagerRoute,
    add: Option<NavLink>,
) -> Result<PageBlock, Error> {
    let pairs = [("campaign_ids", campaign.to_owned()), ("with_draft", "true".to_owned()), ("count", "100".to_owned())];
    let found = ctx.list_entities(tx, "line_items", &pairs)?;
    let ids: Vec<&str> = found.rows.iter().map(|one| json_text(one, "id")).collect();
    let figures = EntityStats::load(tx, ctx, "LINE_ITEM", &ids, stats::selected_days(route))?;
    let here = format!("/campaigns/{campaign}");
    let mut rows = Vec::new();
    for item in &found.rows {
        let (effective, reasons) = effective_state(tx, ctx, item)?;
        let reasons = match effective.as_str() {
            "RUNNING" | "PAUSED" => String::new(),
            _ => reasons,
        };
        let id = json_text(item, "id");
        let (budget, total) = labels::budget_labels(item);
        let mut cells = vec![
            TableCell::from_text(line_item_name(item))
                .with_link(ctx.page_path(&format!("/line-items/{id}")))
                .with_subtext(word_label(json_text(item, "objective"))),
            TableCell::from_badge(status_badge(&effective)).with_subtext(reasons),
            TableCell::from_text(budget).with_subtext(total),
        ];
        cells.extend(figures.table_cells(id, json_text(item, "currency")));
        rows.push(TableRow {
            name: line_item_name(item),
            cells,
            action_buttons: status_button(ctx, "line-items", item, &here),
        });
    }
    Ok(PageBlock::Table(DataTable {
        title: "Line items".to_owned(),
        columns: stats_columns("Line item", figures.has_stats()),
        lead: if rows.is_empty() { String::new() } else { figures.caption() },
        empty: EmptyState {
            title: "No line items yet".to_owned(),
            text: "A line item defines what is promoted, to whom, when and at what price.".to_owned(),
            link: add.clone().map(|link| link.with_kind("primary")),
        },
        actions: add.filter(|_| !rows.is_empty()).into_iter().collect(),
        rows,
        ..DataTable::default()
    }))
}

pub(super) fn show(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    id: &str,
    route: &ManagerRoute,
) -> Result<AdsManagerPage, Error> {
    let item = ctx.get_entity(tx, "line_items/{}", id)?;
    let campaign = ctx.get_entity(tx, "campaigns/{}", json_text(&item, "campaign_id"))?;
    let (effective, reasons) = effective_state(tx, ctx, &item)?;
    let here = format!("/line-items/{id}");
    let above = ctx.page_path(&format!("/campaigns/{}", json_text(&campaign, "id")));
    let charts = stats::entity_charts(tx, ctx, route, "LINE_ITEM", &item, &here)?;
    let mut blocks: Vec<PageBlock> = charts.into_iter().collect();
    match json_text(&item, "product_type") {
        "MEDIA" => {}
        "PROMOTED_ACCOUNT" => {
            blocks.push(promoted_accounts_block(tx, ctx, id)?);
            blocks.push(promoted_posts_block(tx, ctx, &item, route)?);
        }
        _ => blocks.push(promoted_posts_block(tx, ctx, &item, route)?),
    }
    blocks.extend(line_item_parts::part_blocks(tx, ctx, &item)?);
    blocks.push(targeting_block(tx, ctx, id)?);
    blocks.push(tracking_tags_block(tx, ctx, id)?);
    blocks.push(settings_block(&item));
    blocks.extend(account::history_block(tx, ctx, "LINE_ITEM", &item)?);
    Ok(AdsManagerPage {
        trail: vec![NavLink::new("Campaigns", ctx.page_path("")), NavLink::new(json_text(&campaign, "name"), above)],
        heading: line_item_name(&item),
        badge: Some(status_badge(&effective)),
        lead: reasons,
        actions: collect_links([
            ctx.permitted_link("PUT", "line_items/{}", "Edit", &format!("{here}/edit")),
            ctx.permitted_link("DELETE", "line_items/{}", "Delete", &format!("{here}/delete"))
                .map(|link| link.with_kind("danger-quiet")),
        ]),
        blocks,
        ..AdsManagerPage::default()
    })
}

pub(super) fn delete_buttons(ctx: &ManagerAccount, path: &str, part: &str, id: &str) -> Vec<ActionButton> {
    let act = ActionButton {
        text: match part {
            "promoted-posts" | "promoted-accounts" | "scheduled-promoted" => "Stop promoting",
            _ => "Delete",
        },
        path: ctx.page_path(&format!("/{part}/{id}/delete")),
        ..ActionButton::default()
    };
    let may = ctx.may_call("DELETE", path);
    may.then_some(act).into_iter().collect()
}

pub(super) fn line_item_filter(id: &str) -> [(&'static str, String); 2] {
    [("line_item_ids", id.to_owned()), ("count", "200".to_owned())]
}

fn promoted_posts_block(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    item: &Value,
    route: &ManagerRoute,
) -> Result<PageBlock, Error> {
    let (id, currency) = (json_text(item, "id"), json_text(item, "currency"));
    let found = ctx.list_entities(tx, "promoted_<posts>", &line_item_filter(id))?;
    let ids: Vec<&str> = found.rows.iter().map(|one| json_text(one, "id")).collect();
    let figures = EntityStats::load(tx, ctx, "PROMOTED_POST", &ids, stats::selected_days(route))?;
    let mut rows = Vec::new();
    for one in &found.rows {
        let own = json_text(one, "id");
        let text = match PostId::parse(json_text(one, "post_id")) {
            Some(post) => store::posts::find_by_id(tx, post)?.map(|post| post.text),
            None => None,
        };
        let text: String = text.unwrap_or_default().chars().take(140).collect();
        let mut cells = vec![
            TableCell::from_text(or_dash(&text)).with_subtext(format!("Post {}", json_text(one, "post_id"))),
            TableCell::from_badge(status_badge(json_text(one, "entity_status"))),
            TableCell::from_badge(status_badge(json_text(one, "approval_status"))),
        ];
        cells.extend(figures.table_cells(own, currency));
        rows.push(TableRow {
            name: json_text(one, "post_id").to_owned(),
            cells,
            action_buttons: delete_buttons(ctx, "promoted_<posts>/{}", "promoted-posts", own),
        });
    }
    let path = format!("/line-items/{id}/promote");
    let add = ctx.permitted_link("POST", "promoted_<posts>", "Promote post", &path);
    let mut columns = stats_columns("Post", figures.has_stats());
    if let Some(third) = columns.get_mut(2) {
        third.name = "Review";
    }
    Ok(PageBlock::Table(DataTable {
        title: "Promoted posts".to_owned(),
        columns,
        ..extendable_table(add, rows, "No promoted posts", "A post is shown once it has passed review.")
    }))
}

/// Shows the link to add rows above them, or in the empty state.
pub(super) fn extendable_table(add: Option<NavLink>, rows: Vec<TableRow>, none: &str, text: &str) -> DataTable {
    DataTable {
        empty: EmptyState { title: none.to_owned(), text: text.to_owned(), link: add.clone() },
        actions: add.filter(|_| !rows.is_empty()).into_iter().collect(),
        rows,
        ..DataTable::default()
    }
}

fn promoted_accounts_block(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<PageBlock, Error> {
    let found = ctx.list_entities(tx, "promoted_accounts", &line_item_filter(id))?;
    let mut rows = Vec::new();
    for one in &found.rows {
        let user = json_text(one, "user_id");
        let known = match UserId::parse(user) {
            Some(user) => store::users::find_by_id(tx, user)?,
            None => None,
        };
        let name = known.map_or_else(|| user.to_owned(), |user| format!("@{}", user.username));
        rows.push(TableRow {
            name: name.clone(),
            cells: vec![
                TableCell::from_text(name).with_subtext(user),
                TableCell::from_badge(status_badge(json_text(one, "entity_status"))),
                TableCell::from_badge(status_badge(json_text(one, "approval_status"))),
            ],
            action_buttons: delete_buttons(ctx, "promoted_accounts/{}", "promoted-accounts", json_text(one, "id")),
        });
    }
    let path = format!("/line-items/{id}/account");
    let add = ctx.permitted_link("POST", "promoted_accounts", "Promote account", &path);
    Ok(PageBlock::Table(DataTable {
        title: "Promoted accounts".to_owned(),
        columns: ["User", "Status", "Review"].map(text_column).into(),
        ..extendable_table(add, rows, "No promoted accounts", "Recommend an account for people to follow.")
    }))
}

fn targeting_block(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<PageBlock, Error> {
    let found = ctx.list_entities(tx, "targeting_criteria", &line_item_filter(id))?;
    let rows = found.rows.iter().map(|one| {
        let (name, value) = (json_text(one, "name"), json_text(one, "targeting_value"));
        let name = if name.is_empty() { value } else { name };
        TableRow {
            name: name.to_owned(),
            cells: vec![
                TableCell::from_text(word_label(json_text(one, "targeting_type"))),
                TableCell::from_text(word_label(json_text(one, "operator_type"))),
                TableCell::from_text(name).with_subtext(if name == value { "" } else { value }),
            ],
            action_buttons: delete_buttons(ctx, "targeting_criteria/{}", "targeting", json_text(one, "id")),
        }
    });
    let rows = rows.collect();
    let path = format!("/line-items/{id}/target");
    let add = ctx.permitted_link("POST", "targeting_criteria", "Add targeting", &path);
    let path = format!("/line-items/{id}/audience");
    let audience = ctx.permitted_link("POST", "targeting_criteria", "Target audience", &path);
    let mut table = extendable_table(
        add,
        rows,
        "No targeting",
        "The line item targets everyone. Narrow it down by location, language, keyword or audience.",
    );
    table.actions.extend(audience);
    Ok(PageBlock::Table(DataTable {
        title: "Targeting".to_owned(),
        columns: ["Type", "Operator", "Value"].map(text_column).into(),
        ..table
    }))
}

fn tracking_tags_block(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<PageBlock, Error> {
    let found = ctx.list_entities(tx, "tracking_tags", &line_item_filter(id))?;
    let rows = found.rows.iter().map(|one| TableRow {
        name: json_text(one, "tracking_tag_url").to_owned(),
        cells: vec![
            TableCell::from_text(word_label(json_text(one, "tracking_tag_type"))),
            TableCell::from_text(json_text(one, "tracking_tag_url")),
        ],
        action_buttons: line_item_parts::tracking_tag_actions(ctx, json_text(one, "id")),
    });
    let rows = rows.collect();
    let path = format!("/line-items/{id}/track");
    let add = ctx.permitted_link("POST", "tracking_tags", "Add tracking tag", &path);
    Ok(PageBlock::Table(DataTable {
        title: "Tracking".to_owned(),
        columns: ["Triggered by", "URL"].map(text_column).into(),
        ..extendable_table(add, rows, "No tracking tags", "Measurement partners provide the URL.")
    }))
}

fn settings_block(item: &Value) -> PageBlock {
    let (budget, total) = labels::budget_labels(item);
    let bid = json_int(item, "bid_amount_local_micro");
    let bid = bid.map(|bid| labels::format_money(bid, json_text(item, "currency")));
    let word = |name: &str| TableCell::from_text(word_label(json_text(item, name)));
    PageBlock::Facts(DetailList {
        title: "Settings".to_owned(),
        actions: Vec::new(),
        rows: vec![
            ("Objective", word("objective")),
            ("Goal", word("goal")),
            ("Pay by", word("pay_by")),
            ("Bid", word("bid_strategy").with_subtext(bid.unwrap_or_default())),
            ("Placements", TableCell::from_text(labels::word_list_label(item, "placements"))),
            ("Budget", TableCell::from_text(budget).with_subtext(total)),
            ("Starts", TableCell::from_text(labels::format_time(json_text(item, "start_time")))),
            ("Ends", TableCell::from_text(labels::format_time(json_text(item, "end_time")))),
            ("Product type", word("product_type")),
            ("ID", TableCell::from_text(json_text(item, "id"))),
        ],
    })
}

pub(super) fn create_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<Option<FormDefinition>, Error> {
    let campaign = ctx.get_entity(tx, "campaigns/{}", id)?;
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
    let mut fields = vec![
        FormFieldSpec::text("name", "Name"),
        FormFieldSpec::word_choice("objective", "Objective", ads::resources::line_items::OBJECTIVES)
            .initial_value("ENGAGEMENTS"),
        FormFieldSpec::word_choice("product_type", "Product type", &products),
        FormFieldSpec::choice("placements", "Placements", places.into()),
    ];
    fields.extend(editable_fields(&Value::Null, &campaign));
    Ok(Some(FormDefinition {
        heading: "Add line item".to_owned(),
        trail: vec![
            NavLink::new("Campaigns", ctx.page_path("")),
            NavLink::new(json_text(&campaign, "name"), ctx.page_path(&here)),
        ],
        path: "line_items",
        fixed_params: vec![("campaign_id", id.to_owned())],
        fields,
        submit: "Create line item",
        action: ctx.page_path(&format!("{here}/line-item")),
        redirect: FormRedirect::Created(ctx.page_path("/line-items")),
        done_code: "created",
        ..FormDefinition::new(ctx, &here)
    }))
}

pub(super) fn edit_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<Option<FormDefinition>, Error> {
    let now = ctx.get_entity(tx, "line_items/{}", id)?;
    let campaign = ctx.get_entity(tx, "campaigns/{}", json_text(&now, "campaign_id"))?;
    let here = format!("/line-items/{id}");
    let mut fields = vec![FormFieldSpec::text("name", "Name").initial_value(json_text(&now, "name"))];
    fields.extend(editable_fields(&now, &campaign));
    Ok(Some(FormDefinition {
        heading: "Edit line item".to_owned(),
        trail: vec![
            NavLink::new("Campaigns", ctx.page_path("")),
            NavLink::new(line_item_name(&now), ctx.page_path(&here)),
        ],
        method: "PUT",
        path: "line_items/{}",
        ids: vec![id.to_owned()],
        fields,
        submit: "Save changes",
        action: ctx.page_path(&format!("{here}/edit")),
        ..FormDefinition::new(ctx, &here)
    }))
}

fn editable_fields(now: &Value, campaign: &Value) -> Vec<FormFieldSpec> {
    let word = |name, label, all: &[&str]| {
        let field_spec = FormFieldSpec::word_choice(name, label, all);
        match json_text(now, name) {
            "" => field_spec.allow_none("Default for the objective"),
            set => field_spec.initial_value(set),
        }
    };
    let amount = |name: &str| json_int(now, name).map(labels::format_amount).unwrap_or_default();
    let moment = |name: &str| labels::format_input_time(json_text(now, name));
    let whole = |name: &str| json_int(now, name).map(|one| one.to_string()).unwrap_or_default();
    let plain = |name: &'static str, label: &str| FormFieldSpec::text(name, label).initial_value(json_text(now, name));
    let bid = "bid_amount_local_micro";
    let mut fields = vec![
        word("bid_strategy", "Bid", &["AUTO", "MAX", "TARGET"]),
        FormFieldSpec::amount(bid, "Bid amount")
            .initial_value(amount(bid))
            .help("Per result, for a maximum bid or target cost. For example 0.15."),
        FormFieldSpec::timestamp("start_time", "Starts (UTC)").initial_value(moment("start_time")),
        FormFieldSpec::timestamp("end_time", "Ends (UTC)").initial_value(moment("end_time")),
        form_routes::status_field(json_text(now, "entity_status")),
    ];
    if json_text(campaign, "budget_optimization") == "LINE_ITEM" {
        fields.extend(form_routes::budget_fields(now));
    }
    let kinds = ads::resources::line_items::GOALS;
    let paid = ads::resources::line_items::PAY_BY;
    let categories: Vec<&str> =
        super::request::json_array(now, "categories").iter().filter_map(Value::as_str).collect();
    let rarely = [
        word("goal", "Goal", kinds),
        word("pay_by", "Pay by", paid),
        FormFieldSpec::text("frequency_cap", "Frequency cap").initial_value(whole("frequency_cap")),
        FormFieldSpec::text("duration_in_days", "Frequency period in days")
            .initial_value(whole("duration_in_days"))
            .help("1, 7 or 30."),
        FormFieldSpec::text("categories", "IAB categories")
            .initial_value(categories.join(","))
            .help("Comma-separated, for example IAB17."),
        plain("advertiser_domain", "Advertiser’s domain"),
        plain("primary_web_event_tag", "Web event tag"),
        plain("android_app_store_identifier", "Android app"),
        plain("ios_app_store_identifier", "iOS app"),
    ];
    fields.extend(rarely.into_iter().map(FormFieldSpec::mark_advanced));
    fields
}
