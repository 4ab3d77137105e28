//! What the authenticated user may do on an account.

use base::Error;
use serde_json::{Value, json};

use crate::access::composer;
use crate::answer::Answer;
use crate::declare::Custom;
use crate::desk::Desk;
use crate::engine::checked;
use crate::given::Given;

/// The one operation.
pub static OPERATIONS: &[Custom] = &[Custom::get(
    "getAdsUserAccess",
    "authenticated_user_access",
    "The authenticated user's permissions on an account.",
    show,
)];

fn show(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let account = desk.account()?;
    let mut permissions = vec![Value::from(account.role.name())];
    if account.composes {
        permissions.push(composer(desk.caller.speech).into());
    }
    let user = desk.caller.user.to_string();
    Ok(Answer::one(
        &json!({ "user_id": user, "permissions": permissions }),
    ))
}
