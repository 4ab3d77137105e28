//! Placeholders for posts that are only known from other posts or likes.

use base::{Fault, PostId, UserId};
use network::compose::PostTextDraft;
use store::imports::ImportedPostSummary;
use store::posts::{Post, PostState};
use store::users::{self, User};
use store::{Tx, imports};

use super::batch_state::{ImportBatchState, UNKNOWN_USER};
use crate::sanitize;

/// Inserts a placeholder for a post, or completes it with a known author or text.
pub(crate) fn ensure(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    id: PostId,
    author: UserId,
    text: Option<&PostTextDraft>,
) -> Result<ImportedPostSummary, Fault> {
    match batch.known_posts.get(&id.get()).copied() {
        None => insert_placeholder(tx, batch, id, author, text),
        Some(summary) if summary.state == PostState::Placeholder => {
            let author_found = summary.author_id == UNKNOWN_USER && author != UNKNOWN_USER;
            let text = text.filter(|_| !summary.has_text);
            if author_found || text.is_some() {
                return update_placeholder(tx, batch, summary, author, text);
            }
            Ok(summary)
        }
        Some(summary) => Ok(summary),
    }
}

fn insert_placeholder(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    id: PostId,
    author: UserId,
    text: Option<&PostTextDraft>,
) -> Result<ImportedPostSummary, Fault> {
    if author == UNKNOWN_USER {
        ensure_unknown_user(tx, batch)?;
    }
    if !imports::insert_placeholder(tx, &placeholder_post(id, author, text))? {
        return Err(Fault::new(format!("the post {id} was inserted concurrently")));
    }
    batch.track_id(id.get());
    batch.report.placeholders.posts += 1;
    let summary = ImportedPostSummary {
        id,
        author_id: author,
        state: PostState::Placeholder,
        conversation_id: id,
        has_text: text.is_some(),
    };
    batch.known_posts.insert(id.get(), summary);
    Ok(summary)
}

fn update_placeholder(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    mut summary: ImportedPostSummary,
    author: UserId,
    text: Option<&PostTextDraft>,
) -> Result<ImportedPostSummary, Fault> {
    imports::complete_placeholder(tx, &placeholder_post(summary.id, author, text))?;
    if summary.author_id == UNKNOWN_USER {
        summary.author_id = author;
    }
    summary.has_text |= text.is_some();
    batch.known_posts.insert(summary.id.get(), summary);
    Ok(summary)
}

fn placeholder_post(id: PostId, author: UserId, text: Option<&PostTextDraft>) -> Post {
    let mut post = Post::placeholder(id, author, sanitize::time_from_id(id.get()));
    if let Some(draft) = text {
        let composed = draft.compose(&[], false, draft.language());
        composed.lang.clone_into(&mut post.lang);
        post.text = composed.text;
        post.entities = composed.entities;
        post.display_end = composed.display_end;
    }
    post
}

fn ensure_unknown_user(tx: &mut Tx<'_>, batch: &mut ImportBatchState) -> Result<(), Fault> {
    if batch.users_by_source_id.contains_key(&UNKNOWN_USER.get()) {
        return Ok(());
    }
    if users::find_by_id(tx, UNKNOWN_USER)?.is_none() {
        let username = super::user_resolver::claim_handle(
            tx,
            batch,
            UNKNOWN_USER,
            "",
            super::user_resolver::HandleClaim::Mention,
        )?;
        let mut user = User::new(UNKNOWN_USER, &username, sanitize::time_from_id(0));
        "Unknown".clone_into(&mut user.name);
        user.state = users::UserState::Placeholder;
        users::insert(tx, &user, "")?;
        batch.report.placeholders.users += 1;
    }
    batch.users_by_source_id.insert(UNKNOWN_USER.get(), UNKNOWN_USER);
    Ok(())
}
