//! Posts of the account: scheduled, drafts and published.

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

const MEDIA_FIELDS: [&str; 4] = ["media_1", "media_2", "media_3", "media_4"];

pub(super) fn list(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<AdsManagerPage, Error> {
    let schedule = ctx.permitted_link("POST", "scheduled_<posts>", "Schedule post", "/scheduled/new");
    let draft = ctx.permitted_link("POST", "draft_<posts>", "Create draft", "/drafts/new");
    let publish = ctx.permitted_link("POST", "<post>", "Publish post", "/posts/new");
    Ok(AdsManagerPage {
        heading: "Posts".to_owned(),
        lead: "Posts by the account’s user, which line items can promote.".to_owned(),
        actions: collect_links([
            publish.clone().map(|link| link.with_kind("primary")),
            schedule.clone(),
            draft.clone(),
        ]),
        blocks: vec![
            scheduled_block(tx, ctx, schedule)?,
            drafts_block(tx, ctx, draft)?,
            published_block(tx, ctx, publish)?,
        ],
        ..AdsManagerPage::default()
    })
}

fn post_actions(ctx: &ManagerAccount, (path, part): (&str, &str), post: &Value) -> Vec<pages::manager::ActionButton> {
    let id = json_text(post, "id");
    let open = matches!(json_text(post, "scheduled_status"), "" | "SCHEDULED");
    let at = |act: &str| format!("/{part}/{id}/{act}");
    let edit = form_button(ctx, ("PUT", path), "Edit", &at("edit"));
    let delete = form_button(ctx, ("DELETE", path), "Delete", &at("delete"));
    let all = edit.into_iter().chain(delete);
    all.filter(|_| open).collect()
}

fn scheduled_block(tx: &mut Tx<'_>, ctx: &ManagerAccount, add: Option<NavLink>) -> Result<PageBlock, Error> {
    let found = ctx.list_entities(tx, "scheduled_<posts>", &[])?;
    let rows = found.rows.iter().map(|post| TableRow {
        name: json_text(post, "id").to_owned(),
        cells: vec![
            text_cell(ctx, "scheduled", post),
            TableCell::from_text(format_time(json_text(post, "scheduled_at"))),
            TableCell::from_text(visibility_label(post)),
            TableCell::from_badge(status_badge(json_text(post, "scheduled_status"))),
        ],
        action_buttons: post_actions(ctx, ("scheduled_<posts>/{}", "scheduled"), post),
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

fn drafts_block(tx: &mut Tx<'_>, ctx: &ManagerAccount, add: Option<NavLink>) -> Result<PageBlock, Error> {
    let found = ctx.list_entities(tx, "draft_<posts>", &[])?;
    let rows = found.rows.iter().map(|post| TableRow {
        name: json_text(post, "id").to_owned(),
        cells: vec![
            text_cell(ctx, "drafts", post),
            TableCell::from_text(format_time(json_text(post, "updated_at"))),
            TableCell::from_text(visibility_label(post)),
        ],
        action_buttons: post_actions(ctx, ("draft_<posts>/{}", "drafts"), post),
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

fn published_block(tx: &mut Tx<'_>, ctx: &ManagerAccount, add: Option<NavLink>) -> Result<PageBlock, Error> {
    let pairs =
        [("post_type", "PUBLISHED".to_owned()), ("timeline_type", "ALL".to_owned()), ("count", "50".to_owned())];
    let found = ctx.list_entities(tx, "<posts>", &pairs)?;
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
    if is_promoted_only(post) { "Promoted only" } else { "Followers" }
}

fn text_cell(ctx: &ManagerAccount, part: &str, post: &Value) -> TableCell {
    TableCell::from_text(text_excerpt(json_text(post, "text")))
        .with_link(ctx.page_path(&format!("/{part}/{}", json_text(post, "id"))))
        .with_subtext(json_text(post, "name"))
}

fn text_excerpt(words: &str) -> String {
    if words.is_empty() {
        return "Post without text".to_owned();
    }
    words.chars().take(140).collect()
}

pub(super) fn show(tx: &mut Tx<'_>, ctx: &ManagerAccount, part: &str, id: &str) -> Result<AdsManagerPage, Error> {
    let path = operation_path(part);
    let post = ctx.get_entity(tx, path, id)?;
    let here = format!("/{part}/{id}");
    let state = json_text(&post, "scheduled_status");
    let open = matches!(state, "" | "SCHEDULED");
    let edit = ctx.permitted_link("PUT", path, "Edit", &format!("{here}/edit"));
    let delete = ctx.permitted_link("DELETE", path, "Delete", &format!("{here}/delete"));
    let when = match json_text(&post, "scheduled_at") {
        "" => String::new(),
        at if open => format!("Scheduled for {}.", format_time(at)),
        at => format!("Was scheduled for {}.", format_time(at)),
    };
    Ok(AdsManagerPage {
        trail: vec![NavLink::new("Posts", ctx.page_path("/posts"))],
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
            items: vec![post_preview(tx, ctx, &post)?],
            ..CreativePreviews::default()
        })],
        ..AdsManagerPage::default()
    })
}

fn post_preview(tx: &mut Tx<'_>, ctx: &ManagerAccount, post: &Value) -> Result<CreativePreview, Error> {
    let mut shown = CreativePreview::default();
    let uri = json_text(post, "card_uri");
    if !uri.is_empty() {
        let pairs = [("card_uris", uri.to_owned())];
        let found = ctx.list_entities(tx, "cards/all", &pairs)?.rows;
        if let Some(card) = found.first() {
            shown = creatives::card_preview(ctx, card);
        }
    } else if let Some(key) = json_array(post, "media_keys").first().and_then(Value::as_str) {
        match ctx.get_entity(tx, "media_library/{}", key) {
            Ok(medium) => shown = creatives::media_preview(ctx, &medium),
            // It has been removed from the library since.
            Err(Error::Refused(_)) => {}
            Err(other) => return Err(other),
        }
    }
    Ok(CreativePreview {
        post: creatives::enclosing_post(tx, ctx, json_text(post, "text"))?,
        name: String::new(),
        kind: String::new(),
        ..shown
    })
}

fn operation_path(part: &str) -> &'static str {
    if part == "drafts" { "draft_<posts>/{}" } else { "scheduled_<posts>/{}" }
}

pub(super) fn create_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, part: &str) -> Result<Option<FormDefinition>, Error> {
    let user = creatives::account_user(tx, ctx)?.map(|user| user.to_string());
    let (heading, lead, path, submit, done) = match part {
        "drafts" => {
            ("Create draft", "Drafts are saved without being published.", "draft_<posts>", "Save draft", "created")
        }
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
        trail: vec![NavLink::new("Posts", ctx.page_path("/posts"))],
        path,
        fixed_params: vec![("as_user_id", user.unwrap_or_default())],
        fields: post_fields(tx, ctx, part, &Value::Null)?,
        submit,
        action: ctx.page_path(&format!("/{part}/new")),
        redirect: FormRedirect::Path(ctx.page_path("/posts")),
        done_code: done,
        handler: Some(submit_post),
        ..FormDefinition::new(ctx, "/posts")
    }))
}

pub(super) fn edit_form(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    part: &str,
    id: &str,
) -> Result<Option<FormDefinition>, Error> {
    let now = ctx.get_entity(tx, operation_path(part), id)?;
    let here = format!("/{part}/{id}");
    Ok(Some(FormDefinition {
        heading: if part == "drafts" { "Edit draft".to_owned() } else { "Edit scheduled post".to_owned() },
        trail: vec![NavLink::new("Posts", ctx.page_path("/posts"))],
        method: "PUT",
        path: operation_path(part),
        ids: vec![id.to_owned()],
        fields: post_fields(tx, ctx, part, &now)?,
        submit: "Save changes",
        action: ctx.page_path(&format!("{here}/edit")),
        handler: Some(submit_post),
        ..FormDefinition::new(ctx, &here)
    }))
}

fn post_fields(tx: &mut Tx<'_>, ctx: &ManagerAccount, part: &str, now: &Value) -> Result<Vec<FormFieldSpec>, Error> {
    let promoted = vec![
        ("true".to_owned(), "Promoted only".to_owned()),
        ("false".to_owned(), "Followers and promoted".to_owned()),
    ];
    let shown = FormFieldSpec::choice("nullcast", "Audience", promoted);
    let shown = if now.is_null() { shown } else { shown.initial_value(is_promoted_only(now).to_string()) };
    let mut fields = vec![FormFieldSpec::text_area("text", "Text").initial_value(json_text(now, "text"))];
    if part == "scheduled" {
        let at = labels::format_input_time(json_text(now, "scheduled_at"));
        fields.push(
            FormFieldSpec::timestamp("scheduled_at", "Scheduled for (UTC)")
                .initial_value(at)
                .help("A whole minute within the next year."),
        );
    }
    let cards = FormFieldSpec::choice("card_uri", "Card", cards::choices(tx, ctx)?);
    fields.push(
        cards
            .allow_none("None")
            .initial_value(json_text(now, "card_uri"))
            .help("A post can have either a card or media, not both."),
    );
    let media = media::choices(tx, ctx, MediaFilter::All)?;
    let keys = json_array(now, "media_keys");
    for (place, name) in MEDIA_FIELDS.into_iter().enumerate() {
        let key = keys.get(place).and_then(Value::as_str).unwrap_or_default();
        let label = match place {
            0 => "Image, GIF or video".to_owned(),
            place => format!("Image {}", place + 1),
        };
        let field_spec = FormFieldSpec::choice(name, &label, media.clone());
        let field_spec = field_spec.allow_none("None").initial_value(key).skip_sending();
        fields.push(match place {
            0 => field_spec.error_aliases(&["media_keys"]),
            _ => field_spec.mark_advanced(),
        });
    }
    fields.extend([
        shown,
        FormFieldSpec::text("name", "Name")
            .initial_value(json_text(now, "name"))
            .help("Optional. Only visible to your team."),
    ]);
    Ok(fields)
}

/// Joins the media fields into one parameter.
fn submit_post(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
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
    ctx.call_api(tx, plan.method, plan.path, &plan.path_ids(), &pairs)
}
