//! Executes a request and builds the response body.

use base::refusal::{AdsProblem, ProblemLocation, ResourceRef};
use base::{Error, Refusal};
use serde_json::json;
use store::Tx;
use store::records::{IndexedFields, RecordIndex};

use crate::account_context::AccountContext;
use crate::declaration::{Resource, ResourceVerb};
use crate::operations::{AdsOperation, OperationAction};
use crate::output::OperationOutput;
use crate::parsed_params::ParsedParams;
use crate::request::AdsRequest;
use crate::{batch, engine, feature_gates, listing, reference_lists};

/// Executes a request. Errors carry the echo of the parameters.
pub fn dispatch_request(tx: &mut Tx<'_>, request: &AdsRequest) -> Result<AdsResponse, Error> {
    let params = ParsedParams::parse(request);
    match run_operation(tx, request, &params) {
        Ok(output) => {
            let body = output.to_envelope(&params.echo, request.caller.vocabulary);
            Ok(AdsResponse { body, headers: output.headers })
        }
        Err(Error::Refused(Refusal::Ads(mut refusal))) => {
            if refusal.request.is_empty() {
                refusal.request = json!({ "params": params.echo }).to_string();
            }
            Err(Refusal::Ads(refusal).into())
        }
        Err(other) => Err(other),
    }
}

#[derive(Clone, Debug)]
pub struct AdsResponse {
    pub body: String,
    /// Headers of this response only.
    pub headers: Vec<(&'static str, String)>,
}

/// Executes a request; its output has typed records.
pub fn run_operation(tx: &mut Tx<'_>, request: &AdsRequest, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let operation = request.operation;
    if operation.sandbox_only && !request.caller.sandbox {
        let message = "This operation exists in the sandbox only";
        return Err(AdsProblem::new("METHOD_NOT_ALLOWED", message).into());
    }
    let user = store::users::find_by_id(tx, request.caller.user)?;
    if user.is_none_or(|user| user.state != store::users::UserState::Active) {
        let subject = ResourceRef::new("user", "user", request.caller.user);
        return Err(Refusal::Suspended(subject).into());
    }
    let mut ctx = AccountContext::new(tx, request.caller);
    ctx.cursor_key = request.cursor_key;
    ctx.site = request.site;
    ctx.evaluator.clone_from(&request.evaluator);
    ctx.config.clone_from(&request.config);
    operation.id.clone_into(&mut ctx.cursor_scope);
    if let Some(accounts) = operation.account_resource() {
        if let Some(problem) = params.problems.iter().find(|problem| problem.is_at_parameter("account_id")) {
            return Err(problem.clone().into());
        }
        let id = params.int("account_id").unwrap_or(-1);
        let with_deleted = operation.reads_deleted_accounts() && params.flag("with_deleted");
        ctx.open_account((accounts, id), operation.required_role, operation.is_write, with_deleted)?;
    }
    match operation.action {
        OperationAction::Verb(resource, verb) => {
            let mut output = run_verb(&mut ctx, resource, verb, params)?;
            let echo = resource.constant_echo.iter();
            output.echo_params.extend(echo.map(|(name, value)| ((*name).to_owned(), (*value).into())));
            Ok(output)
        }
        OperationAction::Batch(resource) => batch::apply_batch(&mut ctx, resource, params),
        OperationAction::Custom(custom) => {
            if let Some(gate) = &custom.feature_gate {
                feature_gates::require_gate(&ctx, gate, ProblemLocation::Request)?;
            }
            (custom.handler)(&mut ctx, params)
        }
        OperationAction::Reference(resource) => reference_lists::list(&ctx, resource, params),
    }
}

fn run_verb(
    ctx: &mut AccountContext<'_, '_>,
    resource: &'static Resource,
    verb: ResourceVerb,
    params: &ParsedParams,
) -> Result<OperationOutput, Error> {
    let record = match verb {
        ResourceVerb::List => return listing::list(ctx, resource, params),
        ResourceVerb::Get => engine::get(ctx, resource, params)?,
        ResourceVerb::Create => engine::create(ctx, resource, params)?,
        ResourceVerb::Update => {
            let id = engine::path_record_id(resource, params)?;
            engine::update(ctx, resource, id, params)?
        }
        ResourceVerb::Delete => {
            engine::ensure_valid_params(params)?;
            let id = engine::path_record_id(resource, params)?;
            engine::delete(ctx, resource, id)?
        }
    };
    OperationOutput::from_record(ctx, record)
}

impl AdsOperation {
    /// Whether the operation may read a deleted account.
    fn reads_deleted_accounts(&self) -> bool {
        self.id == "getAdsAccount"
    }
}

/// The store indexes required by the declarations.
pub fn record_indexes(resources: &[&Resource]) -> Vec<RecordIndex> {
    let mut all = Vec::new();
    for resource in resources {
        let filters = resource.indexed_number_fields();
        if resource.has_wide_listing() {
            let extra = IndexedFields { filter_fields: filters.clone(), sort_fields: resource.sort_fields.to_vec() };
            let under = |name| RecordIndex::CoveringFilter(resource.name, name, extra.clone());
            all.extend(filters.into_iter().map(under));
            all.push(RecordIndex::CoveringName(resource.name, extra));
        } else {
            let filter = |name| RecordIndex::Filter(resource.name, name);
            all.extend(filters.into_iter().map(filter));
        }
        all.extend(resource.sort_fields.iter().map(|name| RecordIndex::Sort(resource.name, name)));
    }
    all
}
