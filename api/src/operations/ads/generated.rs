//! Operations generated from the declarations of the `ads` crate.

use ads_engine::AdsRateClass;
use base::{Entitlement, Scope, Scopes};
use web::endpoint::{
    BodySpec, Endpoint, EndpointLimits, ErrorFormat, RateWindow, SharedWindow, per_minute, per_quarter_hour,
};

pub(in crate::operations) fn generate_endpoints() -> &'static [Endpoint] {
    Vec::leak(ads_delivery::operations().iter().map(build_endpoint).collect())
}

fn build_endpoint(operation: &'static ads_engine::AdsOperation) -> Endpoint {
    let (windows, shared): (&'static [RateWindow], _) = match operation.rate_class {
        AdsRateClass::PerMinute(CHANGES_PER_MINUTE) => (&[], Some(&WRITES)),
        AdsRateClass::Options => (&[], Some(&OPTIONS)),
        AdsRateClass::KeywordInsights => (&[], Some(&KEYWORD_INSIGHTS)),
        AdsRateClass::AudienceInsights => (&[], Some(&AUDIENCE_INSIGHTS)),
        AdsRateClass::Stats => (&[], Some(&STATS)),
        rate_class => (Vec::leak(vec![rate_window(rate_class)]), None),
    };
    let scopes = match operation.required_scope() {
        Scope::AdsWrite => WRITE,
        _ => READ,
    };
    Endpoint {
        id: operation.id,
        method: operation.method,
        path: operation.path,
        aliases: operation.aliases,
        summary: operation.summary,
        required_entitlement: Some(Entitlement::Ads),
        limits: EndpointLimits { app: &[], user: windows, shared },
        params: Vec::leak(vec![operation.params]),
        body: BodySpec::Raw,
        handler: Some(&crate::ads::run_operation),
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
// Each is one window per user for a category of operations (contract ads §1.8).
pub(super) static WRITES: SharedWindow = SharedWindow { name: "ads changes", window: per_minute(CHANGES_PER_MINUTE) };
static OPTIONS: SharedWindow = SharedWindow { name: "ads targeting options", window: per_quarter_hour(400) };
static KEYWORD_INSIGHTS: SharedWindow = SharedWindow { name: "ads keyword insights", window: per_quarter_hour(500) };
static AUDIENCE_INSIGHTS: SharedWindow = SharedWindow { name: "ads audience insights", window: per_quarter_hour(400) };
static STATS: SharedWindow = SharedWindow { name: "ads statistics", window: per_quarter_hour(250) };

const fn rate_window(rate_class: AdsRateClass) -> RateWindow {
    match rate_class {
        AdsRateClass::High => per_quarter_hour(10_000),
        AdsRateClass::Low => per_quarter_hour(5),
        AdsRateClass::PerMinute(calls) | AdsRateClass::AccountPerMinute(calls) => per_minute(calls),
        AdsRateClass::PerQuarterHour(calls) => per_quarter_hour(calls),
        _ => per_quarter_hour(2_000),
    }
}
