//! The time zone in which pages show times to a member, and read what the member enters.

use base::{AccountTimeZone, Error, Fault, Refusal, UserId};
use store::{Tx, member_time_zones};

use crate::users;

/// UTC unless the member has chosen another one.
pub fn find(tx: &mut Tx<'_>, user: UserId) -> Result<AccountTimeZone, Fault> {
    let name = member_time_zones::find_by_user(tx, user)?;
    Ok(name.map_or_else(AccountTimeZone::default, |name| AccountTimeZone::from_name(&name)))
}

/// Refuses names that are not [offered](AccountTimeZone::list_names).
pub fn set(tx: &mut Tx<'_>, user: UserId, name: &str) -> Result<(), Error> {
    store::users::lock(tx, user)?;
    users::find_active(tx, user)?;
    if !AccountTimeZone::list_names().iter().any(|known| known == name) {
        return Err(Refusal::invalid_value("time_zone", name).into());
    }
    Ok(member_time_zones::set(tx, user, name)?)
}
