//! The description of the server for programs, in the format of `NodeInfo` 2.1. The protocols are an empty list, since
//! the server does not federate.

use identity::registration::RegistrationPolicy;
use network::site_settings;
use portal::PageExit;
use serde_json::json;
use store::Tx;
use web::HttpReply;
use web::request_context::RequestContext;

pub(crate) const PATH: &str = "/nodeinfo/2.1";
const SCHEMA: &str = "http://nodeinfo.diaspora.software/ns/schema/2.1";

pub(crate) async fn show_link(call: RequestContext) -> Result<HttpReply, PageExit> {
    let url = format!("{}{PATH}", call.site().url);
    Ok(HttpReply::json(200, &json!({ "links": [{ "rel": SCHEMA, "href": url }] })))
}

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let config = &call.state.page_context.config;
    let configured = config.registration;
    let read = call.read(move |tx: &mut Tx<'_>| {
        let policy = site_settings::registration_policy(tx, configured)?;
        Ok((policy, site_settings::get(tx, site_settings::NAME)?, site_settings::get(tx, "rules")?))
    });
    let (policy, name, rules) = read.await?;
    let name = if name.is_empty() { config.site_name.clone() } else { name };
    let site = call.site().url;
    Ok(HttpReply::json(
        200,
        &json!({
            "version": "2.1",
            "software": { "name": "locum", "version": env!("CARGO_PKG_VERSION") },
            "protocols": [],
            "services": { "inbound": [], "outbound": ["atom1.0"] },
            "openRegistrations": policy == RegistrationPolicy::Open,
            "usage": { "users": {} },
            "metadata": {
                "nodeName": name,
                "registrations": site_settings::policy_name(policy),
                "rules": rules,
                "rulesUrl": format!("{site}/rules"),
                "aboutUrl": format!("{site}/about"),
            },
        }),
    ))
}
