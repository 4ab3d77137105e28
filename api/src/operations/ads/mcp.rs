//! The Model Context Protocol endpoint and what its clients discover it by.

use base::{Entitlement, Scope, Scopes};
use web::endpoint::{BodySpec, Endpoint, ErrorFormat, per_quarter_hour};

use super::generated::WRITES;
use crate::ads::mcp;

pub static MCP: &[Endpoint] = &[
    Endpoint::post("callAdsTool", "/mcp", &mcp::handle_message)
        .summary("Tools for agents, each an operation of the Ads API (Model Context Protocol, streamable HTTP).")
        .permit("2", Scopes::from_slice(&[Scope::AdsRead]))
        .require_entitlement(Entitlement::Ads)
        .limits(&[], &[])
        .share_limit(&WRITES)
        .body(BodySpec::Raw),
    Endpoint::get("getProtectedResourceMetadata", "/.well-known/oauth-protected-resource", &mcp::describe_resource)
        .aliases(&["/.well-known/oauth-protected-resource/mcp"])
        .summary("OAuth 2.0 protected resource metadata (RFC 9728).")
        .allow_anonymous()
        .limits(&[per_quarter_hour(1_000)], &[])
        .error_format(ErrorFormat::OAuth2),
];
