//! `/settings/muted_words`.

use base::{Id, Refusal, SplitRefusal};
use network::muted_words;
use pages::members::{MUTED_WORDS_PATH, MutedWordItem, MutedWordsPage};
use pages::{FormField, Notice};
use portal::{MemberVisit, PageExit, PageQuery, redirect_to};
use web::HttpReply;
use web::error_formats::error_message;
use web::request_context::RequestContext;

const DAY_MS: i64 = 24 * 3600 * 1000;

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    render(&call, &visit, FormField::default(), String::new()).await
}

async fn render(
    call: &RequestContext,
    visit: &MemberVisit,
    word: FormField,
    duration: String,
) -> Result<HttpReply, PageExit> {
    let user = visit.person.user.id;
    let words = call.read(move |tx| Ok(muted_words::list(tx, user)?)).await?;
    let query = PageQuery::from_call(call).unwrap_or_default();
    let mut frame = visit.page_frame(call);
    frame.notices = query.get("done").map(|_| Notice::success("Your changes were saved.")).into_iter().collect();
    let status = if word.error.is_some() { 400 } else { 200 };
    let words = words.into_iter().map(|word| MutedWordItem {
        id: word.id.to_string(),
        phrase: word.phrase,
        expires_at: word.expires_at,
    });
    let page = MutedWordsPage { frame, word, duration, words: words.collect() };
    Ok(visit.render_page(call, &page)?.status(status))
}

/// `POST /settings/muted_words`: mutes a word, or no longer.
pub(crate) async fn submit(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, form) = MemberVisit::accept_form(&call).await?;
    let user = visit.person.user.id;
    if let Some(id) = form.optional_text("remove") {
        let id = Id::<()>::parse(&id).ok_or_else(|| Refusal::invalid_value("remove", &id))?;
        call.write(move |tx| Ok(muted_words::unmute_word(tx, user, id.get())?)).await?;
        return Ok(redirect_to_settings());
    }
    let (word, duration) = (form.text("word"), form.text("duration"));
    let (phrase, duration_ms) = (word.clone(), parse_duration(&duration));
    match call.write(move |tx| muted_words::mute_word(tx, user, &phrase, duration_ms)).await.split_refusal()? {
        Ok(()) => Ok(redirect_to_settings()),
        Err(refusal) => {
            let error = error_message(&refusal).to_owned();
            render(&call, &visit, FormField::invalid(word, error), duration).await
        }
    }
}

/// In milliseconds; none for good.
fn parse_duration(text: &str) -> Option<i64> {
    match text {
        "day" => Some(DAY_MS),
        "week" => Some(7 * DAY_MS),
        "month" => Some(30 * DAY_MS),
        _ => None,
    }
}

fn redirect_to_settings() -> HttpReply {
    redirect_to(&format!("{MUTED_WORDS_PATH}?done=words"))
}
