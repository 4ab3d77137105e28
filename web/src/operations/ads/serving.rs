//! Serving what is promoted, and files of figures.

use base::{Entitlement, Scopes};

use crate::ads::{download_analytics_file, serve};
use crate::endpoint::{BodySpec, Endpoint, EndpointParam, ErrorFormat, ParamType, per_quarter_hour};

/// For networks that show what is promoted, and for whoever knows a file's address.
pub static SERVING: &[Endpoint] = &[
    Endpoint::new("requestAds", "POST", "/ads-serve/1/request")
        .summary("What is to be shown to a viewer, with a token for each.")
        .permit("A", Scopes::NONE)
        .require_entitlement(Entitlement::AdsServing)
        .limits(&[per_quarter_hour(900_000)], &[])
        .body(BodySpec::Raw)
        .error_format(ErrorFormat::Ads)
        .handler(serve::request_ads),
    Endpoint::new("reportAds", "POST", "/ads-serve/1/events")
        .summary("What became of what was shown: all of it or none.")
        .permit("A", Scopes::NONE)
        .require_entitlement(Entitlement::AdsServing)
        .limits(&[per_quarter_hour(900_000)], &[])
        .body(BodySpec::Raw)
        .error_format(ErrorFormat::Ads)
        .handler(serve::report_events),
    Endpoint::new("getAdsFile", "GET", "/ads-files/{token}")
        .allow_anonymous()
        .summary("Figures that a job has worked out (gzip).")
        .limits(&[per_quarter_hour(1_000)], &[])
        .params(&[&[EndpointParam::path(
            "token",
            ParamType::Text(1, 64),
            "The end of the file's address.",
        )]])
        .error_format(ErrorFormat::Ads)
        .handler(download_analytics_file),
];
