//! Community notes: their fields, and answers of them to whoever wrote them.

use base::VocabularyWord;
use store::notes::CommunityNote;

use crate::out::Out;
use crate::shown::{Json, Member, Shown, Write};
use crate::{Answer, Object, Spoken, Wants};

/// A note, and what the rules say of it.
#[derive(Clone, Debug)]
pub struct NoteShown {
    /// The note.
    pub note: CommunityNote,
    /// How it is rated.
    pub status: &'static str,
    /// How far it is claims rather than opinions.
    pub bucket: &'static str,
}

/// A page of notes, in their order.
pub fn notes(page: &[NoteShown], wants: &Wants, spoken: Spoken) -> Answer {
    let mask = wants.of_included(Object::Note);
    Answer::of_rows(spoken, page, 512, |out, note| {
        out.record(FIELDS, mask, |out, write| {
            if let Write::Note(write) = write {
                write(out, note);
            }
        });
    })
}

const STATUSES: &[&str] = &[
    "currently_rated_helpful",
    "currently_rated_not_helpful",
    "firm_reject",
    "insufficient_consensus",
    "minimum_ratings_not_met",
    "needs_more_ratings",
    "needs_your_help",
];

const OUTCOME: Json = Json::Object(&[
    Member::new("evaluator_type", Json::Text),
    Member::new("evaluator_score_bucket", Json::Text),
]);

pub(crate) const FIELDS: &[Shown] = &[
    Shown::always("id", Json::Id, "Id of the note.").note(|out, shown| out.id(shown.note.id)),
    Shown::always(
        "info",
        Json::Object(&[
            Member::new("text", Json::Text),
            Member::new("classification", Json::Text),
            Member::new("misleading_tags", Json::List(&Json::Text)),
            Member::new("post_id", Json::Id),
            Member::new("trustworthy_sources", Json::Bool),
            Member::new("rating_status", Json::OneOf(STATUSES)),
        ]),
        "What it says.",
    )
    .note(|out, shown| out.object(|out| info(out, shown))),
    Shown::asked("status", Json::OneOf(STATUSES), "How it is rated.")
        .note(|out, shown| out.text(shown.status)),
    Shown::asked(
        "scoring_status",
        Json::Object(&[
            Member::new("has_access", Json::Bool),
            Member::new("rating_counts_per_model", Json::List(&Json::Any)),
        ]),
        "How it was rated.",
    )
    .note(|out, shown| out.object(|out| scoring(out, &shown.note))),
    Shown::asked(
        "test_result",
        Json::Object(&[Member::new("evaluation_outcome", Json::List(&OUTCOME))]),
        "How a machine judges it, in the test pool.",
    )
    .note(test_result),
];

fn info(out: &mut Out, shown: &NoteShown) {
    let note = &shown.note;
    out.member(VocabularyWord::same_in_both("text"), |out| {
        out.text(&note.text)
    });
    out.member(VocabularyWord::same_in_both("classification"), |out| {
        out.text(&note.classification);
    });
    let tags = note
        .misleading_tags
        .split(',')
        .filter(|tag| !tag.is_empty());
    out.member(VocabularyWord::same_in_both("misleading_tags"), |out| {
        out.array(tags, Out::text);
    });
    out.member(VocabularyWord::same_in_both("post_id"), |out| {
        out.id(note.post_id.get())
    });
    out.member(VocabularyWord::same_in_both("trustworthy_sources"), |out| {
        out.bool(note.trustworthy_sources);
    });
    out.member(VocabularyWord::same_in_both("rating_status"), |out| {
        out.text(shown.status)
    });
}

/// There is one model: the count of those who found it helpful and of those who did not.
fn scoring(out: &mut Out, note: &CommunityNote) {
    out.member(VocabularyWord::same_in_both("has_access"), |out| {
        out.bool(true)
    });
    out.member(
        VocabularyWord::same_in_both("rating_counts_per_model"),
        |out| {
            out.array([note], |out, note| {
                out.object(|out| model(out, note));
            });
        },
    );
}

fn model(out: &mut Out, note: &CommunityNote) {
    out.member(VocabularyWord::same_in_both("model_name"), |out| {
        out.text("counts")
    });
    out.member(VocabularyWord::same_in_both("value"), |out| {
        out.object(|out| {
            out.member(
                VocabularyWord::same_in_both("neutral_factor_bucket_counts"),
                |out| {
                    out.object(|out| counts(out, note));
                },
            );
        });
    });
}

fn counts(out: &mut Out, note: &CommunityNote) {
    out.member(VocabularyWord::same_in_both("helpful_count"), |out| {
        out.int(note.helpful)
    });
    out.member(VocabularyWord::same_in_both("not_helpful_count"), |out| {
        out.int(note.not_helpful);
    });
}

fn test_result(out: &mut Out, shown: &NoteShown) {
    if !shown.note.test_mode {
        return;
    }
    out.object(|out| {
        out.member(VocabularyWord::same_in_both("evaluation_outcome"), |out| {
            out.array([shown.bucket], |out, bucket| {
                out.object(|out| {
                    out.member(VocabularyWord::same_in_both("evaluator_type"), |out| {
                        out.text("ClaimOpinion")
                    });
                    out.member(
                        VocabularyWord::same_in_both("evaluator_score_bucket"),
                        |out| out.text(bucket),
                    );
                });
            });
        });
    });
}
