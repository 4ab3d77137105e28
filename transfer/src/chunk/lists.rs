//! Lists and who is on them.

use archive::{ArchivedList as Told, ArchivedListRole};
use base::{Fault, UserId};
use store::Tx;
use store::lists::{self, List};

use super::desk::{Desk, NOBODY};
use super::people;
use crate::names;
use crate::read::Item;

pub(crate) fn store(tx: &mut Tx<'_>, desk: &mut Desk, items: &[Item]) -> Result<(), Fault> {
    for item in items {
        match item {
            Item::List(told) => list(tx, desk, told)?,
            Item::Member(told) => {
                let Some(list) = lists::find_by_id(tx, told.list)? else {
                    desk.report
                        .skip("list_member", "the list is not known", || {
                            format!("list {}", told.list)
                        });
                    continue;
                };
                if let Some(user) = desk.person(Some(told.user)) {
                    member(tx, desk, &list, user, told.id)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn list(tx: &mut Tx<'_>, desk: &mut Desk, told: &Told) -> Result<(), Fault> {
    let owner = owner(tx, desk, told)?;
    let name: String = told.name.chars().take(100).collect();
    let known = match told.id {
        Some(id) => lists::find_by_id(tx, id)?,
        None => lists::find_by_name(tx, owner, &name)?,
    };
    let id = told.id.unwrap_or_else(|| tx.next_id::<()>().get());
    let list = List {
        id,
        owner_id: owner,
        name,
        description: told.description.chars().take(1_000).collect(),
        private: told.private,
        created_at: names::time_of(id),
        deleted_at: None,
        member_count: 0,
        follower_count: 0,
        member_version: 0,
    };
    let list = keep(tx, desk, list, known)?;
    match (desk.owner, told.role) {
        (Some(user), ArchivedListRole::Member) => member(tx, desk, &list, user, None),
        (Some(user), ArchivedListRole::Subscribed) => reader(tx, desk, &list, user),
        _ => Ok(()),
    }
}

/// Stores a list, or completes the one that is there; the one that is there then.
fn keep(
    tx: &mut Tx<'_>,
    desk: &mut Desk,
    mut list: List,
    known: Option<List>,
) -> Result<List, Fault> {
    let Some(known) = known else {
        lists::insert(tx, &list)?;
        desk.came(list.id);
        desk.report.take("list");
        return Ok(list);
    };
    list.id = known.id;
    if list.owner_id != NOBODY && lists::complete_placeholder(tx, &list)? {
        desk.report.take("list");
    } else {
        desk.report.know("list");
    }
    Ok(known)
}

/// Whose a list is: as told by id or handle, or the archive's owner who made it.
fn owner(tx: &mut Tx<'_>, desk: &mut Desk, told: &Told) -> Result<UserId, Fault> {
    if let Some(owner) = told.owner {
        return Ok(desk.person(Some(owner)).unwrap_or(NOBODY));
    }
    if let Some(handle) = &told.owner_handle
        && let Some(owner) = people::of_handle(tx, desk, handle)?
    {
        return Ok(owner);
    }
    let mine = desk
        .owner
        .filter(|_| told.role == ArchivedListRole::Created);
    Ok(mine.unwrap_or(NOBODY))
}

fn member(
    tx: &mut Tx<'_>,
    desk: &mut Desk,
    list: &List,
    user: UserId,
    id: Option<i64>,
) -> Result<(), Fault> {
    let kind = "list_member";
    let id = id.unwrap_or_else(|| tx.next_id::<()>().get());
    if list.deleted_at.is_some() {
        deleted(desk, kind, list);
    } else if lists::add_member_with_id(tx, list, user, id)? {
        desk.came(id);
        desk.report.take(kind);
    } else {
        desk.report.know(kind);
    }
    Ok(())
}

/// The owner of the archive follows a list of somebody else.
fn reader(tx: &mut Tx<'_>, desk: &mut Desk, list: &List, user: UserId) -> Result<(), Fault> {
    let kind = "list_follow";
    if list.deleted_at.is_some() {
        deleted(desk, kind, list);
    } else if list.private {
        desk.report.skip(kind, "the list is private here", || {
            format!("list {}", list.id)
        });
    } else if lists::follow(tx, list.id, user)? {
        desk.report.take(kind);
    } else {
        desk.report.know(kind);
    }
    Ok(())
}

fn deleted(desk: &mut Desk, kind: &str, list: &List) {
    desk.report.skip(kind, "the list was deleted here", || {
        format!("list {}", list.id)
    });
}
