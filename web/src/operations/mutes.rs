//! Mutes.

use base::Scope;

use super::shared::{EDGE, OWN, READ, TARGET, USER_FIELDS, page};
use crate::endpoint::{Body, Endpoint, quarter};
use crate::v2;

/// Mutes, set, lifted and listed.
pub static MUTES: &[Endpoint] = &[
    Endpoint::new("muteUser", "POST", "/2/users/{id}/muting")
        .act(v2::mutes::mute)
        .about("Mutes a user as the authenticated user.")
        .permit("12", READ.with_scope(Scope::MuteWrite))
        .limits(&[], &[quarter(50)])
        .params(&[OWN])
        .body(Body::Json(&[TARGET])),
    Endpoint::new(
        "unmuteUser",
        "DELETE",
        "/2/users/{source_user_id}/muting/{target_user_id}",
    )
    .act(v2::mutes::unmute)
    .about("Lifts a mute of the authenticated user.")
    .permit("12", READ.with_scope(Scope::MuteWrite))
    .limits(&[], &[quarter(50)])
    .params(&[EDGE]),
    Endpoint::new("getUsersMuting", "GET", "/2/users/{id}/muting")
        .act(v2::mutes::muting)
        .about("Users whom the authenticated user mutes.")
        .permit("12", READ.with_scope(Scope::MuteRead))
        .limits(&[], &[quarter(15)])
        .params(&[OWN, &page(1, 1_000, 100), USER_FIELDS]),
];
