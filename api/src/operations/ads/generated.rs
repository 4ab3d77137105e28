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
pub(super) static WRITES: SharedWindow = SharedWindow { name: "ads changes", window: per_minute(CHANGES_PER_MINUTE) };

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
