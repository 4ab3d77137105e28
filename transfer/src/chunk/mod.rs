//! One chunk in one transaction: people first, then what they wrote, then what they think of it.

mod desk;
mod edges;
mod lists;
mod media;
mod owner;
mod people;
mod placeholders;
mod posts;
mod rows;
mod talks;
mod users;

use base::{Error, PostId};
use serde_json::json;
use store::imports::{self, ImportProgress};
use store::{Tx, event_log};

pub(crate) use owner::owner;

use crate::import::Setup;
use crate::read::{Chunk, Item, Prepared};
use crate::report::Report;
use desk::Desk;

/// What became of a chunk.
pub(crate) enum Stored {
    /// It is stored; what has been done so far.
    Done(Box<Report>),
    /// Somebody else has stored it meanwhile.
    Elsewhere,
}

/// Stores a chunk, and where the import goes on behind it.
pub(crate) fn store(
    tx: &mut Tx<'_>,
    chunk: &Chunk,
    setup: &Setup,
    so_far: &Report,
) -> Result<Stored, Error> {
    if !imports::claim_progress(tx, &setup.key, &chunk.before)? {
        return Ok(Stored::Elsewhere);
    }
    let mut desk = Desk::new(setup.owner);
    users::store(tx, &mut desk, &chunk.items)?;
    people::resolve(tx, &mut desk, &chunk.items)?;
    posts::store(tx, &mut desk, &posts_of(chunk))?;
    lists::store(tx, &mut desk, &chunk.items)?;
    edges::store(tx, &mut desk, &chunk.items)?;
    media::store(tx, &mut desk, &chunk.items)?;
    talks::store(tx, &mut desk, &chunk.items)?;
    rows::store(tx, &mut desk, &chunk.items)?;
    desk.settle(tx, &setup.key)?;
    tx.keep_ids_above(PostId::new(desk.highest));
    announce(tx, &desk, setup)?;
    let mut report = so_far.clone();
    report.add(desk.report);
    report.add(chunk.report.clone());
    let mark = ImportProgress {
        position: chunk.after.clone(),
        report: report.stored(),
        finished: false,
    };
    imports::set_progress(tx, &setup.key, &mark)?;
    Ok(Stored::Done(Box::new(report)))
}

/// The posts in the order of their ids, so that what is answered comes before the answer.
fn posts_of(chunk: &Chunk) -> Vec<&Prepared> {
    let posts = chunk.items.iter().filter_map(|item| match item {
        Item::Post(post) => Some(&**post),
        _ => None,
    });
    let mut posts: Vec<_> = posts.collect();
    posts.sort_by_key(|post| post.post.id);
    posts
}

/// Tells the log's followers once for the whole chunk: which posts came, and how much else.
fn announce(tx: &mut Tx<'_>, desk: &Desk, setup: &Setup) -> Result<(), Error> {
    if desk.report.taken.is_empty() && desk.report.placeholders == crate::Placeholders::default() {
        return Ok(());
    }
    let body = json!({
        "source": setup.key,
        "taken": desk.report.taken,
        "first_post_id": desk.range.map(|range| range.0.to_string()),
        "last_post_id": desk.range.map(|range| range.1.to_string()),
    });
    let owner = setup.owner.map_or(0, base::UserId::get);
    Ok(event_log::append(
        tx,
        "import.batch",
        owner,
        0,
        &body.to_string(),
    )?)
}
