//! Serving: own networks ask what to show, and report what became of it.

use ads::serving::{self, AdRequest, ImpressionReport};
use base::Refusal;
use base::refusal::AdsProblem;
use serde_json::Value;

use crate::call::{Call, Reply};
use crate::endpoint::Pending;
use std::sync::Arc;

/// `POST /ads-serve/1/request`.
pub(crate) fn request(call: Call) -> Pending {
    Box::pin(async move {
        let ask = AdRequest::parse(&body(&call)?)?;
        let key = call.home.front.config.page_key;
        let evaluator = Arc::clone(&call.home.evaluator);
        let house = call.home.ads.clone();
        let chosen = call
            .read(move |tx| serving::serve_ads(tx, (&evaluator, &house), &key, &ask))
            .await?;
        // The auction is held beside others; only its outcome waits for its turn to be written.
        let bids = Arc::new(chosen.bid_outcomes);
        if !bids.is_empty() {
            call.write(move |tx| serving::record_bid_outcomes(tx, &bids))
                .await?;
        }
        Ok(Reply::bytes(
            200,
            crate::reply::ADS,
            chosen.answer.to_string(),
        ))
    })
}

/// `POST /ads-serve/1/events`.
pub(crate) fn report(call: Call) -> Pending {
    Box::pin(async move {
        let key = call.home.front.config.page_key;
        let reports = ImpressionReport::parse_all(&body(&call)?, &key, call.now())?;
        let taken = call
            .write(move |tx| serving::record_reports(tx, &reports))
            .await?;
        Ok(Reply::bytes(200, crate::reply::ADS, taken.to_string()))
    })
}

fn body(call: &Call) -> Result<Value, Refusal> {
    let body: Option<Value> = serde_json::from_slice(call.bytes()).ok();
    let body = body.filter(Value::is_object);
    let message = "The request body must be a JSON object";
    body.ok_or_else(|| AdsProblem::new("INVALID_PARAMETER", message).into())
}
