//! Web event tags: what an advertiser's site reports as conversions.

use ads::resources::web_event_tags::WEB_EVENT_TAG;
use ads_engine::{RecordView, ResourceVerb};
use base::Error;
use pages::manager::{AdsManagerPage, CodeBlock, DataTable, DetailList, PageBlock, StatusBadge, TableCell, TableRow};
use serde_json::json;
use store::Tx;

use super::fields::declared_fields;
use super::forms::{FormDefinition, FormRedirect};
use super::labels::word_label;
use super::request::ManagerAccount;
use super::tables::{extendable_table, text_column};

const FIELDS: &[&str] = &["name", "type", "click_window", "view_through_window", "retargeting_enabled"];

pub(super) fn list(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<AdsManagerPage, Error> {
    let found = ctx.list(tx, &WEB_EVENT_TAG, json!({ "count": 200 }))?;
    let rows = found.rows.iter().map(|tag| TableRow {
        name: tag.text("name").to_owned(),
        cells: vec![
            TableCell::from_text(tag.text("name"))
                .with_link(ctx.page_path(&format!("/conversions/{}", tag.id())))
                .with_subtext(tag.id()),
            TableCell::from_text(word_label(tag.text("type"))),
            TableCell::from_badge(state_badge(tag)),
            TableCell::from_text(ctx.format_time(tag.time("last_tracked_at"))),
        ],
        ..TableRow::default()
    });
    let add = ctx.permitted_link(ResourceVerb::Create, &WEB_EVENT_TAG, "Create tag", "/conversions/new");
    let empty = (
        "No conversion tags yet",
        "A tag on your site reports what people do there after they have seen or clicked an ad.",
    );
    Ok(AdsManagerPage {
        heading: "Conversions".to_owned(),
        lead: "What people do on your site after an ad. Reports and statistics count it.".to_owned(),
        blocks: vec![PageBlock::Table(DataTable {
            title: "Web event tags".to_owned(),
            columns: ["Tag", "Event", "Status", "Last event"].map(text_column).into(),
            ..extendable_table(add.map(|link| link.with_kind("primary")), rows.collect(), empty)
        })],
        ..AdsManagerPage::default()
    })
}

fn state_badge(tag: &RecordView) -> StatusBadge {
    let (text, kind) = if tag.text("status") == "TRACKING" { ("Tracking", "good") } else { ("Unverified", "warn") };
    StatusBadge { text: text.to_owned(), kind }
}

pub(super) fn show(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<AdsManagerPage, Error> {
    let tag = ctx.get(tx, &WEB_EVENT_TAG, id)?;
    let days = |name: &str| match tag.int(name).unwrap_or(0) {
        0 => TableCell::from_text("None"),
        1 => TableCell::from_text("1 day"),
        days => TableCell::from_text(format!("{days} days")),
    };
    let here = format!("/conversions/{id}");
    Ok(AdsManagerPage {
        trail: ctx.trail(&[("Conversions", "/conversions")]),
        heading: tag.text("name").to_owned(),
        badge: Some(state_badge(&tag)),
        lead: match tag.text("status") {
            "TRACKING" => String::new(),
            _ => "No event has come yet. The tag is verified by its first one.".to_owned(),
        },
        actions: ctx.change_links(&WEB_EVENT_TAG, &here),
        blocks: vec![
            PageBlock::Code(CodeBlock {
                title: "Tag".to_owned(),
                lead: "Put it on the page that people reach when they have done it.".to_owned(),
                text: tag.rendered_text("embed_code"),
            }),
            PageBlock::Facts(DetailList {
                title: "Settings".to_owned(),
                actions: Vec::new(),
                rows: vec![
                    ("Event", TableCell::from_text(word_label(tag.text("type")))),
                    ("After a click", days("click_window")),
                    ("After a view", days("view_through_window")),
                    (
                        "Audience of visitors",
                        TableCell::from_text(if tag.flag("retargeting_enabled") {
                            "Collected"
                        } else {
                            "Not collected"
                        }),
                    ),
                    ("Last event", TableCell::from_text(ctx.format_time(tag.time("last_tracked_at")))),
                    ("ID", TableCell::from_text(tag.id())),
                ],
            }),
        ],
        ..AdsManagerPage::default()
    })
}

pub(super) fn create_form(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<FormDefinition, Error> {
    let form = FormDefinition {
        heading: "Create tag".to_owned(),
        trail: ctx.trail(&[("Conversions", "/conversions")]),
        fields: declared_fields(tx, ctx, &WEB_EVENT_TAG, None, FIELDS)?,
        submit: "Create tag",
        redirect: FormRedirect::Created(ctx.page_path("/conversions")),
        ..FormDefinition::create(ctx, &WEB_EVENT_TAG, "/conversions", "new")
    };
    Ok(adjust_windows(form))
}

pub(super) fn edit_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<FormDefinition, Error> {
    let now = ctx.get(tx, &WEB_EVENT_TAG, id)?;
    let here = format!("/conversions/{id}");
    let form = FormDefinition {
        heading: "Edit tag".to_owned(),
        trail: ctx.trail(&[("Conversions", "/conversions"), (now.text("name"), &here)]),
        fields: declared_fields(tx, ctx, &WEB_EVENT_TAG, Some(&now), FIELDS)?,
        ..FormDefinition::update(ctx, &WEB_EVENT_TAG, id, (&here, &here))
    };
    Ok(adjust_windows(form))
}

/// The windows that a tag may have.
fn adjust_windows(form: FormDefinition) -> FormDefinition {
    let clicks = [("30", "30 days"), ("14", "14 days"), ("7", "7 days"), ("1", "1 day")];
    let views = [("1", "1 day"), ("0", "None"), ("7", "7 days"), ("14", "14 days"), ("30", "30 days")];
    let flags = [("true", "Yes"), ("false", "No")];
    let form = form.adjust_field("click_window", |field| field.with_options(&clicks));
    let form = form.adjust_field("view_through_window", |field| field.with_options(&views));
    form.adjust_field("retargeting_enabled", |field| field.with_options(&flags))
}
