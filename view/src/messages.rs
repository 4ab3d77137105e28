//! Direct messages: their fields and what those lead to.

use base::{Fault, VocabularyWord};
use network::visibility::Viewer;
use store::Tx;
use store::messages::{MessageEvent, MessageEventKind};

use crate::answer::Speaker;
use crate::out::Out;
use crate::shown::{Expansion, Json, Member, Reach, Shown, Write};
use crate::users::ENTITIES;
use crate::world::{Target, World};
use crate::{Answer, Asked, Object, Spoken, Wants};

const KINDS: &[&str] = &[
    MessageEventKind::Message.name(),
    MessageEventKind::Join.name(),
    MessageEventKind::Leave.name(),
];

const REFERENCE: Json = Json::Object(&[Member::new("id", Json::Id)]);

pub(crate) const FIELDS: &[Shown] = &[
    Shown::always("id", Json::Id, "Id of the event.").message(|out, event| out.id(event.id)),
    Shown::always("event_type", Json::OneOf(KINDS), "What happened.")
        .message(|out, event| out.quoted(event.kind.name())),
    Shown::always(
        "text",
        Json::Text,
        "The text of a message, `&`, `<` and `>` escaped.",
    )
    .partial()
    .message(|out, event| {
        if event.kind == MessageEventKind::Message {
            out.escaped(&event.text);
        }
    }),
    Shown::asked(
        "attachments",
        Json::Object(&[
            Member::new("media_keys", Json::List(&Json::Text)),
            Member::new("card_ids", Json::List(&Json::Id)),
        ]),
        "Media and cards it carries.",
    )
    .message(attachments),
    Shown::asked("created_at", Json::Time, "When it happened.").message(|out, event| {
        out.time(base::Id::<()>::new(event.id).created_at());
    }),
    Shown::asked(
        "dm_conversation_id",
        Json::Text,
        "The conversation it belongs to.",
    )
    .message(|out, event| out.quoted(&event.conversation.to_string())),
    Shown::asked(
        "entities",
        Json::Object(ENTITIES),
        "Links, hashtags, mentions and cashtags of the text.",
    )
    .message(|out, event| out.raw(&event.entities)),
    Shown::always(
        "participant_ids",
        Json::List(&Json::Id),
        "Who joined or left.",
    )
    .partial()
    .message(|out, event| {
        if event.kind != MessageEventKind::Message {
            out.array(&event.participant_ids, |out, user| out.id(user.get()));
        }
    }),
    Shown::asked(
        "referenced_posts",
        Json::List(&REFERENCE),
        "Posts that the text links to.",
    )
    .tweet("referenced_tweets")
    .message(references),
    Shown::asked("sender_id", Json::Id, "Who sent it.")
        .message(|out, event| out.id(event.sender_id.get())),
];

pub(crate) const EXPANSIONS: &[Expansion] = &[
    Expansion::new("attachments.media_keys", Object::Media, "attachments").by_message(media),
    Expansion::new("participant_ids", Object::User, "participant_ids")
        .by_message(|event, to| to.extend(event.participant_ids.iter().copied().map(Target::User))),
    Expansion::new("referenced_posts", Object::Post, "referenced_posts")
        .tweet("referenced_tweets.id")
        .by_message(|event, to| to.extend(event.post_ids.iter().copied().map(Target::Post))),
    Expansion::new("sender_id", Object::User, "sender_id")
        .by_message(|event, to| to.push(Target::User(event.sender_id))),
];

fn attachments(out: &mut Out, event: &MessageEvent) {
    if !event.media_key.is_empty() {
        out.object(|out| {
            out.member(VocabularyWord::same_in_both("media_keys"), |out| {
                out.array([&event.media_key], |out, key| out.quoted(key));
            });
        });
    }
}

fn references(out: &mut Out, event: &MessageEvent) {
    if !event.post_ids.is_empty() {
        out.array(&event.post_ids, |out, post| {
            out.object(|out| {
                out.member(VocabularyWord::same_in_both("id"), |out| out.id(post.get()))
            });
        });
    }
}

fn media<'a>(event: &'a MessageEvent, to: &mut Vec<Target<'a>>) {
    if !event.media_key.is_empty() {
        to.push(Target::Media(&event.media_key));
    }
}

/// Events in their order, all of which the viewer has.
pub fn message_events(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    page: &[MessageEvent],
    wants: &Wants,
    spoken: Spoken,
) -> Result<Answer, Fault> {
    let mut targets = Vec::new();
    for expansion in wants.expansions() {
        if let Reach::Message(reach) = expansion.reach {
            for event in page {
                reach(event, &mut targets);
            }
        }
    }
    let mut world = World::of_targets(tx, viewer, Vec::new(), targets, wants)?;
    let carried = page
        .iter()
        .filter_map(|event| Some((event.media_id?.get(), event.id)));
    world.carriers.extend(carried);
    let speaker = Speaker {
        world: &world,
        wants,
        spoken,
    };
    let lead = |reach, event, to: &mut Vec<_>| {
        if let Reach::Message(reach) = reach {
            reach(event, to);
        }
    };
    let page: Vec<&MessageEvent> = page.iter().collect();
    Ok(speaker.answer(&page, Vec::new(), 384, lead, write))
}

/// One event that was asked for; `data` is an object.
pub fn message(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    found: Option<MessageEvent>,
    wants: &Wants,
    spoken: Spoken,
    asked: Asked<'_, i64>,
) -> Result<Answer, Fault> {
    let page: Vec<MessageEvent> = found.into_iter().collect();
    let answer = message_events(tx, viewer, &page, wants, spoken)?;
    Ok(answer.single_of("dm_event", asked))
}

fn write(out: &mut Out, event: &MessageEvent, mask: u64) {
    out.record(FIELDS, mask, |out, write| {
        if let Write::Message(write) = write {
            write(out, event);
        }
    });
}
