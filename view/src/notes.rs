//! Community note fields and responses for the author.

use base::VocabularyWord;
use store::notes::CommunityNote;

use crate::field_schema::{JsonFieldType, JsonMember};
use crate::json_writer::JsonWriter;
use crate::object::{ObjectField, ObjectKind, RenderedObject};
use crate::{RenderRequest, ResponsePayload};

/// A note with its rating.
#[derive(Clone, Debug)]
pub struct RatedNote {
    pub note: CommunityNote,
    pub status: &'static str,
    pub claim_bucket: &'static str,
}

pub fn render_notes(request: &RenderRequest, page: &[RatedNote]) -> ResponsePayload {
    ResponsePayload::from_objects::<RatedNote>(request, page.iter(), 512)
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

const EVALUATION_OUTCOME: JsonFieldType = JsonFieldType::Object(&[
    JsonMember::new("evaluator_type", JsonFieldType::Text),
    JsonMember::new("evaluator_score_bucket", JsonFieldType::Text),
]);

type NoteField = ObjectField<RatedNote>;

impl RenderedObject for RatedNote {
    type Context<'a> = &'a Self;

    const NAME: VocabularyWord = VocabularyWord::same_in_both("Note");
    const FIELDS_PARAM: VocabularyWord = VocabularyWord::same_in_both("note.fields");
    const FIELDS: &'static [ObjectField<Self>] = FIELDS;
}

impl ObjectKind {
    pub const NOTE: Self = RatedNote::KIND;
}

const FIELDS: &[NoteField] = &[
    NoteField::default_field("id", JsonFieldType::Id, "Id of the note.")
        .writer(|out, shown| out.write_id(shown.note.id)),
    NoteField::default_field("post_id", JsonFieldType::Id, "Id of the post.")
        .writer(|out, shown| out.write_id(shown.note.post_id.get())),
    NoteField::default_field(
        "info",
        JsonFieldType::Object(&[
            JsonMember::new("text", JsonFieldType::Text),
            JsonMember::new("classification", JsonFieldType::Text),
            JsonMember::new("misleading_tags", JsonFieldType::List(&JsonFieldType::Text)),
            JsonMember::new("post_id", JsonFieldType::Id),
            JsonMember::new("trustworthy_sources", JsonFieldType::Bool),
            JsonMember::new("rating_status", JsonFieldType::OneOf(STATUSES)),
        ]),
        "What it says.",
    )
    .writer(|out, shown| out.write_object(|out| write_info(out, shown))),
    NoteField::default_field("status", JsonFieldType::OneOf(STATUSES), "How it is rated.")
        .writer(|out, shown| out.write_nonempty_text(shown.status)),
    NoteField::default_field(
        "scoring_status",
        JsonFieldType::Object(&[
            JsonMember::new("has_access", JsonFieldType::Bool),
            JsonMember::new("rating_counts_per_model", JsonFieldType::List(&JsonFieldType::Any)),
        ]),
        "How it was rated.",
    )
    .writer(|out, shown| out.write_object(|out| write_scoring_status(out, &shown.note))),
    NoteField::default_field(
        "test_result",
        JsonFieldType::Object(&[JsonMember::new("evaluation_outcome", JsonFieldType::List(&EVALUATION_OUTCOME))]),
        "How a machine judges it, in the test pool.",
    )
    .writer(write_test_result),
];

fn write_info(out: &mut JsonWriter, shown: &RatedNote) {
    let note = &shown.note;
    out.write_plain_member("text", |out| out.write_nonempty_text(&note.text));
    out.write_plain_member("classification", |out| {
        out.write_nonempty_text(&note.classification);
    });
    let tags = note.misleading_tags.split(',').filter(|tag| !tag.is_empty());
    out.write_plain_member("misleading_tags", |out| {
        out.write_array(tags, JsonWriter::write_nonempty_text);
    });
    out.write_plain_member("post_id", |out| out.write_id(note.post_id.get()));
    out.write_plain_member("trustworthy_sources", |out| {
        out.write_bool(note.trustworthy_sources);
    });
    out.write_plain_member("rating_status", |out| out.write_nonempty_text(shown.status));
}

/// There is one model: the ratings "helpful" and "not helpful" are counted.
fn write_scoring_status(out: &mut JsonWriter, note: &CommunityNote) {
    out.write_plain_member("has_access", |out| out.write_bool(true));
    out.write_plain_member("rating_counts_per_model", |out| {
        out.write_array([note], |out, note| {
            out.write_object(|out| write_rating_model(out, note));
        });
    });
}

fn write_rating_model(out: &mut JsonWriter, note: &CommunityNote) {
    out.write_plain_member("model_name", |out| out.write_nonempty_text("counts"));
    out.write_plain_member("value", |out| {
        out.write_object(|out| {
            out.write_plain_member("neutral_factor_bucket_counts", |out| {
                out.write_object(|out| write_rating_counts(out, note));
            });
        });
    });
}

fn write_rating_counts(out: &mut JsonWriter, note: &CommunityNote) {
    out.write_plain_member("helpful_count", |out| out.write_int(note.helpful));
    out.write_plain_member("not_helpful_count", |out| {
        out.write_int(note.not_helpful);
    });
}

fn write_test_result(out: &mut JsonWriter, shown: &RatedNote) {
    if !shown.note.test_mode {
        return;
    }
    out.write_object(|out| {
        out.write_plain_member("evaluation_outcome", |out| {
            out.write_array([shown.claim_bucket], |out, bucket| {
                out.write_object(|out| write_claim_evaluation(out, bucket));
            });
        });
    });
}

fn write_claim_evaluation(out: &mut JsonWriter, bucket: &str) {
    out.write_plain_member("evaluator_type", |out| out.write_nonempty_text("ClaimOpinion"));
    out.write_plain_member("evaluator_score_bucket", |out| out.write_nonempty_text(bucket));
}
