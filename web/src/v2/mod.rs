//! The v2 operations that are built, one file a noun.

pub(crate) mod account_activity;
pub(crate) mod activity;
pub(crate) mod analytics;
pub(crate) mod blocks;
pub(crate) mod bookmarks;
pub(crate) mod communities;
pub(crate) mod compliance;
pub(crate) mod connections;
pub(crate) mod description;
mod edges;
pub(crate) mod follows;
pub(crate) mod likes;
mod linked;
pub(crate) mod lists;
pub(crate) mod media;
pub(crate) mod messages;
pub(crate) mod mutes;
pub(crate) mod news;
pub(crate) mod notes;
pub(crate) mod people;
pub(crate) mod posts;
pub(crate) mod powerstream;
pub(crate) mod reposts;
mod rules;
pub(crate) mod search;
pub(crate) mod spaces;
pub(crate) mod stream_rules;
pub(crate) mod streams;
pub(crate) mod timelines;
pub(crate) mod trends;
pub(crate) mod usage;
pub(crate) mod users;
pub(crate) mod webhooks;

use base::{Error, Scope, VocabularyWord};
use store::posts::PageRange;
use view::{FieldSelection, ObjectKind};

use crate::call::Call;
use crate::page::{Direction, Page, Tokens};

/// The member of a body that names the post acted upon.
const POST_ID: VocabularyWord = VocabularyWord::new("post_id", "tweet_id");

/// What users an operation shows, one's own email address among it where the caller may.
fn wants_users(call: &Call) -> Result<FieldSelection, Error> {
    let mut wants = call.wants(ObjectKind::User);
    let caller = call.caller()?;
    if caller.scopes.contains(Scope::UsersEmail) {
        wants.allow_email();
    }
    Ok(wants)
}

/// The part of a collection that is ordered by one falling key which a page is.
fn span(page: &Page, (above, below): (i64, i64)) -> PageRange {
    let (newer, older) = page.falling();
    PageRange {
        above: above.max(newer),
        below: below.min(older),
        ascending: page.is_backward(),
        limit: i64::try_from(page.limit).unwrap_or(i64::MAX),
        without_replies: false,
        without_reposts: false,
    }
}

/// The tokens of a page's neighbours, from the first and last key that were looked at.
fn neighbours(page: &Page, looked_at: Option<(i64, i64)>, more: bool) -> Tokens {
    let Some((first, last)) = looked_at else {
        return Tokens::default();
    };
    let behind = more || page.is_backward();
    let before = if page.is_backward() {
        more
    } else {
        page.after.is_some()
    };
    Tokens {
        next: behind.then(|| page.token(Direction::Next, last)),
        previous: before.then(|| page.token(Direction::Previous, first)),
    }
}
