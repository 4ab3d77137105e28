//! Lists of users: their fields and what those lead to.

use base::refusal::Subject;
use base::{Fault, Refusal};
use network::visibility::{Sight, Viewer, of_list};
use store::lists::List;
use store::{Tx, users};

use crate::include::Includes;
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
    let owners = users::by_ids(tx, &owners)?;
    let world = World::of_targets(tx, viewer, owners, Vec::new(), wants)?;
    let seen = |list: &&List| {
        let owner = world.users.get(list.owner_id);
        of_list(viewer, list, owner) == Sight::Visible
    };
    let shown: Vec<&List> = page.iter().filter(seen).collect();
    let mut includes = Includes::new(&world, wants, spoken);
    includes.follow(|reach, to| {
        if let Reach::List(reach) = reach {
            for list in &shown {
                reach(list, to);
            }
        }
    });
    let mut out = Out::new(spoken, shown.len() * 256);
    if !shown.is_empty() {
        let mask = wants.of_root();
        out.array(&shown, |out, list| write(out, list, mask));
    }
    let mut errors = Vec::new();
    Ok(Answer {
        includes: includes.speak(&mut errors),
        data: out.finish(),
        count: shown.len(),
        errors,
        ..Answer::default()
    })
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
    let mut answer = lists(tx, viewer, &page, wants, spoken)?;
    if answer.count == 0 {
        let named = asked.values.iter();
        let subjects = named.map(|id| Subject::new("list", asked.parameter, id));
        answer.errors = subjects.map(Refusal::NotFound).collect();
    }
    Ok(answer.single())
}

fn write(out: &mut Out, list: &List, mask: u64) {
    out.record(FIELDS, mask, |out, write| {
        if let Write::List(write) = write {
            write(out, list);
        }
    });
}
