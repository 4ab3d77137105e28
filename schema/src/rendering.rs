//! Renders stored values.

use std::borrow::Cow;

use base::{Time, Vocabulary};
use serde_json::Value;

use crate::{Kind, ValueKind, format_time};

impl Kind {
    /// Renders a stored value for a response.
    pub fn render_value(self, stored: &Value, vocabulary: Vocabulary) -> Value {
        self.render_cow(stored, vocabulary).into_owned()
    }

    /// Like [`Self::render_value`], borrowing values that are rendered as stored.
    pub fn render_cow(self, stored: &Value, vocabulary: Vocabulary) -> Cow<'_, Value> {
        if let Value::Array(items) = stored {
            let items = items.iter().map(|item| self.render_value(item, vocabulary));
            return Cow::Owned(items.collect());
        }
        let rendered: Option<Value> = match (self.value, stored.as_i64()) {
            (ValueKind::Bool, Some(number)) => Some((number != 0).into()),
            (ValueKind::Id | ValueKind::Long, Some(id)) => Some(id.to_string().into()),
            (ValueKind::Time, Some(ms)) => Some(format_time(Time::from_ms(ms)).into()),
            (ValueKind::Word(words), _) => {
                let stored = stored.as_str().unwrap_or_default();
                let word = words.iter().find(|word| word.post == stored);
                word.map(|word| word.name_in(vocabulary)).filter(|word| *word != stored).map(Value::from)
            }
            (ValueKind::Custom(kind), _) => kind.render(stored),
            _ => None,
        };
        rendered.map_or(Cow::Borrowed(stored), Cow::Owned)
    }

    /// Whether every value is rendered as it is stored.
    pub const fn is_rendered_as_stored(self, vocabulary: Vocabulary) -> bool {
        match self.value {
            ValueKind::Bool | ValueKind::Id | ValueKind::Long | ValueKind::Time | ValueKind::Custom(_) => false,
            ValueKind::Word(_) => matches!(vocabulary, Vocabulary::Post),
            _ => true,
        }
    }

    /// Renders a stored value for the echo of a request.
    pub fn echo_value(self, stored: &Value, vocabulary: Vocabulary) -> Value {
        match self.value {
            ValueKind::Long => stored.clone(),
            _ => self.render_value(stored, vocabulary),
        }
    }
}
