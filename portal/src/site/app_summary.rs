//! How apps are presented to people.

use base::{Error, Fault};
use network::apps::Permission;
use pages::{AppSummary, PermissionLevel};
use store::apps::App;
use web::request_context::RequestContext;

pub(crate) async fn load_app_summary(call: &RequestContext, app: &App) -> Result<AppSummary, Error> {
    let owner = app.owner_id;
    let owner = call.read(move |tx| Ok(store::users::find_by_id(tx, owner)?)).await?;
    let owner = owner.ok_or_else(|| Fault::new("the app has no owner"))?;
    Ok(AppSummary {
        name: app.name.clone(),
        description: app.description.clone(),
        website: Some(app.website_url.clone()).filter(|url| !url.is_empty()),
        owner: owner.username,
    })
}

pub(crate) const fn permission_level(permission: Permission) -> PermissionLevel {
    match permission {
        Permission::Read => PermissionLevel::Read,
        Permission::Write => PermissionLevel::Write,
        Permission::Messages => PermissionLevel::DirectMessages,
    }
}

/// The host of an http(s) URL, otherwise its scheme.
pub(crate) fn redirect_destination(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once(':') else {
        return url.to_owned();
    };
    let web = matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https");
    let authority = rest.strip_prefix("//").unwrap_or_default();
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    if web && !authority.is_empty() { authority.to_owned() } else { format!("{scheme}:") }
}
