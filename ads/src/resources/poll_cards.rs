//! Poll cards: polls that posts carry. All posts with a card share its votes.

use ads_engine::field_kind::format_time;
use ads_engine::{
    AccountContext, AdsRecord, DeleteMode, FeatureGate, FieldSpec, Kind, ListFilter, MediaKeyText, RecordChange,
    RequiredRole, Resource, ResourceVerb, ValidationRule,
};
use base::refusal::AdsProblem;
use base::time::MINUTE_MS;
use base::{Error, PostId, Time, VocabularyWord};
use serde_json::Value;
use store::polls::{self, Poll, PollChoice};

use crate::resources::all_cards::SHORT_CARD_SEQUENCE;
use crate::resources::card_media::{self, AspectRatio, MediaByKey};

pub static POLL_CARD: Resource = Resource {
    name: "poll_card",
    id: VocabularyWord::same_in_both("card_id"),
    path: "cards/poll",
    label: "poll card",
    operation_ids: &[(ResourceVerb::List, "getAdsPollCards")],
    not_found: "CARD_NOT_FOUND",
    sequence: SHORT_CARD_SEQUENCE,
    fields: &[
        FieldSpec::text("name", 1, 80).label("Name").help("Only visible to your team.").required(),
        FieldSpec::text("first_choice", 1, 25).label("First choice").help("At most 25 characters.").required().hidden(),
        FieldSpec::text("second_choice", 1, 25).label("Second choice").required().hidden(),
        FieldSpec::text("third_choice", 1, 25).label("Third choice").hidden(),
        FieldSpec::text("fourth_choice", 1, 25).label("Fourth choice").hidden(),
        FieldSpec::new("duration_in_minutes", Kind::int(5, 10_080)).label("Voting period").required().hidden(),
        FieldSpec::new("media_key", Kind::custom(&MediaKeyText))
            .label("Image or video")
            .help("A 1.91:1 image or a 16:9 video, if the account is allowed to use media in polls.")
            .advanced()
            .hidden()
            .requires_features(&[FeatureGate::new("PROMOTED_MEDIA_POLLS").applies_always()]),
        FieldSpec::one_of("card_type", &["TEXT_POLLS", "IMAGE_POLLS", "VIDEO_POLLS"])
            .set_by_server()
            .default_word("TEXT_POLLS"),
        FieldSpec::new("uri", Kind::LONG).set_by_server().hidden(),
    ],
    filters: &[ListFilter::ids("card_ids", "id", &POLL_CARD)],
    max_name_prefix: 80,
    verbs: &[ResourceVerb::List, ResourceVerb::Get, ResourceVerb::Create, ResourceVerb::Delete],
    read_role: RequiredRole::CreativeReader,
    write_role: RequiredRole::CreativeWriter,
    rules: &[ValidationRule::OnRecord(validate_choice_order), ValidationRule::InContext(sync_poll)],
    delete_mode: DeleteMode::Hard,
    constant_echo: &[("card_type", "poll")],
    compute_fields: Some(computed_fields),
    ..Resource::DEFAULT
};

const CHOICES: [&str; 4] = ["first_choice", "second_choice", "third_choice", "fourth_choice"];

fn validate_choice_order(change: &RecordChange) -> Result<(), AdsProblem> {
    let has = |name| change.record.get(name).is_some();
    if has("fourth_choice") && !has("third_choice") {
        return Err(AdsProblem::at_parameter(
            "fourth_choice",
            "INCLUSIVE_PARAMETERS",
            "fourth_choice needs third_choice",
        ));
    }
    Ok(())
}

/// The poll is created and deleted with the card.
fn sync_poll(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    let key = change.record.text("media_key").to_owned();
    let keys: Vec<&str> = Some(key.as_str()).filter(|key| !key.is_empty()).into_iter().collect();
    if change.verb == ResourceVerb::Delete {
        polls::delete_standalone(ctx.tx, change.record.int("uri").unwrap_or(0))?;
        return card_media::update_media_references(ctx, &keys, &[]);
    }
    if !keys.is_empty() {
        let media = card_media::require_library_media(ctx, "media_key", &key)?;
        let kind = if card_media::is_image(&media) {
            card_media::check_image("media_key", &media, &[AspectRatio::Wide])?;
            "IMAGE_POLLS"
        } else {
            card_media::check_video("media_key", &media, &[AspectRatio::Widescreen])?;
            "VIDEO_POLLS"
        };
        change.record.set("card_type", kind);
        card_media::update_media_references(ctx, &[], &keys)?;
    }
    let id = ctx.tx.next_id::<base::id::marker::PollMarker>().get();
    change.record.set("uri", id);
    let poll = Poll {
        id,
        post_id: PostId::new(id),
        duration_minutes: change.record.int("duration_in_minutes").unwrap_or(0),
        ends_at: ends_at(&change.record),
        options: poll_choices(&change.record),
    };
    Ok(polls::insert_standalone(ctx.tx, &poll)?)
}

fn poll_choices(card: &AdsRecord) -> Vec<PollChoice> {
    let labels = CHOICES.iter().map(|name| card.text(name).trim());
    let labels = labels.filter(|label| !label.is_empty());
    (1..).zip(labels).map(|(choice, label)| PollChoice { number: choice, label: label.to_owned(), votes: 0 }).collect()
}

fn ends_at(card: &AdsRecord) -> Time {
    let minutes = card.int("duration_in_minutes").unwrap_or(0);
    card.created_at.plus_ms(minutes * MINUTE_MS)
}

fn computed_fields(
    ctx: &mut AccountContext<'_, '_>,
    cards: &[AdsRecord],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let known = card_media::find_by_keys(ctx, cards.iter().filter_map(media_key))?;
    let all = cards.iter().map(|card| card_fields(ctx, card, &known));
    Ok(all.collect())
}

fn media_key(card: &AdsRecord) -> Option<&str> {
    Some(card.text("media_key")).filter(|key| !key.is_empty())
}

fn card_fields(
    ctx: &AccountContext<'_, '_>,
    card: &AdsRecord,
    media_by_key: &MediaByKey,
) -> Vec<(&'static str, Value)> {
    let mut all = vec![("start_time", Value::from(format_time(card.created_at)))];
    if card.deleted {
        return all;
    }
    for name in CHOICES {
        all.extend(card.get(name).map(|choice| (name, choice.clone())));
    }
    let minutes = card.int("duration_in_minutes").unwrap_or(0);
    all.push(("end_time", format_time(ends_at(card)).into()));
    all.push(("duration_in_minutes", minutes.to_string().into()));
    let uri = card.int("uri").unwrap_or(0);
    all.push(("card_uri", format!("card://{uri}").into()));
    let Some(media) = media_key(card).and_then(|key| media_by_key.get(key)) else {
        return all;
    };
    let (width, height) = (media.width.to_string(), media.height.to_string());
    let url = card_media::media_url(ctx, media);
    if card_media::is_image(media) {
        all.push(("image", url));
        all.push(("image_display_width", width.into()));
        all.push(("image_display_height", height.into()));
        return all;
    }
    all.extend([
        ("video_url", url),
        // Videos are stored as one file; there are no stream segments.
        ("video_hls_url", Value::Null),
        ("video_width", width.clone().into()),
        ("video_height", height.clone().into()),
        ("video_poster_url", card_media::poster_url(ctx, media)),
        ("video_poster_width", width.into()),
        ("video_poster_height", height.into()),
        ("video_owner_id", media.owner_id.to_string().into()),
        ("video_content_id", media.id.to_string().into()),
        ("content_duration_seconds", card_media::duration_seconds(media).into()),
    ]);
    all
}
