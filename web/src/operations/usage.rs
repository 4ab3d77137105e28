//! What an app has used, and what the interface is.

use base::Scopes;
use view::ObjectKind;

use super::shared::object_fields;
use crate::endpoint::{Endpoint, Kind, Param, quarter};
use crate::v2;

/// Usage and self-description.
pub static USAGE: &[Endpoint] = &[
    Endpoint::new("getUsage", "GET", "/2/usage/<posts>")
        .act(v2::usage::posts)
        .about("How many posts the app has read, day by day.")
        .permit("A", Scopes::NONE)
        .limits(&[quarter(50)], &[])
        .params(&[&[
            Param::query("days", Kind::Int(1, 90, 7), "How many days to show."),
            object_fields("usage.fields", ObjectKind::Usage),
        ]]),
    Endpoint::new("getOpenApiSpec", "GET", "/2/openapi.json")
        .act(v2::description::document)
        .about("This document.")
        .open(),
    Endpoint::new("getAdsOpenApiSpec", "GET", "/12/openapi.json")
        .aliases(&["/11/openapi.json"])
        .act(v2::description::advertising)
        .about("The part of this document that is about advertising.")
        .open(),
];
