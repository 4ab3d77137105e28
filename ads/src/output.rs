//! What an operation answers, inside its envelope.

use serde_json::{Map, Value};

/// An answer.
#[derive(Clone, Debug, Default)]
pub struct OperationOutput {
    /// The data (JSON).
    pub data: String,
    /// What leads to the next page, on lists; none on the last one.
    pub next_cursor: Option<Option<String>>,
    /// How many there are, where that is said.
    pub total_count: Option<i64>,
    /// The older interface's name for what it is, or empty.
    pub data_type: &'static str,
    /// What was understood of each item of a batch (JSON), instead of one set of parameters.
    pub item_requests: Option<Vec<Value>>,
    /// Members of the echo that only the operation knows.
    pub echo_params: Map<String, Value>,
    /// Headers that it is sent with.
    pub headers: Vec<(&'static str, String)>,
    /// The member that the data stands under, where it is not `data`.
    pub data_member: &'static str,
    /// Further members beside the data.
    pub extra_members: Vec<(&'static str, Value)>,
}

impl OperationOutput {
    /// One value.
    pub fn from_value(data: &Value) -> Self {
        Self::from_json(data.to_string())
    }

    /// JSON that is written already.
    pub fn from_json(data: String) -> Self {
        Self {
            data,
            ..Self::default()
        }
    }

    /// A list without further pages.
    #[must_use]
    pub fn as_last_page(self) -> Self {
        Self {
            next_cursor: Some(None),
            ..self
        }
    }

    /// Says how many there are.
    #[must_use]
    pub fn with_total_count(self, count: usize) -> Self {
        Self {
            total_count: Some(i64::try_from(count).unwrap_or(i64::MAX)),
            ..self
        }
    }

    /// The whole body, around what was understood of the request.
    pub fn to_envelope(&self, params: &Map<String, Value>) -> String {
        let mut body = String::with_capacity(self.data.len() + 256);
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
        body.push_str(if self.data_member.is_empty() {
            "data"
        } else {
            self.data_member
        });
        body.push_str("\":");
        body.push_str(&self.data);
        body.push('}');
        body
    }
}
