//! Community Notes: write, evaluate, delete and list.

use base::{Error, PostId, Refusal};
use network::notes::{self, NewNote, NoteFeedSelection};
use serde_json::json;
use store::notes::CommunityNote;
use store::posts::PageRange;
use store::{Tx, notes as stored};
use view::{ObjectKind, RatedNote};
use web::request_context::{HttpReply, RequestContext};

use super::{POST_ID, edge_pages};

pub(crate) async fn list_eligible_posts(call: RequestContext) -> Result<HttpReply, Error> {
    let (writer, test_mode) = (call.require_user()?, call.query_flag("test_mode"));
    let selection = match call.query_text("post_selection") {
        None => NoteFeedSelection::default(),
        Some(text) => {
            let refusal = || Refusal::invalid_value("post_selection", text);
            NoteFeedSelection::parse(text).ok_or_else(refusal)?
        }
    };
    let read = move |tx: &mut Tx<'_>, range: &PageRange| {
        let found = notes::list_eligible_posts(tx, writer, test_mode, &selection, range)?;
        Ok(found.iter().map(|id| (id.get(), id.get())).collect())
    };
    edge_pages::respond_posts(&call, read).await
}

pub(crate) async fn list_written(call: RequestContext) -> Result<HttpReply, Error> {
    let (author, test_mode) = (call.require_user()?, call.query_flag("test_mode"));
    let page = call.page_request()?;
    let range = edge_pages::edge_range(&page);
    let found = call.read(move |tx| Ok(stored::page_by_author(tx, author, test_mode, &range)?)).await?;
    let slice = page.slice_rows(found, |note| note.id);
    let shown: Vec<RatedNote> = slice.rows.into_iter().map(note_view).collect();
    let answer = view::render_notes(&call.render_request(ObjectKind::NOTE), &shown);
    call.respond_page(&answer, &slice.tokens)
}

fn note_view(note: CommunityNote) -> RatedNote {
    RatedNote { status: notes::status(&note), claim_bucket: notes::score_bucket(note.score), note }
}

pub(crate) async fn create(call: RequestContext) -> Result<HttpReply, Error> {
    let (author, new) = (call.require_user()?, parse_new_note(&call)?);
    let note = call.write(move |tx| notes::create(tx, author, &new)).await?;
    call.respond_data(json!({ "id": note.id.to_string() }))
}

fn parse_new_note(call: &RequestContext) -> Result<NewNote, Error> {
    let body = call.body();
    let missing = || Error::from(Refusal::missing_parameter("info"));
    let info = body.optional_object("info").ok_or_else(missing)?;
    Ok(NewNote {
        post_id: body.required_id(POST_ID)?,
        test_mode: body.required_bool("test_mode")?,
        text: info.required_text("text")?.to_owned(),
        classification: info.required_text("classification")?.to_owned(),
        misleading_tags: info.text_array("misleading_tags").map(str::to_owned).collect(),
        trustworthy_sources: info.required_bool("trustworthy_sources")?,
        media_note: info.optional_bool("is_media_note").unwrap_or(false),
    })
}

/// `POST /2/notes/evaluate`: a score from 0 (only opinions) to 1 (only claims).
pub(crate) async fn evaluate(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, post): (_, PostId) = (call.require_user()?, call.body().required_id(POST_ID)?);
    let text = call.body().required_text("note_text")?.to_owned();
    let score = call.read(move |tx| notes::evaluate(tx, user, post, &text)).await?;
    let score = f64::from(i32::try_from(score).unwrap_or(0)) / 1000.0;
    call.respond_data(json!({ "claim_opinion_score": score }))
}

pub(crate) async fn delete(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, id) = (call.require_user()?, call.path_id::<()>("id")?.get());
    call.write(move |tx| notes::delete(tx, user, id)).await?;
    call.respond_data(json!({ "deleted": true }))
}
