//! Fields and responses of stream connections and rule counts.

use base::VocabularyWord;
use store::connections::StreamConnection;

use crate::field_schema::{JsonFieldType, JsonMember};
use crate::json_writer::JsonWriter;
use crate::object::{ObjectField, ObjectKind, RenderedObject};
use crate::{RenderRequest, ResponsePayload};

/// The number of stream rules of an app. Every app is its own project.
#[derive(Clone, Copy, Debug)]
pub struct RuleCount {
    pub app: i64,
    pub count: i64,
    pub limit: i64,
}

pub fn render_connections(request: &RenderRequest, shown: &[StreamConnection]) -> ResponsePayload {
    ResponsePayload::from_objects::<StreamConnection>(request, shown.iter(), 256)
}

pub fn render_rules_count(request: &RenderRequest, rule_count: RuleCount) -> ResponsePayload {
    let shown = std::iter::once(&rule_count);
    ResponsePayload::from_objects::<RuleCount>(request, shown, 256).into_single()
}

type ConnectionField = ObjectField<StreamConnection>;

impl RenderedObject for StreamConnection {
    type Context<'a> = &'a Self;

    const NAME: VocabularyWord = VocabularyWord::same_in_both("Connection");
    const FIELDS_PARAM: VocabularyWord = VocabularyWord::same_in_both("connection.fields");
    const FIELDS: &'static [ObjectField<Self>] = CONNECTION_FIELDS;
}

impl ObjectKind {
    pub const CONNECTION: Self = StreamConnection::KIND;
}

const CONNECTION_FIELDS: &[ConnectionField] = &[
    ConnectionField::default_field("id", JsonFieldType::Text, "Id of the connection.")
        .writer(|out, one| out.write_nonempty_text(&one.uuid)),
    ConnectionField::default_field("endpoint_name", JsonFieldType::Text, "What it is connected to.")
        .writer(|out, one| out.write_nonempty_text(&one.endpoint)),
    ConnectionField::default_field("connected_at", JsonFieldType::Time, "When it began.")
        .writer(|out, one| out.write_time(one.connected_at)),
    ConnectionField::default_field("disconnected_at", JsonFieldType::Time, "When it ended.")
        .writer(|out, one| out.write_option(one.disconnected_at, JsonWriter::write_time)),
    ConnectionField::default_field("disconnect_reason", JsonFieldType::Text, "Why it ended.")
        .writer(|out, one| out.write_nonempty_text(&one.reason)),
    ConnectionField::default_field("client_ip", JsonFieldType::Text, "Where it came from.")
        .writer(|out, one| out.write_nonempty_text(&one.client)),
];

const APP_RULES: JsonFieldType = JsonFieldType::Object(&[
    JsonMember::new("client_app_id", JsonFieldType::Id),
    JsonMember::new("rule_count", JsonFieldType::Int),
]);

type RuleCountField = ObjectField<RuleCount>;

impl RenderedObject for RuleCount {
    type Context<'a> = &'a Self;

    const NAME: VocabularyWord = VocabularyWord::same_in_both("RulesCount");
    const FIELDS_PARAM: VocabularyWord = VocabularyWord::same_in_both("rules_count.fields");
    const FIELDS: &'static [ObjectField<Self>] = RULES_COUNT_FIELDS;
}

impl ObjectKind {
    pub const RULES_COUNT: Self = RuleCount::KIND;
}

const RULES_COUNT_FIELDS: &[RuleCountField] = &[
    RuleCountField::default_field("all_project_client_apps", JsonFieldType::List(&APP_RULES), "Rules by app.")
        .writer(|out, shown| out.write_array([shown], write_app_rule_count)),
    RuleCountField::default_field("cap_per_client_app", JsonFieldType::CountText, "The most for an app.")
        .writer(|out, shown| out.write_count_text(shown.limit)),
    RuleCountField::default_field("cap_per_project", JsonFieldType::CountText, "The most for a project.")
        .writer(|out, shown| out.write_count_text(shown.limit)),
    RuleCountField::default_field("client_app_rules_count", APP_RULES, "Rules of this app.")
        .writer(write_app_rule_count),
    RuleCountField::default_field("project_rules_count", JsonFieldType::CountText, "Rules of the project.")
        .writer(|out, shown| out.write_count_text(shown.count)),
];

fn write_app_rule_count(out: &mut JsonWriter, shown: &RuleCount) {
    out.write_object(|out| {
        out.write_plain_member("client_app_id", |out| out.write_id(shown.app));
        out.write_plain_member("rule_count", |out| out.write_int(shown.count));
    });
}
