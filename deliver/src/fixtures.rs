//! Test fixtures.

use base::Error;
use network::apps::{AccessLevel, AppRegistration, OAuthClientKind, Permission};
use network::users::NewUser;
use store::Tx;
use store::apps::App;

pub(crate) fn create_app(tx: &mut Tx<'_>, owner: &str) -> Result<App, Error> {
    let owner = NewUser { username: owner.to_owned(), ..NewUser::default() };
    let new = AppRegistration {
        name: "An app".to_owned(),
        owner_id: network::users::create(tx, &owner)?.id,
        kind: OAuthClientKind::Web,
        permission: Permission::Read,
        access_level: AccessLevel::SelfServe,
        callback_urls: Vec::new(),
        description: String::new(),
        website_url: String::new(),
        request_email: false,
        sign_in: false,
    };
    Ok(network::apps::create(tx, &new)?.0)
}
