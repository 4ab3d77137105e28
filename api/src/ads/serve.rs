//! Ad serving: apps request ads and report impressions.

use ads_delivery::serving::{self, AdRequest, ImpressionReport};
use base::refusal::AdsProblem;
use base::{Error, Refusal};
use serde_json::Value;
use store::Tx;
use store::ledger::record_auction;
use web::request_context::{HttpReply, RequestContext};

use std::sync::Arc;

pub(crate) async fn request_ads(call: RequestContext) -> Result<HttpReply, Error> {
    let request = AdRequest::parse(&parse_json_body(&call)?)?;
    let key = call.state.page_context.config.page_key;
    let evaluator = Arc::clone(&call.state.evaluator);
    let config = call.state.ads_config.clone();
    let files_url = call.site().files_url;
    let serve = move |tx: &mut Tx<'_>| serving::serve_ads(tx, (&evaluator, &config), (&key, files_url), &request);
    let served = call.read(serve).await?;
    // Auctions run concurrently; only their outcomes need the write transaction.
    let bids = Arc::new(served.bid_outcomes);
    if !bids.is_empty() {
        call.write(move |tx| Ok(record_auction(tx, &bids)?)).await?;
    }
    Ok(HttpReply::bytes(200, web::reply::ADS_JSON, served.answer.to_string()))
}

pub(crate) async fn report_events(call: RequestContext) -> Result<HttpReply, Error> {
    let key = call.state.page_context.config.page_key;
    let reports = ImpressionReport::parse_all(&parse_json_body(&call)?, &key, call.now())?;
    let accepted = call.write(move |tx| serving::record_reports(tx, &reports)).await?;
    Ok(HttpReply::bytes(200, web::reply::ADS_JSON, accepted.to_string()))
}

fn parse_json_body(call: &RequestContext) -> Result<Value, Refusal> {
    let body = web::body::parse_json(call.bytes()).ok().filter(Value::is_object);
    let message = "The request body must be a JSON object";
    body.ok_or_else(|| AdsProblem::new("INVALID_PARAMETER", message).into())
}
