//! A request, once the floor above has taken it apart.

use std::sync::Arc;

use base::{AppId, UserId, Vocabulary};
use serde_json::Value;

use crate::config::AdsConfig;
use crate::evaluator::Evaluator;
use crate::operations::{AdsOperation, OperationParamLocation};

/// A request of one operation.
#[derive(Clone, Debug)]
pub struct AdsRequest {
    /// The operation.
    pub operation: &'static AdsOperation,
    /// Who asks, and how.
    pub caller: AdsCaller,
    /// The path's parameters by their names.
    pub path_params: Vec<(&'static str, String)>,
    /// The parameters of query and form, in their order; a form's come later and win.
    pub pairs: Vec<(String, String)>,
    /// The JSON body of an operation that takes one; none when there is none that can be read.
    pub json: Option<Value>,
    /// The key that cursors are signed with.
    pub cursor_key: [u8; 32],
    /// What was sent in the query beside a JSON body.
    pub query_pairs: Vec<(String, String)>,
    /// Who decides who is reached, where users are looked at.
    pub evaluator: Option<Arc<Evaluator>>,
    /// What the operator decided.
    pub config: AdsConfig,
    /// Where the site is.
    pub site_url: &'static str,
}

/// What a person in front of the Ads Manager works with, where others have an app.
pub const CONSOLE_APP_ID: AppId = AppId::new(0);

/// Who asks, and how they are answered.
#[derive(Clone, Copy, Debug)]
pub struct AdsCaller {
    /// The user.
    pub user: UserId,
    /// The app.
    pub app: Option<AppId>,
    /// The vocabulary.
    pub speech: Vocabulary,
    /// Whether the sandbox was addressed.
    pub sandbox: bool,
}

impl AdsRequest {
    /// What somebody asks who has no app of their own: ids are those of the path, in its order.
    pub fn new_without_app(
        operation: &'static AdsOperation,
        caller: AdsCaller,
        ids: &[&str],
        pairs: &[(&str, String)],
        json: Option<Value>,
    ) -> Self {
        let names = operation.params.iter();
        let names = names.filter(|param| param.location == OperationParamLocation::Path);
        let path = names.zip(ids);
        let pairs = pairs.iter();
        Self {
            operation,
            caller,
            path_params: path.map(|(param, id)| (param.name.post, (*id).to_owned())).collect(),
            pairs: pairs.map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
            json,
            query_pairs: Vec::new(),
            evaluator: None,
            config: AdsConfig::default(),
            cursor_key: [0; 32],
            site_url: "",
        }
    }
}
