//! Communities: made, joined, left, posted to.

use std::collections::BTreeSet;

use base::refusal::ResourceRef;
use base::{Error, Fault, Refusal, UserId};
use store::communities::{self, Community};
use store::{Tx, event_log};

use crate::profile_fields::validate_choice;
use crate::search_words::searched_words;
use crate::users;

pub const ACCESS_LEVELS: &[&str] = &["Public", "Closed"];
pub const JOIN_POLICIES: &[&str] = &[
    "Open",
    "RestrictedJoinRequestsDisabled",
    "RestrictedJoinRequestsRequireAdminApproval",
    "RestrictedJoinRequestsRequireModeratorApproval",
    "SuperFollowRequired",
];
/// Characters.
const NAME_LENGTH: usize = 50;
/// Characters.
const DESCRIPTION_LENGTH: usize = 160;
/// Longer words are indexed and searched by this many characters.
const MAX_PREFIX_CHARS: usize = 24;
/// Candidates per query.
const SEARCH_BATCH: i64 = 200;

#[derive(Clone, Debug, Default)]
pub struct NewCommunity {
    /// 1–50 characters.
    pub name: String,
    /// At most 160 characters.
    pub description: String,
    /// `Public` or `Closed`; empty for `Public`.
    pub access: String,
    /// Who may join; empty for `Open`.
    pub join_policy: String,
}

/// The owner becomes the first member.
pub fn create(tx: &mut Tx<'_>, owner: UserId, new: &NewCommunity) -> Result<Community, Error> {
    users::find_writer(tx, owner)?;
    let name = base::text::normalize(new.name.trim()).into_owned();
    if name.is_empty() || name.chars().count() > NAME_LENGTH {
        let message = format!("The `name` must have 1 to {NAME_LENGTH} characters");
        return Err(Refusal::invalid_parameter("name", name, message).into());
    }
    if new.description.chars().count() > DESCRIPTION_LENGTH {
        let message = format!("The `description` must have at most {DESCRIPTION_LENGTH} characters");
        return Err(Refusal::invalid_parameter("description", &new.description, message).into());
    }
    let id = tx.next_id::<()>();
    let community = Community {
        id: id.get(),
        name,
        description: new.description.clone(),
        access: validate_choice("access", &new.access, ACCESS_LEVELS)?,
        join_policy: validate_choice("join_policy", &new.join_policy, JOIN_POLICIES)?,
        owner_id: owner,
        created_at: id.created_at(),
        member_count: 0,
    };
    communities::insert(tx, &community)?;
    index_words(tx, &community)?;
    event_log::append(tx, "community.create", owner.get(), community.id, "")?;
    add_member(tx, community.id, owner)?;
    find(tx, community.id)
}

pub fn index_words(tx: &mut Tx<'_>, community: &Community) -> Result<(), Fault> {
    communities::index_words(tx, community.id, &word_prefixes(community))
}

/// The searched words of name and description, and all their prefixes.
fn word_prefixes(community: &Community) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for word in searched_words(&format!("{} {}", community.name, community.description)) {
        let ends = word.char_indices().map(|(place, _)| place).skip(1);
        let ends = ends.chain([word.len()]).take(MAX_PREFIX_CHARS);
        all.extend(ends.filter_map(|end| word.get(..end)).map(str::to_owned));
    }
    all
}

/// The newest communities below an id whose name or description has, for every word of the query, a word with that
/// prefix; newest first.
pub fn search(tx: &mut Tx<'_>, query: &str, below: i64, limit: usize) -> Result<Vec<Community>, Fault> {
    let words = searched_words(query).into_iter();
    let words: BTreeSet<String> = words.map(|word| word.chars().take(MAX_PREFIX_CHARS).collect()).collect();
    // The longest word leaves the fewest candidates.
    let Some(first) = words.iter().max_by_key(|word| word.chars().count()) else {
        return Ok(Vec::new());
    };
    let (mut found, mut below) = (Vec::new(), below);
    loop {
        let batch = communities::list_by_word(tx, first, below, SEARCH_BATCH)?;
        let last = batch.last().map(|community| community.id);
        let full = i64::try_from(batch.len()).unwrap_or(SEARCH_BATCH) >= SEARCH_BATCH;
        found.extend(batch.into_iter().filter(|community| words.is_subset(&word_prefixes(community))));
        match last {
            Some(last) if full && found.len() < limit => below = last,
            _ => break,
        }
    }
    found.truncate(limit);
    Ok(found)
}

pub fn find(tx: &mut Tx<'_>, id: i64) -> Result<Community, Error> {
    let subject = || ResourceRef::new("community", "id", id);
    communities::find_by_id(tx, id)?.ok_or_else(|| Refusal::NotFound(subject()).into())
}

/// Open communities accept everyone, others only approved users.
pub fn join(tx: &mut Tx<'_>, id: i64, user: UserId, approved: bool) -> Result<Community, Error> {
    users::find_writer(tx, user)?;
    let community = find(tx, id)?;
    if !is_open(&community) && !approved {
        let detail = "This community takes in only whom it has approved.";
        return Err(Refusal::forbidden(detail).into());
    }
    add_member(tx, id, user)?;
    find(tx, id)
}

/// Whether anyone may become a member without approval.
pub fn is_open(community: &Community) -> bool {
    community.join_policy == "Open"
}

/// Whether only members see the posts.
pub fn is_closed(community: &Community) -> bool {
    community.access == "Closed"
}

pub fn is_member(tx: &mut Tx<'_>, id: i64, user: UserId) -> Result<bool, Fault> {
    Ok(!communities::filter_joined(tx, user, &[id])?.is_empty())
}

fn add_member(tx: &mut Tx<'_>, id: i64, user: UserId) -> Result<(), Fault> {
    if communities::add_member(tx, id, user)? {
        event_log::append(tx, "community.join", user.get(), id, "")?;
    }
    Ok(())
}

/// The owner cannot leave.
pub fn leave(tx: &mut Tx<'_>, id: i64, user: UserId) -> Result<Community, Error> {
    let community = find(tx, id)?;
    if community.owner_id == user {
        return Err(Refusal::forbidden("Whoever made a community stays in it.").into());
    }
    if communities::remove_member(tx, id, user)? {
        event_log::append(tx, "community.leave", user.get(), id, "")?;
    }
    find(tx, id)
}

/// The community, if the user is a member of it (contract core §11.1).
pub(crate) fn find_postable_community(tx: &mut Tx<'_>, user: UserId, id: i64) -> Result<Community, Error> {
    let community = communities::find_by_id(tx, id)?;
    let joined = is_member(tx, id, user)?;
    let community = community.filter(|_| joined);
    let detail = "You are not allowed to post to this community";
    community.ok_or_else(|| Refusal::forbidden(detail).into())
}
