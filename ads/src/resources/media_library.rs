//! The media library: what the account's own user uploaded, with what the account says of it
//! (contract §4.10). A medium is in it until it is removed, and does not expire while it is.

use base::refusal::AdsProblem;
use base::{Error, Id, Vocabulary, VocabularyWord};
use serde_json::{Map, Value, json};
use store::media::{self, Media};

use crate::access::Who;
use crate::answer::Answer;
use crate::change::Change;
use crate::declare::{CURSOR, Custom, Field, Need, Resource, Rule, Verb};
use crate::desk::Desk;
use crate::engine::{checked, create, delete, show_one, update};
use crate::given::Given;
use crate::kind::{Kind, instant};
use crate::listing;
use crate::record::Record;
use crate::resources::account_media::{ACCOUNT_MEDIA, of_measures};
use crate::resources::{card_media, promotable_users};

/// What an account says of a medium.
pub static LIBRARY_MEDIA: Resource = Resource {
    name: "library_media",
    id: VocabularyWord::same_in_both("library_media_id"),
    path: "media_library",
    about: "media of the library",
    not_found: "MEDIA_NOT_FOUND",
    fields: &[
        Field::new("media_key", Kind::MediaKey).required().fixed(),
        NAME,
        FILE_NAME,
        TITLE,
        DESCRIPTION,
        POSTER,
        Field::new("media_id", Kind::Long)
            .required()
            .fixed()
            .hidden(),
    ],
    count: (20, 50),
    verbs: &[],
    rules: &[
        Rule::Own(says_of_videos_only),
        Rule::Within(has_a_picture_as_poster),
    ],
    twin: Some(twin),
    after: Some(after),
    shows: Some(shows),
    ..Resource::DEFAULT
};

const NAME: Field = Field::text("name", 1, 100);
const FILE_NAME: Field = Field::text("file_name", 1, 255);
const TITLE: Field = Field::text("title", 1, 70);
const DESCRIPTION: Field = Field::text("description", 1, 200);
const POSTER: Field = Field::new("poster_media_key", Kind::MediaKey);
const KEY: Field = Field::new("media_key", Kind::MediaKey)
    .required()
    .update(Need::Must);

/// What can be done to media of the library.
pub static OPERATIONS: &[Custom] = &[
    Custom::get(
        "getAdsMediaLibrary",
        "media_library",
        "A page of the media library.",
        list,
    )
    .who(Who::CreativeReader)
    .params(&[
        Field::new("count", Kind::Int(1, 50)).or_number(20),
        CURSOR,
        Field::one_of("media_type", &["GIF", "IMAGE", "VIDEO"]),
        Field::text("q", 1, 255),
    ]),
    Custom::get(
        "getAdsLibraryMedia",
        "media_library/{media_key}",
        "A medium of the library.",
        one,
    )
    .who(Who::CreativeReader)
    .params(&[KEY]),
    Custom::change(
        "POST",
        "addAdsLibraryMedia",
        "media_library",
        "Takes a medium that was uploaded into the library.",
        add,
    )
    .who(Who::CreativeWriter)
    .params(&[KEY, NAME, FILE_NAME, TITLE, DESCRIPTION, POSTER]),
    Custom::change(
        "PUT",
        "updateAdsLibraryMedia",
        "media_library/{media_key}",
        "Changes what is said of a medium of the library.",
        change,
    )
    .who(Who::CreativeWriter)
    .params(&[KEY, NAME, FILE_NAME, TITLE, DESCRIPTION, POSTER]),
    Custom::change(
        "DELETE",
        "deleteAdsLibraryMedia",
        "media_library/{media_key}",
        "Removes a medium from the library.",
        remove,
    )
    .who(Who::CreativeWriter)
    .params(&[KEY]),
];

fn list(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    let kind = given.text("media_type").map(str::to_owned);
    let term = given.text("q").unwrap_or_default().to_lowercase();
    if kind.is_none() && term.is_empty() {
        return listing::list(desk, &LIBRARY_MEDIA, given);
    }
    listing::kept(desk, &LIBRARY_MEDIA, given, &|record| {
        let is_of_kind = |kind| kind_of(record.text("media_key")).0 == kind;
        let holds = |name: &&str| record.text(name).to_lowercase().contains(&term);
        kind.as_deref().is_none_or(is_of_kind) && FOUND_BY.iter().any(holds)
    })
}

/// Where a term is looked for.
const FOUND_BY: &[&str] = &["name", "title", "file_name", "description"];

fn one(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let record = looked_up(desk, given)?;
    answered(desk, &record)
}

/// The medium that a look names. Looking does not take it in.
fn looked_up(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Record, Error> {
    let key = given.text("media_key").unwrap_or_default();
    let known = match medium(desk, key)? {
        Some(medium) => desk.with(&LIBRARY_MEDIA, "media_id", medium.id.get())?,
        None => Vec::new(),
    };
    let known = known.into_iter().find(|known| !known.deleted);
    known.ok_or_else(|| not_there("media_key", key).into())
}

/// Takes a medium in; one that was there already is the same with what is said of it now.
fn add(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let key = given.text("media_key").unwrap_or_default();
    let now = desk.now();
    let alive = |medium: &Media| medium.expires_at.is_none_or(|end| end > now);
    let Some(medium) = medium(desk, key)?.filter(alive) else {
        return Err(not_there("media_key", key).into());
    };
    if !is_usable(desk, &medium)? {
        let message = format!("The media {key} is not one that this account may use");
        let problem = AdsProblem::invalid_parameter("media_key", key, message);
        return Err(problem.with_code("INVALID_MEDIA").into());
    }
    let record = take_in(desk, &medium)?;
    let record = update(desk, &LIBRARY_MEDIA, record.id, given)?;
    answered(desk, &record)
}

fn change(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let record = named(desk, given)?;
    let record = update(desk, &LIBRARY_MEDIA, record.id, given)?;
    answered(desk, &record)
}

fn remove(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let record = named(desk, given)?;
    let record = delete(desk, &LIBRARY_MEDIA, record.id)?;
    answered(desk, &record)
}

fn named(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Record, Error> {
    let key = given.text("media_key").unwrap_or_default();
    let found = taken_in(desk, key)?;
    found.ok_or_else(|| not_there("media_key", key).into())
}

/// That a medium is not in the library.
pub fn not_there(parameter: &'static str, key: &str) -> AdsProblem {
    let message = format!("The media {key} was not found in the media library");
    AdsProblem::invalid_parameter(parameter, key, message).with_code("MEDIA_NOT_FOUND")
}

/// A medium of the library: what the account's own user uploaded or may use, unless it was
/// removed.
pub fn taken_in(desk: &mut Desk<'_, '_>, key: &str) -> Result<Option<Record>, Error> {
    let Some(medium) = medium(desk, key)? else {
        return Ok(None);
    };
    let known = desk.with(&LIBRARY_MEDIA, "media_id", medium.id.get())?;
    if let Some(known) = known.into_iter().next() {
        return Ok(Some(known).filter(|known| !known.deleted));
    }
    if !is_usable(desk, &medium)? {
        return Ok(None);
    }
    take_in(desk, &medium).map(Some)
}

/// Whether the account's own user uploaded a medium, or may use it.
fn is_usable(desk: &mut Desk<'_, '_>, medium: &Media) -> Result<bool, Error> {
    let Some(full) = promotable_users::full(desk)? else {
        return Ok(false);
    };
    let alive = medium.expires_at.is_none_or(|end| end > desk.now());
    let usable = medium.owner_id == full || media::is_shared(desk.tx, medium.id, full)?;
    // What only messages carry is for those who read them.
    Ok(alive && usable && !media::is_message_only(desk.tx, medium.id)?)
}

fn take_in(desk: &mut Desk<'_, '_>, medium: &Media) -> Result<Record, Error> {
    let is_new = desk
        .with(&LIBRARY_MEDIA, "media_id", medium.id.get())?
        .is_empty();
    let mut given = Given::default();
    given.put("media_key", medium.media_key.clone().into());
    given.put("media_id", medium.id.get().into());
    let record = create(desk, &LIBRARY_MEDIA, &given)?;
    if is_new {
        show_elsewhere(desk, medium)?;
    }
    Ok(record)
}

/// A medium is in a library once; one that was removed comes back as it was.
fn twin(desk: &mut Desk<'_, '_>, record: &Record) -> Result<Option<Record>, Error> {
    let id = record.int("media_id").unwrap_or(0);
    let known = desk.with(&LIBRARY_MEDIA, "media_id", id)?;
    Ok(known.into_iter().next())
}

fn medium(desk: &mut Desk<'_, '_>, key: &str) -> Result<Option<Media>, Error> {
    let Some(id) = key.split_once('_').and_then(|(_, id)| Id::parse(id)) else {
        return Ok(None);
    };
    let found = media::find_by_id(desk.tx, id)?;
    Ok(found.filter(|found| found.media_key == key && found.kind != "subtitles"))
}

/// Videos for advertising and pictures of certain measures become media that creatives show.
fn show_elsewhere(desk: &mut Desk<'_, '_>, medium: &Media) -> Result<(), Error> {
    let mut given = Given::default();
    if medium.media_key.starts_with("13_") {
        given.put("creative_type", "PREROLL".into());
        given.put("video_id", medium.media_key.clone().into());
    } else if let Some(kind) = of_measures(medium.width, medium.height)
        && medium.kind == "photo"
    {
        given.put("creative_type", kind.into());
        let address = address(desk, medium);
        given.put("media_url", address.map_or(Value::Null, Value::from));
    } else {
        return Ok(());
    }
    given.put("media_key", medium.media_key.clone().into());
    create(desk, &ACCOUNT_MEDIA, &given).map(|_| ())
}

fn says_of_videos_only(change: &Change) -> Result<(), AdsProblem> {
    if !change.record.text("media_key").starts_with("3_") {
        return Ok(());
    }
    let sent = ["title", "description", "poster_media_key"];
    let sent = sent
        .into_iter()
        .find(|name| change.record.get(name).is_some());
    sent.map_or(Ok(()), |name| {
        Err(AdsProblem::invalid_attribute(
            name,
            format!("{name} is for videos only"),
        ))
    })
}

fn has_a_picture_as_poster(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    let key = change.record.text("poster_media_key").to_owned();
    if key.is_empty() || change.verb == Verb::Delete || !change.changes("poster_media_key") {
        return Ok(());
    }
    if taken_in(desk, &key)?.is_none() {
        return Err(not_there("poster_media_key", &key).into());
    }
    if !key.starts_with("3_") {
        let message = "A poster is an image";
        let problem = AdsProblem::invalid_parameter("poster_media_key", key, message);
        return Err(problem.with_code("INVALID_MEDIA").into());
    }
    Ok(())
}

/// What is in a library stays, as what is in a post does.
fn after(desk: &mut Desk<'_, '_>, change: &Change) -> Result<(), Error> {
    let id = Id::new(change.record.int("media_id").unwrap_or(0));
    match change.verb {
        Verb::Create => media::add_post_uses(desk.tx, &[id])?,
        Verb::Delete => {
            let now = desk.now();
            media::remove_post_uses(desk.tx, &[id], now)?;
        }
        _ => {}
    }
    Ok(())
}

fn address(desk: &Desk<'_, '_>, medium: &Media) -> Option<String> {
    match medium.file_name() {
        Some(name) => Some(format!("{}/media/{name}", desk.site)),
        None => Some(medium.url.clone()).filter(|url| !url.is_empty()),
    }
}

/// A picture of something that plays.
fn still(desk: &Desk<'_, '_>, medium: &Media) -> Option<String> {
    if medium.size_path("small").is_some() {
        return Some(format!("{}?name=small", address(desk, medium)?));
    }
    Some(medium.preview_image_url.clone()).filter(|url| !url.is_empty())
}

fn answered(desk: &mut Desk<'_, '_>, record: &Record) -> Result<Answer, Error> {
    Ok(Answer::raw(show_one(desk, record)?))
}

fn shows(desk: &mut Desk<'_, '_>, records: &[Record]) -> Result<Vec<String>, Error> {
    let keys = records
        .iter()
        .flat_map(|record| [record.text("media_key"), record.text("poster_media_key")]);
    let known = card_media::find(desk, keys)?;
    let all = records.iter().map(|record| {
        let key = record.text("media_key");
        let poster = known.get(record.text("poster_media_key"));
        let mut members = record.spoken(desk.caller.speech);
        // The file of a user who left goes with them.
        if let Some(medium) = known.get(key) {
            members.extend(shown(desk, record, medium, poster));
        }
        for (name, at) in [
            ("created_at", record.created_at),
            ("updated_at", record.updated_at),
        ] {
            members.insert(name.to_owned(), instant(at).into());
        }
        members.insert("deleted".to_owned(), record.deleted.into());
        Value::Object(members).to_string()
    });
    Ok(all.collect())
}

fn shown(
    desk: &Desk<'_, '_>,
    record: &Record,
    medium: &Media,
    poster: Option<&Media>,
) -> Map<String, Value> {
    let poster = match poster {
        Some(poster) => address(desk, poster),
        None => still(desk, medium),
    };
    let speech = desk.caller.speech;
    let mut members = facts(medium, speech, record.deleted);
    let plays = medium.kind != "photo";
    members.insert("media_url".to_owned(), address(desk, medium).into());
    members.insert(
        "poster_media_url".to_owned(),
        poster.filter(|_| plays).into(),
    );
    members
}

/// What a medium is, by its key.
fn kind_of(key: &str) -> (&'static str, VocabularyWord) {
    match key.split('_').next() {
        Some("3") => ("IMAGE", VocabularyWord::new("POST_IMAGE", "TWEET_IMAGE")),
        Some("16") => ("GIF", VocabularyWord::new("POST_GIF", "TWEET_GIF")),
        Some("13") => ("VIDEO", VocabularyWord::same_in_both("AMPLIFY_VIDEO")),
        _ => ("VIDEO", VocabularyWord::new("POST_VIDEO", "TWEET_VIDEO")),
    }
}

/// What the file itself says.
fn facts(medium: &Media, speech: Vocabulary, removed: bool) -> Map<String, Value> {
    let (kind, word) = kind_of(&medium.media_key);
    let plays = kind != "IMAGE";
    let duration = (kind == "VIDEO").then_some(medium.duration_ms);
    // The library carries it as well as posts do.
    let library = i64::from(!removed);
    let posted = medium.uses.is_none_or(|uses| uses > library);
    let members = json!({
        "media_type": kind,
        "media_category": word.name_in(speech),
        // What is processed still is not to be found yet.
        "media_status": "TRANSCODE_COMPLETED",
        "duration": duration,
        "aspect_ratio": ratio(medium).filter(|_| plays),
        "posted": posted,
        "tweeted": posted,
    });
    match members {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Width to height in their least terms: `16:9`.
fn ratio(medium: &Media) -> Option<String> {
    let (mut one, mut other) = (medium.width, medium.height);
    if one <= 0 || other <= 0 {
        return None;
    }
    while other > 0 {
        (one, other) = (other, one % other);
    }
    Some(format!("{}:{}", medium.width / one, medium.height / one))
}
