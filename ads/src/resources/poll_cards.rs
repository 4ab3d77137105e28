//! Poll cards: a question that posts carry. All posts with the same card share its votes.

use base::refusal::{AdsProblem, ProblemLocation};
use base::{Error, PostId, Time, VocabularyWord};
use serde_json::Value;
use store::polls::{self, Poll, PollChoice};

use crate::access::Who;
use crate::change::Change;
use crate::declare::{Delete, Field, Filter, Gate, Resource, Rule, Verb};
use crate::desk::Desk;
use crate::kind::{Kind, instant};
use crate::record::Record;
use crate::resources::card_media::{self, Frame, Known};
use crate::resources::cards_of_any_kind::SEQUENCE;

/// A poll card.
pub static POLL_CARD: Resource = Resource {
    name: "poll_card",
    id: VocabularyWord::same_in_both("card_id"),
    path: "cards/poll",
    about: "poll card",
    not_found: "CARD_NOT_FOUND",
    sequence: SEQUENCE,
    fields: &[
        Field::text("name", 1, 80).required(),
        Field::text("first_choice", 1, 25).required().hidden(),
        Field::text("second_choice", 1, 25).required().hidden(),
        Field::text("third_choice", 1, 25).hidden(),
        Field::text("fourth_choice", 1, 25).hidden(),
        Field::new("duration_in_minutes", Kind::Int(5, 10_080))
            .required()
            .hidden(),
        Field::new("media_key", Kind::MediaKey)
            .hidden()
            .gated(&[Gate::new("PROMOTED_MEDIA_POLLS").always()]),
        Field::one_of("card_type", &["TEXT_POLLS", "IMAGE_POLLS", "VIDEO_POLLS"])
            .kept()
            .or("TEXT_POLLS"),
        Field::new("uri", Kind::Long).kept().hidden(),
    ],
    filters: &[Filter::ids("card_ids", "id", &POLL_CARD)],
    prefix: 80,
    verbs: &[Verb::List, Verb::Get, Verb::Create, Verb::Delete],
    reads: Who::CreativeReader,
    writes: Who::CreativeWriter,
    rules: &[
        Rule::Own(has_words_to_choose),
        Rule::Own(has_no_gap),
        Rule::Within(open),
    ],
    delete: Delete::Hard,
    echoes: &[("card_type", "poll")],
    computed: Some(computed),
    ..Resource::DEFAULT
};

const CHOICES: [&str; 4] = [
    "first_choice",
    "second_choice",
    "third_choice",
    "fourth_choice",
];
const MINUTE_MS: i64 = 60_000;

fn has_words_to_choose(change: &Change) -> Result<(), AdsProblem> {
    let blank = |name: &&&str| {
        let text = change.record.text(name);
        !text.is_empty() && text.trim().is_empty()
    };
    match CHOICES.iter().find(blank) {
        Some(name) => {
            let message = format!("Expected String of length 1..25, got \"\" for {name}");
            Err(AdsProblem::invalid_parameter(*name, "", message))
        }
        None => Ok(()),
    }
}

fn has_no_gap(change: &Change) -> Result<(), AdsProblem> {
    let has = |name| change.record.get(name).is_some();
    if has("fourth_choice") && !has("third_choice") {
        return Err(AdsProblem {
            location: ProblemLocation::Parameter("fourth_choice".into()),
            ..AdsProblem::new("INCLUSIVE_PARAMETERS", "fourth_choice needs third_choice")
        });
    }
    Ok(())
}

/// The poll itself opens with the card and goes with it.
fn open(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    let key = change.record.text("media_key").to_owned();
    let keys: Vec<&str> = Some(key.as_str())
        .filter(|key| !key.is_empty())
        .into_iter()
        .collect();
    if change.verb == Verb::Delete {
        polls::delete_standalone(desk.tx, change.record.int("uri").unwrap_or(0))?;
        return card_media::carry(desk, &keys, &[]);
    }
    if !keys.is_empty() {
        let media = card_media::need(desk, "media_key", &key)?;
        let kind = if card_media::is_image(&media) {
            card_media::check_image("media_key", &media, &[Frame::Wide])?;
            "IMAGE_POLLS"
        } else {
            card_media::check_video("media_key", &media, &[Frame::Film])?;
            "VIDEO_POLLS"
        };
        change.record.set("card_type", kind);
        card_media::carry(desk, &[], &keys)?;
    }
    let id = desk.tx.next_id::<base::id::marker::PollMarker>().get();
    change.record.set("uri", id);
    let poll = Poll {
        id,
        post_id: PostId::new(id),
        duration_minutes: change.record.int("duration_in_minutes").unwrap_or(0),
        ends_at: ends_at(&change.record),
        options: choices(&change.record),
    };
    Ok(polls::insert_standalone(desk.tx, &poll)?)
}

fn choices(card: &Record) -> Vec<PollChoice> {
    let labels = CHOICES.iter().map(|name| card.text(name).trim());
    let labels = labels.filter(|label| !label.is_empty());
    (1..)
        .zip(labels)
        .map(|(choice, label)| PollChoice {
            number: choice,
            label: label.to_owned(),
            votes: 0,
        })
        .collect()
}

fn ends_at(card: &Record) -> Time {
    let minutes = card.int("duration_in_minutes").unwrap_or(0);
    card.created_at.plus_ms(minutes * MINUTE_MS)
}

fn computed(
    desk: &mut Desk<'_, '_>,
    cards: &[Record],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let known = card_media::find(desk, cards.iter().filter_map(media_key))?;
    let all = cards.iter().map(|card| members(desk, card, &known));
    Ok(all.collect())
}

fn media_key(card: &Record) -> Option<&str> {
    Some(card.text("media_key")).filter(|key| !key.is_empty())
}

fn members(desk: &Desk<'_, '_>, card: &Record, known: &Known) -> Vec<(&'static str, Value)> {
    let mut all = vec![("start_time", Value::from(instant(card.created_at)))];
    if card.deleted {
        return all;
    }
    for name in CHOICES {
        all.extend(card.get(name).map(|choice| (name, choice.clone())));
    }
    let minutes = card.int("duration_in_minutes").unwrap_or(0);
    all.push(("end_time", instant(ends_at(card)).into()));
    all.push(("duration_in_minutes", minutes.to_string().into()));
    let uri = card.int("uri").unwrap_or(0);
    all.push(("card_uri", format!("card://{uri}").into()));
    let Some(media) = media_key(card).and_then(|key| known.get(key)) else {
        return all;
    };
    let (width, height) = (media.width.to_string(), media.height.to_string());
    let url = card_media::url(desk, media);
    if card_media::is_image(media) {
        all.push(("image", url));
        all.push(("image_display_width", width.into()));
        all.push(("image_display_height", height.into()));
        return all;
    }
    let seconds = media.duration_ms / 1000;
    let thousandths = media.duration_ms % 1000;
    all.extend([
        ("video_url", url),
        // Videos are kept as one file; there is no stream of segments.
        ("video_hls_url", Value::Null),
        ("video_width", width.clone().into()),
        ("video_height", height.clone().into()),
        ("video_poster_url", card_media::poster(desk, media)),
        ("video_poster_width", width.into()),
        ("video_poster_height", height.into()),
        (
            "content_duration_seconds",
            format!("{seconds}.{thousandths:03}").into(),
        ),
    ]);
    all
}
