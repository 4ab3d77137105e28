//! Shared behaviour of drafts and scheduled posts: authorship, permissions and validation (contract
//! ads §4.11).

use ads_engine::{
    AccountContext, AdsRecord, CURSOR, FieldSpec, Kind, MediaKeyText, OperationOutput, ParsedParams, RecordChange,
    Resource, ResourceVerb, listing,
};
use base::refusal::AdsProblem;
use base::text::{MAX_POST_WEIGHT, extract_entities, weigh_text};
use base::{AppId, Error, PostId, UserId};
use network::posts::MAX_LONG_LENGTH;
use serde_json::Value;
use store::posts::{Post, PostState};
use store::records::RecordVisibility;

use crate::resources::all_cards::{find_card_type, short_id_cards};
use crate::resources::cards::CARD;
use crate::resources::promoted_posts::ContentTraits;
use crate::resources::{media_library, promotable_users};

/// The maximum text length in characters before weighted counting.
const MAX_TEXT_LENGTH: usize = 100_000;

pub const fn text_field() -> FieldSpec {
    FieldSpec::text("text", 0, MAX_TEXT_LENGTH).label("Text").default_word("")
}

pub const fn name_field() -> FieldSpec {
    FieldSpec::text("name", 1, 80).label("Name").help("Optional. Only visible to your team.")
}

pub const fn nullcast_field() -> FieldSpec {
    FieldSpec::new("nullcast", Kind::BOOL).label("Audience").default_flag(true)
}

pub const fn card_field() -> FieldSpec {
    FieldSpec::text("card_uri", 1, 64).label("Card").help("A post can have either a card or media, not both.")
}

pub const fn media_keys_field() -> FieldSpec {
    FieldSpec::new("media_keys", Kind::custom(&MediaKeyText).list(1, 4))
}

/// Lists are of one user's compositions.
pub const LIST_PARAMS: &[FieldSpec] =
    &[FieldSpec::new("count", Kind::int(1, 200)).default_number(100), CURSOR, FieldSpec::new("user_id", Kind::ID)];

/// A page of one user's compositions; by default the account's own user's.
pub fn list(
    ctx: &mut AccountContext<'_, '_>,
    resource: &'static Resource,
    params: &ParsedParams,
) -> Result<OperationOutput, Error> {
    let mut params = params.clone();
    if !params.has("user_id") {
        let full = promotable_users::find_own_user(ctx)?;
        params.insert("user_id", full.map_or(-1, UserId::get).into());
    }
    listing::list(ctx, resource, &params)
}

/// The post that a composition would become, or that exists in the sandbox only.
pub fn to_post(ctx: &mut AccountContext<'_, '_>, composition: &AdsRecord) -> Result<Post, Error> {
    let number = |name: &str| composition.resource.field(name).and_then(|_| composition.int(name));
    let reading = network::compose::compose_text(ctx.tx, composition.text("text"), false)?;
    let settings = composition.resource.field("conversation_settings");
    let settings = settings.map_or("", |_| composition.text("conversation_settings"));
    let user = UserId::new(composition.int("user_id").unwrap_or(0));
    Ok(Post {
        state: PostState::Live,
        text: reading.text,
        lang: reading.lang.to_owned(),
        entities: reading.entities,
        short_entities: reading.short_entities,
        context_annotations: reading.context_annotations,
        display_start: reading.display_start,
        display_end: reading.display_end,
        card_uri: composition.text("card_uri").to_owned(),
        media_keys: composition.texts("media_keys").join(","),
        nullcast: composition.flag("nullcast"),
        reply_settings: reply_settings(settings).to_owned(),
        repost_of_id: number("repost_of_id").map(PostId::new),
        app_id: number("app_id").map(AppId::new),
        ..Post::placeholder(PostId::new(composition.id), user, composition.created_at)
    })
}

pub fn reply_settings(word: &str) -> &'static str {
    match word {
        "FOLLOWING" => "following",
        "MENTIONED_USERS" => "mentionedUsers",
        _ => "",
    }
}

/// Whether the content of a composition suits a line item's objective.
pub fn suits_line_item(
    ctx: &mut AccountContext<'_, '_>,
    composition: &AdsRecord,
    item: &AdsRecord,
) -> Result<bool, Error> {
    let shows = ContentTraits {
        links: extract_entities(composition.text("text")).urls.len(),
        card_type: &find_card_type(ctx.tx, composition.text("card_uri"))?,
        media_keys: &composition.texts("media_keys"),
    };
    Ok(shows.suits_objective(item.text("objective")))
}

pub fn validate_composition(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    let author = resolve_author(ctx, change)?;
    require_write_access(ctx, author)?;
    if change.verb == ResourceVerb::Delete {
        return Ok(());
    }
    for (name, usual) in [("text", Value::from("")), ("nullcast", Value::from(1))] {
        if change.record.get(name).is_none() {
            change.record.set(name, usual);
        }
    }
    if !change.record.flag("nullcast") && ctx.caller.user != author {
        let message = "Only its author may write a post that is not for promotion only";
        let problem = AdsProblem::invalid_parameter("nullcast", false, message);
        return Err(problem.with_code("ACTION_NOT_ALLOWED").into());
    }
    let mut problems = Vec::new();
    problems.extend(check_text(ctx, change, author)?);
    problems.extend(check_media(ctx, change, author)?);
    problems.extend(check_card(ctx, change)?);
    if problems.is_empty() {
        return Ok(());
    }
    Err(base::Refusal::from(problems).into())
}

/// The author: the user the caller names, or the account's own user.
fn resolve_author(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<UserId, Error> {
    if !change.is_new() {
        return Ok(UserId::new(change.record.int("user_id").unwrap_or(0)));
    }
    let author = match change.record.int("as_user_id") {
        Some(id) => UserId::new(id),
        None => promotable_users::find_own_user(ctx)?.unwrap_or(ctx.caller.user),
    };
    let known = promotable_users::find_by_user(ctx, author)?;
    // Other promotable users only agreed to being reposted.
    let may_author =
        known.is_some_and(|known| known.text("promotable_user_type") == "FULL" || author == ctx.caller.user);
    if !may_author {
        let message = format!("The user {author} is not one in whose name this account may post");
        let problem = AdsProblem::invalid_parameter("as_user_id", author, message);
        return Err(problem.with_code("USER_NOT_FOUND").into());
    }
    change.record.set("user_id", author.get());
    Ok(author)
}

/// Refuses callers who may not compose for the account and are not the author.
pub fn require_write_access(ctx: &AccountContext<'_, '_>, author: UserId) -> Result<(), Error> {
    if ctx.account()?.may_compose_posts || ctx.caller.user == author {
        return Ok(());
    }
    let message = "The role on this account does not allow to write posts in its name";
    Err(AdsProblem::new("ACTION_NOT_ALLOWED", message).into())
}

fn check_text(
    ctx: &mut AccountContext<'_, '_>,
    change: &RecordChange,
    author: UserId,
) -> Result<Option<AdsProblem>, Error> {
    let text = change.record.text("text");
    if text.trim().is_empty() {
        let bare = change.record.items("media_keys").is_empty();
        return Ok(
            bare.then(|| AdsProblem::at_parameter("text", "TWEET_CANNOT_BE_BLANK", "A post needs a text or media"))
        );
    }
    if !change.changes_field("text") {
        return Ok(None);
    }
    let author = store::users::find_by_id(ctx.tx, author)?;
    let long = author.is_some_and(|author| author.subscription_type != "None");
    let max_length = if long { MAX_LONG_LENGTH } else { MAX_POST_WEIGHT };
    let weighed = weigh_text(text, 0..0);
    let message = if weighed.weight > max_length {
        format!("The text is too long: a post has at most {max_length} characters")
    } else if weighed.is_valid {
        return Ok(None);
    } else {
        "The text has characters that a post cannot have".to_owned()
    };
    let shown: String = text.chars().take(100).collect();
    Ok(Some(AdsProblem::invalid_parameter("text", shown, message)))
}

fn check_media(
    ctx: &mut AccountContext<'_, '_>,
    change: &RecordChange,
    author: UserId,
) -> Result<Option<AdsProblem>, Error> {
    if !change.changes_field("media_keys") {
        return Ok(None);
    }
    let keys = change.record.texts("media_keys");
    for key in &keys {
        let Some(medium) = media_library::find_library_media(ctx, key)? else {
            return Ok(Some(media_library::media_not_found("media_keys", key)));
        };
        if !media_library::may_be_posted_by(ctx, &medium, author)? {
            let message = format!("The media {key} is not shared with the author");
            let problem = AdsProblem::invalid_parameter("media_keys", key, message);
            return Ok(Some(problem.with_code("INVALID_MEDIA")));
        }
    }
    let pictures = keys.iter().all(|key| key.starts_with("3_"));
    if keys.len() > 1 && !pictures {
        let message = "A post has up to four images, or one animated GIF, or one video";
        let problem = AdsProblem::invalid_parameter("media_keys", keys.join(","), message);
        return Ok(Some(problem.with_code("INVALID_MEDIA")));
    }
    Ok(None)
}

fn check_card(ctx: &mut AccountContext<'_, '_>, change: &RecordChange) -> Result<Option<AdsProblem>, Error> {
    let uri = change.record.text("card_uri");
    if uri.is_empty() {
        return Ok(None);
    }
    if !change.record.items("media_keys").is_empty() {
        let message = "A post has a card or media, and not both";
        return Ok(Some(AdsProblem::invalid_attribute("card_uri", message)));
    }
    if !change.changes_field("card_uri") || is_live_card(ctx, uri)? {
        return Ok(None);
    }
    let message = format!("The card {uri} was not found");
    let problem = AdsProblem::invalid_parameter("card_uri", uri, message);
    Ok(Some(problem.with_code("CARD_NOT_FOUND")))
}

/// Whether a URI is of a card of the account that was not deleted.
fn is_live_card(ctx: &mut AccountContext<'_, '_>, uri: &str) -> Result<bool, Error> {
    let Some(id) = uri.strip_prefix("card://").and_then(|id| id.parse().ok()) else {
        return Ok(false);
    };
    let found = ctx.find_record(&CARD, id)?;
    if found.is_some_and(|card| card.level == RecordVisibility::Listed) {
        return Ok(true);
    }
    for resource in short_id_cards() {
        if !ctx.list_visible_records(resource, "uri", id)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}
