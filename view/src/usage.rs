//! Usage fields and responses.

use base::Time;

use crate::field_schema::{FieldDefinition, FieldWriter, JsonFieldType, JsonMember};
use crate::json_writer::JsonWriter;
use crate::{FieldSelection, ObjectKind, RenderOptions, ResponsePayload};

/// The usage of an app. Every app is its own project.
#[derive(Clone, Debug)]
pub struct ProjectUsage {
    pub app: i64,
    /// Posts per month.
    pub monthly_cap: i64,
    /// Posts since the start of the month.
    pub this_month: i64,
    /// The day of the month on which the count restarts.
    pub reset_day: i64,
    pub days: Vec<(Time, i64)>,
}

/// `data` is an object.
pub fn render_usage(usage: &ProjectUsage, selection: &FieldSelection, options: RenderOptions) -> ResponsePayload {
    let mask = selection.included_mask(ObjectKind::Usage);
    let mut out = JsonWriter::new(options, 512);
    out.write_fields(USAGE_FIELDS, mask, |out, write| {
        if let FieldWriter::Usage(write) = write {
            write(out, usage);
        }
    });
    ResponsePayload { data: out.finish(), count: 1, ..ResponsePayload::default() }
}

// Counts are strings, as in the contract.
const DAILY_USAGE: JsonFieldType = JsonFieldType::Object(&[
    JsonMember::new("date", JsonFieldType::Time),
    JsonMember::new("usage", JsonFieldType::Text),
]);

const APP_DAILY_USAGE: JsonFieldType = JsonFieldType::Object(&[
    JsonMember::new("client_app_id", JsonFieldType::Id),
    JsonMember::new("usage", JsonFieldType::List(&DAILY_USAGE)),
    JsonMember::new("usage_result_count", JsonFieldType::Int),
]);

pub(crate) const USAGE_FIELDS: &[FieldDefinition] = &[
    FieldDefinition::default_field(
        "cap_reset_day",
        JsonFieldType::Int,
        "Day of the month on which counting starts anew.",
    )
    .usage_writer(|out, shown| out.write_int(shown.reset_day)),
    FieldDefinition::default_field(
        "daily_client_app_usage",
        JsonFieldType::List(&APP_DAILY_USAGE),
        "Posts a day by app.",
    )
    .usage_writer(|out, shown| out.write_array([shown], write_app_usage)),
    FieldDefinition::default_field(
        "daily_project_usage",
        JsonFieldType::Object(&[
            JsonMember::new("project_id", JsonFieldType::Id),
            JsonMember::new("usage", JsonFieldType::List(&DAILY_USAGE)),
        ]),
        "Posts a day.",
    )
    .usage_writer(|out, shown| {
        out.write_object(|out| {
            out.write_plain_member("project_id", |out| out.write_id(shown.app));
            out.write_plain_member("usage", |out| write_daily_usage(out, shown));
        });
    }),
    FieldDefinition::default_field("project_cap", JsonFieldType::Text, "The most in a month.")
        .usage_writer(|out, shown| out.write_id(shown.monthly_cap)),
    FieldDefinition::default_field("project_id", JsonFieldType::Id, "Id of the project.")
        .usage_writer(|out, shown| out.write_id(shown.app)),
    FieldDefinition::default_field("project_usage", JsonFieldType::Text, "Posts this month.")
        .usage_writer(|out, shown| out.write_id(shown.this_month)),
];

fn write_app_usage(out: &mut JsonWriter, shown: &ProjectUsage) {
    let count = i64::try_from(shown.days.len()).unwrap_or(0);
    out.write_object(|out| {
        out.write_plain_member("client_app_id", |out| out.write_id(shown.app));
        out.write_plain_member("usage", |out| write_daily_usage(out, shown));
        out.write_plain_member("usage_result_count", |out| out.write_int(count));
    });
}

fn write_daily_usage(out: &mut JsonWriter, shown: &ProjectUsage) {
    out.write_array(&shown.days, |out, (date, usage)| {
        out.write_object(|out| {
            out.write_plain_member("date", |out| out.write_time(*date));
            out.write_plain_member("usage", |out| out.write_id(*usage));
        });
    });
}
