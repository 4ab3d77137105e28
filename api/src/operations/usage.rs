//! Usage of an app, and the OpenAPI documents.

use view::ObjectKind;
use web::endpoint::{Endpoint, FieldNames, Kind, Parameter, per_quarter_hour};

use super::shared::{app_endpoint, object_fields_param};
use crate::v2::{openapi_document, usage};

pub static USAGE: &[Endpoint] = &[
    app_endpoint("getUsage", "GET", "/2/usage/<posts>", &usage::get_post_usage)
        .summary("The number of posts the app has read per day.")
        .limits(&[per_quarter_hour(50)], &[])
        .params(&[&[
            Parameter::query("days", Kind::int(1, 90), "The number of days to return.").default_number(7),
            object_fields_param("usage.fields", &FieldNames(ObjectKind::USAGE)),
        ]]),
    Endpoint::get("getOpenApiSpec", "/2/openapi.json", &openapi_document::serve_document)
        .summary("This document.")
        .allow_anonymous(),
    Endpoint::get("getAdsOpenApiSpec", "/12/openapi.json", &openapi_document::serve_ads_document)
        .aliases(&["/11/openapi.json"])
        .summary("The Ads API part of this document.")
        .allow_anonymous(),
];
