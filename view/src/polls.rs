//! Poll fields.

use base::Time;
use store::polls::Poll;

use crate::field_schema::{FieldDefinition, FieldWriter, JsonFieldType, JsonMember};
use crate::json_writer::JsonWriter;

#[derive(Clone, Copy)]
pub(crate) struct PollRenderContext<'a> {
    pub(crate) poll: &'a Poll,
    pub(crate) now: Time,
}

pub(crate) fn write(out: &mut JsonWriter, ctx: PollRenderContext<'_>, mask: u64) {
    out.write_fields(FIELDS, mask, |out, write| {
        if let FieldWriter::Poll(write) = write {
            write(out, ctx);
        }
    });
}

const OPTION: JsonFieldType = JsonFieldType::Object(&[
    JsonMember::new("position", JsonFieldType::Int),
    JsonMember::new("label", JsonFieldType::Text),
    JsonMember::new("votes", JsonFieldType::Int),
]);

pub(crate) const FIELDS: &[FieldDefinition] = &[
    FieldDefinition::default_field("id", JsonFieldType::Id, "Id of the poll.")
        .poll_writer(|out, ctx| out.write_id(ctx.poll.id)),
    FieldDefinition::default_field("options", JsonFieldType::List(&OPTION), "What can be voted for.")
        .poll_writer(write_options),
    FieldDefinition::requested_field(
        "voting_status",
        JsonFieldType::OneOf(&["open", "closed"]),
        "Whether votes are taken.",
    )
    .poll_writer(|out, ctx| {
        out.write_nonempty_text(if ctx.poll.is_open(ctx.now) { "open" } else { "closed" });
    }),
    FieldDefinition::requested_field("end_datetime", JsonFieldType::Time, "When it ends.")
        .poll_writer(|out, ctx| out.write_time(ctx.poll.ends_at)),
    FieldDefinition::requested_field("duration_minutes", JsonFieldType::Int, "How long it lasts.")
        .poll_writer(|out, ctx| out.write_int(ctx.poll.duration_minutes)),
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
