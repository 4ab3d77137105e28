//! Spaces and their topics: their fields and what those lead to.

use std::collections::HashMap;

use base::id::encode_base62;
use base::refusal::ResourceRef;
use base::{Fault, Refusal, UserId};
use network::visibility::{Viewer, Visibility, space_visibility};
use store::spaces::{self as stored, Space, SpaceRole, SpaceTopic};
use store::{Tx, users};

use crate::answer::Speaker;
use crate::out::Out;
use crate::shown::{Expansion, Json, Reach, Shown, Write};
use crate::wants::bit_of;
use crate::world::{Target, World};
use crate::{Answer, Asked, Object, Spoken, Wants};

/// A space and what is known around it.
#[derive(Clone, Copy)]
pub(crate) struct SpaceFacts<'a> {
    pub(crate) space: &'a Space,
    around: &'a Around,
}

/// Who and what belongs to some spaces.
#[derive(Debug, Default)]
struct Around {
    parts: HashMap<(i64, SpaceRole), Vec<UserId>>,
    topics: HashMap<i64, Vec<i64>>,
}

impl<'a> SpaceFacts<'a> {
    fn those(self, role: SpaceRole) -> &'a [UserId] {
        let those = self.around.parts.get(&(self.space.id, role));
        those.map(Vec::as_slice).unwrap_or_default()
    }

    fn topics(self) -> &'a [i64] {
        let topics = self.around.topics.get(&self.space.id);
        topics.map(Vec::as_slice).unwrap_or_default()
    }
}

pub(crate) const FIELDS: &[Shown] = &[
    Shown::always("id", Json::Text, "Id of the space.")
        .space(|out, facts| out.quoted(&encode_base62(facts.space.id))),
    Shown::always(
        "state",
        Json::OneOf(&["live", "scheduled", "ended"]),
        "Whether it takes place.",
    )
    .space(|out, facts| out.quoted(facts.space.state.name())),
    Shown::asked("created_at", Json::Time, "When it was made.")
        .space(|out, facts| out.time(facts.space.created_at)),
    Shown::asked("ended_at", Json::Time, "When it ended.")
        .space(|out, facts| known(out, facts.space.ended_at)),
    Shown::asked("is_ticketed", Json::Bool, "Whether it takes a ticket.")
        .space(|out, facts| out.bool(facts.space.ticketed)),
    Shown::asked("lang", Json::Text, "Its language.")
        .space(|out, facts| out.text(&facts.space.lang)),
    Shown::asked("participant_count", Json::Int, "Users in it.")
        .space(|out, facts| out.int(facts.space.participant_count)),
    Shown::asked("scheduled_start", Json::Time, "When it is to start.")
        .space(|out, facts| known(out, facts.space.scheduled_start)),
    Shown::asked("started_at", Json::Time, "When it started.")
        .space(|out, facts| known(out, facts.space.started_at)),
    Shown::asked(
        "subscriber_count",
        Json::Int,
        "Users who want to be reminded.",
    )
    .space(|out, facts| out.int(facts.space.subscriber_count)),
    Shown::asked("title", Json::Text, "Its title.")
        .space(|out, facts| out.text(&facts.space.title)),
    Shown::asked("updated_at", Json::Time, "When it last changed.")
        .space(|out, facts| out.time(facts.space.updated_at)),
    Shown::asked("creator_id", Json::Id, "Who made it.")
        .space(|out, facts| out.id(facts.space.creator_id.get())),
    Shown::asked("host_ids", Json::List(&Json::Id), "Its hosts.")
        .space(|out, facts| ids(out, facts.those(SpaceRole::Host))),
    Shown::asked(
        "invited_user_ids",
        Json::List(&Json::Id),
        "Who was invited to speak.",
    )
    .space(|out, facts| ids(out, facts.those(SpaceRole::Invited))),
    Shown::asked("speaker_ids", Json::List(&Json::Id), "Who has spoken.")
        .space(|out, facts| ids(out, facts.those(SpaceRole::Speaker))),
    Shown::asked("topic_ids", Json::List(&Json::Id), "Its topics.").space(|out, facts| {
        if !facts.topics().is_empty() {
            out.array(facts.topics(), |out, id| out.id(*id));
        }
    }),
];

pub(crate) const EXPANSIONS: &[Expansion] = &[
    Expansion::new("creator_id", Object::User, "creator_id")
        .by_space(|facts, to| to.push(Target::User(facts.space.creator_id))),
    Expansion::new("host_ids", Object::User, "host_ids")
        .by_space(|facts, to| users_of(facts, SpaceRole::Host, to)),
    Expansion::new("invited_user_ids", Object::User, "invited_user_ids")
        .by_space(|facts, to| users_of(facts, SpaceRole::Invited, to)),
    Expansion::new("speaker_ids", Object::User, "speaker_ids")
        .by_space(|facts, to| users_of(facts, SpaceRole::Speaker, to)),
    Expansion::new("topic_ids", Object::Topic, "topic_ids")
        .by_space(|facts, to| to.extend(facts.topics().iter().copied().map(Target::Topic))),
];

pub(crate) const TOPIC_FIELDS: &[Shown] = &[
    Shown::always("id", Json::Id, "Id of the topic.").topic(|out, topic| out.id(topic.id)),
    Shown::always("name", Json::Text, "Its name.").topic(|out, topic| out.quoted(&topic.name)),
    Shown::asked("description", Json::Text, "What it is about.")
        .topic(|out, topic| out.text(&topic.description)),
];

fn known(out: &mut Out, at: Option<base::Time>) {
    if let Some(at) = at {
        out.time(at);
    }
}

fn ids(out: &mut Out, users: &[UserId]) {
    if !users.is_empty() {
        out.array(users, |out, user| out.id(user.get()));
    }
}

fn users_of<'a>(facts: SpaceFacts<'a>, role: SpaceRole, to: &mut Vec<Target<'a>>) {
    to.extend(facts.those(role).iter().copied().map(Target::User));
}

/// Writes a topic with the fields of a mask.
pub(crate) fn write_topic(out: &mut Out, topic: &SpaceTopic, mask: u64) {
    out.record(TOPIC_FIELDS, mask, |out, write| {
        if let Write::Topic(write) = write {
            write(out, topic);
        }
    });
}

/// Spaces in their order; those that may not be seen are left out.
pub fn spaces(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    page: &[Space],
    wants: &Wants,
    spoken: Spoken,
) -> Result<Answer, Fault> {
    spaces_asked(
        tx,
        viewer,
        page,
        wants,
        spoken,
        Asked {
            parameter: "ids",
            values: &[],
        },
    )
}

/// The spaces that were asked for, in the order in which they were found; for each that may not
/// be seen, an error.
pub fn spaces_asked(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    found: &[Space],
    wants: &Wants,
    spoken: Spoken,
    asked: Asked<'_, String>,
) -> Result<Answer, Fault> {
    let around = Around::load(tx, found, wants)?;
    let facts = |space| SpaceFacts {
        space,
        around: &around,
    };
    let mut creators: Vec<_> = found.iter().map(|space| space.creator_id).collect();
    creators.sort_unstable();
    creators.dedup();
    let creators = users::find_by_ids(tx, &creators)?;
    let mut targets = Vec::new();
    for expansion in wants.expansions() {
        if let Reach::Space(reach) = expansion.reach {
            for space in found {
                reach(facts(space), &mut targets);
            }
        }
    }
    let world = World::of_targets(tx, viewer, creators, targets, wants)?;
    let seen = |space: &&Space| {
        space_visibility(space, world.users.get(space.creator_id)) == Visibility::Visible
    };
    let shown: Vec<_> = found.iter().filter(seen).map(facts).collect();
    let errors = missing(&shown, asked);
    let speaker = Speaker {
        world: &world,
        wants,
        spoken,
    };
    let lead = |reach, facts, to: &mut Vec<_>| {
        if let Reach::Space(reach) = reach {
            reach(facts, to);
        }
    };
    Ok(speaker.answer(&shown, errors, 384, lead, write))
}

/// One space that was asked for; `data` is an object.
pub fn space(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    found: Option<Space>,
    wants: &Wants,
    spoken: Spoken,
    asked: Asked<'_, String>,
) -> Result<Answer, Fault> {
    let found: Vec<Space> = found.into_iter().collect();
    spaces_asked(tx, viewer, &found, wants, spoken, asked).map(Answer::single)
}

/// What was asked for and is not shown, each once.
fn missing(shown: &[SpaceFacts<'_>], asked: Asked<'_, String>) -> Vec<Refusal> {
    let shown: Vec<String> = shown
        .iter()
        .map(|facts| encode_base62(facts.space.id))
        .collect();
    let mut errors = Vec::new();
    for name in asked.values.iter().filter(|name| !shown.contains(name)) {
        let refusal = Refusal::NotFound(ResourceRef::new("space", asked.parameter, name));
        if !errors.contains(&refusal) {
            errors.push(refusal);
        }
    }
    errors
}

fn write(out: &mut Out, facts: SpaceFacts<'_>, mask: u64) {
    out.record(FIELDS, mask, |out, write| {
        if let Write::Space(write) = write {
            write(out, facts);
        }
    });
}

impl Around {
    /// Only what a field shows.
    fn load(tx: &mut Tx<'_>, spaces: &[Space], wants: &Wants) -> Result<Self, Fault> {
        let shows = |field| wants.of_root() & bit_of(Object::Space, field) != 0;
        let ids: Vec<i64> = spaces.iter().map(|space| space.id).collect();
        let mut around = Self::default();
        if shows("host_ids") || shows("invited_user_ids") || shows("speaker_ids") {
            for (space, role, user) in stored::list_hosts_and_speakers(tx, &ids)? {
                around.parts.entry((space, role)).or_default().push(user);
            }
        }
        if shows("topic_ids") {
            for (space, topic) in stored::topics_by_spaces(tx, &ids)? {
                around.topics.entry(space).or_default().push(topic);
            }
        }
        Ok(around)
    }
}
