//! The media library and account media.

use base::Error;
use pages::Pager;
use pages::manager::{
    AdsManagerPage, CreativePreview, CreativePreviews, DataTable, EmptyState, NavLink, PageBlock, TableCell, TableRow,
};
use serde_json::Value;
use store::Tx;

use super::creatives::{self, form_button};
use super::forms::{FormDefinition, FormFieldSpec};
use super::labels::{format_time, status_badge, word_label};
use super::request::{ManagerAccount, json_text};
use super::route::ManagerRoute;
use super::text_column;

const PAGE_SIZE: usize = 24;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MediaFilter {
    All,
    Images,
    Videos,
}

/// Pairs of media key and label, the newest media first.
pub(super) fn choices(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    kinds: MediaFilter,
) -> Result<Vec<(String, String)>, Error> {
    let found = ctx.list_entities(tx, "media_library", &[("count", "50".to_owned())])?;
    let fits = |one: &&Value| match kinds {
        MediaFilter::All => true,
        MediaFilter::Images => json_text(one, "media_type") == "IMAGE",
        MediaFilter::Videos => json_text(one, "media_type") != "IMAGE",
    };
    let all = found.rows.iter().filter(fits).map(|one| {
        let kind = word_label(json_text(one, "media_type"));
        let named = format!("{} ({kind})", creatives::media_name(one));
        (json_text(one, "media_key").to_owned(), named)
    });
    Ok(all.collect())
}

pub(super) fn list(tx: &mut Tx<'_>, ctx: &ManagerAccount, route: &ManagerRoute) -> Result<AdsManagerPage, Error> {
    let mut pairs = vec![("count", PAGE_SIZE.to_string())];
    pairs.extend(route.cursor.clone().map(|cursor| ("cursor", cursor)));
    let found = ctx.list_entities(tx, "media_library", &pairs)?;
    let items = found.rows.iter().map(|medium| {
        let key = json_text(medium, "media_key");
        let at = |act: &str| format!("/media/{key}/{act}");
        let one = "media_library/{}";
        let edit = form_button(ctx, ("PUT", one), "Edit", &at("edit"));
        let delete = form_button(ctx, ("DELETE", one), "Delete", &at("delete"));
        let state = status_badge(json_text(medium, "media_status")).text;
        let shown = creatives::media_preview(ctx, medium);
        CreativePreview {
            kind: format!("{} · {state}", shown.kind),
            action_buttons: edit.into_iter().chain(delete).collect(),
            ..shown
        }
    });
    let upload = ctx.permitted_link("POST", "media_library", "Upload media", "/media/upload");
    let upload = upload.map(|link| link.with_kind("primary"));
    let library = CreativePreviews {
        title: "Library".to_owned(),
        items: items.collect(),
        empty: EmptyState {
            title: "No media yet".to_owned(),
            text: "Upload an image, animated GIF or video to use in cards and posts.".to_owned(),
            link: upload.clone(),
        },
        pager: Pager {
            previous: None,
            next: found.next.map(|next| {
                let next = base::percent::encode(&next);
                ctx.page_path(&format!("/media?cursor={next}"))
            }),
        },
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
    let found = ctx.list_entities(tx, "account_media", &[("count", "200".to_owned())])?;
    let rows = found.rows.iter().map(|one| {
        let id = json_text(one, "id");
        let rest = format!("/account-media/{id}/delete");
        let delete = form_button(ctx, ("DELETE", "account_media/{}"), "Delete", &rest);
        TableRow {
            name: id.to_owned(),
            cells: vec![
                TableCell::from_text(word_label(json_text(one, "creative_type"))).with_subtext(id),
                TableCell::from_text(json_text(one, "media_key")),
                TableCell::from_text(format_time(json_text(one, "created_at"))),
            ],
            action_buttons: delete.into_iter().collect(),
        }
    });
    Ok(PageBlock::Table(DataTable {
        title: "Pre-roll and banner media".to_owned(),
        lead: "Media for line items with the product type Media.".to_owned(),
        columns: ["Type", "Media", "Created"].map(text_column).into(),
        rows: rows.collect(),
        empty: EmptyState {
            title: "No suitable media".to_owned(),
            text: "Upload a pre-roll video, or an image in a banner size such as 320 × 50 or \
                   300 × 250."
                .to_owned(),
            link: None,
        },
        ..DataTable::default()
    }))
}

/// Pairs of account media ID and label.
pub(super) fn account_media_choices(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<Vec<(String, String)>, Error> {
    let found = ctx.list_entities(tx, "account_media", &[("count", "200".to_owned())])?;
    let all = found.rows.iter().map(|one| {
        let kind = word_label(json_text(one, "creative_type"));
        let named = format!("{kind}: {}", json_text(one, "media_key"));
        (json_text(one, "id").to_owned(), named)
    });
    Ok(all.collect())
}

const UPLOAD_TYPES: &str = "image/jpeg,image/png,image/webp,image/gif,video/mp4";

pub(super) fn upload_form(ctx: &ManagerAccount) -> FormDefinition {
    let uses = [("", "Posts and cards"), ("amplify_video", "Pre-roll before other videos")];
    let uses = uses.map(|(value, text)| (value.to_owned(), text.to_owned()));
    FormDefinition {
        heading: "Upload media".to_owned(),
        lead: "The file is added to the library once it has been processed.".to_owned(),
        trail: vec![NavLink::new("Media", ctx.page_path("/media"))],
        path: "media_library",
        fields: vec![
            FormFieldSpec::file("media", "File", UPLOAD_TYPES)
                .help("JPEG, PNG or WebP up to 5 MB, GIF up to 15 MB, MP4 up to 512 MB."),
            FormFieldSpec::text("name", "Name").help("Optional. Only visible to your team."),
            FormFieldSpec::choice("media_category", "Video use", uses.into()).skip_sending(),
        ],
        submit: "Upload",
        action: ctx.page_path("/media/upload"),
        done_code: "uploaded",
        ..FormDefinition::new(ctx, "/media")
    }
}

pub(super) fn edit_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, key: &str) -> Result<Option<FormDefinition>, Error> {
    let now = ctx.get_entity(tx, "media_library/{}", key)?;
    let plain = |name: &'static str, label: &str| FormFieldSpec::text(name, label).initial_value(json_text(&now, name));
    let mut fields = vec![plain("name", "Name").help("Only visible to your team. At most 100 characters.")];
    if json_text(&now, "media_type") != "IMAGE" {
        let poster = "poster_media_key";
        let posters = FormFieldSpec::choice(poster, "Poster", choices(tx, ctx, MediaFilter::Images)?);
        fields.extend([
            plain("title", "Title").help("Shown with the video. At most 70 characters."),
            FormFieldSpec::text_area("description", "Description")
                .initial_value(json_text(&now, "description"))
                .help("At most 200 characters."),
            posters.allow_none("Frame from the video").initial_value(json_text(&now, poster)),
        ]);
    }
    Ok(Some(FormDefinition {
        heading: "Edit media".to_owned(),
        trail: vec![NavLink::new("Media", ctx.page_path("/media"))],
        method: "PUT",
        path: "media_library/{}",
        ids: vec![key.to_owned()],
        fields,
        submit: "Save changes",
        action: ctx.page_path(&format!("/media/{key}/edit")),
        leading_blocks: vec![PageBlock::Previews(CreativePreviews {
            title: "Preview".to_owned(),
            items: vec![creatives::media_preview(ctx, &now)],
            ..CreativePreviews::default()
        })],
        ..FormDefinition::new(ctx, "/media")
    }))
}
