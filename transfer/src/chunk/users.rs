//! Users with their complete profiles.

use std::collections::{BTreeMap, HashMap};

use archive::{ArchivedProfile, ArchivedUser};
use base::{Fault, PostId, Time, UserId};
use network::compose::render_profile_entities;
use store::users::{self, User, UserState};
use store::{Tx, imports};

use super::batch_state::ImportBatchState;
use super::user_resolver::{self, HandleClaim};
use crate::reader::PreparedRecord;
use crate::sanitize;

const MAX_PROFILE_FIELD_CHARS: usize = 1_000;

pub(crate) fn store(tx: &mut Tx<'_>, batch: &mut ImportBatchState, items: &[PreparedRecord]) -> Result<(), Fault> {
    let mut accounts: BTreeMap<i64, &ArchivedUser> = BTreeMap::new();
    for item in items {
        match item {
            PreparedRecord::Profile(profile) => store_profile(tx, batch, profile)?,
            PreparedRecord::User(user) if accounts.insert(user.id, user).is_some() => batch.report.count_known("user"),
            // An archive has posts of its owner only.
            PreparedRecord::Post(post) if !batch.is_archive => {
                if let Some(user) = post.post.user.as_deref() {
                    accounts.entry(user.id).or_insert(user);
                }
            }
            _ => {}
        }
    }
    let ids: Vec<i64> = accounts.keys().copied().collect();
    batch.users_by_source_id.extend(imports::find_aliases(tx, &ids)?);
    let local_id = |batch: &ImportBatchState, id: i64| {
        let known = batch.users_by_source_id.get(&id).copied();
        known.unwrap_or(UserId::new(id))
    };
    // Several source ids may stand for one user, whom the first of them changes.
    let has_aliases = !batch.users_by_source_id.is_empty();
    let local_ids: Vec<UserId> = ids.iter().map(|id| local_id(batch, *id)).collect();
    let known = users::find_by_ids(tx, &local_ids)?;
    let mut known: HashMap<UserId, User> = known.into_iter().map(|user| (user.id, user)).collect();
    user_resolver::load_free_handles(tx, batch, accounts.values().map(|user| user.handle.as_str()))?;
    for (id, user) in accounts {
        let local_id = local_id(batch, id);
        let existing = match known.remove(&local_id) {
            // A placeholder may have lost its handle to another account of the chunk.
            Some(existing) if existing.state == UserState::Placeholder => users::find_by_id(tx, local_id)?,
            _ if has_aliases => users::find_by_id(tx, local_id)?,
            existing => existing,
        };
        store_user(tx, batch, local_id, existing, user)?;
        batch.users_by_source_id.insert(id, local_id);
    }
    Ok(())
}

fn store_user(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    id: UserId,
    existing: Option<User>,
    imported: &ArchivedUser,
) -> Result<(), Fault> {
    let Some(mut user) = existing else {
        let username = claim_user_handle(tx, batch, id, imported)?;
        let mut user = User::new(id, &username, created_at(id, imported));
        fill_user(&mut user, imported);
        imports::insert_missing_user(tx, &user)?;
        if user.pinned_post_id.is_some() {
            users::update(tx, &user)?;
        }
        batch.track_id(id.get());
        batch.report.count_stored("user");
        return Ok(());
    };
    if user.state == UserState::Placeholder {
        user.username = claim_user_handle(tx, batch, id, imported)?;
        user.created_at = created_at(id, imported);
        user.state = UserState::Active;
        fill_user(&mut user, imported);
        users::update(tx, &user)?;
        if user.post_count > 0 && (user.protected || user.verified) {
            batch.changed_users.push(user.id.get());
        }
        batch.report.placeholders.completed_users += 1;
        batch.report.count_stored("user");
        return Ok(());
    }
    batch.report.count_known("user");
    enrich_profile(tx, batch, user, &ProfileFields::from_archive_user(imported))
}

fn claim_user_handle(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    id: UserId,
    imported: &ArchivedUser,
) -> Result<String, Fault> {
    let username = user_resolver::claim_handle(tx, batch, id, &imported.handle, HandleClaim::Account)?;
    if username != imported.handle {
        batch.report.remark(format!(
            "the handle of @{} ({id}) is taken or invalid: the user is @{username} here",
            imported.handle
        ));
    }
    batch.users_by_handle.remove(&username.to_ascii_lowercase());
    Ok(username)
}

fn created_at(id: UserId, imported: &ArchivedUser) -> Time {
    if imported.created_at_ms > 0 { Time::from_ms(imported.created_at_ms) } else { sanitize::time_from_id(id.get()) }
}

fn fill_user(user: &mut User, imported: &ArchivedUser) {
    user.name = sanitize::sanitize_display_name(&imported.name, &user.username);
    user.protected = imported.protected;
    user.verified = imported.verified;
    let default_type = if imported.verified { "blue" } else { "none" };
    let verified_type = find_word(&imported.verified_type, &["blue", "business", "government", "none"]);
    verified_type.unwrap_or(default_type).clone_into(&mut user.verified_type);
    let level = find_word(&imported.subscription_type, &["Basic", "Premium", "PremiumPlus"]);
    level.unwrap_or("None").clone_into(&mut user.subscription_type);
    user.parody = imported.parody;
    user.is_identity_verified = imported.identity_verified;
    user.receives_dm = !imported.refuses_messages;
    sanitize::valid_json_or_empty(&imported.affiliation).clone_into(&mut user.affiliation);
    sanitize::valid_json_or_empty(&imported.withheld).clone_into(&mut user.withheld);
    user.pinned_post_id = imported.pinned_post.map(PostId::new);
    ProfileFields::from_archive_user(imported).fill_empty_fields(user);
}

fn find_word<'t>(text: &'t str, words: &[&str]) -> Option<&'t str> {
    words.contains(&text).then_some(text)
}

fn store_profile(tx: &mut Tx<'_>, batch: &mut ImportBatchState, profile: &ArchivedProfile) -> Result<(), Fault> {
    let owner = match batch.owner {
        Some(owner) => users::find_by_id(tx, owner)?,
        None => None,
    };
    let Some(owner) = owner else {
        batch.report.skip("profile", "its owner is unknown", String::new);
        return Ok(());
    };
    batch.report.count_stored("profile");
    let fields = ProfileFields {
        description: &profile.bio,
        location: &profile.location,
        url: &profile.website,
        picture: &profile.avatar_url,
        banner: &profile.header_url,
    };
    enrich_profile(tx, batch, owner, &fields)
}

struct ProfileFields<'a> {
    description: &'a str,
    location: &'a str,
    url: &'a str,
    picture: &'a str,
    banner: &'a str,
}

impl<'a> ProfileFields<'a> {
    fn from_archive_user(imported: &'a ArchivedUser) -> Self {
        Self {
            description: &imported.bio,
            location: &imported.location,
            url: &imported.website,
            picture: &imported.avatar_url,
            banner: &imported.banner_url,
        }
    }

    /// Fills the fields that are empty. Returns whether any was filled.
    fn fill_empty_fields(&self, user: &mut User) -> bool {
        let fields = [
            (&mut user.description, self.description),
            (&mut user.location, self.location),
            (&mut user.url, self.url),
            (&mut user.profile_image_url, self.picture),
            (&mut user.profile_banner_url, self.banner),
        ];
        let mut changed = false;
        for (field, value) in fields {
            if field.is_empty() && !value.is_empty() {
                *field = value.chars().take(MAX_PROFILE_FIELD_CHARS).collect();
                changed = true;
            }
        }
        if changed {
            user.entities = render_profile_entities(&user.url, &user.description);
        }
        changed
    }
}

/// Completes an existing profile; nothing is overwritten.
fn enrich_profile(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    user: User,
    fields: &ProfileFields<'_>,
) -> Result<(), Fault> {
    let complete = |mut user: User| {
        let is_closed = matches!(user.state, UserState::Deleted | UserState::Suspended);
        (!is_closed && fields.fill_empty_fields(&mut user)).then_some(user)
    };
    if complete(user.clone()).is_none() {
        return Ok(());
    }
    // The user was loaded with the chunk, and may have been changed since.
    users::lock(tx, user.id)?;
    let Some(user) = users::find_by_id(tx, user.id)?.and_then(complete) else {
        return Ok(());
    };
    users::update(tx, &user)?;
    batch.report.remark(format!("@{} already existed: empty profile fields were filled", user.username));
    Ok(())
}
