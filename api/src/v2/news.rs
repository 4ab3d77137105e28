//! News lookup and search.

use base::refusal::ResourceRef;
use base::{Error, Refusal, Time};
use network::news;
use serde_json::{Map, json};
use view::ObjectKind;
use web::request_context::{HttpReply, RequestContext};

use super::edge_pages::refusal_answer;

const HOUR_MS: i64 = 3_600_000;

pub(crate) async fn search(call: RequestContext) -> Result<HttpReply, Error> {
    let query = call.query_text("query").unwrap_or_default().to_owned();
    let age = call.query_int("max_age_hours").saturating_mul(HOUR_MS);
    let limit = usize::try_from(call.query_int("max_results")).unwrap_or(0);
    let viewer = call.viewer();
    let found = call.read(move |tx| {
        let from: Time = tx.now().plus_ms(-age);
        Ok(news::search(tx, viewer, &query, from, limit)?)
    });
    let answer = view::render_stories(&call.render_request(ObjectKind::NEWS), &found.await?);
    let mut meta = Map::new();
    meta.insert("result_count".to_owned(), json!(answer.count));
    call.respond_with_meta(&answer, Some(meta))
}

pub(crate) async fn get(call: RequestContext) -> Result<HttpReply, Error> {
    let id = call.path_id::<()>("id")?.get();
    let viewer = call.viewer();
    let story = call.read(move |tx| Ok(news::find_published(tx, viewer, id)?));
    let found = story.await?;
    let answer = match &found {
        Some(story) => view::render_story(&call.render_request(ObjectKind::NEWS), story),
        None => refusal_answer(Refusal::NotFound(ResourceRef::new("news", "id", id))),
    };
    call.respond(&answer)
}
