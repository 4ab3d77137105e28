//! Accounts that come with all that is known of them.

use std::collections::BTreeMap;

use archive::{ArchivedProfile, ArchivedUser as Told};
use base::{Fault, PostId, Time, UserId};
use network::compose::render_profile_entities;
use store::users::{self, User, UserState};
use store::{Tx, imports};

use super::desk::Desk;
use super::people::{self, Claim};
use crate::names;
use crate::read::Item;

/// In characters; a biography and a place are cut there.
const LONGEST: usize = 1_000;

/// Stores the accounts of a chunk, those within posts included, each once.
pub(crate) fn store(tx: &mut Tx<'_>, desk: &mut Desk, items: &[Item]) -> Result<(), Fault> {
    let mut told: BTreeMap<i64, &Told> = BTreeMap::new();
    for item in items {
        match item {
            Item::Profile(profile) => store_profile(tx, desk, profile)?,
            Item::User(user) if told.insert(user.id, user).is_some() => desk.report.know("user"),
            Item::Post(post) => {
                if let Some(user) = post.post.user.as_deref() {
                    told.entry(user.id).or_insert(user);
                }
            }
            _ => {}
        }
    }
    let ids: Vec<i64> = told.keys().copied().collect();
    desk.people.extend(imports::find_aliases(tx, &ids)?);
    for (id, user) in told {
        let here = desk.people.get(&id).copied();
        let here = here.unwrap_or(UserId::new(id));
        store_user(tx, desk, here, user)?;
        desk.people.insert(id, here);
    }
    Ok(())
}

fn store_user(tx: &mut Tx<'_>, desk: &mut Desk, id: UserId, told: &Told) -> Result<(), Fault> {
    let Some(mut user) = users::find_by_id(tx, id)? else {
        let username = free_name(tx, desk, id, told)?;
        let mut user = User::new(id, &username, created_at(id, told));
        fill(&mut user, told);
        users::insert(tx, &user, "")?;
        if user.pinned_post_id.is_some() {
            users::update(tx, &user)?;
        }
        desk.came(id.get());
        desk.report.take("user");
        return Ok(());
    };
    if user.state == UserState::Placeholder {
        user.username = free_name(tx, desk, id, told)?;
        user.created_at = created_at(id, told);
        user.state = UserState::Active;
        fill(&mut user, told);
        users::update(tx, &user)?;
        desk.report.placeholders.completed_users += 1;
        desk.report.take("user");
        return Ok(());
    }
    desk.report.know("user");
    enrich(tx, desk, user, &Facts::of(told))
}

fn free_name(tx: &mut Tx<'_>, desk: &mut Desk, id: UserId, told: &Told) -> Result<String, Fault> {
    let username = people::free_name(tx, desk, id, &told.handle, Claim::Real)?;
    if username != told.handle {
        desk.report.remark(format!(
            "the handle of @{} ({id}) is taken or none: they are @{username} here",
            told.handle
        ));
    }
    desk.handles.remove(&username.to_ascii_lowercase());
    Ok(username)
}

fn created_at(id: UserId, told: &Told) -> Time {
    if told.created_at_ms > 0 {
        Time::from_ms(told.created_at_ms)
    } else {
        names::time_of(id.get())
    }
}

fn fill(user: &mut User, told: &Told) {
    user.name = names::display_name(&told.name, &user.username);
    user.protected = told.protected;
    user.verified = told.verified;
    let plain = if told.verified { "blue" } else { "none" };
    let mark = one_of(
        &told.verified_type,
        &["blue", "business", "government", "none"],
    );
    mark.unwrap_or(plain).clone_into(&mut user.verified_type);
    let level = one_of(
        &told.subscription_type,
        &["Basic", "Premium", "PremiumPlus"],
    );
    level
        .unwrap_or("None")
        .clone_into(&mut user.subscription_type);
    user.parody = told.parody;
    user.is_identity_verified = told.identity_verified;
    user.receives_dm = !told.refuses_messages;
    names::json(&told.affiliation).clone_into(&mut user.affiliation);
    names::json(&told.withheld).clone_into(&mut user.withheld);
    user.pinned_post_id = told.pinned_post.map(PostId::new);
    Facts::of(told).complete(user);
}

fn one_of<'t>(text: &'t str, words: &[&str]) -> Option<&'t str> {
    words.contains(&text).then_some(text)
}

fn store_profile(tx: &mut Tx<'_>, desk: &mut Desk, profile: &ArchivedProfile) -> Result<(), Fault> {
    let owner = match desk.owner {
        Some(owner) => users::find_by_id(tx, owner)?,
        None => None,
    };
    let Some(owner) = owner else {
        desk.report
            .skip("profile", "nobody is known to own it", String::new);
        return Ok(());
    };
    desk.report.take("profile");
    let facts = Facts {
        description: &profile.bio,
        location: &profile.location,
        url: &profile.website,
        picture: &profile.avatar_url,
        banner: &profile.header_url,
    };
    enrich(tx, desk, owner, &facts)
}

/// What fills an empty place of a profile.
struct Facts<'a> {
    description: &'a str,
    location: &'a str,
    url: &'a str,
    picture: &'a str,
    banner: &'a str,
}

impl<'a> Facts<'a> {
    fn of(told: &'a Told) -> Self {
        Self {
            description: &told.bio,
            location: &told.location,
            url: &told.website,
            picture: &told.avatar_url,
            banner: &told.banner_url,
        }
    }

    /// Puts what is told where nothing stands; whether anything was put.
    fn complete(&self, user: &mut User) -> bool {
        let places = [
            (&mut user.description, self.description),
            (&mut user.location, self.location),
            (&mut user.url, self.url),
            (&mut user.profile_image_url, self.picture),
            (&mut user.profile_banner_url, self.banner),
        ];
        let mut changed = false;
        for (place, fact) in places {
            if place.is_empty() && !fact.is_empty() {
                *place = fact.chars().take(LONGEST).collect();
                changed = true;
            }
        }
        if changed {
            user.entities = render_profile_entities(&user.url, &user.description);
        }
        changed
    }
}

/// Completes a user who is here; nothing that stands is written over.
fn enrich(
    tx: &mut Tx<'_>,
    desk: &mut Desk,
    mut user: User,
    facts: &Facts<'_>,
) -> Result<(), Fault> {
    if matches!(user.state, UserState::Deleted | UserState::Suspended) || !facts.complete(&mut user)
    {
        return Ok(());
    }
    users::update(tx, &user)?;
    desk.report.remark(format!(
        "@{} was here: what their profile lacked was added",
        user.username
    ));
    Ok(())
}
