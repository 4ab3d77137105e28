//! Operations generated from the declarations of the `ads` crate.

use ads_engine::{AdsRateClass, FieldKind, FieldRequirement, OperationParamLocation};
use base::{Entitlement, Scope, Scopes};
use web::endpoint::{
    BodySpec, Endpoint, EndpointLimits, EndpointParam, EndpointParamLocation, ErrorFormat, ParamType, RateWindow,
    SharedWindow, per_minute, per_quarter_hour,
};

pub(in crate::operations) fn generate_endpoints() -> &'static [Endpoint] {
    Vec::leak(ads_delivery::operations().iter().map(build_endpoint).collect())
}

fn build_endpoint(operation: &'static ads_engine::AdsOperation) -> Endpoint {
    let params: &'static [EndpointParam] = Vec::leak(operation.params.iter().map(build_param).collect());
    let (windows, shared): (&'static [RateWindow], _) = match operation.rate_class {
        // All changes share one window.
        AdsRateClass::PerMinute(CHANGES_PER_MINUTE) => (&[], Some(&WRITES)),
        rate_class => (Vec::leak(vec![rate_window(rate_class)]), None),
    };
    let scopes = if operation.is_write { WRITE } else { READ };
    Endpoint {
        id: operation.id,
        method: operation.method,
        path: operation.path,
        aliases: operation.aliases,
        summary: operation.summary,
        required_entitlement: Some(Entitlement::Ads),
        limits: EndpointLimits { app: &[], user: windows, shared },
        params: Vec::leak(vec![params]),
        body: BodySpec::Raw,
        handler: Some(crate::ads::run_operation),
        ads: Some(operation),
        ..Endpoint::DEFAULT
    }
    .permit("12", scopes)
    .error_format(ErrorFormat::Ads)
}

const READ: Scopes = Scopes::from_slice(&[Scope::AdsRead]);
const WRITE: Scopes = Scopes::from_slice(&[Scope::AdsWrite]);

/// Changes of any kind per user.
const CHANGES_PER_MINUTE: u32 = 450;
static WRITES: SharedWindow = SharedWindow { name: "ads changes", window: per_minute(CHANGES_PER_MINUTE) };

const fn rate_window(rate_class: AdsRateClass) -> RateWindow {
    match rate_class {
        AdsRateClass::Standard => per_quarter_hour(2_000),
        AdsRateClass::High => per_quarter_hour(10_000),
        AdsRateClass::Low => per_quarter_hour(5),
        AdsRateClass::Options => per_quarter_hour(400),
        AdsRateClass::Insights => per_quarter_hour(500),
        AdsRateClass::Stats => per_quarter_hour(250),
        AdsRateClass::PerMinute(calls) | AdsRateClass::AccountPerMinute(calls) => per_minute(calls),
    }
}

fn build_param(param: &ads_engine::OperationParam) -> EndpointParam {
    let aliases: Vec<&'static str> = param
        .aliases
        .iter()
        .copied()
        .chain((param.name.post != param.name.tweet).then_some(param.name.tweet))
        .collect();
    let location = match param.location {
        OperationParamLocation::Path => EndpointParamLocation::Path,
        OperationParamLocation::Input => EndpointParamLocation::Query,
    };
    EndpointParam {
        name: param.name.post,
        // Path parameters have no aliases.
        aliases: if location == EndpointParamLocation::Path { &[] } else { Vec::leak(aliases) },
        location,
        required: param.requirement == FieldRequirement::Required,
        param_type: param_type(param),
        summary: "",
    }
}

fn param_type(param: &ads_engine::OperationParam) -> ParamType {
    const ANY: ParamType = ParamType::Text(0, 100_000);
    let default = param.default_value.as_ref().and_then(serde_json::Value::as_i64);
    match param.kind {
        FieldKind::Text(min, max) => ParamType::Text(min, max),
        FieldKind::Bool => ParamType::Bool,
        FieldKind::Int(min, max) => ParamType::Int(min, max, default.unwrap_or(min)),
        FieldKind::Money => ParamType::Int(1, i64::MAX, 1),
        FieldKind::OneOf(words) => ParamType::OneOf(words),
        FieldKind::SomeOf(words) => ParamType::SomeOf(words),
        FieldKind::Word(words) => ParamType::OneOf(Vec::leak(words.iter().map(|word| word.post).collect())),
        FieldKind::User | FieldKind::Long => ParamType::Id,
        FieldKind::Longs(max) => ParamType::Ids(1, max),
        FieldKind::Time => ParamType::Time,
        FieldKind::Url => ParamType::Text(8, 2048),
        FieldKind::Reference(..) | FieldKind::Account | FieldKind::MediaKey => ParamType::Text(1, 64),
        FieldKind::Texts(..)
        | FieldKind::Ids(..)
        | FieldKind::MediaKeys(_)
        | FieldKind::CardUris(_)
        | FieldKind::Shape(_) => ANY,
    }
}
