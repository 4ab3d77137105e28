//! Posts of the account: scheduled, drafts and published.

use std::collections::HashMap;

use ads::resources::draft_posts::DRAFT_POST;
use ads::resources::media_library::LIBRARY_MEDIA;
use ads::resources::scheduled_posts::SCHEDULED_POST;
use ads_engine::{OperationOutput, RecordView, Resource, ResourceVerb};
use base::{Error, PostId};
use pages::excerpt;
use pages::manager::{
    AdsManagerPage, CreativePreview, CreativePreviews, DataTable, NavLink, PageBlock, TableCell, TableRow,
};
use serde_json::{Value, json};
use store::Tx;

use super::choices::{self, MediaFilter};
use super::creatives;
use super::fields::declared_fields;
use super::forms::{FormDefinition, FormFieldSpec, SubmittedFields};
use super::labels::{post_excerpt, status_badge};
use super::request::{ManagerAccount, json_text};
use super::sections::Section;
use super::tables::{extendable_table, record_buttons, table_pager, text_column};

const MEDIA_FIELDS: [&str; 4] = ["media_1", "media_2", "media_3", "media_4"];
const PUBLISHED_PATH: &str = "<posts>";
const PUBLISH_PATH: &str = "<post>";
/// Posts in each table.
const PAGE_SIZE: usize = 50;
/// Characters of a post's text.
const MAX_EXCERPT_LENGTH: usize = 140;
const PUBLISHED_CURSOR: &str = "published";

pub(super) fn list(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<AdsManagerPage, Error> {
    let schedule = ctx.permitted_link(ResourceVerb::Create, &SCHEDULED_POST, "Schedule post", "/scheduled/new");
    let draft = ctx.permitted_link(ResourceVerb::Create, &DRAFT_POST, "Create draft", "/drafts/new");
    let publish = NavLink::new("Publish post", ctx.page_path("/posts/new"));
    let publish = Some(publish).filter(|_| ctx.may_call("POST", PUBLISH_PATH));
    let first = publish.clone().map(|link| link.with_kind("primary"));
    let scheduled = DataTable {
        title: "Scheduled posts".to_owned(),
        columns: ["Post", "Scheduled for", "Audience", "Status"].map(text_column).into(),
        ..unpublished_table(tx, ctx, "scheduled", ("No scheduled posts", "Schedule a post to publish it later."))?
    };
    let drafts = DataTable {
        title: "Drafts".to_owned(),
        columns: ["Post", "Updated", "Audience"].map(text_column).into(),
        ..unpublished_table(
            tx,
            ctx,
            "drafts",
            ("No drafts", "Drafts are visible to everyone who works on the account."),
        )?
    };
    let published = published_table(tx, ctx)?;
    let tables = [(scheduled, schedule.clone()), (drafts, draft.clone()), (published, publish)];
    let blocks = tables.into_iter().map(|(mut table, link)| {
        table.empty.link = link;
        PageBlock::Table(table)
    });
    Ok(AdsManagerPage {
        heading: "Posts".to_owned(),
        lead: "Posts by the account’s user, which line items can promote.".to_owned(),
        actions: [first, schedule, draft].into_iter().flatten().collect(),
        blocks: blocks.collect(),
        ..AdsManagerPage::default()
    })
}

/// Whether a scheduled post or draft can still be changed.
fn is_open(post: &RecordView) -> bool {
    matches!(post.text("scheduled_status"), "" | "SCHEDULED")
}

fn unpublished_table(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    part: &str,
    empty: (&str, &str),
) -> Result<DataTable, Error> {
    let Some(section) = Section::find(part) else {
        return Ok(DataTable::default());
    };
    let params = json!({ "count": PAGE_SIZE, "cursor": ctx.request.query.get(part) });
    let found = ctx.list(tx, section.resource, params)?;
    let rows = found.rows.iter().map(|post| {
        let is_draft = part == "drafts";
        let at = if is_draft { post.time("updated_at") } else { post.time("scheduled_at") };
        let first = TableCell::from_text(text_label(excerpt(post.text("text"), MAX_EXCERPT_LENGTH)))
            .with_link(ctx.page_path(&format!("/{part}/{}", post.id())))
            .with_subtext(post.text("name"));
        let mut cells = vec![
            first,
            TableCell::from_text(ctx.format_time(at)),
            TableCell::from_text(visibility_label(post.flag("nullcast"))),
        ];
        if !is_draft {
            cells.push(TableCell::from_badge(status_badge(post.text("scheduled_status"))));
        }
        let buttons = if is_open(post) { record_buttons(ctx, section, &post.id()) } else { Vec::new() };
        TableRow { name: post.id(), cells, action_buttons: buttons, ..TableRow::default() }
    });
    Ok(DataTable {
        pager: table_pager(ctx, "/posts", part, found.next.as_deref()),
        ..extendable_table(None, rows.collect(), empty)
    })
}

fn published_table(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<DataTable, Error> {
    let cursor = ctx.request.query.get(PUBLISHED_CURSOR);
    let params = json!({ "post_type": "PUBLISHED", "timeline_type": "ALL", "count": PAGE_SIZE, "cursor": cursor });
    let (posts, next) = ctx.list_value_page(tx, PUBLISHED_PATH, &[], params)?;
    let ids: Vec<PostId> = posts.iter().filter_map(|post| PostId::parse(json_text(post, "id_str"))).collect();
    let stored = store::posts::find_by_ids(tx, &ids)?;
    let texts: HashMap<String, String> =
        stored.iter().map(|post| (post.id.to_string(), post_excerpt(post, MAX_EXCERPT_LENGTH))).collect();
    let rows = posts.iter().map(|post| {
        let id = json_text(post, "id_str");
        let is_promoted_only = post.get("nullcast").and_then(Value::as_bool) != Some(false);
        let text = TableCell::from_text(text_label(texts.get(id).cloned().unwrap_or_default()));
        TableRow {
            name: id.to_owned(),
            cells: vec![
                text.with_subtext(json_text(post, "name")),
                TableCell::from_text(ctx.format_time(PostId::parse(id).map(PostId::created_at))),
                TableCell::from_text(visibility_label(is_promoted_only)),
                TableCell::from_text(id),
            ],
            ..TableRow::default()
        }
    });
    Ok(DataTable {
        title: "Published".to_owned(),
        columns: ["Post", "Published", "Audience", "Post ID"].map(text_column).into(),
        pager: table_pager(ctx, "/posts", PUBLISHED_CURSOR, next.as_deref()),
        ..extendable_table(
            None,
            rows.collect(),
            ("No published posts", "Line items can promote posts of the account’s user."),
        )
    })
}

const fn visibility_label(is_promoted_only: bool) -> &'static str {
    if is_promoted_only { "Promoted only" } else { "Followers" }
}

fn text_label(text: String) -> String {
    if text.is_empty() { "Post without text".to_owned() } else { text }
}

pub(super) fn show(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    section: &Section,
    id: &str,
) -> Result<AdsManagerPage, Error> {
    let post = ctx.get(tx, section.resource, id)?;
    let (state, open) = (post.text("scheduled_status"), is_open(&post));
    let when = match post.time("scheduled_at") {
        None => String::new(),
        at if open => format!("Scheduled for {}.", ctx.format_time(at)),
        at => format!("Was scheduled for {}.", ctx.format_time(at)),
    };
    let actions = ctx.change_links(section.resource, &format!("/{}/{id}", section.name));
    Ok(AdsManagerPage {
        trail: ctx.trail(&[("Posts", "/posts")]),
        heading: match (post.text("name"), section.name) {
            ("", "drafts") => "Draft".to_owned(),
            ("", _) => "Scheduled post".to_owned(),
            (name, _) => name.to_owned(),
        },
        badge: Some(status_badge(state)).filter(|_| !state.is_empty()),
        lead: format!("{when} {}.", visibility_label(post.flag("nullcast"))).trim().to_owned(),
        actions: if open { actions } else { Vec::new() },
        blocks: vec![PageBlock::Previews(CreativePreviews {
            title: "Preview".to_owned(),
            items: vec![post_preview(tx, ctx, &post)?],
            ..CreativePreviews::default()
        })],
        ..AdsManagerPage::default()
    })
}

fn post_preview(tx: &mut Tx<'_>, ctx: &ManagerAccount, post: &RecordView) -> Result<CreativePreview, Error> {
    let mut shown = CreativePreview::default();
    let uri = post.text("card_uri");
    if !uri.is_empty() {
        let found = ctx.list_operation(tx, "cards/all", &[], json!({ "card_uris": [uri] }))?;
        if let Some(card) = found.rows.first() {
            shown = creatives::card_preview(ctx, card);
        }
    } else if let Some(key) = post.texts("media_keys").first() {
        match ctx.get(tx, &LIBRARY_MEDIA, key) {
            Ok(medium) => shown = creatives::media_preview(ctx, &medium),
            // It has been removed from the library since.
            Err(Error::Refused(_)) => {}
            Err(other) => return Err(other),
        }
    }
    Ok(CreativePreview {
        post: creatives::enclosing_post(tx, ctx, post.text("text"))?,
        name: String::new(),
        kind: String::new(),
        ..shown
    })
}

pub(super) fn create_form(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    section: Option<&Section>,
) -> Result<FormDefinition, Error> {
    let user = ctx.own_user(tx)?.map(|user| user.to_string());
    let name = section.map_or("posts", |section| section.name);
    let (heading, lead, submit) = match name {
        "drafts" => ("Create draft", "Drafts are saved without being published.", "Save draft"),
        "scheduled" => ("Schedule post", "The post is published as the account’s user.", "Schedule"),
        _ => (
            "Publish post",
            "The post is published immediately as the account’s user. A line item can then promote it.",
            "Publish",
        ),
    };
    let resource = section.map_or(&DRAFT_POST, |section| section.resource);
    let form = FormDefinition {
        heading: heading.to_owned(),
        lead: lead.to_owned(),
        trail: ctx.trail(&[("Posts", "/posts")]),
        fixed_params: vec![("as_user_id", user.into())],
        fields: post_fields(tx, ctx, resource, None)?,
        submit,
        action: ctx.page_path(&format!("/{name}/new")),
        handler: Some(submit_post),
        ..FormDefinition::create(ctx, resource, "/posts", "new")
    };
    if section.is_some() {
        return Ok(form);
    }
    Ok(FormDefinition { path: PUBLISH_PATH.to_owned(), done_code: "published", ..form })
}

pub(super) fn edit_form(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    section: &Section,
    id: &str,
) -> Result<FormDefinition, Error> {
    let now = ctx.get(tx, section.resource, id)?;
    let here = format!("/{}/{id}", section.name);
    Ok(FormDefinition {
        heading: format!("Edit {}", section.label),
        trail: ctx.trail(&[("Posts", "/posts")]),
        fields: post_fields(tx, ctx, section.resource, Some(&now))?,
        handler: Some(submit_post),
        ..FormDefinition::update(ctx, section.resource, id, (&here, &here))
    })
}

fn post_fields(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    resource: &Resource,
    now: Option<&RecordView>,
) -> Result<Vec<FormFieldSpec>, Error> {
    let names = ["text", "scheduled_at", "card_uri"].into_iter();
    let names: Vec<&str> = names.filter(|name| resource.field(name).is_some()).collect();
    let mut fields = declared_fields(tx, ctx, resource, now, &names)?;
    let media = choices::media(tx, ctx, MediaFilter::All)?;
    let keys = now.map(|now| now.texts("media_keys")).unwrap_or_default();
    for (place, name) in MEDIA_FIELDS.into_iter().enumerate() {
        let key = keys.get(place).copied().unwrap_or_default();
        let label = if place == 0 { "Image, GIF or video".to_owned() } else { format!("Image {}", place + 1) };
        let field_spec = FormFieldSpec::choice(name, &label, media.clone());
        let field_spec = field_spec.allow_none("None").initial_value(key).skip_sending();
        fields.push(match place {
            0 => field_spec.error_aliases(&["media_keys"]),
            _ => field_spec.mark_advanced(),
        });
    }
    let last = declared_fields(tx, ctx, resource, now, &["nullcast", "name"])?.into_iter();
    let audiences = &[("true", "Promoted only"), ("false", "Followers and promoted")];
    fields.extend(last.map(|field| if field.name == "nullcast" { field.with_options(audiences) } else { field }));
    Ok(fields)
}

/// Joins the media fields into one parameter.
fn submit_post(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    form: &FormDefinition,
    sent: &SubmittedFields,
) -> Result<OperationOutput, Error> {
    let keys = |of: &dyn Fn(&'static str) -> String| -> Vec<String> {
        MEDIA_FIELDS.map(of).into_iter().filter(|key| !key.is_empty()).collect()
    };
    let before = keys(&|name| form.initial_value(name).to_owned());
    let after = keys(&|name| sent.text(name).to_owned());
    let mut params = form.changed_params(sent)?;
    if after != before {
        params.insert("media_keys".to_owned(), if after.is_empty() { Value::Null } else { after.into() });
    }
    form.send_params(tx, ctx, params.into())
}
