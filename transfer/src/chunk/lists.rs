//! Lists and their members.

use archive::{ArchivedList, ArchivedListRole};
use base::{Fault, UserId};
use store::Tx;
use store::lists::{self, List};

use super::batch_state::{ImportBatchState, UNKNOWN_USER};
use super::user_resolver;
use crate::reader::PreparedRecord;
use crate::sanitize;

pub(crate) fn store(tx: &mut Tx<'_>, batch: &mut ImportBatchState, items: &[PreparedRecord]) -> Result<(), Fault> {
    for item in items {
        match item {
            PreparedRecord::List(imported) => store_list(tx, batch, imported)?,
            PreparedRecord::Member(imported) => {
                let Some(list) = lists::find_by_id(tx, imported.list)? else {
                    batch.report.skip("list_member", "the list is unknown", || format!("list {}", imported.list));
                    continue;
                };
                if let Some(user) = batch.find_user(Some(imported.user)) {
                    store_list_member(tx, batch, &list, user, imported.id)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn store_list(tx: &mut Tx<'_>, batch: &mut ImportBatchState, imported: &ArchivedList) -> Result<(), Fault> {
    let owner = resolve_list_owner(tx, batch, imported)?;
    let name: String = imported.name.chars().take(100).collect();
    let known = match imported.id {
        Some(id) => lists::find_by_id(tx, id)?,
        None => lists::find_by_name(tx, owner, &name)?,
    };
    let id = imported.id.unwrap_or_else(|| tx.next_id::<()>().get());
    let list = List {
        id,
        owner_id: owner,
        name,
        description: imported.description.chars().take(1_000).collect(),
        private: imported.private,
        created_at: sanitize::time_from_id(id),
        deleted_at: None,
        member_count: 0,
        follower_count: 0,
        member_version: 0,
    };
    let list = insert_or_complete_list(tx, batch, list, known)?;
    match (batch.owner, imported.role) {
        (Some(user), ArchivedListRole::Member) => store_list_member(tx, batch, &list, user, None),
        (Some(user), ArchivedListRole::Subscribed) => store_list_follow(tx, batch, &list, user),
        _ => Ok(()),
    }
}

/// Inserts a list, or completes the existing one. Returns the existing list.
fn insert_or_complete_list(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    mut list: List,
    known: Option<List>,
) -> Result<List, Fault> {
    let Some(known) = known else {
        lists::insert(tx, &list)?;
        batch.track_id(list.id);
        batch.report.count_stored("list");
        return Ok(list);
    };
    list.id = known.id;
    if list.owner_id != UNKNOWN_USER && lists::complete_placeholder(tx, &list)? {
        batch.report.count_stored("list");
    } else {
        batch.report.count_known("list");
    }
    Ok(known)
}

/// The owner by id or handle, or the archive's owner if they created the list.
fn resolve_list_owner(tx: &mut Tx<'_>, batch: &mut ImportBatchState, imported: &ArchivedList) -> Result<UserId, Fault> {
    if let Some(owner) = imported.owner {
        return Ok(batch.find_user(Some(owner)).unwrap_or(UNKNOWN_USER));
    }
    if let Some(handle) = &imported.owner_handle
        && let Some(owner) = user_resolver::find_or_create_by_handle(tx, batch, handle)?
    {
        return Ok(owner);
    }
    let archive_owner = batch.owner.filter(|_| imported.role == ArchivedListRole::Created);
    Ok(archive_owner.unwrap_or(UNKNOWN_USER))
}

fn store_list_member(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    list: &List,
    user: UserId,
    id: Option<i64>,
) -> Result<(), Fault> {
    let kind = "list_member";
    let id = id.unwrap_or_else(|| tx.next_id::<()>().get());
    if list.deleted_at.is_some() {
        skip_deleted_list(batch, kind, list);
    } else if lists::add_member_with_id(tx, list, user, id)? {
        batch.track_id(id);
        batch.report.count_stored(kind);
    } else {
        batch.report.count_known(kind);
    }
    Ok(())
}

fn store_list_follow(tx: &mut Tx<'_>, batch: &mut ImportBatchState, list: &List, user: UserId) -> Result<(), Fault> {
    let kind = "list_follow";
    if list.deleted_at.is_some() {
        skip_deleted_list(batch, kind, list);
    } else if list.private {
        batch.report.skip(kind, "the list is private here", || format!("list {}", list.id));
    } else if lists::follow(tx, list.id, user)? {
        batch.report.count_stored(kind);
    } else {
        batch.report.count_known(kind);
    }
    Ok(())
}

fn skip_deleted_list(batch: &mut ImportBatchState, kind: &str, list: &List) {
    batch.report.skip(kind, "the list was deleted here", || format!("list {}", list.id));
}
