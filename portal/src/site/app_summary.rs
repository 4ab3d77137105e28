//! How apps are presented to people.

use base::{Error, Fault};
use identity::app_names::find_similar_app;
use identity::apps::Permission;
use pages::{AppSummary, CallbackDestination, PermissionLevel, SimilarApp};
use store::apps::App;
use url::Url;
use web::request_context::RequestContext;

pub(crate) async fn load_app_summary(call: &RequestContext, app: &App) -> Result<AppSummary, Error> {
    let owner = app.owner_id;
    let owner = call.read(move |tx| Ok(store::users::find_by_id(tx, owner)?)).await?;
    let owner = owner.ok_or_else(|| Fault::new("the app has no owner"))?;
    let asking = app.clone();
    let similar = call.read(move |tx| {
        let Some(other) = find_similar_app(tx, &asking)? else { return Ok(None) };
        let owner = store::users::find_by_id(tx, other.owner_id)?;
        Ok(owner.map(|owner| SimilarApp { name: other.name, owner: owner.username }))
    });
    Ok(AppSummary {
        name: app.name.clone(),
        description: app.description.clone(),
        website: Some(app.website_url.clone()).filter(|url| !url.is_empty()),
        owner: owner.username,
        similar: similar.await?,
    })
}

pub(crate) const fn permission_level(permission: Permission) -> PermissionLevel {
    match permission {
        Permission::Read => PermissionLevel::Read,
        Permission::Write => PermissionLevel::Write,
        Permission::Messages => PermissionLevel::DirectMessages,
    }
}

pub(crate) const fn network_permission(level: PermissionLevel) -> Permission {
    match level {
        PermissionLevel::Read => Permission::Read,
        PermissionLevel::Write => Permission::Write,
        PermissionLevel::DirectMessages => Permission::Messages,
    }
}

/// Where a browser goes to that follows a callback.
pub(crate) fn callback_destination(url: &str) -> CallbackDestination {
    let Ok(parsed) = Url::parse(url) else {
        return CallbackDestination { address: url.to_owned(), display_form: None };
    };
    let Some(host) = parsed.host_str().filter(|_| matches!(parsed.scheme(), "http" | "https")) else {
        return CallbackDestination { address: format!("{}:", parsed.scheme()), display_form: None };
    };
    let with_port = |host: &str| parsed.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    let (displayed, outcome) = idna::domain_to_unicode(host);
    let display_form = (outcome.is_ok() && displayed != host).then(|| with_port(&displayed));
    CallbackDestination { address: with_port(host), display_form }
}

#[cfg(test)]
mod tests {
    use super::callback_destination;

    #[test]
    fn destination_of_a_callback_is_the_host_that_browsers_connect_to() {
        for (url, address, display_form) in [
            ("https://client.example/cb?x=1", "client.example", None),
            ("HTTP://Client.Example:8080", "client.example:8080", None),
            ("https://client.example:443/cb", "client.example", None),
            ("https://b%61nk.example/cb", "bank.example", None),
            ("http://0x7f.1:80/", "127.0.0.1", None),
            ("http://[::1]:3000/cb", "[::1]:3000", None),
            ("https://xn--bcher-kva.example/cb", "xn--bcher-kva.example", Some("b\u{fc}cher.example")),
            ("https://xn--bcher-kva.example:1/", "xn--bcher-kva.example:1", Some("b\u{fc}cher.example:1")),
            ("com.client.app://cb", "com.client.app:", None),
            ("app:cb", "app:", None),
        ] {
            let found = callback_destination(url);
            assert_eq!((found.address.as_str(), found.display_form.as_deref()), (address, display_form), "{url}");
        }
    }
}
