//! Cached user sets, kept up to date from the event log.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use base::{Fault, Time, sorted_distinct};
use roaring::RoaringBitmap;
use store::event_log::{self, LogEvent};
use store::{Tx, ads};

use super::base_sets::activity_cutoff;
use super::user_numbers::UserNumbers;
use super::{Evaluator, UserSet};

/// Event log entries read at a time.
const LOG_BATCH: i64 = 1_000;
/// After a longer gap the sets are discarded.
const MAX_LOG_GAP: usize = 50_000;
/// Recent changes retained for sets under construction.
const MAX_RECENT_CHANGES: usize = 20_000;
const MAX_SETS: usize = 4_000;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum UserSetKey {
    /// Recently active users.
    Active,
    Followers(i64),
    Blockers(i64),
    /// A do-not-reach list.
    DoNotReach(i64),
    /// Any other criterion: its type and value.
    Value(String, String),
}

/// Sets that are built together, since they partition what is known of each user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum UserGroup {
    Location,
    Language,
    Platform,
    Device,
    Version,
}

#[derive(Clone, Debug)]
struct SetChange {
    count: u64,
    key: UserSetKey,
    user: i64,
    joins: bool,
}

#[derive(Debug)]
struct CachedUserSet {
    users: UserSet,
    expires_at: Time,
    last_used_at: Time,
}

/// When a group was built, and until when it is valid.
#[derive(Debug)]
pub(super) struct GroupedUserSets {
    pub(super) sets: BTreeMap<String, UserSet>,
    pub(super) expires_at: Time,
}

#[derive(Debug, Default)]
pub(super) struct UserSetCache {
    pub(super) numbers: UserNumbers,
    /// The event log offset up to which changes have been applied.
    log_offset: Option<i64>,
    sets: HashMap<UserSetKey, CachedUserSet>,
    pub(super) groups: HashMap<UserGroup, GroupedUserSets>,
    recent: VecDeque<SetChange>,
    change_count: u64,
    /// The number of changes already discarded from the front.
    dropped_changes: u64,
    /// Users whose language or location may have changed.
    relocated_users: Vec<i64>,
    posting_users: Vec<i64>,
    active_users: Vec<i64>,
    /// Users created, suspended or deleted.
    changed_users: Vec<i64>,
    pub(super) sign_ins_read_until: Option<Time>,
}

impl UserSetCache {
    fn get(&mut self, key: &UserSetKey, now: Time) -> Option<UserSet> {
        let set = self.sets.get_mut(key).filter(|set| set.expires_at > now)?;
        set.last_used_at = now;
        Some(Arc::clone(&set.users))
    }

    fn reset_to_offset(&mut self, seq: i64) {
        self.sets.clear();
        self.groups.clear();
        self.recent.clear();
        self.change_count += 1;
        self.dropped_changes = self.change_count;
        self.relocated_users.clear();
        self.posting_users.clear();
        self.active_users.clear();
        self.changed_users.clear();
        self.sign_ins_read_until = None;
        self.log_offset = Some(seq);
    }

    /// Adds a user to a set or removes it.
    fn apply_membership_change(&mut self, key: UserSetKey, user: i64, joins: bool) {
        self.change_count += 1;
        let number = self.numbers.assign_number(user);
        // Avoids copying a set that is already correct.
        if let Some(set) = self.sets.get_mut(&key)
            && set.users.contains(number) != joins
        {
            let users = Arc::make_mut(&mut set.users);
            if joins {
                users.insert(number);
            } else {
                users.remove(number);
            }
        }
        self.recent.push_back(SetChange { count: self.change_count, key, user, joins });
        if self.recent.len() > MAX_RECENT_CHANGES
            && let Some(oldest) = self.recent.pop_front()
        {
            self.dropped_changes = oldest.count;
        }
    }

    fn apply_log_event(&mut self, event: &LogEvent) {
        let (seq, actor, subject) = (event.seq, event.actor_id, event.subject_id);
        match event.kind.as_str() {
            "follow.follow" => {
                self.apply_membership_change(UserSetKey::Followers(subject), actor, true);
                self.active_users.push(actor);
            }
            "follow.unfollow" => self.apply_membership_change(UserSetKey::Followers(subject), actor, false),
            "block.block" => self.apply_membership_change(UserSetKey::Blockers(subject), actor, true),
            "block.unblock" => self.apply_membership_change(UserSetKey::Blockers(subject), actor, false),
            "post.create" => {
                self.active_users.push(actor);
                self.posting_users.push(actor);
            }
            "post.delete" => self.posting_users.push(actor),
            "like.create" | "user.create" => self.active_users.push(actor),
            "user.suspend" | "user.restore" | "user.delete" => {
                self.changed_users.push(subject);
                self.relocated_users.push(subject);
                self.posting_users.push(subject);
            }
            "profile.update.geo" => self.relocated_users.push(subject),
            _ => {}
        }
        self.log_offset = Some(seq);
    }

    pub(super) fn log_offset(&self) -> i64 {
        self.log_offset.unwrap_or(0)
    }

    /// Puts a user into the sets of these values of a group, and out of all others.
    pub(super) fn set_user_groups(&mut self, group: UserGroup, user: i64, values: &[String]) {
        let number = self.numbers.assign_number(user);
        let Some(grouped) = self.groups.get_mut(&group) else {
            return;
        };
        for (value, users) in &mut grouped.sets {
            if users.contains(number) && !values.contains(value) {
                Arc::make_mut(users).remove(number);
            }
        }
        for value in values {
            let users = grouped.sets.entry(value.clone()).or_default();
            if !users.contains(number) {
                Arc::make_mut(users).insert(number);
            }
        }
    }

    /// Stores a set that reflects at least the given number of changes.
    fn store_set(
        &mut self,
        key: UserSetKey,
        mut users: RoaringBitmap,
        (from, now, until): (u64, Time, Time),
    ) -> UserSet {
        let complete = from >= self.dropped_changes;
        for change in self.recent.iter().filter(|change| change.count > from && change.key == key) {
            let number = self.numbers.assign_number(change.user);
            if change.joins {
                users.insert(number);
            } else {
                users.remove(number);
            }
        }
        let users = Arc::new(users);
        if complete {
            if self.sets.len() >= MAX_SETS {
                self.evict_stale_sets(now);
            }
            let used = now;
            let set = CachedUserSet { users: Arc::clone(&users), expires_at: until, last_used_at: used };
            self.sets.insert(key, set);
        }
        users
    }

    /// Evicts expired sets, then the least recently used.
    fn evict_stale_sets(&mut self, now: Time) {
        self.sets.retain(|_, set| set.expires_at > now);
        let mut used: Vec<Time> = self.sets.values().map(|set| set.last_used_at).collect();
        used.sort_unstable();
        if self.sets.len() >= MAX_SETS
            && let Some(median) = used.get(used.len() / 2)
        {
            self.sets.retain(|_, set| set.last_used_at > *median);
        }
    }

    const fn has_changed_users(&self) -> bool {
        !self.active_users.is_empty()
            || !self.changed_users.is_empty()
            || !self.relocated_users.is_empty()
            || !self.posting_users.is_empty()
    }
}

impl Evaluator {
    /// Applies the event log entries since the last evaluation.
    pub(super) fn catch_up_with_log(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let mut read = 0;
        loop {
            let Some(from) = self.set_cache.lock().log_offset else {
                let end = event_log::end_cursor(tx)?;
                let mut cache = self.set_cache.lock();
                if cache.log_offset.is_none() {
                    cache.reset_to_offset(end);
                }
                break;
            };
            let events = event_log::list_after(tx, from, LOG_BATCH)?;
            read += events.len();
            let imported = events.iter().any(|event| event.kind == "import.batch");
            if imported || read > MAX_LOG_GAP || !events.is_empty() && event_log::may_be_pruned(tx, from)? {
                let end = event_log::end_cursor(tx)?;
                self.set_cache.lock().reset_to_offset(end);
                break;
            }
            let mut cache = self.set_cache.lock();
            // Another evaluation may have read the same entries.
            if cache.log_offset == Some(from) {
                for event in &events {
                    cache.apply_log_event(event);
                }
            }
            if i64::try_from(events.len()).unwrap_or(0) < LOG_BATCH {
                break;
            }
        }
        self.refresh_changed_users(tx)
    }

    fn refresh_changed_users(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        if !self.set_cache.lock().has_changed_users() {
            return Ok(());
        }
        let end = event_log::end_cursor(tx)?;
        let taken = |users: &mut Vec<i64>| sorted_distinct(std::mem::take(users));
        let (acted, turned, moved, wrote) = {
            let mut cache = self.set_cache.lock();
            // What another evaluation read of the log may be newer than what this transaction sees of the users.
            if cache.log_offset.is_none_or(|offset| offset > end) {
                return Ok(());
            }
            (
                taken(&mut cache.active_users),
                taken(&mut cache.changed_users),
                taken(&mut cache.relocated_users),
                taken(&mut cache.posting_users),
            )
        };
        if !acted.is_empty() {
            self.add_active_users(tx, &acted)?;
        }
        if !turned.is_empty() {
            let back = ads::viewers::filter_engaged_users(tx, &turned, activity_cutoff(tx))?;
            let mut cache = self.set_cache.lock();
            for user in turned {
                cache.apply_membership_change(UserSetKey::Active, user, back.contains(&user));
            }
        }
        if !moved.is_empty() {
            self.refresh_user_locations(tx, &moved)?;
        }
        if !wrote.is_empty() {
            self.refresh_user_languages(tx, &wrote)?;
        }
        self.refresh_seen_users(tx)
    }

    /// Adds existing users to the set of active users.
    pub(super) fn add_active_users(&self, tx: &mut Tx<'_>, users: &[i64]) -> Result<(), Fault> {
        let live = ads::viewers::filter_active_users(tx, users)?;
        let mut cache = self.set_cache.lock();
        for user in live {
            cache.apply_membership_change(UserSetKey::Active, user, true);
        }
        Ok(())
    }

    /// Returns the set of a key. `build` returns the user ids and how long the set is valid, in milliseconds.
    pub(super) fn get_or_build_set(
        &self,
        tx: &mut Tx<'_>,
        key: UserSetKey,
        make: impl FnOnce(&mut Tx<'_>) -> Result<(Vec<i64>, i64), base::Error>,
    ) -> Result<UserSet, base::Error> {
        let now = tx.now();
        let (from, log_offset) = {
            let mut cache = self.set_cache.lock();
            if let Some(users) = cache.get(&key, now) {
                return Ok(users);
            }
            (cache.change_count, cache.log_offset)
        };
        let log_end = event_log::end_cursor(tx)?;
        // Changes that others read of the log, and this transaction does not see, would be missing until the set expires.
        let is_outdated = log_offset.is_some_and(|offset| offset > log_end);
        let (ids, lasts) = make(tx)?;
        let mut cache = self.set_cache.lock();
        let users: RoaringBitmap = ids.iter().map(|id| cache.numbers.assign_number(*id)).collect();
        if is_outdated {
            return Ok(Arc::new(users));
        }
        Ok(cache.store_set(key, users, (from, now, now.plus_ms(lasts))))
    }
}
