//! The media library: media of the account's own user, with metadata from the account (contract ads
//! §4.10). A medium does not expire while it is in the library.

use std::borrow::Cow;

use ads_engine::engine::{create, delete, ensure_valid_params, update};
use ads_engine::{
    AccountContext, AdsRecord, CURSOR, CustomOperation, FieldRequirement, FieldSpec, Kind, MediaKeyText,
    OperationOutput, ParsedParams, RecordChange, RequiredRole, Resource, ResourceVerb, ValidationRule, listing,
};
use base::refusal::AdsProblem;
use base::{Error, Id, UserId, VocabularyWord, sorted_distinct};
use serde_json::Value;
use store::media::{self, Media};
use store::posts;

use crate::resources::account_media::{ACCOUNT_MEDIA, creative_type_from_size};
use crate::resources::{card_media, promotable_users};

pub static LIBRARY_MEDIA: Resource = Resource {
    name: "library_media",
    id: VocabularyWord::same_in_both("library_media_id"),
    path: "media_library",
    label: "media of the library",
    not_found: "MEDIA_NOT_FOUND",
    fields: &[
        FieldSpec::new("media_key", Kind::custom(&MediaKeyText)).required().immutable(),
        NAME,
        FILE_NAME,
        TITLE,
        DESCRIPTION,
        POSTER,
        FieldSpec::new("media_id", Kind::LONG).required().immutable().hidden(),
    ],
    page_size: (20, 50),
    verbs: &[],
    rules: &[ValidationRule::OnRecord(validate_video_fields), ValidationRule::InContext(validate_poster)],
    find_duplicate: Some(find_duplicate),
    after_change: Some(sync_file_lifetime),
    shows_id: false,
    compute_fields: Some(computed_fields),
    ..Resource::DEFAULT
};

const POST_IMAGE: VocabularyWord = VocabularyWord::new("POST_IMAGE", "TWEET_IMAGE");
const POST_GIF: VocabularyWord = VocabularyWord::new("POST_GIF", "TWEET_GIF");
const POST_VIDEO: VocabularyWord = VocabularyWord::new("POST_VIDEO", "TWEET_VIDEO");
const AMPLIFY_VIDEO: VocabularyWord = VocabularyWord::same_in_both("AMPLIFY_VIDEO");
const CATEGORIES: &[VocabularyWord] = &[POST_IMAGE, POST_GIF, POST_VIDEO, AMPLIFY_VIDEO];
/// How media keys begin, by category.
const KEY_KINDS: [(&str, VocabularyWord); 4] =
    [("3", POST_IMAGE), ("16", POST_GIF), ("7", POST_VIDEO), ("13", AMPLIFY_VIDEO)];

const NAME: FieldSpec =
    FieldSpec::text("name", 1, 100).label("Name").help("Only visible to your team. At most 100 characters.");
const FILE_NAME: FieldSpec = FieldSpec::text("file_name", 1, 255);
const TITLE: FieldSpec =
    FieldSpec::text("title", 1, 70).label("Title").help("Shown with the video. At most 70 characters.");
const DESCRIPTION: FieldSpec =
    FieldSpec::text("description", 1, 200).label("Description").help("At most 200 characters.");
const POSTER: FieldSpec = FieldSpec::new("poster_media_key", Kind::custom(&MediaKeyText)).label("Poster");
const KEY: FieldSpec =
    FieldSpec::new("media_key", Kind::custom(&MediaKeyText)).required().update(FieldRequirement::Required);

pub static OPERATIONS: &[CustomOperation] = &[
    CustomOperation::get("getAdsMediaLibrary", "media_library", list_media)
        .summary("A page of the media library.")
        .requires_role(RequiredRole::CreativeReader)
        .params(&[
            FieldSpec::new("count", Kind::int(1, 50)).default_number(20),
            CURSOR,
            FieldSpec::one_of("media_type", &["GIF", "IMAGE", "VIDEO"]),
            FieldSpec::text("q", 1, 255),
        ]),
    CustomOperation::get("getAdsLibraryMedia", "media_library/{media_key}", get_media)
        .summary("A medium of the library.")
        .requires_role(RequiredRole::CreativeReader)
        .params(&[KEY]),
    CustomOperation::post("addAdsLibraryMedia", "media_library", add_media)
        .summary("Takes a medium that was uploaded into the library.")
        .requires_role(RequiredRole::CreativeWriter)
        .params(&[
            FieldSpec::new("media_key", Kind::custom(&MediaKeyText)),
            FieldSpec::new("media_id", Kind::LONG),
            FieldSpec::new("media_category", Kind::word(CATEGORIES)),
            NAME,
            FILE_NAME,
            TITLE,
            DESCRIPTION,
            POSTER,
        ]),
    CustomOperation::put("updateAdsMedia", "media_library/{media_key}", update_media)
        .summary("Changes what is said of a medium of the library.")
        .requires_role(RequiredRole::CreativeWriter)
        .params(&[KEY, NAME, FILE_NAME, TITLE, DESCRIPTION, POSTER]),
    CustomOperation::delete("deleteAdsMedia", "media_library/{media_key}", remove_media)
        .summary("Removes a medium from the library.")
        .requires_role(RequiredRole::CreativeWriter)
        .params(&[KEY]),
];

fn list_media(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let kind = params.text("media_type").map(str::to_owned);
    let terms = params.text("q").map(split_terms);
    if kind.is_none() && terms.is_none() {
        return listing::list(ctx, &LIBRARY_MEDIA, params);
    }
    listing::list_matching(ctx, &LIBRARY_MEDIA, params, &|record| {
        let is_of_kind = |kind| media_type_from_key(record.text("media_key")).0 == kind;
        let has_terms = |terms: &Vec<String>| matches_terms(record, terms);
        kind.as_deref().is_none_or(is_of_kind) && terms.as_ref().is_none_or(has_terms)
    })
}

/// The fields that a text search covers.
const SEARCHED_FIELDS: &[&str] = &["name", "title", "file_name", "description"];

/// Whether each term is a word of some field, and there is one.
fn matches_terms(record: &AdsRecord, terms: &[String]) -> bool {
    let words: Vec<String> = SEARCHED_FIELDS.iter().flat_map(|name| split_terms(record.text(name))).collect();
    !terms.is_empty() && terms.iter().all(|term| words.contains(term))
}

/// The words of a text in lower case.
fn split_terms(text: &str) -> Vec<String> {
    base::text::split_words(text).map(str::to_lowercase).collect()
}

fn get_media(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let record = find_media(ctx, params)?;
    OperationOutput::from_record(ctx, record)
}

/// Finds the medium a request names without adding it to the library.
fn find_media(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<AdsRecord, Error> {
    let key = params.text("media_key").unwrap_or_default();
    let known = match find_uploaded_media(ctx, key)? {
        Some(medium) => ctx.list_records(&LIBRARY_MEDIA, "media_id", medium.id.get())?,
        None => Vec::new(),
    };
    let known = known.into_iter().find(|known| !known.deleted);
    known.ok_or_else(|| media_not_found("media_key", key).into())
}

/// Adds a medium; one already in the library gets the new metadata.
fn add_media(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let key = &requested_key(params)?;
    let now = ctx.now();
    let alive = |medium: &Media| medium.expires_at.is_none_or(|end| end > now);
    let Some(medium) = find_uploaded_media(ctx, key)?.filter(alive) else {
        return Err(media_not_found("media_key", key).into());
    };
    if !is_usable(ctx, &medium)? {
        let message = format!("The media {key} is not one that this account may use");
        let problem = AdsProblem::invalid_parameter("media_key", key, message);
        return Err(problem.with_code("INVALID_MEDIA").into());
    }
    let record = add_to_library(ctx, &medium)?;
    let record = update(ctx, &LIBRARY_MEDIA, record.id, params)?;
    OperationOutput::from_record(ctx, record)
}

/// The media key, or that of the media id and category by which older clients name a medium.
fn requested_key(params: &ParsedParams) -> Result<String, AdsProblem> {
    if let Some(key) = params.text("media_key") {
        return Ok(key.to_owned());
    }
    let Some(id) = params.int("media_id") else {
        return Err(AdsProblem::missing_parameter("media_key"));
    };
    let category = params.text("media_category").ok_or_else(|| AdsProblem::missing_parameter("media_category"))?;
    let kind = KEY_KINDS.iter().find(|(_, word)| word.post == category).map_or("", |(kind, _)| *kind);
    Ok(format!("{kind}_{id}"))
}

fn update_media(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let record = find_media(ctx, params)?;
    let record = update(ctx, &LIBRARY_MEDIA, record.id, params)?;
    OperationOutput::from_record(ctx, record)
}

fn remove_media(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let record = find_media(ctx, params)?;
    let record = delete(ctx, &LIBRARY_MEDIA, record.id)?;
    OperationOutput::from_record(ctx, record)
}

pub fn media_not_found(parameter: impl Into<Cow<'static, str>>, key: &str) -> AdsProblem {
    let message = format!("The media {key} was not found in the media library");
    AdsProblem::invalid_parameter(parameter, key, message).with_code("MEDIA_NOT_FOUND")
}

/// Whether a user may post a medium: it is theirs, or shared with them.
pub fn may_be_posted_by(ctx: &mut AccountContext<'_, '_>, record: &AdsRecord, user: UserId) -> Result<bool, Error> {
    let id = Id::new(record.int("media_id").unwrap_or(0));
    let Some(medium) = media::find_by_id(ctx.tx, id)? else {
        return Ok(false);
    };
    Ok(medium.owner_id == user || media::is_shared(ctx.tx, id, user)?)
}

/// A medium that the account's own user, or the caller if the account promotes their posts, uploaded or may use, unless it
/// was removed.
pub fn find_library_media(ctx: &mut AccountContext<'_, '_>, key: &str) -> Result<Option<AdsRecord>, Error> {
    let Some(medium) = find_uploaded_media(ctx, key)? else {
        return Ok(None);
    };
    let known = ctx.list_records(&LIBRARY_MEDIA, "media_id", medium.id.get())?;
    if let Some(known) = known.into_iter().next() {
        return Ok(Some(known).filter(|known| !known.deleted));
    }
    if !is_usable(ctx, &medium)? {
        return Ok(None);
    }
    add_to_library(ctx, &medium).map(Some)
}

fn is_usable(ctx: &mut AccountContext<'_, '_>, medium: &Media) -> Result<bool, Error> {
    let caller = ctx.caller.user;
    let caller = promotable_users::find_by_user(ctx, caller)?.map(|_| caller);
    let mut usable = false;
    for user in promotable_users::find_own_user(ctx)?.into_iter().chain(caller) {
        usable = usable || medium.owner_id == user || media::is_shared(ctx.tx, medium.id, user)?;
    }
    let alive = medium.expires_at.is_none_or(|end| end > ctx.now());
    // Media attached only to messages are private to their participants, those of removed posts to nobody.
    Ok(alive && usable && !media::is_private(ctx.tx, medium.id)?)
}

fn add_to_library(ctx: &mut AccountContext<'_, '_>, medium: &Media) -> Result<AdsRecord, Error> {
    let known = ctx.list_records(&LIBRARY_MEDIA, "media_id", medium.id.get())?;
    let was_listed = known.iter().any(|known| !known.deleted);
    let mut params = ParsedParams::default();
    params.insert("media_key", medium.media_key.clone().into());
    params.insert("media_id", medium.id.get().into());
    let record = create(ctx, &LIBRARY_MEDIA, &params)?;
    if !was_listed && find_account_media(ctx, &medium.media_key)?.is_none() {
        create_account_media(ctx, medium)?;
    }
    Ok(record)
}

fn find_account_media(ctx: &mut AccountContext<'_, '_>, key: &str) -> Result<Option<AdsRecord>, Error> {
    let account = ctx.account_id()?;
    let rows = store::records::list_by_accounts(ctx.tx, ACCOUNT_MEDIA.name, &[account])?;
    let all = AdsRecord::from_rows(&ACCOUNT_MEDIA, rows)?;
    Ok(all.into_iter().find(|found| found.text("media_key") == key))
}

/// A medium is in a library at most once; one that was removed is restored.
fn find_duplicate(ctx: &mut AccountContext<'_, '_>, record: &AdsRecord) -> Result<Option<AdsRecord>, Error> {
    let id = record.int("media_id").unwrap_or(0);
    let known = ctx.list_records(&LIBRARY_MEDIA, "media_id", id)?;
    Ok(known.into_iter().next())
}

fn find_uploaded_media(ctx: &mut AccountContext<'_, '_>, key: &str) -> Result<Option<Media>, Error> {
    let Some(id) = key.split_once('_').and_then(|(_, id)| Id::parse(id)) else {
        return Ok(None);
    };
    let found = media::find_by_id(ctx.tx, id)?;
    Ok(found.filter(|found| found.media_key == key && found.kind != "subtitles"))
}

/// Creates account media for ad videos and for images of certain sizes.
fn create_account_media(ctx: &mut AccountContext<'_, '_>, medium: &Media) -> Result<(), Error> {
    let mut params = ParsedParams::default();
    if medium.media_key.starts_with("13_") {
        params.insert("creative_type", "PREROLL".into());
        params.insert("video_id", medium.media_key.clone().into());
    } else if let Some(kind) = creative_type_from_size(medium.width, medium.height)
        && medium.kind == "photo"
    {
        params.insert("creative_type", kind.into());
        let address = media_url(ctx, medium);
        params.insert("media_url", address.map_or(Value::Null, Value::from));
    } else {
        return Ok(());
    }
    params.insert("media_key", medium.media_key.clone().into());
    create(ctx, &ACCOUNT_MEDIA, &params).map(|_| ())
}

fn validate_video_fields(change: &RecordChange) -> Result<(), AdsProblem> {
    if !change.record.text("media_key").starts_with("3_") {
        return Ok(());
    }
    let sent = ["title", "description", "poster_media_key"];
    let sent = sent.into_iter().find(|name| change.record.get(name).is_some());
    sent.map_or(Ok(()), |name| Err(AdsProblem::invalid_attribute(name, format!("{name} is for videos only"))))
}

fn validate_poster(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    let key = change.record.text("poster_media_key").to_owned();
    if key.is_empty() || change.verb == ResourceVerb::Delete || !change.changes_field("poster_media_key") {
        return Ok(());
    }
    if find_library_media(ctx, &key)?.is_none() {
        return Err(media_not_found("poster_media_key", &key).into());
    }
    if !key.starts_with("3_") {
        let message = "A poster is an image";
        let problem = AdsProblem::invalid_parameter("poster_media_key", key, message);
        return Err(problem.with_code("INVALID_MEDIA").into());
    }
    Ok(())
}

/// Media in a library do not expire, like media in posts.
fn sync_file_lifetime(ctx: &mut AccountContext<'_, '_>, change: &RecordChange) -> Result<(), Error> {
    let id = Id::new(change.record.int("media_id").unwrap_or(0));
    match change.verb {
        ResourceVerb::Create => media::add_post_uses(ctx.tx, &[id])?,
        ResourceVerb::Delete => {
            // Until its file is deleted, the medium can be added again.
            let deleted_at = ctx.now().plus_ms(card_media::UNUSED_MEDIA_MS);
            media::remove_post_uses(ctx.tx, &[id], deleted_at)?;
            // Its ads would show a file that is gone.
            if let Some(found) = find_account_media(ctx, change.record.text("media_key"))? {
                delete(ctx, &ACCOUNT_MEDIA, found.id)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn media_url(ctx: &AccountContext<'_, '_>, medium: &Media) -> Option<String> {
    match medium.file_name() {
        Some(name) => Some(format!("{}/media/{name}", ctx.site.files_url)),
        None => Some(medium.url.clone()).filter(|url| !url.is_empty()),
    }
}

/// A preview image of a video or animation.
fn still_image_url(ctx: &AccountContext<'_, '_>, medium: &Media) -> Option<String> {
    if medium.size_path("small").is_some() {
        return Some(format!("{}?name=small", media_url(ctx, medium)?));
    }
    Some(medium.preview_image_url.clone()).filter(|url| !url.is_empty())
}

fn computed_fields(
    ctx: &mut AccountContext<'_, '_>,
    records: &[AdsRecord],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let keys = records.iter().flat_map(|record| [record.text("media_key"), record.text("poster_media_key")]);
    let known = card_media::find_by_keys(ctx, keys)?;
    let all = records.iter().map(|record| {
        // The files of deleted users are deleted.
        let Some(medium) = known.get(record.text("media_key")) else {
            return Ok(Vec::new());
        };
        let posted = is_posted(ctx, record, medium)?;
        Ok(file_fields(ctx, medium, known.get(record.text("poster_media_key")), posted))
    });
    all.collect()
}

fn is_posted(ctx: &mut AccountContext<'_, '_>, record: &AdsRecord, medium: &Media) -> Result<bool, Error> {
    // Libraries and cards count as uses, like posts. The uses of imported media may be unknown.
    let library = i64::from(!record.deleted);
    if medium.uses.is_some_and(|uses| uses <= library) {
        return Ok(false);
    }
    let authors = promotable_users::find_own_user(ctx)?.into_iter().chain([medium.owner_id]);
    for author in sorted_distinct(authors) {
        if !posts::list_posts_with_media(ctx.tx, author, medium)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn file_fields(
    ctx: &AccountContext<'_, '_>,
    medium: &Media,
    poster: Option<&Media>,
    posted: bool,
) -> Vec<(&'static str, Value)> {
    let poster = match poster {
        Some(poster) => media_url(ctx, poster),
        None => still_image_url(ctx, medium),
    };
    let (kind, word) = media_type_from_key(&medium.media_key);
    let plays = kind != "IMAGE";
    vec![
        ("media_type", kind.into()),
        ("media_category", word.name_in(ctx.caller.vocabulary).into()),
        // Media still being processed are not listed.
        ("media_status", "TRANSCODE_COMPLETED".into()),
        ("duration", (kind == "VIDEO").then_some(medium.duration_ms).into()),
        ("aspect_ratio", aspect_ratio(medium).filter(|_| plays).into()),
        ("posted", posted.into()),
        ("tweeted", posted.into()),
        ("media_url", media_url(ctx, medium).into()),
        ("poster_media_url", poster.filter(|_| medium.kind != "photo").into()),
    ]
}

fn media_type_from_key(key: &str) -> (&'static str, VocabularyWord) {
    let of_kind = |kind: &str| KEY_KINDS.iter().find(|(known, _)| *known == kind);
    let word = key.split('_').next().and_then(of_kind).map_or(POST_VIDEO, |(_, word)| *word);
    match word.post {
        "POST_IMAGE" => ("IMAGE", word),
        "POST_GIF" => ("GIF", word),
        _ => ("VIDEO", word),
    }
}

/// As cards show it; unknown if the size is.
fn aspect_ratio(medium: &Media) -> Option<String> {
    let (wide, high) = card_media::aspect_ratio(medium);
    (medium.width > 0 && medium.height > 0).then(|| format!("{wide}:{high}"))
}
