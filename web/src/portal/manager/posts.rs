//! Posts of the account: written for later, kept as drafts, or published for promotion only.

use base::Error;
use pages::manager::{
    AdsManagerPage, CreativePreview, CreativePreviews, DataTable, EmptyState, NavLink, PageBlock, TableCell, TableRow,
};
use serde_json::Value;
use store::Tx;

use super::creatives::{self, form_button};
use super::forms::{FormDefinition, FormFieldSpec, FormRedirect};
use super::labels::{self, format_time, status_badge};
use super::media::{self, MediaFilter};
use super::request::{ManagerAccount, json_array, json_text};
use super::route::{SubmittedFields, collect_links};
use super::{cards, text_column};

/// The media of a post: so many fields.
const MEDIA_FIELDS: [&str; 4] = ["media_1", "media_2", "media_3", "media_4"];

/// What is not published yet.
pub(super) fn list(tx: &mut Tx<'_>, desk: &ManagerAccount) -> Result<AdsManagerPage, Error> {
    let schedule = desk.permitted_link("POST", "scheduled_<posts>", "Schedule post", "/scheduled/new");
    let draft = desk.permitted_link("POST", "draft_<posts>", "Create draft", "/drafts/new");
    let publish = desk.permitted_link("POST", "<post>", "Publish post", "/posts/new");
    Ok(AdsManagerPage {
        heading: "Posts".to_owned(),
        lead: "Posts by the account’s user, which line items can promote.".to_owned(),
        actions: collect_links([
            publish.clone().map(|link| link.with_kind("primary")),
            schedule.clone(),
            draft.clone(),
        ]),
        blocks: vec![
            scheduled_block(tx, desk, schedule)?,
            drafts_block(tx, desk, draft)?,
            published_block(tx, desk, publish)?,
        ],
        ..AdsManagerPage::default()
    })
}

fn post_actions(desk: &ManagerAccount, (path, part): (&str, &str), post: &Value) -> Vec<pages::manager::ActionButton> {
    let id = json_text(post, "id");
    let open = matches!(json_text(post, "scheduled_status"), "" | "SCHEDULED");
    let at = |act: &str| format!("/{part}/{id}/{act}");
    let edit = form_button(desk, ("PUT", path), "Edit", &at("edit"));
    let delete = form_button(desk, ("DELETE", path), "Delete", &at("delete"));
    let all = edit.into_iter().chain(delete);
    all.filter(|_| open).collect()
}

fn scheduled_block(tx: &mut Tx<'_>, desk: &ManagerAccount, add: Option<NavLink>) -> Result<PageBlock, Error> {
    let found = desk.list_entities(tx, "scheduled_<posts>", &[])?;
    let rows = found.rows.iter().map(|post| TableRow {
        name: json_text(post, "id").to_owned(),
        cells: vec![
            text_cell(desk, "scheduled", post),
            TableCell::from_text(format_time(json_text(post, "scheduled_at"))),
            TableCell::from_text(visibility_label(post)),
            TableCell::from_badge(status_badge(json_text(post, "scheduled_status"))),
        ],
        action_buttons: post_actions(desk, ("scheduled_<posts>/{}", "scheduled"), post),
    });
    Ok(PageBlock::Table(DataTable {
        title: "Scheduled posts".to_owned(),
        columns: ["Post", "Scheduled for", "Audience", "Status"].map(text_column).into(),
        rows: rows.collect(),
        empty: EmptyState {
            title: "No scheduled posts".to_owned(),
            text: "Schedule a post to publish it later.".to_owned(),
            link: add,
        },
        ..DataTable::default()
    }))
}

fn drafts_block(tx: &mut Tx<'_>, desk: &ManagerAccount, add: Option<NavLink>) -> Result<PageBlock, Error> {
    let found = desk.list_entities(tx, "draft_<posts>", &[])?;
    let rows = found.rows.iter().map(|post| TableRow {
        name: json_text(post, "id").to_owned(),
        cells: vec![
            text_cell(desk, "drafts", post),
            TableCell::from_text(format_time(json_text(post, "updated_at"))),
            TableCell::from_text(visibility_label(post)),
        ],
        action_buttons: post_actions(desk, ("draft_<posts>/{}", "drafts"), post),
    });
    Ok(PageBlock::Table(DataTable {
        title: "Drafts".to_owned(),
        columns: ["Post", "Updated", "Audience"].map(text_column).into(),
        rows: rows.collect(),
        empty: EmptyState {
            title: "No drafts".to_owned(),
            text: "Drafts are visible to everyone who works on the account.".to_owned(),
            link: add,
        },
        ..DataTable::default()
    }))
}

fn published_block(tx: &mut Tx<'_>, desk: &ManagerAccount, add: Option<NavLink>) -> Result<PageBlock, Error> {
    let pairs = [
        ("post_type", "PUBLISHED".to_owned()),
        ("timeline_type", "ALL".to_owned()),
        ("count", "50".to_owned()),
    ];
    let found = desk.list_entities(tx, "<posts>", &pairs)?;
    let rows = found.rows.iter().map(|post| TableRow {
        name: json_text(post, "id_str").to_owned(),
        cells: vec![
            TableCell::from_text(text_excerpt(json_text(post, "full_text"))).with_subtext(json_text(post, "name")),
            TableCell::from_text(labels::format_legacy_date(json_text(post, "created_at"))),
            TableCell::from_text(visibility_label(post)),
            TableCell::from_text(json_text(post, "id_str")),
        ],
        action_buttons: Vec::new(),
    });
    Ok(PageBlock::Table(DataTable {
        title: "Published".to_owned(),
        columns: ["Post", "Published", "Audience", "Post ID"].map(text_column).into(),
        rows: rows.collect(),
        empty: EmptyState {
            title: "No published posts".to_owned(),
            text: "Line items can promote posts of the account’s user.".to_owned(),
            link: add,
        },
        ..DataTable::default()
    }))
}

fn is_promoted_only(post: &Value) -> bool {
    post.get("nullcast").and_then(Value::as_bool) != Some(false)
}

fn visibility_label(post: &Value) -> &'static str {
    if is_promoted_only(post) {
        "Promoted only"
    } else {
        "Followers"
    }
}

fn text_cell(desk: &ManagerAccount, part: &str, post: &Value) -> TableCell {
    TableCell::from_text(text_excerpt(json_text(post, "text")))
        .with_link(desk.page_path(&format!("/{part}/{}", json_text(post, "id"))))
        .with_subtext(json_text(post, "name"))
}

fn text_excerpt(words: &str) -> String {
    if words.is_empty() {
        return "Post without text".to_owned();
    }
    words.chars().take(140).collect()
}

/// One of them, as it will look.
pub(super) fn show(tx: &mut Tx<'_>, desk: &ManagerAccount, part: &str, id: &str) -> Result<AdsManagerPage, Error> {
    let path = operation_path(part);
    let post = desk.get_entity(tx, path, id)?;
    let here = format!("/{part}/{id}");
    let state = json_text(&post, "scheduled_status");
    let open = matches!(state, "" | "SCHEDULED");
    let edit = desk.permitted_link("PUT", path, "Edit", &format!("{here}/edit"));
    let delete = desk.permitted_link("DELETE", path, "Delete", &format!("{here}/delete"));
    let when = match json_text(&post, "scheduled_at") {
        "" => String::new(),
        at if open => format!("Scheduled for {}.", format_time(at)),
        at => format!("Was scheduled for {}.", format_time(at)),
    };
    Ok(AdsManagerPage {
        trail: vec![NavLink::new("Posts", desk.page_path("/posts"))],
        heading: match (json_text(&post, "name"), part) {
            ("", "drafts") => "Draft".to_owned(),
            ("", _) => "Scheduled post".to_owned(),
            (name, _) => name.to_owned(),
        },
        badge: Some(status_badge(state)).filter(|_| !state.is_empty()),
        lead: format!("{when} {}.", visibility_label(&post)).trim().to_owned(),
        actions: collect_links([
            edit.filter(|_| open),
            delete.filter(|_| open).map(|link| link.with_kind("danger-quiet")),
        ]),
        blocks: vec![PageBlock::Previews(CreativePreviews {
            title: "Preview".to_owned(),
            items: vec![post_preview(tx, desk, &post)?],
            ..CreativePreviews::default()
        })],
        ..AdsManagerPage::default()
    })
}

/// A post with its card or its first medium.
fn post_preview(tx: &mut Tx<'_>, desk: &ManagerAccount, post: &Value) -> Result<CreativePreview, Error> {
    let mut shown = CreativePreview::default();
    let uri = json_text(post, "card_uri");
    if !uri.is_empty() {
        let pairs = [("card_uris", uri.to_owned())];
        let found = desk.list_entities(tx, "cards/all", &pairs)?.rows;
        if let Some(card) = found.first() {
            shown = creatives::card_preview(desk, card);
        }
    } else if let Some(key) = json_array(post, "media_keys").first().and_then(Value::as_str) {
        match desk.get_entity(tx, "media_library/{}", key) {
            Ok(medium) => shown = creatives::media_preview(desk, &medium),
            // It was taken out of the library meanwhile.
            Err(Error::Refused(_)) => {}
            Err(other) => return Err(other),
        }
    }
    Ok(CreativePreview {
        post: creatives::enclosing_post(tx, desk, json_text(post, "text"))?,
        name: String::new(),
        kind: String::new(),
        ..shown
    })
}

fn operation_path(part: &str) -> &'static str {
    if part == "drafts" {
        "draft_<posts>/{}"
    } else {
        "scheduled_<posts>/{}"
    }
}

/// The form of a new one.
pub(super) fn create_form(tx: &mut Tx<'_>, desk: &ManagerAccount, part: &str) -> Result<Option<FormDefinition>, Error> {
    let user = creatives::account_user(tx, desk)?.map(|user| user.to_string());
    let (heading, lead, path, submit, done) = match part {
        "drafts" => (
            "Create draft",
            "Drafts are saved without being published.",
            "draft_<posts>",
            "Save draft",
            "created",
        ),
        "scheduled" => (
            "Schedule post",
            "The post is published as the account’s user.",
            "scheduled_<posts>",
            "Schedule",
            "created",
        ),
        _ => (
            "Publish post",
            "The post is published immediately as the account’s user. A line item can then \
             promote it.",
            "<post>",
            "Publish",
            "published",
        ),
    };
    Ok(Some(FormDefinition {
        heading: heading.to_owned(),
        lead: lead.to_owned(),
        trail: vec![NavLink::new("Posts", desk.page_path("/posts"))],
        path,
        fixed_params: vec![("as_user_id", user.unwrap_or_default())],
        fields: post_fields(tx, desk, part, &Value::Null)?,
        submit,
        action: desk.page_path(&format!("/{part}/new")),
        redirect: FormRedirect::Path(desk.page_path("/posts")),
        done_code: done,
        handler: Some(submit_post),
        ..FormDefinition::new(desk, "/posts")
    }))
}

/// The form of a change.
pub(super) fn edit_form(
    tx: &mut Tx<'_>,
    desk: &ManagerAccount,
    part: &str,
    id: &str,
) -> Result<Option<FormDefinition>, Error> {
    let now = desk.get_entity(tx, operation_path(part), id)?;
    let here = format!("/{part}/{id}");
    Ok(Some(FormDefinition {
        heading: if part == "drafts" {
            "Edit draft".to_owned()
        } else {
            "Edit scheduled post".to_owned()
        },
        trail: vec![NavLink::new("Posts", desk.page_path("/posts"))],
        method: "PUT",
        path: operation_path(part),
        ids: vec![id.to_owned()],
        fields: post_fields(tx, desk, part, &now)?,
        submit: "Save changes",
        action: desk.page_path(&format!("{here}/edit")),
        handler: Some(submit_post),
        ..FormDefinition::new(desk, &here)
    }))
}

fn post_fields(tx: &mut Tx<'_>, desk: &ManagerAccount, part: &str, now: &Value) -> Result<Vec<FormFieldSpec>, Error> {
    let promoted = vec![
        ("true".to_owned(), "Promoted only".to_owned()),
        ("false".to_owned(), "Followers and promoted".to_owned()),
    ];
    let shown = FormFieldSpec::choice("nullcast", "Audience", promoted);
    let shown = if now.is_null() {
        shown
    } else {
        shown.initial_value(is_promoted_only(now).to_string())
    };
    let mut asks = vec![FormFieldSpec::text_area("text", "Text").initial_value(json_text(now, "text"))];
    if part == "scheduled" {
        let at = labels::format_input_time(json_text(now, "scheduled_at"));
        asks.push(
            FormFieldSpec::timestamp("scheduled_at", "Scheduled for (UTC)")
                .initial_value(at)
                .help("A whole minute within the next year."),
        );
    }
    let cards = FormFieldSpec::choice("card_uri", "Card", cards::choices(tx, desk)?);
    asks.push(
        cards
            .allow_none("None")
            .initial_value(json_text(now, "card_uri"))
            .help("A post can have either a card or media, not both."),
    );
    let media = media::choices(tx, desk, MediaFilter::All)?;
    let keys = json_array(now, "media_keys");
    for (place, name) in MEDIA_FIELDS.into_iter().enumerate() {
        let key = keys.get(place).and_then(Value::as_str).unwrap_or_default();
        let label = match place {
            0 => "Image, GIF or video".to_owned(),
            place => format!("Image {}", place + 1),
        };
        let ask = FormFieldSpec::choice(name, &label, media.clone());
        let ask = ask.allow_none("None").initial_value(key).skip_sending();
        asks.push(match place {
            0 => ask.error_aliases(&["media_keys"]),
            _ => ask.mark_advanced(),
        });
    }
    asks.extend([
        shown,
        FormFieldSpec::text("name", "Name")
            .initial_value(json_text(now, "name"))
            .help("Optional. Only visible to your team."),
    ]);
    Ok(asks)
}

/// The fields of media are one parameter.
fn submit_post(
    tx: &mut Tx<'_>,
    desk: &ManagerAccount,
    plan: &FormDefinition,
    sent: &SubmittedFields,
) -> Result<Value, Error> {
    let joined = |of: &dyn Fn(&'static str) -> String| {
        let keys = MEDIA_FIELDS.map(of).into_iter().filter(|key| !key.is_empty());
        keys.collect::<Vec<_>>().join(",")
    };
    let before = joined(&|name| plan.initial_value(name).to_owned());
    let keys = joined(&|name| sent.text(name).to_owned());
    let mut pairs = plan.changed_params(sent)?;
    if keys != before {
        pairs.push(("media_keys", keys));
    }
    desk.call_api(tx, plan.method, plan.path, &plan.path_ids(), &pairs)
}
