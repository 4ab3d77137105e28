//! Ad serving and analytics files.

use base::Entitlement;
use web::endpoint::{BodySpec, Endpoint, ErrorFormat, Kind, Parameter, per_quarter_hour};

use crate::ads::{download_analytics_file, serve};
use crate::operations::shared::app_endpoint;

pub static SERVING: &[Endpoint] = &[
    app_endpoint("requestAds", "POST", "/ads-serve/1/request", &serve::request_ads)
        .summary("Selects ads for a viewer, each with an impression token.")
        .require_entitlement(Entitlement::AdsServing)
        .limits(&[per_quarter_hour(900_000)], &[])
        .body(BodySpec::Raw)
        .error_format(ErrorFormat::Ads),
    app_endpoint("reportAds", "POST", "/ads-serve/1/events", &serve::report_events)
        .summary("Reports impressions and engagements of served ads, all or none.")
        .require_entitlement(Entitlement::AdsServing)
        .limits(&[per_quarter_hour(900_000)], &[])
        .body(BodySpec::Raw)
        .error_format(ErrorFormat::Ads),
    Endpoint::get("getAdsFile", "/ads-files/{token}", &download_analytics_file)
        .allow_anonymous()
        .summary("The result of an analytics job (gzip).")
        .limits(&[per_quarter_hour(1_000)], &[])
        .params(&[&[Parameter::path("token", Kind::text(1, 64), "The token in the file's URL.")]])
        .error_format(ErrorFormat::Ads),
];
