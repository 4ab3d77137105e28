//! Operations generated from the declarations of the `ads` crate.

use ads_engine::{AdsRateClass, FieldKind, FieldRequirement, OperationParamLocation};
use base::{Entitlement, Scope, Scopes};
use web::endpoint::{
    BodySpec, Endpoint, EndpointLimits, ErrorFormat, Kind, Parameter, ParameterLocation, RateWindow, SharedWindow,
    per_minute, per_quarter_hour,
};

pub(in crate::operations) fn generate_endpoints() -> &'static [Endpoint] {
    Vec::leak(ads_delivery::operations().iter().map(build_endpoint).collect())
}

fn build_endpoint(operation: &'static ads_engine::AdsOperation) -> Endpoint {
    let params: &'static [Parameter] = Vec::leak(operation.params.iter().map(build_param).collect());
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

fn build_param(param: &ads_engine::OperationParam) -> Parameter {
    let location = match param.location {
        OperationParamLocation::Path => ParameterLocation::Path,
        OperationParamLocation::Input => ParameterLocation::Query,
    };
    let is_required = param.requirement == FieldRequirement::Required;
    let default = param.default_value.as_ref().and_then(serde_json::Value::as_i64);
    let parameter = Parameter { location, ..Parameter::member_named(param.name, param_kind(param.kind)) };
    // Path parameters have no aliases.
    let parameter = if location == ParameterLocation::Path { parameter } else { parameter.aliases(param.aliases) };
    let parameter = if is_required { parameter.as_required() } else { parameter };
    default.map_or(parameter, |default| parameter.default_number(default))
}

fn param_kind(kind: FieldKind) -> Kind {
    match kind {
        FieldKind::Text(min, max) => Kind::text(min, max),
        FieldKind::Bool => Kind::BOOL,
        FieldKind::Int(min, max) => Kind::int(min, max),
        FieldKind::Money => Kind::MONEY,
        FieldKind::OneOf(words) => Kind::one_of(words),
        FieldKind::SomeOf(words) => Kind::one_of(words).list(1, usize::MAX),
        FieldKind::Word(words) => Kind::word(words),
        FieldKind::User | FieldKind::Long => Kind::ID,
        FieldKind::Longs(max) => Kind::ID.list(1, max),
        FieldKind::Time => Kind::TIME,
        FieldKind::Url => Kind::URL,
        FieldKind::Reference(..) | FieldKind::Account | FieldKind::MediaKey => Kind::text(1, 64),
        FieldKind::Texts(..)
        | FieldKind::Ids(..)
        | FieldKind::MediaKeys(_)
        | FieldKind::CardUris(_)
        | FieldKind::Shape(_) => Kind::text(0, 100_000),
    }
}
