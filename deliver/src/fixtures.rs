//! Test fixtures.

use base::Error;
use identity::apps::{AccessLevel, AppProfile, Permission};
use network::users::NewUser;
use store::Tx;
use store::apps::App;

pub(crate) fn create_app(tx: &mut Tx<'_>, owner: &str) -> Result<App, Error> {
    let owner = NewUser { username: owner.to_owned(), ..NewUser::default() };
    let owner = network::users::create(tx, &owner)?.id;
    let profile = AppProfile { permission: Permission::Read, ..AppProfile::new("An app") };
    Ok(identity::apps::create(tx, owner, AccessLevel::SelfServe, &profile)?.0)
}
