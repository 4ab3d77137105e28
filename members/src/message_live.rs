//! `GET /messages/{conversation}/live`: that a conversation has new messages.

use std::sync::Arc;
use std::time::Duration;

use base::{Error, Refusal};
use network::messages::{self, MessageWatcher};
use portal::{MemberVisit, PageExit, PageQuery};
use store::Store;
use web::request_context::{HttpReply, RequestContext};

use crate::live::{LiveSource, LiveUpdate, refuse_more_pages, refuse_other_sites, reply_with_events};

pub(crate) async fn open(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let (reader, session) = (visit.person.user.id, visit.person.session.digest);
    refuse_other_sites(&call)?;
    let conversation = call.path_text("conversation")?.to_owned();
    let asked = conversation.clone();
    let found = call.read(move |tx| Ok(messages::find_conversation(tx, reader, &asked)?)).await?;
    found.ok_or(Refusal::RouteNotFound)?;
    let watcher = MessageWatcher::open(&call.state.message_watchers, reader).ok_or_else(refuse_more_pages)?;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let after = query.get("after").and_then(|after| after.parse().ok()).unwrap_or(0);
    let store = Arc::clone(call.store());
    Ok(reply_with_events(&call, NewMessageSource { watcher, store, session, conversation, after }))
}

struct NewMessageSource {
    watcher: MessageWatcher,
    store: Arc<Store>,
    /// SHA-256 of the session cookie.
    session: [u8; 32],
    conversation: String,
    /// The newest message that the page knows of.
    after: i64,
}

impl LiveSource for NewMessageSource {
    const COLLECT_DELAY: Duration = Duration::from_millis(200);

    async fn wait_for_news(&mut self, limit: Duration) -> bool {
        self.watcher.wait_for_messages(limit).await
    }

    async fn load_update(&mut self) -> LiveUpdate {
        let (session, conversation, after) = (self.session, self.conversation.clone(), self.after);
        let read = self.store.read(move |tx| {
            let reader = identity::sessions::find_user(tx, &session)?;
            messages::find_newer_event(tx, reader.id, &conversation, after)
        });
        match read.await {
            Ok(None) => LiveUpdate::Unchanged,
            Ok(Some(newest)) => {
                self.after = newest;
                LiveUpdate::Event { name: "messages", data: newest.to_string() }
            }
            Err(Error::Refused(_)) => LiveUpdate::End,
            Err(error) => {
                tracing::warn!(%error, "failed to look for new messages of a conversation; the page connects anew");
                LiveUpdate::End
            }
        }
    }
}
