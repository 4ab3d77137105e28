//! A rule that makes requests, streams or webhook deliveries fail.

use serde_json::{Map, Value, json};

/// Conditions and effects are those of `locum fault add`.
#[derive(Clone, Debug)]
#[must_use]
pub struct FaultRule {
    id: Option<String>,
    conditions: Map<String, Value>,
    effect: Map<String, Value>,
}

impl FaultRule {
    /// An effect such as `status`, `delay`, `rate-limit` or `disconnect`.
    pub fn new(effect: &str) -> Self {
        let effect = Map::from_iter([("name".to_owned(), effect.into())]);
        Self { id: None, conditions: Map::new(), effect }
    }

    /// The rule's id; by default, the server chooses one.
    pub fn id(mut self, id: &str) -> Self {
        self.id = Some(id.to_owned());
        self
    }

    /// A parameter of the effect.
    pub fn parameter(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.effect.insert(name.to_owned(), value.into());
        self
    }

    /// Such as `app`, `user`, `account`, `stream`, `webhook`, `after`, `every`, `probability` or `until`.
    pub fn condition(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.conditions.insert(name.to_owned(), value.into());
        self
    }

    /// A method with a path or its template: `GET /2/users/{id}`.
    pub fn route(self, route: &str) -> Self {
        self.condition("route", route)
    }

    /// Only the request of this number, from 1, among those that match.
    pub fn nth(self, number: u32) -> Self {
        self.condition("nth", number)
    }

    /// At most so often.
    pub fn times(self, count: u32) -> Self {
        self.condition("times", count)
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut rule = json!({"match": self.conditions, "effect": self.effect});
        if let (Some(id), Some(members)) = (&self.id, rule.as_object_mut()) {
            members.insert("id".to_owned(), id.as_str().into());
        }
        rule
    }
}
