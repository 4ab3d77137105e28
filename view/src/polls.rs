//! Polls: their fields.

use base::{Time, VocabularyWord};
use store::polls::Poll;

use crate::out::Out;
use crate::shown::{Json, Member, Shown, Write};

/// A poll, and when it is looked at.
#[derive(Clone, Copy)]
pub(crate) struct PollFacts<'a> {
    pub(crate) poll: &'a Poll,
    pub(crate) now: Time,
}

/// Writes a poll with the fields of a mask.
pub(crate) fn write(out: &mut Out, facts: PollFacts<'_>, mask: u64) {
    out.record(FIELDS, mask, |out, write| {
        if let Write::Poll(write) = write {
            write(out, facts);
        }
    });
}

const OPTION: Json = Json::Object(&[
    Member::new("position", Json::Int),
    Member::new("label", Json::Text),
    Member::new("votes", Json::Int),
]);

pub(crate) const FIELDS: &[Shown] = &[
    Shown::always("id", Json::Id, "Id of the poll.").poll(|out, facts| out.id(facts.poll.id)),
    Shown::always("options", Json::List(&OPTION), "What can be voted for.").poll(options),
    Shown::asked(
        "voting_status",
        Json::OneOf(&["open", "closed"]),
        "Whether votes are taken.",
    )
    .poll(|out, facts| {
        out.text(if facts.poll.is_open(facts.now) {
            "open"
        } else {
            "closed"
        });
    }),
    Shown::asked("end_datetime", Json::Time, "When it ends.")
        .poll(|out, facts| out.time(facts.poll.ends_at)),
    Shown::asked("duration_minutes", Json::Int, "How long it lasts.")
        .poll(|out, facts| out.int(facts.poll.duration_minutes)),
];

fn options(out: &mut Out, facts: PollFacts<'_>) {
    out.array(&facts.poll.options, |out, option| {
        out.object(|out| {
            out.member(VocabularyWord::same_in_both("position"), |out| {
                out.int(option.number)
            });
            out.member(VocabularyWord::same_in_both("label"), |out| {
                out.quoted(&option.label)
            });
            out.member(VocabularyWord::same_in_both("votes"), |out| {
                out.int(option.votes)
            });
        });
    });
}
