//! Posts of which only somebody else's post or like tells.

use base::{Fault, PostId, UserId};
use network::compose::{ComposedText, PostTextDraft};
use store::imports::ImportedPostSummary;
use store::posts::{Post, PostState};
use store::users::{self, User};
use store::{Tx, imports};

use super::desk::{Desk, NOBODY};
use crate::names;

/// Makes sure that there is a row for a post, with what is known of its author and its text.
pub(crate) fn ensure(
    tx: &mut Tx<'_>,
    desk: &mut Desk,
    id: PostId,
    author: UserId,
    text: Option<&PostTextDraft>,
) -> Result<ImportedPostSummary, Fault> {
    match desk.posts.get(&id.get()).copied() {
        None => add(tx, desk, id, author, text),
        Some(seen) if seen.state == PostState::Placeholder => {
            let better = seen.author_id == NOBODY && author != NOBODY;
            let text = text.filter(|_| !seen.has_text);
            if better || text.is_some() {
                return learn(tx, desk, seen, author, text);
            }
            Ok(seen)
        }
        Some(seen) => Ok(seen),
    }
}

fn add(
    tx: &mut Tx<'_>,
    desk: &mut Desk,
    id: PostId,
    author: UserId,
    text: Option<&PostTextDraft>,
) -> Result<ImportedPostSummary, Fault> {
    if author == NOBODY {
        meet_nobody(tx, desk)?;
    }
    let mut post = Post::placeholder(id, author, names::time_of(id.get()));
    if let Some(text) = text {
        write(&mut post, text);
    }
    if !imports::insert_placeholder(tx, &post)? {
        return Err(Fault::new(format!("the post {id} came in between")));
    }
    desk.came(id.get());
    desk.report.placeholders.posts += 1;
    let seen = ImportedPostSummary {
        id,
        author_id: author,
        state: PostState::Placeholder,
        conversation_id: id,
        has_text: text.is_some(),
    };
    desk.posts.insert(id.get(), seen);
    Ok(seen)
}

fn learn(
    tx: &mut Tx<'_>,
    desk: &mut Desk,
    mut seen: ImportedPostSummary,
    author: UserId,
    text: Option<&PostTextDraft>,
) -> Result<ImportedPostSummary, Fault> {
    let mut post = Post::placeholder(seen.id, author, names::time_of(seen.id.get()));
    if let Some(text) = text {
        write(&mut post, text);
    }
    imports::complete_placeholder(tx, &post)?;
    if seen.author_id == NOBODY {
        seen.author_id = author;
    }
    seen.has_text |= text.is_some();
    desk.posts.insert(seen.id.get(), seen);
    Ok(seen)
}

fn write(post: &mut Post, text: &PostTextDraft) {
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

/// Whoever wrote what nobody tells the author of.
fn meet_nobody(tx: &mut Tx<'_>, desk: &mut Desk) -> Result<(), Fault> {
    if desk.people.contains_key(&NOBODY.get()) {
        return Ok(());
    }
    if users::find_by_id(tx, NOBODY)?.is_none() {
        let username = super::people::free_name(tx, desk, NOBODY, "", super::people::Claim::Told)?;
        let mut nobody = User::new(NOBODY, &username, names::time_of(0));
        "Unknown".clone_into(&mut nobody.name);
        nobody.state = users::UserState::Placeholder;
        users::insert(tx, &nobody, "")?;
        desk.report.placeholders.users += 1;
    }
    desk.people.insert(NOBODY.get(), NOBODY);
    Ok(())
}
