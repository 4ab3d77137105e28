//! Poll fields.

use base::{Time, VocabularyWord};
use store::polls::Poll;

use crate::field_schema::{JsonFieldType, JsonMember};
use crate::json_writer::JsonWriter;
use crate::object::{IncludedKind, ObjectField, ObjectKind, RenderedObject};

#[derive(Clone, Copy)]
pub(crate) struct PollRenderContext<'a> {
    pub(crate) poll: &'a Poll,
    pub(crate) now: Time,
}

const OPTION: JsonFieldType = JsonFieldType::Object(&[
    JsonMember::new("position", JsonFieldType::Int),
    JsonMember::new("label", JsonFieldType::Text),
    JsonMember::new("votes", JsonFieldType::Int),
]);

type PollField = ObjectField<Poll>;

impl RenderedObject for Poll {
    type Context<'a> = PollRenderContext<'a>;

    const NAME: VocabularyWord = VocabularyWord::same_in_both("Poll");
    const FIELDS_PARAM: VocabularyWord = VocabularyWord::same_in_both("poll.fields");
    const FIELDS: &'static [ObjectField<Self>] = FIELDS;
    const INCLUDED: Option<(IncludedKind, VocabularyWord)> =
        Some((IncludedKind::Poll, VocabularyWord::same_in_both("polls")));
}

impl ObjectKind {
    pub const POLL: Self = Poll::KIND;
}

const FIELDS: &[PollField] = &[
    PollField::default_field("id", JsonFieldType::Id, "Id of the poll.").writer(|out, ctx| out.write_id(ctx.poll.id)),
    PollField::default_field("options", JsonFieldType::List(&OPTION), "What can be voted for.").writer(write_options),
    PollField::requested_field("voting_status", JsonFieldType::OneOf(&["open", "closed"]), "Whether votes are taken.")
        .writer(|out, ctx| {
            out.write_nonempty_text(if ctx.poll.is_open(ctx.now) { "open" } else { "closed" });
        }),
    PollField::requested_field("end_datetime", JsonFieldType::Time, "When it ends.")
        .writer(|out, ctx| out.write_time(ctx.poll.ends_at)),
    PollField::requested_field("duration_minutes", JsonFieldType::Int, "How long it lasts.")
        .writer(|out, ctx| out.write_int(ctx.poll.duration_minutes)),
];

fn write_options(out: &mut JsonWriter, ctx: PollRenderContext<'_>) {
    out.write_array(&ctx.poll.options, |out, option| {
        out.write_object(|out| {
            out.write_plain_member("position", |out| out.write_int(option.number));
            out.write_plain_member("label", |out| out.write_text(&option.label));
            out.write_plain_member("votes", |out| out.write_int(option.votes));
        });
    });
}
