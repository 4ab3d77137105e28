//! Serving what is promoted, and files of figures.

use base::{Entitlement, Scopes};

use crate::ads::{file, serve};
use crate::endpoint::{Accent, Body, Endpoint, Kind, Param, quarter};

/// For networks that show what is promoted, and for whoever knows a file's address.
pub static SERVING: &[Endpoint] = &[
    Endpoint::new("requestAds", "POST", "/ads-serve/1/request")
        .about("What is to be shown to a viewer, with a token for each.")
        .permit("A", Scopes::NONE)
        .needs(Entitlement::AdsServing)
        .limits(&[quarter(900_000)], &[])
        .body(Body::Own)
        .accent(Accent::Ads)
        .act(serve::request),
    Endpoint::new("reportAds", "POST", "/ads-serve/1/events")
        .about("What became of what was shown: all of it or none.")
        .permit("A", Scopes::NONE)
        .needs(Entitlement::AdsServing)
        .limits(&[quarter(900_000)], &[])
        .body(Body::Own)
        .accent(Accent::Ads)
        .act(serve::report),
    Endpoint::new("getAdsFile", "GET", "/ads-files/{token}")
        .open()
        .about("Figures that a job has worked out (gzip).")
        .limits(&[quarter(1_000)], &[])
        .params(&[&[Param::path(
            "token",
            Kind::Text(1, 64),
            "The end of the file's address.",
        )]])
        .accent(Accent::Ads)
        .act(file),
];
