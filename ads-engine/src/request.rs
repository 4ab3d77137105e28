//! A parsed HTTP request for the Ads API.

use std::any::Any;
use std::sync::Arc;

use base::{AppId, SiteLinks, UserId, Vocabulary, VocabularyWord};
use schema::{Parameter, ParameterLocation, RawParam, ValueKind};
use serde_json::Value;

use crate::config::AdsConfig;
use crate::operations::{AdsOperation, OperationAction, field_params};

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

/// The vocabulary of a name or word among the parameters that only one vocabulary has; the newer one if there are
/// some of both.
pub fn find_params_vocabulary(
    operation: &AdsOperation,
    pairs: &[(String, String)],
    json: Option<&Value>,
) -> Option<Vocabulary> {
    let batch_params = match operation.action {
        OperationAction::Batch(resource) => field_params(resource, true),
        _ => Vec::new(),
    };
    let declared = || operation.params.iter().chain(&batch_params);
    let items = json.into_iter().flat_map(|json| json.as_array().map_or(std::slice::from_ref(json), Vec::as_slice));
    let members = items.filter_map(|item| item.get("params").unwrap_or(item).as_object()).flatten();
    let of_members = members.filter_map(|(name, value)| param_vocabulary(declared(), name, RawParam::Json(value)));
    let of_pairs = pairs
        .iter()
        .filter_map(|(name, text)| param_vocabulary(declared(), name, RawParam::Text(std::slice::from_ref(text))));
    of_pairs.chain(of_members).reduce(|found, other| if found == Vocabulary::Post { found } else { other })
}

fn param_vocabulary<'p>(
    mut declared: impl Iterator<Item = &'p Parameter>,
    name: &str,
    value: RawParam<'_>,
) -> Option<Vocabulary> {
    let param = declared.find(|param| param.name.matches(name))?;
    let word_vocabulary = |word: &VocabularyWord, text: &str| match (word.post == text, word.tweet == text) {
        (true, false) => Some(Vocabulary::Post),
        (false, true) => Some(Vocabulary::Tweet),
        _ => None,
    };
    word_vocabulary(&param.name, name).or_else(|| match param.kind.value {
        ValueKind::Word(words) => {
            let text = value.display_text().to_ascii_uppercase();
            words.iter().find_map(|word| word_vocabulary(word, &text))
        }
        _ => None,
    })
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
