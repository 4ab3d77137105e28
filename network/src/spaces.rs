//! Spaces: scheduling, opening, closing and participation. The API only reads spaces; changes come from
//! `locum space` and the demo data (contract core §7.7, §11.3).

use base::id::encode_base62;
use base::refusal::ResourceRef;
use base::text::{identify_language, normalize};
use base::{Error, Fault, PostId, Refusal, Time, UserId};
use serde_json::json;
use store::spaces::{self, Space, SpaceRole, SpaceState};
use store::{Tx, event_log, posts};

use crate::search_words::searched_words;
use crate::users;
use crate::visibility::{self, AccessDenial, Visibility, find_post_denial};

/// How far ahead a space may be scheduled (contract core §7.7).
pub const MAX_AHEAD_MS: i64 = 14 * 24 * 3600 * 1000;
/// Speakers in addition to the hosts (contract core §7.7).
pub const MAX_SPEAKERS: i64 = 10;
/// Hosts in addition to the creator.
pub const MAX_COHOSTS: usize = 2;
pub const MAX_INVITED: i64 = 100;
pub const MAX_TOPICS: usize = 3;
/// Scheduled and live spaces per creator.
pub const MAX_OPEN: usize = 10;
/// Characters.
pub const TITLE_LENGTH: usize = 140;

#[derive(Clone, Debug, Default)]
pub struct NewSpace {
    /// May be empty.
    pub title: String,
    /// None to start now.
    pub start: Option<Time>,
    /// Empty to detect it from the title.
    pub lang: String,
    /// Whether it requires a ticket.
    pub ticketed: bool,
    /// In addition to the creator.
    pub hosts: Vec<UserId>,
    /// Users invited to speak.
    pub invited: Vec<UserId>,
    pub topics: Vec<String>,
}

/// Creates a space, which is live at once without a start time.
pub fn create(tx: &mut Tx<'_>, creator: UserId, new: &NewSpace) -> Result<Space, Error> {
    // Concurrent calls must count each other's spaces.
    store::users::lock(tx, creator)?;
    users::find_writer(tx, creator)?;
    if spaces::list_active_by_creators(tx, &[creator])?.len() >= MAX_OPEN {
        let detail = format!("a user has at most {MAX_OPEN} spaces scheduled or live");
        return Err(Refusal::forbidden(detail).into());
    }
    let now = tx.now();
    let title = validate_title(&new.title)?;
    let space = Space {
        id: tx.next_id::<()>().get(),
        creator_id: creator,
        state: SpaceState::Scheduled,
        lang: validate_lang(&new.lang, &title)?,
        title,
        ticketed: new.ticketed,
        created_at: now,
        updated_at: now,
        scheduled_start: new.start.map(|at| validate_start(now, at)).transpose()?,
        started_at: None,
        ended_at: None,
        participant_count: 0,
        subscriber_count: 0,
    };
    spaces::insert(tx, &space)?;
    spaces::index_words(tx, space.id, space.state, &words_of_title(&space.title))?;
    add_hosts_and_invitees(tx, &space, new)?;
    add_topics(tx, &space, &new.topics)?;
    append_space_event(tx, "spaces.create", creator, space.id, None)?;
    if new.start.is_none() {
        return start_space(tx, space);
    }
    Ok(space)
}

/// Indexes the title of an imported space, if it is scheduled or live.
pub fn index_title(tx: &mut Tx<'_>, id: i64) -> Result<(), Fault> {
    match spaces::find_by_id(tx, id)? {
        Some(space) if matches!(space.state, SpaceState::Scheduled | SpaceState::Live) => {
            spaces::index_words(tx, id, space.state, &words_of_title(&space.title))
        }
        _ => Ok(()),
    }
}

fn add_hosts_and_invitees(tx: &mut Tx<'_>, space: &Space, new: &NewSpace) -> Result<(), Error> {
    let mut hosts = new.hosts.clone();
    hosts.retain(|host| *host != space.creator_id);
    if hosts.len() > MAX_COHOSTS {
        let message = format!("a space has at most {MAX_COHOSTS} hosts beside its creator");
        return Err(Refusal::invalid_parameter("host", hosts.len(), message).into());
    }
    spaces::add_role(tx, space.id, SpaceRole::Host, space.creator_id)?;
    for host in hosts {
        users::find_active(tx, host)?;
        spaces::add_role(tx, space.id, SpaceRole::Host, host)?;
    }
    for user in &new.invited {
        invite_user(tx, space, *user)?;
    }
    Ok(())
}

fn add_topics(tx: &mut Tx<'_>, space: &Space, names: &[String]) -> Result<(), Error> {
    if names.len() > MAX_TOPICS {
        let message = format!("a space has at most {MAX_TOPICS} topics");
        return Err(Refusal::invalid_parameter("topic", names.len(), message).into());
    }
    for name in names {
        let name = normalize(name.trim());
        if !(1..=50).contains(&name.chars().count()) || name.contains(char::is_control) {
            let message = "the name of a topic has 1 to 50 characters";
            return Err(Refusal::invalid_parameter("topic", name, message).into());
        }
        let topic = spaces::find_or_insert_topic(tx, &name)?;
        spaces::add_topic(tx, space.id, topic.id)?;
    }
    Ok(())
}

fn validate_title(title: &str) -> Result<String, Refusal> {
    let title = normalize(title.trim()).into_owned();
    if title.chars().count() > TITLE_LENGTH || title.contains(char::is_control) {
        let message = format!("a title has at most {TITLE_LENGTH} characters, none of them a control");
        return Err(Refusal::invalid_parameter("title", title, message));
    }
    Ok(title)
}

fn validate_lang(lang: &str, title: &str) -> Result<String, Refusal> {
    if lang.is_empty() {
        return Ok(identify_language(title).to_owned());
    }
    let is_subtag = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if lang.len() >= 2 && lang.split('-').all(is_subtag) {
        return Ok(lang.to_owned());
    }
    let message = format!("[{lang}] is no language tag such as en or pt-BR");
    Err(Refusal::invalid_parameter("lang", lang, message))
}

fn validate_start(now: Time, at: Time) -> Result<Time, Refusal> {
    if at > now && at <= now.plus_ms(MAX_AHEAD_MS) {
        return Ok(at);
    }
    let message = format!("[{at}] is not within the next 14 days");
    Err(Refusal::invalid_parameter("start", at, message))
}

/// Opens a scheduled space. Spaces do not open by themselves.
pub fn open(tx: &mut Tx<'_>, id: i64) -> Result<Space, Error> {
    let space = lock_in_state(tx, id, &[SpaceState::Scheduled])?;
    start_space(tx, space)
}

fn start_space(tx: &mut Tx<'_>, mut space: Space) -> Result<Space, Error> {
    let now = tx.now();
    space.state = SpaceState::Live;
    space.started_at = Some(now);
    space.updated_at = now;
    spaces::update(tx, &space)?;
    spaces::index_words(tx, space.id, space.state, &words_of_title(&space.title))?;
    let parts = spaces::list_hosts_and_speakers(tx, &[space.id])?;
    for (_, role, user) in parts {
        if role == SpaceRole::Host && spaces::add_role(tx, space.id, SpaceRole::Participant, user)? {
            space.participant_count += 1;
        }
    }
    append_host_event(tx, "spaces.start", &space)?;
    Ok(space)
}

/// Closes a live space. Its participants stay recorded.
pub fn close(tx: &mut Tx<'_>, id: i64) -> Result<Space, Error> {
    let space = lock_in_state(tx, id, &[SpaceState::Live])?;
    let ended = end_space(tx, space, SpaceState::Ended)?;
    append_host_event(tx, "spaces.end", &ended)?;
    Ok(ended)
}

/// Cancels a scheduled space, which is no longer visible.
pub fn cancel(tx: &mut Tx<'_>, id: i64) -> Result<Space, Error> {
    let space = lock_in_state(tx, id, &[SpaceState::Scheduled])?;
    let canceled = end_space(tx, space, SpaceState::Canceled)?;
    append_space_event(tx, "spaces.cancel", canceled.creator_id, id, None)?;
    Ok(canceled)
}

fn end_space(tx: &mut Tx<'_>, mut space: Space, state: SpaceState) -> Result<Space, Fault> {
    let now = tx.now();
    space.state = state;
    space.ended_at = (state == SpaceState::Ended).then_some(now);
    space.updated_at = now;
    spaces::update(tx, &space)?;
    spaces::remove_words(tx, space.id)?;
    Ok(space)
}

/// Adds a participant to a live space; returns false if they are already in it. A ticketed space requires a ticket,
/// except for hosts and invited speakers.
pub fn join(tx: &mut Tx<'_>, id: i64, user: UserId) -> Result<bool, Error> {
    let space = lock_in_state(tx, id, &[SpaceState::Live])?;
    users::find_active(tx, user)?;
    let mut may_join = !space.ticketed;
    for role in [SpaceRole::Buyer, SpaceRole::Host, SpaceRole::Invited] {
        may_join = may_join || spaces::has_role(tx, id, role, user)?;
    }
    if !may_join {
        let detail = format!("space [{}] takes a ticket", encode_base62(id));
        return Err(Refusal::forbidden(detail).into());
    }
    let new = spaces::add_role(tx, id, SpaceRole::Participant, user)?;
    if new {
        append_space_event(tx, "spaces.join", user, id, None)?;
    }
    Ok(new)
}

/// Returns false if the user is not in the space. Refused for the creator, who closes it instead.
pub fn leave(tx: &mut Tx<'_>, id: i64, user: UserId) -> Result<bool, Error> {
    let space = lock_in_state(tx, id, &[SpaceState::Live])?;
    if space.creator_id == user {
        return Err(Refusal::forbidden("the creator of a space closes it to leave").into());
    }
    let removed = spaces::remove_role(tx, id, SpaceRole::Participant, user)?;
    if removed {
        append_space_event(tx, "spaces.leave", user, id, None)?;
    }
    Ok(removed)
}

/// Makes a user a speaker and participant; returns false if they already are a speaker or host.
pub fn add_speaker(tx: &mut Tx<'_>, id: i64, user: UserId) -> Result<bool, Error> {
    join(tx, id, user)?;
    if spaces::has_role(tx, id, SpaceRole::Host, user)? || spaces::has_role(tx, id, SpaceRole::Speaker, user)? {
        return Ok(false);
    }
    if spaces::count_present_speakers(tx, id)? >= MAX_SPEAKERS {
        let detail = format!("a space has at most {MAX_SPEAKERS} speakers");
        return Err(Refusal::forbidden(detail).into());
    }
    spaces::add_role(tx, id, SpaceRole::Speaker, user)?;
    append_space_event(tx, "spaces.speak", user, id, None)?;
    Ok(true)
}

/// Returns false if the user was already invited.
pub fn invite(tx: &mut Tx<'_>, id: i64, user: UserId) -> Result<bool, Error> {
    let space = lock_in_state(tx, id, &[SpaceState::Scheduled, SpaceState::Live])?;
    invite_user(tx, &space, user)
}

fn invite_user(tx: &mut Tx<'_>, space: &Space, user: UserId) -> Result<bool, Error> {
    users::find_active(tx, user)?;
    if spaces::count_role(tx, space.id, SpaceRole::Invited)? >= MAX_INVITED {
        let detail = format!("at most {MAX_INVITED} users are invited to a space");
        return Err(Refusal::forbidden(detail).into());
    }
    let new = spaces::add_role(tx, space.id, SpaceRole::Invited, user)?;
    if new {
        append_space_event(tx, "spaces.invite", space.creator_id, space.id, Some(("user_id", user.get())))?;
    }
    Ok(new)
}

/// Returns false if nothing changed.
pub fn set_reminder(tx: &mut Tx<'_>, id: i64, user: UserId, is_wanted: bool) -> Result<bool, Error> {
    lock_in_state(tx, id, &[SpaceState::Scheduled])?;
    users::find_active(tx, user)?;
    let (changed, kind) = if is_wanted {
        let added = spaces::add_role(tx, id, SpaceRole::Subscriber, user)?;
        (added, "spaces.subscribe")
    } else {
        let removed = spaces::remove_role(tx, id, SpaceRole::Subscriber, user)?;
        (removed, "spaces.unsubscribe")
    };
    if changed {
        append_space_event(tx, kind, user, id, None)?;
    }
    Ok(changed)
}

/// Returns false if the user already has a ticket.
pub fn buy_ticket(tx: &mut Tx<'_>, id: i64, user: UserId) -> Result<bool, Error> {
    let space = lock_in_state(tx, id, &[SpaceState::Scheduled, SpaceState::Live])?;
    users::find_active(tx, user)?;
    if !space.ticketed {
        return Err(not_ticketed("space", id).into());
    }
    let new = spaces::add_role(tx, id, SpaceRole::Buyer, user)?;
    if new {
        append_space_event(tx, "spaces.buy", user, id, None)?;
    }
    Ok(new)
}

/// Shares a post on behalf of a participant; returns false if it was already shared.
pub fn share_post(tx: &mut Tx<'_>, id: i64, user: UserId, post: PostId) -> Result<bool, Error> {
    lock_in_state(tx, id, &[SpaceState::Live])?;
    if !spaces::has_role(tx, id, SpaceRole::Participant, user)? {
        let detail = format!("user [{user}] is not in space [{}]", encode_base62(id));
        return Err(Refusal::forbidden(detail).into());
    }
    let denial = match posts::find_by_id(tx, post)? {
        Some(post) => find_post_denial(tx, user, &post)?,
        None => Some(AccessDenial::Missing),
    };
    if denial.is_some() {
        return Err(Refusal::NotFound(ResourceRef::new("post", "post", post)).into());
    }
    let new = spaces::share_post(tx, id, post)?;
    if new {
        append_space_event(tx, "spaces.share", user, id, Some(("post_id", post.get())))?;
    }
    Ok(new)
}

/// None if the space is not visible.
pub fn find_visible(tx: &mut Tx<'_>, id: i64) -> Result<Option<Space>, Fault> {
    let Some(space) = spaces::find_by_id(tx, id)? else {
        return Ok(None);
    };
    let creator = store::users::find_by_id(tx, space.creator_id)?;
    let visibility = visibility::space_visibility(&space, creator.as_ref());
    Ok((visibility == Visibility::Visible).then_some(space))
}

/// Only the creator may see the buyers of a ticketed space.
pub fn check_may_see_buyers(space: &Space, user: UserId) -> Result<(), Refusal> {
    if space.creator_id != user {
        return Err(Refusal::forbidden("Only the creator of a space may see who bought tickets to it."));
    }
    if !space.ticketed {
        return Err(not_ticketed("id", space.id));
    }
    Ok(())
}

fn not_ticketed(parameter: &'static str, id: i64) -> Refusal {
    let id = encode_base62(id);
    let message = format!("The space [{id}] takes no tickets");
    Refusal::invalid_parameter(parameter, id, message)
}

/// The states to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceStateFilter {
    Live,
    Scheduled,
    All,
}

/// The newest spaces whose titles contain all words of a text.
pub fn search(tx: &mut Tx<'_>, text: &str, states: SpaceStateFilter, limit: usize) -> Result<Vec<Space>, Fault> {
    let words = words_of_title(text);
    // No title has this many words and pairs of letters.
    if words.len() > 2 * TITLE_LENGTH {
        return Ok(Vec::new());
    }
    let mut ids = Vec::new();
    if states != SpaceStateFilter::Scheduled {
        ids.extend(spaces::search_titles(tx, SpaceState::Live, &words, limit)?);
    }
    if states != SpaceStateFilter::Live {
        ids.extend(spaces::search_titles(tx, SpaceState::Scheduled, &words, limit)?);
    }
    ids.sort_unstable_by(|one, other| other.cmp(one));
    ids.truncate(limit);
    let mut found = spaces::find_by_ids(tx, &ids)?;
    found.sort_unstable_by_key(|space| std::cmp::Reverse(space.id));
    Ok(found)
}

/// Sorted, without duplicates.
fn words_of_title(title: &str) -> Vec<String> {
    searched_words(title).into_iter().collect()
}

/// Locks a space; refused unless it is in one of the states.
fn lock_in_state(tx: &mut Tx<'_>, id: i64, states: &[SpaceState]) -> Result<Space, Error> {
    spaces::lock(tx, id)?;
    let space = spaces::find_by_id(tx, id)?;
    let space = space.ok_or_else(|| Refusal::NotFound(ResourceRef::new("space", "space", encode_base62(id))))?;
    if states.contains(&space.state) {
        return Ok(space);
    }
    let (id, state) = (encode_base62(id), space.state.name());
    Err(Refusal::forbidden(format!("space [{id}] is {state}")).into())
}

fn append_space_event(
    tx: &mut Tx<'_>,
    kind: &str,
    actor: UserId,
    space: i64,
    extra_field: Option<(&str, i64)>,
) -> Result<(), Fault> {
    let extra_field = extra_field.map_or(String::new(), |(name, id)| format!(",\"{name}\":\"{id}\""));
    let body = format!("{{\"space_id\":\"{}\"{extra_field}}}", encode_base62(space));
    event_log::append(tx, kind, actor.get(), space, &body)
}

/// Appends an event with the hosts, whom it concerns as well.
fn append_host_event(tx: &mut Tx<'_>, kind: &str, space: &Space) -> Result<(), Fault> {
    let parts = spaces::list_hosts_and_speakers(tx, &[space.id])?;
    let hosts = parts.iter().filter(|(_, role, _)| *role == SpaceRole::Host);
    let hosts: Vec<String> = hosts.map(|(_, _, user)| user.to_string()).collect();
    let body = json!({ "space_id": encode_base62(space.id), "host_ids": hosts }).to_string();
    event_log::append(tx, kind, space.creator_id.get(), space.id, &body)
}
