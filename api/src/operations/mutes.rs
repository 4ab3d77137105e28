//! Mutes.

use base::Scope;
use web::endpoint::{BodySpec, Endpoint, per_quarter_hour};

use super::shared::{EDGE, OWN, READ, TARGET, USER_FIELDS, page_params};
use crate::v2::mutes;

pub static MUTES: &[Endpoint] = &[
    Endpoint::post("muteUser", "/2/users/{id}/muting", &mutes::mute)
        .summary("Mutes a user as the authenticated user.")
        .permit("12", READ.with_scope(Scope::MuteWrite))
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[OWN])
        .body(BodySpec::Json(&[TARGET])),
    Endpoint::delete("unmuteUser", "/2/users/{source_user_id}/muting/{target_user_id}", &mutes::unmute)
        .summary("Unmutes a user as the authenticated user.")
        .permit("12", READ.with_scope(Scope::MuteWrite))
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[EDGE]),
    Endpoint::get("getUsersMuting", "/2/users/{id}/muting", &mutes::list_muted)
        .summary("Users whom the authenticated user mutes.")
        .permit("12", READ.with_scope(Scope::MuteRead))
        .limits(&[], &[per_quarter_hour(15)])
        .params(&[OWN, &page_params(1, 1_000, 100), USER_FIELDS]),
];
