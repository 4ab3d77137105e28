//! A parsed HTTP request for the Ads API.

use std::any::Any;
use std::sync::Arc;

use base::{AppId, SiteLinks, UserId, Vocabulary};
use schema::ParameterLocation;
use serde_json::Value;

use crate::config::AdsConfig;
use crate::operations::AdsOperation;

/// The evaluator of audiences, which the engine only passes on to operations.
pub type SharedEvaluator = Arc<dyn Any + Send + Sync>;

#[derive(Clone, Debug)]
pub struct AdsRequest {
    pub operation: &'static AdsOperation,
    pub caller: AdsCaller,
    pub path_params: Vec<(&'static str, String)>,
    /// Query and form parameters in order; the form's come last and win.
    pub pairs: Vec<(String, String)>,
    /// The valid JSON body of an operation that takes one, or the parameters of a caller inside the server.
    pub json: Option<Value>,
    pub cursor_key: [u8; 32],
    /// The query parameters of a request with a JSON body.
    pub query_pairs: Vec<(String, String)>,
    pub evaluator: Option<SharedEvaluator>,
    pub config: AdsConfig,
    pub site: SiteLinks,
}

/// The app id of requests from the Ads Manager, which has no app.
pub const CONSOLE_APP_ID: AppId = AppId::new(0);

#[derive(Clone, Copy, Debug)]
pub struct AdsCaller {
    pub user: UserId,
    pub app: Option<AppId>,
    pub vocabulary: Vocabulary,
    pub sandbox: bool,
}

impl AdsRequest {
    /// A request without an app: `ids` are those of the path, in order.
    pub fn new_without_app(operation: &'static AdsOperation, caller: AdsCaller, ids: &[&str], params: Value) -> Self {
        let names = operation.params.iter();
        let names = names.filter(|param| param.location == ParameterLocation::Path);
        let path = names.zip(ids);
        Self {
            operation,
            caller,
            path_params: path.map(|(param, id)| (param.name.post, (*id).to_owned())).collect(),
            pairs: Vec::new(),
            json: Some(params),
            query_pairs: Vec::new(),
            evaluator: None,
            config: AdsConfig::default(),
            cursor_key: [0; 32],
            site: SiteLinks::default(),
        }
    }
}
