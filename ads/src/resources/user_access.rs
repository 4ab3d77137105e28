//! The authenticated user's permissions on an account.

use ads_engine::access::composer_permission;
use ads_engine::engine::ensure_valid_params;
use ads_engine::{AccountContext, CustomOperation, OperationOutput, ParsedParams};
use base::Error;
use serde_json::{Value, json};

pub static OPERATIONS: &[CustomOperation] =
    &[CustomOperation::get("getAdsUserAccess", "authenticated_user_access", get_user_access)
        .summary("The authenticated user's permissions on an account.")];

fn get_user_access(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let account = ctx.account()?;
    let mut permissions = vec![Value::from(account.role.name())];
    if account.may_compose_posts {
        permissions.push(composer_permission(ctx.caller.vocabulary).into());
    }
    let user = ctx.caller.user.to_string();
    Ok(OperationOutput::from_value(json!({ "user_id": user, "permissions": permissions })))
}
