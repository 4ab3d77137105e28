//! Lists of users: their fields and what those lead to.

use base::Fault;
use network::visibility::{Viewer, Visibility, list_visibility};
use store::lists::List;
use store::{Tx, users};

use crate::answer::Speaker;
use crate::out::Out;
use crate::shown::{Expansion, Json, Reach, Shown, Write};
use crate::world::{Target, World};
use crate::{Answer, Asked, Object, Spoken, Wants};

pub(crate) const FIELDS: &[Shown] = &[
    Shown::always("id", Json::Id, "Id of the list.").list(|out, list| out.id(list.id)),
    Shown::always("name", Json::Text, "Its name.").list(|out, list| out.quoted(&list.name)),
    Shown::asked("created_at", Json::Time, "When it was made.")
        .list(|out, list| out.time(list.created_at)),
    Shown::asked("description", Json::Text, "What it is for.")
        .list(|out, list| out.text(&list.description)),
    Shown::asked("follower_count", Json::Int, "Users who follow it.")
        .list(|out, list| out.int(list.follower_count)),
    Shown::asked("member_count", Json::Int, "Users on it.")
        .list(|out, list| out.int(list.member_count)),
    Shown::asked("private", Json::Bool, "Only its owner sees it.")
        .list(|out, list| out.bool(list.private)),
    Shown::asked("owner_id", Json::Id, "Who made it.")
        .list(|out, list| out.id(list.owner_id.get())),
];

pub(crate) const EXPANSIONS: &[Expansion] =
    &[Expansion::new("owner_id", Object::User, "owner_id").by_list(owner)];

fn owner<'a>(list: &'a List, to: &mut Vec<Target<'a>>) {
    to.push(Target::User(list.owner_id));
}

/// A page of lists, in their order; those that may not be seen are left out.
pub fn lists(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    page: &[List],
    wants: &Wants,
    spoken: Spoken,
) -> Result<Answer, Fault> {
    let mut owners: Vec<_> = page.iter().map(|list| list.owner_id).collect();
    owners.sort_unstable();
    owners.dedup();
    let owners = users::find_by_ids(tx, &owners)?;
    let world = World::of_targets(tx, viewer, owners, Vec::new(), wants)?;
    let seen = |list: &&List| {
        let owner = world.users.get(list.owner_id);
        list_visibility(viewer, list, owner) == Visibility::Visible
    };
    let shown: Vec<&List> = page.iter().filter(seen).collect();
    let speaker = Speaker {
        world: &world,
        wants,
        spoken,
    };
    let lead = |reach, list, to: &mut Vec<_>| {
        if let Reach::List(reach) = reach {
            reach(list, to);
        }
    };
    Ok(speaker.answer(&shown, Vec::new(), 256, lead, write))
}

/// One list that was asked for; `data` is an object.
pub fn list(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    found: Option<List>,
    wants: &Wants,
    spoken: Spoken,
    asked: Asked<'_, i64>,
) -> Result<Answer, Fault> {
    let page: Vec<List> = found.into_iter().collect();
    let answer = lists(tx, viewer, &page, wants, spoken)?;
    Ok(answer.single_of("list", asked))
}

fn write(out: &mut Out, list: &List, mask: u64) {
    out.record(FIELDS, mask, |out, write| {
        if let Write::List(write) = write {
            write(out, list);
        }
    });
}
