//! Usage fields and responses.

use base::{Time, VocabularyWord};

use crate::field_schema::{JsonFieldType, JsonMember};
use crate::json_writer::JsonWriter;
use crate::object::{ObjectField, ObjectKind, RenderedObject};
use crate::{RenderRequest, ResponsePayload};

/// The usage of an app. Every app is its own project.
#[derive(Clone, Debug)]
pub struct ProjectUsage {
    pub app: i64,
    /// Posts per month.
    pub monthly_cap: i64,
    /// Posts since the start of the month.
    pub this_month: i64,
    /// Until the count restarts.
    pub days_until_reset: i64,
    pub days: Vec<(Time, i64)>,
}

/// `data` is an object.
pub fn render_usage(request: &RenderRequest, usage: &ProjectUsage) -> ResponsePayload {
    ResponsePayload::from_objects::<ProjectUsage>(request, std::iter::once(usage), 512).into_single()
}

const DAILY_USAGE: JsonFieldType = JsonFieldType::Object(&[
    JsonMember::new("date", JsonFieldType::Time),
    JsonMember::new("usage", JsonFieldType::CountText),
]);

const APP_DAILY_USAGE: JsonFieldType = JsonFieldType::Object(&[
    JsonMember::new("client_app_id", JsonFieldType::Id),
    JsonMember::new("usage", JsonFieldType::List(&DAILY_USAGE)),
    JsonMember::new("usage_result_count", JsonFieldType::Int),
]);

type UsageField = ObjectField<ProjectUsage>;

impl RenderedObject for ProjectUsage {
    type Context<'a> = &'a Self;

    const NAME: VocabularyWord = VocabularyWord::same_in_both("Usage");
    const FIELDS_PARAM: VocabularyWord = VocabularyWord::same_in_both("usage.fields");
    const FIELDS: &'static [ObjectField<Self>] = USAGE_FIELDS;
}

impl ObjectKind {
    pub const USAGE: Self = ProjectUsage::KIND;
}

const USAGE_FIELDS: &[UsageField] = &[
    UsageField::default_field("cap_reset_day", JsonFieldType::Int, "Days until counting starts anew.")
        .writer(|out, shown| out.write_int(shown.days_until_reset)),
    UsageField::default_field("daily_client_app_usage", JsonFieldType::List(&APP_DAILY_USAGE), "Posts a day by app.")
        .writer(|out, shown| out.write_array([shown], write_app_usage)),
    UsageField::default_field(
        "daily_project_usage",
        JsonFieldType::Object(&[
            JsonMember::new("project_id", JsonFieldType::CountText),
            JsonMember::new("usage", JsonFieldType::List(&DAILY_USAGE)),
        ]),
        "Posts a day.",
    )
    .writer(|out, shown| {
        out.write_object(|out| {
            // The older document types this id, too, as an integer.
            out.write_plain_member("project_id", |out| out.write_count_text(shown.app));
            out.write_plain_member("usage", |out| write_daily_usage(out, shown));
        });
    }),
    UsageField::default_field("project_cap", JsonFieldType::CountText, "The most in a month.")
        .writer(|out, shown| out.write_count_text(shown.monthly_cap)),
    UsageField::default_field("project_id", JsonFieldType::Id, "Id of the project.")
        .writer(|out, shown| out.write_id(shown.app)),
    UsageField::default_field("project_usage", JsonFieldType::CountText, "Posts this month.")
        .writer(|out, shown| out.write_count_text(shown.this_month)),
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
            out.write_plain_member("usage", |out| out.write_count_text(*usage));
        });
    });
}
