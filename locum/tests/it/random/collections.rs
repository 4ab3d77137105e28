//! What people do at random with lists, communities and spaces.

use std::collections::BTreeSet;

use serde_json::json;

use super::actions::{Kinds, pick};
use super::group::Group;
use super::model::{Club, Listing, Room};
use crate::harness::TestRequest;

const ACTS: Kinds = &[
    (3, create),
    (3, update),
    (1, delete),
    (8, add),
    (4, remove),
    (5, follow),
    (2, unfollow),
    (5, pin),
    (2, unpin),
    (4, join_club),
    (2, leave_club),
    (3, join_room),
    (2, leave_room),
    (1, close_room),
];

/// One act of somebody.
pub(super) fn act(group: &mut Group<'_>) {
    let actor = group.somebody();
    if group.model.is_active(actor) {
        pick(group, ACTS)(group, actor);
    }
}

fn create(group: &mut Group<'_>, actor: usize) {
    if group.model.lists.iter().filter(|list| !list.gone).count() > 25 {
        return;
    }
    let private = group.dice.below(3) == 0;
    let body = json!({ "name": "A list", "private": private });
    let created = group.post(actor, "/2/lists", &body, 201);
    group.lists.push(created["data"]["id"].as_str().unwrap().to_owned());
    group.model.lists.push(Listing {
        owner: actor,
        private,
        gone: false,
        members: BTreeSet::new(),
        followers: BTreeSet::new(),
        pins: BTreeSet::new(),
    });
}

/// A list, more often one's own.
fn some_list(group: &mut Group<'_>, actor: usize) -> Option<usize> {
    let any = group.one_of(group.lists.len())?;
    if group.dice.below(3) > 0 {
        let own = group.model.lists.iter().rposition(|list| list.owner == actor && !list.gone);
        return own.or(Some(any));
    }
    Some(any)
}

fn update(group: &mut Group<'_>, actor: usize) {
    let Some(list) = some_list(group, actor) else {
        return;
    };
    let status = group.model.own_list(actor, list).err().unwrap_or(200);
    let private = group.dice.below(2) == 0;
    let path = format!("/2/lists/{}", group.lists[list]);
    let request = TestRequest::new("PUT", path).json(&json!({ "private": private }));
    group.send(Some(actor), request, status);
    if status != 200 {
        return;
    }
    let list = &mut group.model.lists[list];
    if private && !list.private {
        list.followers.clear();
        list.pins.retain(|user| *user == actor);
    }
    list.private = private;
}

fn delete(group: &mut Group<'_>, actor: usize) {
    let Some(list) = some_list(group, actor) else {
        return;
    };
    let status = group.model.own_list(actor, list).err().unwrap_or(200);
    let path = format!("/2/lists/{}", group.lists[list]);
    group.delete(actor, &path, status);
    if status == 200 {
        let list = &mut group.model.lists[list];
        list.gone = true;
        list.members.clear();
        list.followers.clear();
        list.pins.clear();
    }
}

fn add(group: &mut Group<'_>, actor: usize) {
    let Some(list) = some_list(group, actor) else {
        return;
    };
    let user = group.anybody();
    let allowed = group.model.own_list(actor, list);
    let allowed = allowed.and_then(|()| group.model.reaches(actor, user));
    let path = format!("/2/lists/{}/members", group.lists[list]);
    let body = json!({ "user_id": group.people[user].id });
    group.post(actor, &path, &body, allowed.err().unwrap_or(200));
    if allowed.is_ok() {
        group.model.lists[list].members.insert(user);
    }
}

fn remove(group: &mut Group<'_>, actor: usize) {
    let Some(list) = some_list(group, actor) else {
        return;
    };
    let user = match group.model.lists[list].members.iter().next() {
        Some(member) => *member,
        None => group.anybody(),
    };
    let allowed = group.model.own_list(actor, list);
    let path = format!("/2/lists/{}/members/{}", group.lists[list], group.people[user].id);
    group.delete(actor, &path, allowed.err().unwrap_or(200));
    if allowed.is_ok() {
        group.model.lists[list].members.remove(&user);
    }
}

fn follow(group: &mut Group<'_>, actor: usize) {
    let Some(list) = group.one_of(group.lists.len()) else {
        return;
    };
    let known = &group.model.lists[list];
    let blocked = group.model.blocks.contains(&(known.owner, actor));
    let status = match group.model.sees_list(Some(actor), list) {
        false => 404,
        true if known.private || blocked => 403,
        true => 200,
    };
    let path = group.user_path(actor, "/followed_lists");
    let body = json!({ "list_id": group.lists[list] });
    group.post(actor, &path, &body, status);
    if status == 200 {
        group.model.lists[list].followers.insert(actor);
    }
}

fn unfollow(group: &mut Group<'_>, actor: usize) {
    let Some(list) = group.one_of(group.lists.len()) else {
        return;
    };
    let path = group.user_path(actor, &format!("/followed_lists/{}", group.lists[list]));
    group.delete(actor, &path, 200);
    group.model.lists[list].followers.remove(&actor);
}

fn pin(group: &mut Group<'_>, actor: usize) {
    let Some(list) = group.one_of(group.lists.len()) else {
        return;
    };
    let pinned = group.model.lists.iter();
    let pinned = pinned.filter(|list| list.pins.contains(&actor)).count();
    let there = group.model.lists[list].pins.contains(&actor);
    let status = match group.model.sees_list(Some(actor), list) {
        false => 404,
        true if pinned >= 5 && !there => 403,
        true => 200,
    };
    let path = group.user_path(actor, "/pinned_lists");
    let body = json!({ "list_id": group.lists[list] });
    group.post(actor, &path, &body, status);
    if status == 200 {
        group.model.lists[list].pins.insert(actor);
    }
}

fn unpin(group: &mut Group<'_>, actor: usize) {
    let Some(list) = group.one_of(group.lists.len()) else {
        return;
    };
    let path = group.user_path(actor, &format!("/pinned_lists/{}", group.lists[list]));
    group.delete(actor, &path, 200);
    group.model.lists[list].pins.remove(&actor);
}

fn join_club(group: &mut Group<'_>, actor: usize) {
    let user = group.people[actor].id.clone();
    if group.clubs.len() < 3 {
        let closed = group.clubs.len() != 1;
        let access = if closed { "Closed" } else { "Public" };
        let create = ["community", "create", "A club", "--owner", &user, "--access", access];
        let created = group.command(&create, true);
        group.clubs.push(created["id"].as_str().unwrap().to_owned());
        group.model.clubs.push(Club { owner: actor, closed, members: BTreeSet::from([actor]) });
        return;
    }
    let club = group.dice.below(group.clubs.len());
    let id = group.clubs[club].clone();
    group.command(&["community", "join", &id, &user], true);
    group.model.clubs[club].members.insert(actor);
}

fn leave_club(group: &mut Group<'_>, actor: usize) {
    let Some(club) = group.one_of(group.clubs.len()) else {
        return;
    };
    let allowed = group.model.clubs[club].owner != actor;
    let (id, user) = (group.clubs[club].clone(), group.people[actor].id.clone());
    group.command(&["community", "leave", &id, &user], allowed);
    if allowed {
        group.model.clubs[club].members.remove(&actor);
    }
}

fn join_room(group: &mut Group<'_>, actor: usize) {
    let user = group.people[actor].id.clone();
    let open = group.model.rooms.iter().filter(|room| room.live).count();
    if open < 3 {
        let created = group.command(&["space", "create", &user], true);
        group.rooms.push(created["id"].as_str().unwrap().to_owned());
        group.model.rooms.push(Room { creator: actor, live: true, inside: BTreeSet::from([actor]) });
        return;
    }
    let room = group.dice.below(group.rooms.len());
    let allowed = group.model.rooms[room].live;
    let id = group.rooms[room].clone();
    let joined = group.command(&["space", "join", &id, &user], allowed);
    if allowed {
        let new = group.model.rooms[room].inside.insert(actor);
        assert_eq!(joined["changed"], new, "{}", group.context());
    }
}

fn leave_room(group: &mut Group<'_>, actor: usize) {
    let Some(room) = group.one_of(group.rooms.len()) else {
        return;
    };
    let known = &group.model.rooms[room];
    let allowed = known.live && known.creator != actor;
    let (id, user) = (group.rooms[room].clone(), group.people[actor].id.clone());
    let left = group.command(&["space", "leave", &id, &user], allowed);
    if allowed {
        let was = group.model.rooms[room].inside.remove(&actor);
        assert_eq!(left["changed"], was, "{}", group.context());
    }
}

fn close_room(group: &mut Group<'_>, _: usize) {
    let Some(room) = group.one_of(group.rooms.len()) else {
        return;
    };
    let allowed = group.model.rooms[room].live;
    let id = group.rooms[room].clone();
    group.command(&["space", "close", &id], allowed);
    group.model.rooms[room].live = false;
}
