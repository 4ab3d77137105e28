//! Community notes.

use base::{Error, PostId, Refusal, VocabularyWord};
use network::notes::{self, NewNote, NoteFeedSelection};
use serde_json::json;
use store::notes::CommunityNote;
use store::posts::PageRange;
use store::{Tx, notes as stored};
use view::{ObjectKind, RatedNote};

use super::{POST_ID, linked};
use crate::call::Call;
use crate::endpoint::Pending;

/// `GET /2/notes/search/posts_eligible_for_notes`.
pub(crate) fn eligible(call: Call) -> Pending {
    Box::pin(async move {
        let (writer, test_mode) = (call.user()?, call.flag("test_mode"));
        let selection = match call.text("post_selection") {
            None => NoteFeedSelection::default(),
            Some(text) => {
                let refusal = || Refusal::invalid_value("post_selection", text);
                NoteFeedSelection::parse(text).ok_or_else(refusal)?
            }
        };
        let read = move |tx: &mut Tx<'_>, span: &PageRange| {
            let found = notes::list_eligible_posts(tx, writer, test_mode, &selection, span)?;
            Ok(found.iter().map(|id| (id.get(), id.get())).collect())
        };
        linked::posts(&call, read).await
    })
}

/// `GET /2/notes/search/notes_written`.
pub(crate) fn written(call: Call) -> Pending {
    Box::pin(async move {
        let (author, test_mode) = (call.user()?, call.flag("test_mode"));
        let page = call.page()?;
        let asked = linked::span_of(&page);
        let found = call
            .read(move |tx| Ok(stored::page_by_author(tx, author, test_mode, &asked)?))
            .await?;
        let cut = page.cut(found, |note| note.id);
        let shown: Vec<RatedNote> = cut.rows.into_iter().map(shown).collect();
        let answer = view::render_notes(&shown, &call.wants(ObjectKind::Note), call.spoken());
        call.answer_page(&answer, &cut.tokens)
    })
}

fn shown(note: CommunityNote) -> RatedNote {
    RatedNote {
        status: notes::status(&note),
        claim_bucket: notes::score_bucket(note.score),
        note,
    }
}

/// `POST /2/notes`.
pub(crate) fn create(call: Call) -> Pending {
    Box::pin(async move {
        let (author, new) = (call.user()?, new_note(&call)?);
        let note = call
            .write(move |tx| notes::create(tx, author, &new))
            .await?;
        call.say(json!({ "id": note.id.to_string() }))
    })
}

fn new_note(call: &Call) -> Result<NewNote, Error> {
    let body = call.body();
    let missing = || Error::from(Refusal::missing_parameter("info"));
    let info = body
        .object(VocabularyWord::same_in_both("info"))
        .ok_or_else(missing)?;
    Ok(NewNote {
        post_id: body.id(POST_ID)?,
        test_mode: body.bool(VocabularyWord::same_in_both("test_mode"))?,
        text: info.text(VocabularyWord::same_in_both("text"))?.to_owned(),
        classification: info
            .text(VocabularyWord::same_in_both("classification"))?
            .to_owned(),
        misleading_tags: info
            .texts(VocabularyWord::same_in_both("misleading_tags"))
            .map(str::to_owned)
            .collect(),
        trustworthy_sources: info.bool(VocabularyWord::same_in_both("trustworthy_sources"))?,
        media_note: info
            .bool_if(VocabularyWord::same_in_both("is_media_note"))
            .unwrap_or(false),
    })
}

/// `POST /2/notes/evaluate`: a number from 0, nothing but opinions, to 1, nothing but claims.
pub(crate) fn evaluate(call: Call) -> Pending {
    Box::pin(async move {
        let (user, post): (_, PostId) = (call.user()?, call.body().id(POST_ID)?);
        let text = call
            .body()
            .text(VocabularyWord::same_in_both("note_text"))?
            .to_owned();
        let score = call
            .read(move |tx| notes::evaluate(tx, user, post, &text))
            .await?;
        let score = f64::from(i32::try_from(score).unwrap_or(0)) / 1000.0;
        call.say(json!({ "claim_opinion_score": score }))
    })
}

/// `DELETE /2/notes/{id}`.
pub(crate) fn delete(call: Call) -> Pending {
    Box::pin(async move {
        let (user, id) = (call.user()?, call.path_id::<()>("id")?.get());
        call.write(move |tx| notes::delete(tx, user, id)).await?;
        call.say(json!({ "deleted": true }))
    })
}
