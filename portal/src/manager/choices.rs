//! Values and labels of records and files that forms refer to.

use ads::resources::account_media::ACCOUNT_MEDIA;
use ads::resources::curated_categories as categories;
use ads::resources::custom_audiences::CUSTOM_AUDIENCE;
use ads::resources::funding_instruments::FUNDING_INSTRUMENT;
use ads::resources::media_library::LIBRARY_MEDIA;
use ads::resources::scheduled_posts::SCHEDULED_POST;
use ads_engine::{AdsRecord, RecordView, Resource};
use base::Error;
use pages::excerpt;
use serde_json::{Value, json};
use store::Tx;

use super::labels::{format_money, word_label};
use super::request::ManagerAccount;
use super::sections::card_sections;

type Choices = Vec<(String, String)>;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MediaFilter {
    All,
    Images,
    Videos,
}

/// Records of the first pages of a list, which hold at most `page_size` each.
fn list_pages(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    resource: &Resource,
    (page_size, filter): (usize, Value),
) -> Result<Vec<RecordView>, Error> {
    let (mut all, mut cursor) = (Vec::new(), None);
    for _ in 0..MAX_PAGES {
        let mut params = json!({ "count": page_size, "cursor": cursor });
        if let (Some(params), Value::Object(filter)) = (params.as_object_mut(), &filter) {
            params.extend(filter.clone());
        }
        let found = ctx.list(tx, resource, params)?;
        all.extend(found.rows);
        cursor = found.next;
        if cursor.is_none() {
            break;
        }
    }
    Ok(all)
}

const MAX_PAGES: usize = 4;
/// As many as each operation returns at once.
const MEDIA_PAGE_SIZE: usize = 50;
const CARD_PAGE_SIZE: usize = 200;

/// Media keys, the newest media of a type first.
pub(super) fn media(tx: &mut Tx<'_>, ctx: &ManagerAccount, kinds: MediaFilter) -> Result<Choices, Error> {
    let types: &[Option<&str>] = match kinds {
        MediaFilter::All => &[None],
        MediaFilter::Images => &[Some("IMAGE")],
        MediaFilter::Videos => &[Some("VIDEO"), Some("GIF")],
    };
    let mut all = Vec::new();
    for kind in types {
        let found = list_pages(tx, ctx, &LIBRARY_MEDIA, (MEDIA_PAGE_SIZE, json!({ "media_type": kind })))?;
        all.extend(found.iter().map(media_choice));
    }
    Ok(all)
}

fn media_choice(medium: &RecordView) -> (String, String) {
    let named = format!("{} ({})", media_name(medium), word_label(medium.text("media_type")));
    (medium.text("media_key").to_owned(), named)
}

/// Falls back to the media key.
pub(super) fn media_name(medium: &RecordView) -> &str {
    let names = ["name", "title", "file_name", "media_key"];
    let mut names = names.iter().map(|name| medium.text(name)).filter(|name| !name.is_empty());
    names.next().unwrap_or_default()
}

pub(super) fn account_media(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<Choices, Error> {
    let found = ctx.list(tx, &ACCOUNT_MEDIA, json!({ "count": 200 }))?;
    let label = |one: &RecordView| format!("{}: {}", word_label(one.text("creative_type")), one.text("media_key"));
    Ok(found.rows.iter().map(|one| (one.id(), label(one))).collect())
}

/// By card URI.
pub(super) fn cards(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<Choices, Error> {
    let mut all = Vec::new();
    for section in card_sections() {
        for card in list_pages(tx, ctx, section.resource, (CARD_PAGE_SIZE, Value::Null))? {
            let label = format!("{} ({})", card.text("name"), word_label(card.text("card_type")));
            all.push((card.text("card_uri").to_owned(), label));
        }
    }
    Ok(all)
}

pub(super) fn funding_instruments(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<Choices, Error> {
    let found = ctx.list(tx, &FUNDING_INSTRUMENT, Value::Null)?;
    let label = |one: &RecordView| {
        let remaining = one.int("credit_remaining_local_micro");
        let remaining = remaining.map(|left| format!(", {} left", format_money(left, one.text("currency"))));
        format!("{}, ID {}{}", instrument_label(one), one.id(), remaining.unwrap_or_default())
    };
    Ok(found.rows.iter().map(|one| (one.id(), label(one))).collect())
}

pub(super) fn instrument_label(one: &RecordView) -> String {
    let about = match one.text("description") {
        // A description in parentheses is generated, not written by anyone.
        about if about.is_empty() || about.starts_with('(') => word_label(one.text("type")),
        about => about.to_owned(),
    };
    format!("{about} ({})", one.text("currency"))
}

pub(super) fn curated_categories(tx: &mut Tx<'_>) -> Result<Choices, Error> {
    let all = categories::list_all(tx)?;
    let label = |one: &AdsRecord| {
        let countries = one.texts("country_codes").join(", ");
        format!("{} ({countries})", one.text("name"))
    };
    Ok(all.iter().map(|one| (one.formatted_id(), label(one))).collect())
}

/// Posts that are not published yet.
pub(super) fn scheduled_posts(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<Choices, Error> {
    let found = ctx.list(tx, &SCHEDULED_POST, Value::Null)?;
    let open = found.rows.iter().filter(|post| post.text("scheduled_status") == "SCHEDULED");
    let label = |post: &RecordView| {
        format!("{} ({})", excerpt(post.text("text"), 60), ctx.format_time(post.time("scheduled_at")))
    };
    Ok(open.map(|post| (post.id(), label(post))).collect())
}

/// Audiences of the account and those shared with it.
pub(super) fn audiences(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<Choices, Error> {
    let mut all = Vec::new();
    for scope in ["OWNER", "SHARED"] {
        for one in ctx.list(tx, &CUSTOM_AUDIENCE, json!({ "permission_scope": scope }))?.rows {
            let note = if one.flag("targetable") { "" } else { " (not targetable yet)" };
            all.push((one.id(), format!("{}{note}", one.text("name"))));
        }
    }
    Ok(all)
}
