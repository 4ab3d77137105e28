//! A request, once the floor above has taken it apart.

use std::sync::Arc;

use base::{AppId, UserId, Vocabulary};
use serde_json::Value;

use crate::evaluator::Evaluator;
use crate::house::House;
use crate::operations::{Operation, Place};

/// A request of one operation.
#[derive(Clone, Debug)]
pub struct Request {
    /// The operation.
    pub operation: &'static Operation,
    /// Who asks, and how.
    pub caller: Caller,
    /// The path's parameters by their names.
    pub path: Vec<(&'static str, String)>,
    /// The parameters of query and form, in their order; a form's come later and win.
    pub pairs: Vec<(String, String)>,
    /// The JSON body of an operation that takes one; none when there is none that can be read.
    pub json: Option<Value>,
    /// The key that cursors are signed with.
    pub cursor_key: [u8; 32],
    /// What was sent in the query beside a JSON body.
    pub beside: Vec<(String, String)>,
    /// Who decides who is reached, where users are looked at.
    pub evaluator: Option<Arc<Evaluator>>,
    /// What the operator decided.
    pub house: House,
    /// Where the site is.
    pub site: &'static str,
}

/// What a person in front of the Ads Manager works with, where others have an app.
pub const CONSOLE: AppId = AppId::new(0);

/// Who asks, and how they are answered.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// The user.
    pub user: UserId,
    /// The app.
    pub app: Option<AppId>,
    /// The vocabulary.
    pub speech: Vocabulary,
    /// Whether the sandbox was addressed.
    pub sandbox: bool,
}

impl Request {
    /// What somebody asks who has no app of their own: ids are those of the path, in its order.
    pub fn plain(
        operation: &'static Operation,
        caller: Caller,
        ids: &[&str],
        pairs: &[(&str, String)],
        json: Option<Value>,
    ) -> Self {
        let names = operation.params.iter();
        let names = names.filter(|param| param.place == Place::Path);
        let path = names.zip(ids);
        let pairs = pairs.iter();
        Self {
            operation,
            caller,
            path: path
                .map(|(param, id)| (param.name.post, (*id).to_owned()))
                .collect(),
            pairs: pairs
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect(),
            json,
            beside: Vec::new(),
            evaluator: None,
            house: House::default(),
            cursor_key: [0; 32],
            site: "",
        }
    }
}
