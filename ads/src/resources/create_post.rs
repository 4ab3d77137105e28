//! Publishes a post at once in the name of a user of the account (contract ads §4.11).

use ads_engine::engine::ensure_valid_params;
use ads_engine::{
    AccountContext, AdsRecord, CONSOLE_APP_ID, CustomOperation, FieldSpec, Kind, OperationOutput, ParsedParams,
    RecordChange, RequiredRole, ResourceVerb,
};
use base::refusal::AdsProblem;
use base::{Error, Id, PostId, Refusal, UserId, VocabularyWord};
use network::posts::{NewPost, PostAuthor, create};
use serde_json::Value;
use view::StatusForm;

use crate::resources::account_posts::{self, ACCOUNT_POST, CONVERSATION_SETTINGS};
use crate::resources::compositions::{media_keys_field, reply_settings, text_field, validate_composition};
use crate::resources::media_library;
use crate::resources::posts::{self, PostWithAccountRecord, TRIM_USER};

pub static OPERATIONS: &[CustomOperation] = &[CustomOperation::post("createAdsPost", "<post>", publish_post)
    .summary("Publishes a post in the name of a user of the account.")
    .requires_role(RequiredRole::PostWriter)
    .params(&[
        FieldSpec::new("as_user_id", Kind::LONG).required(),
        text_field(),
        FieldSpec::text("card_uri", 1, 64),
        FieldSpec::one_of("conversation_settings", CONVERSATION_SETTINGS).default_word("EVERYONE"),
        media_keys_field(),
        FieldSpec::text("name", 1, 80),
        FieldSpec::new("nullcast", Kind::BOOL).default_flag(true),
        TRIM_USER,
        FieldSpec::new("post_mode", Kind::one_of(&["compat", "extended"])).legacy_name("tweet_mode"),
        FieldSpec::one_of("video_cta", &["VISIT_SITE", "WATCH_NOW"]),
        FieldSpec::url("video_cta_value"),
        FieldSpec::text("video_description", 1, 200),
        FieldSpec::text("video_title", 1, 70),
    ])];

/// Fields stored as sent.
const RECORDED_FIELDS: &[&str] = &[
    "as_user_id",
    "text",
    "card_uri",
    "conversation_settings",
    "media_keys",
    "name",
    "nullcast",
    "video_cta",
    "video_cta_value",
];

fn publish_post(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    validate_call_to_action(params)?;
    let mut record = AdsRecord::new(&ACCOUNT_POST, 0, ctx.account_id()?, ctx.now());
    let mut sent = Vec::new();
    for name in RECORDED_FIELDS.iter().copied() {
        if let Some(value) = params.get(name) {
            record.set(name, value.clone());
            sent.push(name);
        }
    }
    let mut change = RecordChange { verb: ResourceVerb::Create, record, before: None, sent_fields: sent };
    validate_composition(ctx, &mut change)?;
    let mut record = change.record;
    apply_video_details(ctx, params, &mut record)?;
    let seen = if ctx.account()?.record.flag("sandbox") {
        let id: PostId = ctx.tx.next_id();
        account_posts::record_published_post(ctx, &record, id)?;
        posts::find_by_ids(ctx, "PUBLISHED", &[id.get()])?.pop()
    } else {
        let post = create_platform_post(ctx, &record)?;
        account_posts::record_published_post(ctx, &record, post.id)?;
        let has_details = account_posts::find_by_post(ctx, post.id.get())?;
        Some(PostWithAccountRecord::from_published(post, has_details))
    };
    let form =
        StatusForm { extended: params.text("post_mode") == Some("extended"), trim_user: params.flag("trim_user") };
    let shown = posts::render_posts(ctx, seen.into_iter().collect(), form)?;
    Ok(OperationOutput::from_value(shown.get(0).cloned().unwrap_or_default()))
}

/// A call to action and its URL require each other.
fn validate_call_to_action(params: &ParsedParams) -> Result<(), AdsProblem> {
    for (one, other) in [("video_cta", "video_cta_value"), ("video_cta_value", "video_cta")] {
        if params.has(one) && !params.has(other) {
            return Err(AdsProblem::at_parameter(other, "INCLUSIVE_PARAMETERS", format!("{one} needs {other}")));
        }
    }
    Ok(())
}

/// Stores a video's metadata in the library, and its call to action with the post. Other media have neither.
fn apply_video_details(
    ctx: &mut AccountContext<'_, '_>,
    params: &ParsedParams,
    record: &mut AdsRecord,
) -> Result<(), Error> {
    let keys = record.texts("media_keys");
    let video = keys.first().filter(|key| !key.starts_with("3_") && !key.starts_with("16_"));
    let Some(key) = video.map(|key| (*key).to_owned()) else {
        record.set("video_cta", Value::Null);
        record.set("video_cta_value", Value::Null);
        return Ok(());
    };
    let Some(mut media) = media_library::find_library_media(ctx, &key)? else {
        return Ok(());
    };
    let mut has_details = false;
    for (sent, name) in [("video_title", "title"), ("video_description", "description")] {
        if let Some(value) = params.get(sent) {
            media.set(name, value.clone());
            has_details = true;
        }
    }
    if has_details {
        media.updated_at = ctx.now();
        ctx.save_record(&media)?;
    }
    Ok(())
}

fn create_platform_post(ctx: &mut AccountContext<'_, '_>, record: &AdsRecord) -> Result<store::posts::Post, Error> {
    let author = PostAuthor {
        user_id: UserId::new(record.int("user_id").unwrap_or(0)),
        app_id: ctx.caller.app.filter(|app| *app != CONSOLE_APP_ID),
        self_serve: false,
    };
    let keys = record.texts("media_keys");
    let keys = keys.iter().filter_map(|key| key.split_once('_'));
    let new = NewPost {
        text: record.text("text").to_owned(),
        media_ids: keys.filter_map(|(_, id)| Id::parse(id)).collect(),
        nullcast: record.flag("nullcast"),
        card_uri: record.text("card_uri").to_owned(),
        reply_settings: reply_settings(record.text("conversation_settings")).to_owned(),
        ..NewPost::default()
    };
    create(ctx.tx, &author, &new).map_err(|stop| match stop {
        Error::Refused(Refusal::Forbidden { code: Some(187), .. }) => {
            let message = "The user has posted the same within the last day";
            let name = VocabularyWord::same_in_both("text").name_in(ctx.caller.vocabulary);
            AdsProblem::at_parameter(name, "DUPLICATE_TWEET", message).into()
        }
        other => other,
    })
}
