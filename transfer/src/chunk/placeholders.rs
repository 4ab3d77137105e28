//! Placeholders for posts that are only known from other posts or likes.

use base::{Fault, PostId, UserId};
use network::compose::{ComposedText, PostTextDraft};
use store::imports::ImportedPostSummary;
use store::posts::{Post, PostState};
use store::users::{self, User};
use store::{Tx, imports};

use super::batch_state::{ImportBatchState, UNKNOWN_USER};
use crate::sanitize;

/// Inserts a placeholder for a post, or completes it with a known author or text.
pub(crate) fn ensure(
    tx: &mut Tx<'_>,
    desk: &mut ImportBatchState,
    id: PostId,
    author: UserId,
    text: Option<&PostTextDraft>,
) -> Result<ImportedPostSummary, Fault> {
    match desk.known_posts.get(&id.get()).copied() {
        None => insert_placeholder(tx, desk, id, author, text),
        Some(seen) if seen.state == PostState::Placeholder => {
            let better = seen.author_id == UNKNOWN_USER && author != UNKNOWN_USER;
            let text = text.filter(|_| !seen.has_text);
            if better || text.is_some() {
                return update_placeholder(tx, desk, seen, author, text);
            }
            Ok(seen)
        }
        Some(seen) => Ok(seen),
    }
}

fn insert_placeholder(
    tx: &mut Tx<'_>,
    desk: &mut ImportBatchState,
    id: PostId,
    author: UserId,
    text: Option<&PostTextDraft>,
) -> Result<ImportedPostSummary, Fault> {
    if author == UNKNOWN_USER {
        ensure_unknown_user(tx, desk)?;
    }
    let mut post = Post::placeholder(id, author, sanitize::time_from_id(id.get()));
    if let Some(text) = text {
        write_text(&mut post, text);
    }
    if !imports::insert_placeholder(tx, &post)? {
        return Err(Fault::new(format!("the post {id} came in between")));
    }
    desk.track_id(id.get());
    desk.report.placeholders.posts += 1;
    let seen = ImportedPostSummary {
        id,
        author_id: author,
        state: PostState::Placeholder,
        conversation_id: id,
        has_text: text.is_some(),
    };
    desk.known_posts.insert(id.get(), seen);
    Ok(seen)
}

fn update_placeholder(
    tx: &mut Tx<'_>,
    desk: &mut ImportBatchState,
    mut seen: ImportedPostSummary,
    author: UserId,
    text: Option<&PostTextDraft>,
) -> Result<ImportedPostSummary, Fault> {
    let mut post = Post::placeholder(seen.id, author, sanitize::time_from_id(seen.id.get()));
    if let Some(text) = text {
        write_text(&mut post, text);
    }
    imports::complete_placeholder(tx, &post)?;
    if seen.author_id == UNKNOWN_USER {
        seen.author_id = author;
    }
    seen.has_text |= text.is_some();
    desk.known_posts.insert(seen.id.get(), seen);
    Ok(seen)
}

fn write_text(post: &mut Post, text: &PostTextDraft) {
    let ComposedText {
        text,
        lang,
        entities,
        display_end,
        ..
    } = text.compose(&[], false, text.language());
    post.text = text;
    lang.clone_into(&mut post.lang);
    post.entities = entities;
    post.display_end = display_end;
}

fn ensure_unknown_user(tx: &mut Tx<'_>, desk: &mut ImportBatchState) -> Result<(), Fault> {
    if desk.users_by_source_id.contains_key(&UNKNOWN_USER.get()) {
        return Ok(());
    }
    if users::find_by_id(tx, UNKNOWN_USER)?.is_none() {
        let username =
            super::user_resolver::claim_handle(tx, desk, UNKNOWN_USER, "", super::user_resolver::HandleClaim::Mention)?;
        let mut nobody = User::new(UNKNOWN_USER, &username, sanitize::time_from_id(0));
        "Unknown".clone_into(&mut nobody.name);
        nobody.state = users::UserState::Placeholder;
        users::insert(tx, &nobody, "")?;
        desk.report.placeholders.users += 1;
    }
    desk.users_by_source_id.insert(UNKNOWN_USER.get(), UNKNOWN_USER);
    Ok(())
}
