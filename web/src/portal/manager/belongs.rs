//! What belongs to a line item besides its posts and criteria: scheduled posts that it will promote,
//! media, the call to action over them, its curated category, audiences and tags.

use ads::resources::curated_categories;
use base::Error;
use pages::manager::{Act, Block, Cell, Row, Table};
use serde_json::Value;
use store::Tx;

use super::ask::{Desk, text};
use super::creatives::form;
use super::forms::{Ask, Plan};
use super::line_items::{of_item, remove, with};
use super::words::{badge, day, said};
use super::{column, media};

/// Whether it is shown before videos.
fn is_preroll(item: &Value) -> bool {
    text(item, "objective") == "PREROLL_VIEWS"
}

/// Whether it shows media of the account, alone or besides posts.
fn takes_media(item: &Value) -> bool {
    let placements = super::ask::items(item, "placements").iter();
    let outside = |place: &str| place == "PUBLISHER_NETWORK" || place.starts_with("TAP_");
    is_preroll(item)
        || text(item, "product_type") == "MEDIA"
        || placements.filter_map(Value::as_str).any(outside)
}

/// Everything of it that the line item can have.
pub(super) fn blocks(tx: &mut Tx<'_>, desk: &Desk, item: &Value) -> Result<Vec<Block>, Error> {
    let mut all = Vec::new();
    if text(item, "product_type") != "MEDIA" {
        all.push(scheduled(tx, desk, item)?);
    }
    if takes_media(item) {
        all.push(creatives(tx, desk, item)?);
    }
    if is_preroll(item) {
        all.push(call_to_action(tx, desk, item)?);
        all.push(category(tx, desk, item)?);
    }
    Ok(all)
}

fn scheduled(tx: &mut Tx<'_>, desk: &Desk, item: &Value) -> Result<Block, Error> {
    let id = text(item, "id");
    let path = "scheduled_promoted_<posts>";
    let found = desk.list(tx, path, &of_item(id))?;
    let mut rows = Vec::new();
    for one in &found.rows {
        let post = text(one, "scheduled_post_id");
        let known = match desk.one(tx, "scheduled_<posts>/{}", post) {
            Ok(known) => known,
            // It was deleted meanwhile.
            Err(Error::Refused(_)) => Value::Null,
            Err(other) => return Err(other),
        };
        let words: String = text(&known, "text").chars().take(140).collect();
        let words = if words.is_empty() {
            format!("Scheduled post {post}")
        } else {
            words
        };
        rows.push(Row {
            name: post.to_owned(),
            cells: vec![
                Cell::of(words).leads(desk.path(&format!("/scheduled/{post}"))),
                Cell::of(day(text(&known, "scheduled_at"))),
                Cell::badge(badge(text(&known, "scheduled_status"))),
            ],
            acts: remove(
                desk,
                "scheduled_promoted_<posts>/{}",
                "scheduled-promoted",
                text(one, "id"),
            ),
        });
    }
    let add = desk.offer(
        "POST",
        path,
        "Promote a scheduled post",
        &format!("/line-items/{id}/scheduled"),
    );
    Ok(Block::Table(Table {
        title: "Promoted when they are published".to_owned(),
        columns: ["Post", "When", "Status"].map(column).into(),
        ..with(
            add,
            rows,
            "No scheduled post waits",
            "A scheduled post is promoted as soon as it is published.",
        )
    }))
}

fn creatives(tx: &mut Tx<'_>, desk: &Desk, item: &Value) -> Result<Block, Error> {
    let id = text(item, "id");
    let found = desk.list(tx, "media_creatives", &of_item(id))?;
    let rows = found.rows.iter().map(|one| {
        let own = text(one, "id");
        Row {
            name: own.to_owned(),
            cells: vec![
                Cell::of(said(text(one, "creative_type"))).below(text(one, "account_media_id")),
                Cell::of(super::campaigns::or_dash(text(one, "landing_url"))),
                Cell::badge(badge(text(one, "approval_status"))),
            ],
            acts: remove(desk, "media_creatives/{}", "media-creatives", own),
        }
    });
    let rows = rows.collect();
    let path = format!("/line-items/{id}/media");
    let add = desk.offer("POST", "media_creatives", "Add media", &path);
    Ok(Block::Table(Table {
        title: "Media".to_owned(),
        columns: ["Shown as", "Leads to", "Review"].map(column).into(),
        ..with(
            add,
            rows,
            "No media is shown",
            "Add a video or a banner of the media library.",
        )
    }))
}

fn call_to_action(tx: &mut Tx<'_>, desk: &Desk, item: &Value) -> Result<Block, Error> {
    let id = text(item, "id");
    let path = "preroll_call_to_actions";
    let found = desk.list(tx, path, &of_item(id))?;
    let one = "preroll_call_to_actions/{}";
    let rows = found.rows.iter().map(|cta| {
        let own = text(cta, "id");
        let rest = format!("/calls-to-action/{own}/edit");
        let edit = form(desk, ("PUT", one), "Edit", &rest);
        let delete = remove(desk, one, "calls-to-action", own);
        let name = said(text(cta, "call_to_action"));
        Row {
            cells: vec![
                Cell::of(name.clone()),
                Cell::of(text(cta, "call_to_action_url")),
            ],
            name,
            acts: edit.into_iter().chain(delete).collect(),
        }
    });
    let rows: Vec<Row> = rows.collect();
    let add = format!("/line-items/{id}/call-to-action");
    let add = desk.offer("POST", path, "Add a call to action", &add);
    Ok(Block::Table(Table {
        title: "Call to action".to_owned(),
        columns: ["Button", "Leads to"].map(column).into(),
        // There is one at most.
        ..with(
            add.filter(|_| rows.is_empty()),
            rows,
            "No call to action",
            "A button over the video that leads to your site.",
        )
    }))
}

fn category(tx: &mut Tx<'_>, desk: &Desk, item: &Value) -> Result<Block, Error> {
    let id = text(item, "id");
    let path = "line_item_curated_categories";
    let found = desk.list(tx, path, &of_item(id))?;
    let known = curated_categories::list_all(tx)?;
    let one = "line_item_curated_categories/{}";
    let rows = found.rows.iter().map(|link| {
        let (own, of) = (text(link, "id"), text(link, "curated_category_id"));
        let category = known.iter().find(|category| category.formatted_id() == of);
        let name = category.map_or(of, |category| category.text("name"));
        let countries = category.map(|category| category.texts("country_codes").join(", "));
        let rest = format!("/categories/{own}/edit");
        let edit = form(desk, ("PUT", one), "Edit", &rest);
        Row {
            name: name.to_owned(),
            cells: vec![
                Cell::of(name).below(of),
                Cell::of(countries.unwrap_or_default()),
            ],
            acts: edit
                .into_iter()
                .chain(remove(desk, one, "categories", own))
                .collect(),
        }
    });
    let rows: Vec<Row> = rows.collect();
    let add = format!("/line-items/{id}/category");
    let add = desk.offer("POST", path, "Choose a curated category", &add);
    Ok(Block::Table(Table {
        title: "Curated category".to_owned(),
        columns: ["Category", "Countries"].map(column).into(),
        ..with(
            add.filter(|_| rows.is_empty()),
            rows,
            "Any publisher’s videos",
            "A curated category is a set of publishers whose videos it is shown before.",
        )
    }))
}

/// The form that promotes a scheduled post.
pub(super) fn wait(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Option<Plan>, Error> {
    let item = desk.one(tx, "line_items/{}", id)?;
    let found = desk.list(tx, "scheduled_<posts>", &[])?;
    let open = |post: &&Value| text(post, "scheduled_status") == "SCHEDULED";
    let posts = found.rows.iter().filter(open).map(|post| {
        let words: String = text(post, "text").chars().take(60).collect();
        let named = format!("{words} ({})", day(text(post, "scheduled_at")));
        (text(post, "id").to_owned(), named)
    });
    Ok(Some(Plan {
        heading: "Promote a scheduled post".to_owned(),
        lead: "It is promoted as soon as it is published.".to_owned(),
        path: "scheduled_promoted_<posts>",
        asks: vec![
            Ask::choice("scheduled_post_id", "Scheduled post", posts.collect())
                .or_nothing("Choose one"),
        ],
        submit: "Promote",
        ..Plan::of_item(desk, id, &item, "scheduled")
    }))
}

/// The form that adds media.
pub(super) fn show(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Option<Plan>, Error> {
    let item = desk.one(tx, "line_items/{}", id)?;
    let mut asks = vec![
        Ask::choice("account_media_id", "Medium", media::of_account(tx, desk)?)
            .or_nothing("Choose one")
            .answers(&["line_item_id"])
            .help("What of the media library is fit for it stands under Media."),
    ];
    if !is_preroll(&item) {
        let url = Ask::text("landing_url", "Leads to");
        asks.push(url.help("It begins with https://"));
    }
    Ok(Some(Plan {
        heading: "Add media".to_owned(),
        lead: "The line item shows it where there are no posts.".to_owned(),
        path: "media_creatives",
        asks,
        submit: "Add media",
        ..Plan::of_item(desk, id, &item, "media")
    }))
}

const CALLS: &[&str] = &["VISIT_SITE", "SHOP", "SEE_MORE", "GO_TO", "WATCH_NOW"];

fn asks_of_call(now: &Value) -> Vec<Ask> {
    let words = Ask::words("call_to_action", "Button", CALLS).answers(&["line_item_id"]);
    let words = match text(now, "call_to_action") {
        "" => words,
        set => words.at_first(set),
    };
    vec![
        words,
        Ask::text("call_to_action_url", "Leads to")
            .at_first(text(now, "call_to_action_url"))
            .help("It begins with https://"),
    ]
}

/// The form of a call to action.
pub(super) fn call(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Option<Plan>, Error> {
    let item = desk.one(tx, "line_items/{}", id)?;
    Ok(Some(Plan {
        heading: "Add a call to action".to_owned(),
        lead: "A button over the video.".to_owned(),
        path: "preroll_call_to_actions",
        asks: asks_of_call(&Value::Null),
        submit: "Add call to action",
        ..Plan::of_item(desk, id, &item, "call-to-action")
    }))
}

/// The form that changes something below a line item.
fn change(
    tx: &mut Tx<'_>,
    desk: &Desk,
    (part, path): (&str, &'static str),
    id: &str,
    asks: impl Fn(&mut Tx<'_>, &Value) -> Result<Vec<Ask>, Error>,
) -> Result<Plan, Error> {
    let now = desk.one(tx, path, id)?;
    let above = text(&now, "line_item_id").to_owned();
    let item = desk.one(tx, "line_items/{}", &above)?;
    Ok(Plan {
        method: "PUT",
        path,
        ids: vec![id.to_owned()],
        fixed: Vec::new(),
        asks: asks(tx, &now)?,
        submit: "Save changes",
        action: desk.path(&format!("/{part}/{id}/edit")),
        done: "saved",
        ..Plan::of_item(desk, &above, &item, "")
    })
}

/// The form that changes a call to action.
pub(super) fn edit_call(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Option<Plan>, Error> {
    let of = ("calls-to-action", "preroll_call_to_actions/{}");
    let plan = change(tx, desk, of, id, |_, now| Ok(asks_of_call(now)))?;
    Ok(Some(Plan {
        heading: "Edit the call to action".to_owned(),
        ..plan
    }))
}

fn ask_of_category(tx: &mut Tx<'_>, now: &Value) -> Result<Vec<Ask>, Error> {
    let all = curated_categories::list_all(tx)?;
    let all = all.iter().map(|category| {
        let countries = category.texts("country_codes").join(", ");
        let named = format!("{} ({countries})", category.text("name"));
        (category.formatted_id(), named)
    });
    let ask = Ask::choice("curated_category_id", "Curated category", all.collect())
        .answers(&["line_item_id"])
        .help("The line item must target a location in one of its countries first.");
    Ok(vec![match text(now, "curated_category_id") {
        "" => ask.or_nothing("Choose one"),
        set => ask.at_first(set),
    }])
}

/// The form that chooses a curated category.
pub(super) fn curate(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Option<Plan>, Error> {
    let item = desk.one(tx, "line_items/{}", id)?;
    Ok(Some(Plan {
        heading: "Choose a curated category".to_owned(),
        lead: "The line item is shown before videos of its publishers.".to_owned(),
        path: "line_item_curated_categories",
        asks: ask_of_category(tx, &Value::Null)?,
        submit: "Choose",
        ..Plan::of_item(desk, id, &item, "category")
    }))
}

/// The form that chooses another.
pub(super) fn edit_category(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Option<Plan>, Error> {
    let of = ("categories", "line_item_curated_categories/{}");
    let plan = change(tx, desk, of, id, ask_of_category)?;
    Ok(Some(Plan {
        heading: "Choose another curated category".to_owned(),
        ..plan
    }))
}

/// The form that changes a tracking tag's address.
pub(super) fn edit_tag(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Option<Plan>, Error> {
    let of = ("tracking-tags", "tracking_tags/{}");
    let plan = change(tx, desk, of, id, |_, now| {
        let url = Ask::text("tracking_tag_url", "Address");
        let url = url.at_first(text(now, "tracking_tag_url"));
        Ok(vec![url.help("It begins with https://")])
    })?;
    Ok(Some(Plan {
        heading: "Edit the tracking tag".to_owned(),
        ..plan
    }))
}

/// The buttons of a tracking tag.
pub(super) fn acts_of_tag(desk: &Desk, id: &str) -> Vec<Act> {
    let path = "tracking_tags/{}";
    let rest = format!("/tracking-tags/{id}/edit");
    let edit = form(desk, ("PUT", path), "Edit", &rest);
    let delete = remove(desk, path, "tracking-tags", id);
    edit.into_iter().chain(delete).collect()
}

/// The form that targets an audience.
pub(super) fn audience(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Option<Plan>, Error> {
    let item = desk.one(tx, "line_items/{}", id)?;
    let mut all = Vec::new();
    for scope in ["OWNER", "SHARED"] {
        let scope = [("permission_scope", scope.to_owned())];
        for one in &desk.list(tx, "custom_audiences", &scope)?.rows {
            let fit = one.get("targetable").and_then(Value::as_bool) == Some(true);
            let note = if fit { "" } else { " (not targetable yet)" };
            let named = format!("{}{note}", text(one, "name"));
            all.push((text(one, "id").to_owned(), named));
        }
    }
    let means = [("EQ", "Show it to them"), ("NE", "Leave them out")];
    let means = means.map(|(word, text)| (word.to_owned(), text.to_owned()));
    let plan = Plan::of_item(desk, id, &item, "audience");
    let mut fixed = plan.fixed.clone();
    fixed.push(("targeting_type", "CUSTOM_AUDIENCE".to_owned()));
    Ok(Some(Plan {
        heading: "Target an audience".to_owned(),
        lead: "Audiences of this account, and those that others let it use.".to_owned(),
        path: "targeting_criteria",
        fixed,
        asks: vec![
            Ask::choice("audience", "Audience", all)
                .or_nothing("Choose one")
                .sent_as("targeting_value")
                .answers(&["targeting_value"]),
            Ask::choice("operator_type", "Meaning", means.into()),
        ],
        submit: "Add targeting",
        ..plan
    }))
}
