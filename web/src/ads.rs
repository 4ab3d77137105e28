//! The advertising interface: a request is taken apart, done by the engine, and answered whole.

pub(crate) mod preview;
pub(crate) mod serve;

use std::sync::Arc;

use ads::{AdsCaller, AdsRequest};
use base::{Error, Fault, Refusal};
use http::HeaderValue;
use serde_json::Value;

use crate::body;
use crate::call::{Call, Reply};
use crate::endpoint::Pending;

const GZIP: HeaderValue = HeaderValue::from_static("application/gzip");

/// `GET /ads-files/{token}`: figures that were worked out. Whoever knows the address needs no
/// credential.
pub(crate) fn file(call: Call) -> Pending {
    Box::pin(async move {
        let token = call.path_text("token")?.to_owned();
        let found = call.read(move |tx| Ok(ads::analytics::jobs::find_job_file(tx, &token)?));
        let file = found.await?.ok_or(Refusal::RouteNotFound)?;
        Ok(Reply::bytes(200, GZIP, file))
    })
}

/// Does any declared operation.
pub(crate) fn act(call: Call) -> Pending {
    Box::pin(async move {
        let request = Arc::new(request(&call)?);
        let writes = request.operation.is_write;
        if request.operation.uses_search {
            call.search()?.catch_up(call.store()).await?;
        }
        let run = move |tx: &mut store::Tx<'_>| ads::dispatch_request(tx, &request);
        let answered = if writes {
            call.write(run).await?
        } else {
            call.read(run).await?
        };
        let mut reply = Reply::bytes(200, crate::reply::ADS, answered.body);
        for (name, value) in answered.headers {
            if let Ok(value) = HeaderValue::from_str(&value) {
                reply.headers.insert(name, value);
            }
        }
        Ok(reply)
    })
}

fn request(call: &Call) -> Result<AdsRequest, Error> {
    let operation = call
        .endpoint()
        .ads
        .ok_or_else(|| Fault::new("an operation of advertising without its declaration"))?;
    let caller = call.caller()?;
    let path = call.params.iter();
    let path = path
        .map(|given| (given.param.name, given.raw.clone()))
        .collect();
    let json = operation.takes_json();
    Ok(AdsRequest {
        operation,
        caller: AdsCaller {
            user: call.user()?,
            app: Some(caller.app_id),
            speech: call.spoken().vocabulary,
            sandbox: call.head().sandbox,
        },
        path_params: path,
        pairs: pairs(call, !json)?,
        json: if json {
            serde_json::from_slice::<Value>(call.bytes()).ok()
        } else {
            None
        },
        query_pairs: if json {
            pairs(call, false)?
        } else {
            Vec::new()
        },
        evaluator: Some(Arc::clone(&call.home.evaluator)),
        config: call.home.ads.clone(),
        cursor_key: call.home.front.config.page_key,
        site_url: call.home.site,
    })
}

/// The parameters of the query, and of a form after them.
fn pairs(call: &Call, form: bool) -> Result<Vec<(String, String)>, Refusal> {
    let query = call.head().uri.query().unwrap_or_default();
    let mut all = parsed(query)?;
    if form && call.kind == body::ContentType::Form {
        let text = std::str::from_utf8(call.bytes()).unwrap_or_default();
        let sent = parsed(text)?;
        // What the form says counts.
        all.retain(|(name, _)| !sent.iter().any(|(other, _)| other == name));
        all.extend(sent);
    }
    all.retain(|(name, _)| !name.starts_with("oauth_"));
    Ok(all)
}

fn parsed(text: &str) -> Result<Vec<(String, String)>, Refusal> {
    let pairs = base::percent::parse_form(text);
    pairs.map_err(|_| body::whole("The parameters are not percent-encoded properly"))
}
