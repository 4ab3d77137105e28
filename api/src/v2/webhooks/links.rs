//! Webhooks that receive the app's filtered stream.

use base::refusal::RefusalKind;
use base::{Error, Refusal, Vocabulary};
use deliver::activity::{wait_for_readers, wait_for_readers_if_frozen};
use network::webhooks;
use serde_json::{Value, json};
use store::webhooks::{self as stored, StreamLink};
use web::request_context::{HttpReply, RequestContext};

use super::path_webhook_id;
use crate::v2::rules;

const LINK_FIELDS: [&str; 6] =
    ["post.fields", "expansions", "media.fields", "poll.fields", "place.fields", "user.fields"];

/// `POST /2/<posts>/search/webhooks/{webhook_id}`: repeating it replaces the fields.
pub(crate) async fn create_link(call: RequestContext) -> Result<HttpReply, Error> {
    let (app, id) = (require_enterprise(&call)?, path_webhook_id(&call)?);
    let fields = requested_fields(&call);
    wait_for_readers_if_frozen(call.store(), call.stream_hub()).await;
    call.write(move |tx| webhooks::link_stream(tx, app, id, &fields)).await?;
    call.respond_data(json!({ "provisioned": true }))
}

pub(crate) async fn list_links(call: RequestContext) -> Result<HttpReply, Error> {
    let app = call.require_caller()?.app_id;
    let found = call.read(move |tx| Ok(stored::stream_links(tx, app)?)).await?;
    let owner = call.require_caller()?.app.owner_id.to_string();
    let links: Value = found.iter().map(|link| link_json(link, &owner)).collect();
    // The two public documents differ.
    let options = call.answer_vocabulary();
    let is_list = options.newer_models || options.vocabulary == Vocabulary::Post;
    call.respond_data(if is_list { links } else { json!({ "links": links }) })
}

pub(crate) async fn delete_link(call: RequestContext) -> Result<HttpReply, Error> {
    let (app, id) = (call.require_caller()?.app_id, path_webhook_id(&call)?);
    wait_for_readers(call.store(), call.stream_hub()).await;
    call.write(move |tx| {
        webhooks::find_owned(tx, app, id)?;
        if stored::unlink_stream(tx, id, app)? {
            return Ok(());
        }
        let message = format!("The webhook [{id}] is not linked to the filtered stream.");
        Err(Refusal::named_reason(RefusalKind::NotFound, "webhook_id", id, message).into())
    })
    .await?;
    call.respond_data(json!({ "deleted": true }))
}

fn link_json(link: &StreamLink, owner: &str) -> Value {
    let parts = link.fields.split('&');
    let fields: Vec<&str> = parts.filter(|one| !one.starts_with("vocabulary=")).collect();
    json!({
        "webhook_id": link.webhook_id.to_string(),
        "application_id": link.app_id.to_string(),
        "business_user_id": owner,
        "instance_id": link.webhook_id.to_string(),
        "fields": fields,
        "created_at": link.created_at.to_string(),
    })
}

/// As in the query: `post.fields=lang,created_at`.
fn requested_fields(call: &RequestContext) -> String {
    let parts = LINK_FIELDS.iter().filter_map(|name| {
        let raw = call.raw_param(name);
        (!raw.is_empty()).then(|| format!("{}={raw}", call.param_name_used(name)))
    });
    let options = call.answer_vocabulary();
    let words = match options.vocabulary {
        Vocabulary::Tweet => "tweets",
        Vocabulary::Post => "posts",
    };
    let both = if options.both_metric_names { "+both" } else { "" };
    let all = [format!("vocabulary={words}{both}")].into_iter().chain(parts);
    all.collect::<Vec<_>>().join("&")
}

fn require_enterprise(call: &RequestContext) -> Result<base::AppId, Error> {
    if !rules::is_enterprise(call)? {
        return Err(rules::enterprise_required());
    }
    Ok(call.require_caller()?.app_id)
}
