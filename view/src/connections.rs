//! Fields and responses of stream connections and rule counts.

use base::Time;

use crate::field_schema::{FieldDefinition, FieldWriter, JsonFieldType, JsonMember};
use crate::json_writer::JsonWriter;
use crate::{FieldSelection, ObjectKind, RenderOptions, ResponsePayload};

#[derive(Clone, Debug)]
pub struct ConnectionSummary {
    pub uuid: String,
    pub endpoint: String,
    pub connected_at: Time,
    pub disconnected_at: Option<Time>,
    /// Empty while the connection is open.
    pub reason: String,
    /// Empty if unknown.
    pub client: String,
}

/// The number of stream rules of an app. Every app is its own project.
#[derive(Clone, Copy, Debug)]
pub struct RuleCount {
    pub app: i64,
    pub count: i64,
    pub limit: i64,
}

pub fn render_connections(
    shown: &[ConnectionSummary],
    selection: &FieldSelection,
    options: RenderOptions,
) -> ResponsePayload {
    let mask = selection.root_mask() | selection.included_mask(ObjectKind::Connection);
    let mut out = JsonWriter::new(options, shown.len() * 256);
    if !shown.is_empty() {
        out.write_array(shown, |out, one| {
            out.write_fields(CONNECTION_FIELDS, mask, |out, write| {
                if let FieldWriter::Connection(write) = write {
                    write(out, one);
                }
            });
        });
    }
    ResponsePayload { data: out.finish(), count: shown.len(), ..ResponsePayload::default() }
}

pub fn render_rules_count(
    rule_count: RuleCount,
    selection: &FieldSelection,
    options: RenderOptions,
) -> ResponsePayload {
    let mask = selection.included_mask(ObjectKind::RulesCount);
    let mut out = JsonWriter::new(options, 256);
    out.write_fields(RULES_COUNT_FIELDS, mask, |out, write| {
        if let FieldWriter::RulesCount(write) = write {
            write(out, rule_count);
        }
    });
    ResponsePayload { data: out.finish(), count: 1, ..ResponsePayload::default() }
}

pub(crate) const CONNECTION_FIELDS: &[FieldDefinition] = &[
    FieldDefinition::default_field("id", JsonFieldType::Text, "Id of the connection.")
        .connection_writer(|out, one| out.write_nonempty_text(&one.uuid)),
    FieldDefinition::default_field("endpoint_name", JsonFieldType::Text, "What it is connected to.")
        .connection_writer(|out, one| out.write_nonempty_text(&one.endpoint)),
    FieldDefinition::default_field("connected_at", JsonFieldType::Time, "When it began.")
        .connection_writer(|out, one| out.write_time(one.connected_at)),
    FieldDefinition::default_field("disconnected_at", JsonFieldType::Time, "When it ended.").connection_writer(
        |out, one| {
            if let Some(at) = one.disconnected_at {
                out.write_time(at);
            }
        },
    ),
    FieldDefinition::default_field("disconnect_reason", JsonFieldType::Text, "Why it ended.")
        .connection_writer(|out, one| out.write_nonempty_text(&one.reason)),
    FieldDefinition::default_field("client_ip", JsonFieldType::Text, "Where it came from.")
        .connection_writer(|out, one| out.write_nonempty_text(&one.client)),
];

const APP_RULES: JsonFieldType = JsonFieldType::Object(&[
    JsonMember::new("client_app_id", JsonFieldType::Id),
    JsonMember::new("rule_count", JsonFieldType::Int),
]);

// Counts are strings: the official SDK of the newer API generation requires that.
pub(crate) const RULES_COUNT_FIELDS: &[FieldDefinition] = &[
    FieldDefinition::default_field("all_project_client_apps", JsonFieldType::List(&APP_RULES), "Rules by app.")
        .rules_count_writer(|out, shown| out.write_array([shown], write_app_rule_count)),
    FieldDefinition::default_field("cap_per_client_app", JsonFieldType::Text, "The most for an app.")
        .rules_count_writer(|out, shown| out.write_id(shown.limit)),
    FieldDefinition::default_field("cap_per_project", JsonFieldType::Text, "The most for a project.")
        .rules_count_writer(|out, shown| out.write_id(shown.limit)),
    FieldDefinition::default_field("client_app_rules_count", APP_RULES, "Rules of this app.")
        .rules_count_writer(write_app_rule_count),
    FieldDefinition::default_field("project_rules_count", JsonFieldType::Text, "Rules of the project.")
        .rules_count_writer(|out, shown| out.write_id(shown.count)),
];

fn write_app_rule_count(out: &mut JsonWriter, shown: RuleCount) {
    out.write_object(|out| {
        out.write_plain_member("client_app_id", |out| out.write_id(shown.app));
        out.write_plain_member("rule_count", |out| out.write_int(shown.count));
    });
}
