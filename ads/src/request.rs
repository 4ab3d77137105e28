//! A request, once the floor above has taken it apart.

use std::sync::Arc;

use base::{AppId, Speech, UserId};
use serde_json::Value;

use crate::evaluator::Evaluator;
use crate::house::House;
use crate::operations::Operation;

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
    pub speech: Speech,
    /// Whether the sandbox was addressed.
    pub sandbox: bool,
}
