//! Communities, looked up and searched.

use store::communities as stored;
use view::ObjectKind;

use crate::call::Call;
use crate::endpoint::Pending;
use crate::page::Direction;

/// `GET /2/communities/{id}`.
pub(crate) fn by_id(call: Call) -> Pending {
    Box::pin(async move {
        let id = call.path_id::<()>("id")?.get();
        let (wants, spoken) = (call.wants(ObjectKind::Community), call.spoken());
        let found = call.read(move |tx| Ok(stored::find_by_id(tx, id)?)).await?;
        call.answer(&view::render_community(found.as_ref(), id, &wants, spoken))
    })
}

/// `GET /2/communities/search`.
pub(crate) fn search(call: Call) -> Pending {
    Box::pin(async move {
        let query = call.text("query").unwrap_or_default().to_owned();
        let page = call.page()?;
        let (wants, spoken) = (call.wants(ObjectKind::Community), call.spoken());
        let (_, below) = page.falling();
        let limit = page.limit;
        let found = call.read(move |tx| Ok(stored::search(tx, &query, below, limit + 1)?));
        let mut found = found.await?;
        let more = found.len() > limit;
        found.truncate(limit);
        let mut meta = serde_json::Map::new();
        if let Some(last) = found.last().filter(|_| more) {
            let token = page.token(Direction::Next, last.id);
            meta.insert("next_token".to_owned(), token.into());
        }
        let answer = view::render_communities(&found, &wants, spoken);
        call.answer_with(&answer, Some(meta).filter(|meta| !meta.is_empty()))
    })
}
