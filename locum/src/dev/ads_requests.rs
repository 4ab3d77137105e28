//! Requests of the Ads API while a world is created.

use ads_engine::{AdsCaller, AdsOperation, AdsRequest, CONSOLE_APP_ID};
use base::{Error, Fault, UserId, Vocabulary};
use serde_json::Value;
use store::Tx;

/// Returns the response's `data`. `ids` are those of the path, the account's first.
pub(super) fn send_ads_request(
    tx: &mut Tx<'_>,
    user: UserId,
    operation: &'static AdsOperation,
    ids: &[&str],
    params: Value,
) -> Result<Value, Error> {
    let caller = AdsCaller { user, app: Some(CONSOLE_APP_ID), vocabulary: Vocabulary::Post, sandbox: false };
    let request = AdsRequest::new_without_app(operation, caller, ids, params);
    let answered = ads_engine::dispatch_request(tx, &request)?;
    let mut answer: Value =
        serde_json::from_str(&answered.body).map_err(Fault::context("parsing an Ads API response"))?;
    Ok(answer.get_mut("data").map(Value::take).unwrap_or_default())
}
