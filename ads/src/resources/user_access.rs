//! The authenticated user's permissions on an account.

use base::Error;
use serde_json::{Value, json};

use crate::access::composer_permission;
use crate::account_context::AccountContext;
use crate::declaration::CustomOperation;
use crate::engine::ensure_valid_params;
use crate::output::OperationOutput;
use crate::parsed_params::ParsedParams;

pub static OPERATIONS: &[CustomOperation] = &[CustomOperation::get(
    "getAdsUserAccess",
    "authenticated_user_access",
    "The authenticated user's permissions on an account.",
    get_user_access,
)];

fn get_user_access(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let account = ctx.account()?;
    let mut permissions = vec![Value::from(account.role.name())];
    if account.may_compose_posts {
        permissions.push(composer_permission(ctx.caller.speech).into());
    }
    let user = ctx.caller.user.to_string();
    Ok(OperationOutput::from_value(&json!({ "user_id": user, "permissions": permissions })))
}
