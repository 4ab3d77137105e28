//! The result of an operation, before it is put in the response envelope.

use base::{Error, Vocabulary};
use serde_json::{Map, Value};

use crate::account_context::AccountContext;
use crate::engine::{view_record, view_records};
use crate::record::AdsRecord;
use crate::record_view::RecordView;

/// Of a record's JSON, so that the body of a list seldom has to grow.
const TYPICAL_RECORD_BYTES: usize = 768;

#[derive(Clone, Debug)]
pub enum OperationData {
    Value(Value),
    Json(String),
    Record(Box<RecordView>),
    Records(Vec<RecordView>),
}

impl Default for OperationData {
    fn default() -> Self {
        Self::Value(Value::Null)
    }
}

impl OperationData {
    pub fn write_json(&self, out: &mut String, vocabulary: Vocabulary) {
        match self {
            // Faster than through `Display`; serializing a value cannot fail.
            Self::Value(value) => out.push_str(&serde_json::to_string(value).unwrap_or_default()),
            Self::Json(text) => out.push_str(text),
            Self::Record(record) => record.write_json(out, vocabulary),
            Self::Records(records) => {
                out.push('[');
                for (place, record) in records.iter().enumerate() {
                    if place > 0 {
                        out.push(',');
                    }
                    record.write_json(out, vocabulary);
                }
                out.push(']');
            }
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct OperationOutput {
    pub data: OperationData,
    /// The outer `None` for results that are no list, the inner one for the last page.
    pub next_cursor: Option<Option<String>>,
    pub total_count: Option<i64>,
    /// The legacy `data_type` member; empty if there is none.
    pub data_type: &'static str,
    /// The echo of each batch item (JSON), instead of one set of parameters.
    pub item_requests: Option<Vec<Value>>,
    /// Additional members of the echo.
    pub echo_params: Map<String, Value>,
    pub headers: Vec<(&'static str, String)>,
    /// The name of the data member, if it is not `data`.
    pub data_member: &'static str,
    /// Members next to the data.
    pub extra_members: Vec<(&'static str, Value)>,
}

impl OperationOutput {
    pub fn from_value(data: Value) -> Self {
        Self { data: OperationData::Value(data), ..Self::default() }
    }

    pub fn from_record(ctx: &mut AccountContext<'_, '_>, record: AdsRecord) -> Result<Self, Error> {
        let data = OperationData::Record(Box::new(view_record(ctx, record)?));
        Ok(Self { data, ..Self::default() })
    }

    pub fn from_records(ctx: &mut AccountContext<'_, '_>, records: Vec<AdsRecord>) -> Result<Self, Error> {
        let data = OperationData::Records(view_records(ctx, records)?);
        Ok(Self { data, ..Self::default() })
    }

    /// Marks the result as a list without further pages.
    #[must_use]
    pub fn as_last_page(self) -> Self {
        Self { next_cursor: Some(None), ..self }
    }

    #[must_use]
    pub fn with_total_count(self, count: usize) -> Self {
        Self { total_count: Some(i64::try_from(count).unwrap_or(i64::MAX)), ..self }
    }

    /// Builds the response body around the echo of the request.
    pub fn to_envelope(&self, params: &Map<String, Value>, vocabulary: Vocabulary) -> String {
        let records = if let OperationData::Records(records) = &self.data { records.len() } else { 1 };
        let mut body = String::with_capacity(1024 + records * TYPICAL_RECORD_BYTES);
        body.push_str("{\"request\":");
        if let Some(items) = &self.item_requests {
            body.push_str(&Value::from(items.clone()).to_string());
        } else {
            let mut params = params.clone();
            params.extend(self.echo_params.clone());
            body.push_str("{\"params\":");
            body.push_str(&Value::Object(params).to_string());
            body.push('}');
        }
        if let Some(next) = &self.next_cursor {
            body.push_str(",\"next_cursor\":");
            body.push_str(&Value::from(next.clone()).to_string());
        }
        if let Some(total) = self.total_count {
            body.push_str(",\"total_count\":");
            body.push_str(&total.to_string());
        }
        if !self.data_type.is_empty() {
            body.push_str(",\"data_type\":\"");
            body.push_str(self.data_type);
            body.push('"');
        }
        for (name, value) in &self.extra_members {
            body.push_str(",\"");
            body.push_str(name);
            body.push_str("\":");
            body.push_str(&value.to_string());
        }
        body.push_str(",\"");
        body.push_str(if self.data_member.is_empty() { "data" } else { self.data_member });
        body.push_str("\":");
        self.data.write_json(&mut body, vocabulary);
        body.push('}');
        body
    }
}
