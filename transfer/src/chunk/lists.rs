//! Lists and their members.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use archive::{ArchivedList, ArchivedListMember, ArchivedListRole};
use base::{Fault, UserId};
use store::Tx;
use store::imports::{self, ImportedEdges};
use store::lists::{self, List};
use store::users::{self, UserState};

use super::batch_state::{ImportBatchState, UNKNOWN_USER};
use super::user_resolver;
use crate::reader::PreparedRecord;
use crate::sanitize;

pub(crate) fn store(tx: &mut Tx<'_>, batch: &mut ImportBatchState, items: &[PreparedRecord]) -> Result<(), Fault> {
    let mut members = Vec::new();
    for item in items {
        match item {
            PreparedRecord::Member(imported) if tx.is_shared() => members.push(imported),
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
    store_members(tx, batch, &members)
}

/// Inserts all members of a chunk in one statement. Lists come before their members.
fn store_members(tx: &mut Tx<'_>, batch: &mut ImportBatchState, members: &[&ArchivedListMember]) -> Result<(), Fault> {
    let ids: BTreeSet<i64> = members.iter().map(|member| member.list).collect();
    let ids: Vec<i64> = ids.into_iter().collect();
    let known: HashMap<i64, List> = lists::find_by_ids(tx, &ids)?.into_iter().map(|list| (list.id, list)).collect();
    let mut rows = Vec::with_capacity(members.len());
    for member in members {
        let Some(list) = known.get(&member.list) else {
            batch.report.skip("list_member", "the list is unknown", || format!("list {}", member.list));
            continue;
        };
        if let Some(user) = batch.find_user(Some(member.user)) {
            if list.deleted_at.is_some() {
                skip_deleted_list(batch, "list_member", list);
            } else {
                let id = member.id.unwrap_or_else(|| tx.next_id::<()>().get());
                rows.push((user.get(), list.id, id));
            }
        }
    }
    let mut inserted = imports::insert_edges(tx, ImportedEdges::ListMembers, &rows)?;
    let mut added: BTreeMap<i64, i64> = BTreeMap::new();
    for (user, list, id) in rows {
        if !inserted.remove(&(user, list)) {
            batch.report.count_known("list_member");
            continue;
        }
        batch.track_id(id);
        batch.report.count_stored("list_member");
        *added.entry(list).or_default() += 1;
        if known.get(&list).is_some_and(|list| !list.private) {
            batch.user_delta(UserId::new(user)).listed += 1;
        }
    }
    added.into_iter().try_for_each(|(list, by)| lists::add_to_member_count(tx, list, by))
}

fn store_list(tx: &mut Tx<'_>, batch: &mut ImportBatchState, imported: &ArchivedList) -> Result<(), Fault> {
    let owner = resolve_list_owner(tx, batch, imported)?;
    let name: String = imported.name.chars().take(100).collect();
    let known = match imported.id {
        Some(id) => lists::find_by_id(tx, id)?,
        None => lists::find_by_name(tx, owner, &name)?,
    };
    let list_owner = known.as_ref().map_or(owner, |known| known.owner_id);
    let is_of_another = batch.is_archive && batch.owner != Some(list_owner) && is_account(tx, list_owner)?;
    if is_of_another && (known.is_none() || imported.role == ArchivedListRole::Member) {
        let reason = "its owner has an account here and decides on it";
        batch.report.skip("list", reason, || format!("list {name}"));
        return Ok(());
    }
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

fn is_account(tx: &mut Tx<'_>, user: UserId) -> Result<bool, Fault> {
    let found = users::find_by_id(tx, user)?;
    Ok(found.is_some_and(|found| found.state != UserState::Placeholder))
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
