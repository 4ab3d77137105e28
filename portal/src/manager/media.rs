//! The media library and account media.

use ads::resources::account_media::ACCOUNT_MEDIA;
use ads::resources::media_library::LIBRARY_MEDIA;
use ads_engine::ResourceVerb;
use base::Error;
use pages::manager::{
    AdsManagerPage, CreativePreview, CreativePreviews, DataTable, EmptyState, PageBlock, TableCell, TableRow,
};
use serde_json::json;
use store::Tx;

use super::creatives::media_preview;
use super::fields::declared_fields;
use super::forms::{FormDefinition, FormFieldSpec};
use super::labels::{status_badge, word_label};
use super::request::ManagerAccount;
use super::sections::Section;
use super::tables::{record_buttons, text_column};
use crate::site::page_ranges::build_pager;

const PAGE_SIZE: usize = 24;

pub(super) fn list(tx: &mut Tx<'_>, ctx: &ManagerAccount, section: &Section) -> Result<AdsManagerPage, Error> {
    let found =
        ctx.list(tx, &LIBRARY_MEDIA, json!({ "count": PAGE_SIZE, "cursor": ctx.request.query.get("cursor") }))?;
    let items = found.rows.iter().map(|medium| {
        let state = status_badge(medium.text("media_status")).text;
        let shown = media_preview(ctx, medium);
        CreativePreview {
            kind: format!("{} · {state}", shown.kind),
            action_buttons: record_buttons(ctx, section, medium.text("media_key")),
            ..shown
        }
    });
    let upload = ctx.permitted_link(ResourceVerb::Create, &LIBRARY_MEDIA, "Upload media", "/media/upload");
    let upload = upload.map(|link| link.with_kind("primary"));
    let library = CreativePreviews {
        title: "Library".to_owned(),
        items: items.collect(),
        empty: EmptyState::new(
            "No media yet",
            "Upload an image, animated GIF or video to use in cards and posts.",
            upload.clone(),
        ),
        pager: build_pager(&ctx.page_path("/media"), "cursor", true, found.next.as_deref().map(base::percent::encode)),
        ..CreativePreviews::default()
    };
    Ok(AdsManagerPage {
        heading: "Media".to_owned(),
        lead: "Images and videos for the account’s cards and posts.".to_owned(),
        actions: upload.filter(|_| !library.items.is_empty()).into_iter().collect(),
        blocks: vec![PageBlock::Previews(library), account_media_block(tx, ctx)?],
        ..AdsManagerPage::default()
    })
}

fn account_media_block(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<PageBlock, Error> {
    let found = ctx.list(tx, &ACCOUNT_MEDIA, json!({ "count": 200 }))?;
    let section = Section::find("account-media");
    let rows = found.rows.iter().map(|one| TableRow {
        name: one.id(),
        cells: vec![
            TableCell::from_text(word_label(one.text("creative_type"))).with_subtext(one.id()),
            TableCell::from_text(one.text("media_key")),
            TableCell::from_text(ctx.format_time(one.time("created_at"))),
        ],
        action_buttons: section.map(|section| record_buttons(ctx, section, &one.id())).unwrap_or_default(),
        ..TableRow::default()
    });
    Ok(PageBlock::Table(DataTable {
        title: "Pre-roll and banner media".to_owned(),
        lead: "Media for line items with the product type Media.".to_owned(),
        columns: ["Type", "Media", "Created"].map(text_column).into(),
        rows: rows.collect(),
        empty: EmptyState::new(
            "No suitable media",
            "Upload a pre-roll video, or an image in a banner size such as 320 × 50 or 300 × 250.",
            None,
        ),
        ..DataTable::default()
    }))
}

const UPLOAD_TYPES: &str = "image/jpeg,image/png,image/webp,image/gif,video/mp4";

pub(super) fn upload_form(ctx: &ManagerAccount) -> FormDefinition {
    let uses = [("", "Posts and cards"), ("amplify_video", "Pre-roll before other videos")];
    FormDefinition {
        heading: "Upload media".to_owned(),
        lead: "The file is added to the library once it has been processed.".to_owned(),
        trail: ctx.trail(&[("Media", "/media")]),
        fields: vec![
            FormFieldSpec::file("media", "File", UPLOAD_TYPES)
                .help("JPEG, PNG or WebP up to 5 MB, GIF up to 15 MB, MP4 up to 512 MB."),
            FormFieldSpec::text("name", "Name").help("Optional. Only visible to your team."),
            FormFieldSpec::choice("media_category", "Video use", uses).skip_sending(),
        ],
        submit: "Upload",
        done_code: "uploaded",
        ..FormDefinition::create(ctx, &LIBRARY_MEDIA, "/media", "upload")
    }
}

pub(super) fn edit_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, key: &str) -> Result<FormDefinition, Error> {
    let now = ctx.get(tx, &LIBRARY_MEDIA, key)?;
    let names: &[&str] = match now.text("media_type") {
        "IMAGE" => &["name"],
        _ => &["name", "title", "description", "poster_media_key"],
    };
    Ok(FormDefinition {
        heading: "Edit media".to_owned(),
        trail: ctx.trail(&[("Media", "/media")]),
        fields: declared_fields(tx, ctx, &LIBRARY_MEDIA, Some(&now), names)?,
        leading_blocks: vec![PageBlock::Previews(CreativePreviews {
            title: "Preview".to_owned(),
            items: vec![media_preview(ctx, &now)],
            ..CreativePreviews::default()
        })],
        ..FormDefinition::update(ctx, &LIBRARY_MEDIA, key, (&format!("/media/{key}"), "/media"))
    })
}
