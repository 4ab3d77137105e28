//! Sets of users that were made, and how the log keeps them up to date.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use base::{Fault, Time};
use roaring::RoaringBitmap;
use store::event_log::{self, LogEvent};
use store::{Tx, ads};

use super::base_sets::activity_cutoff;
use super::user_numbers::UserNumbers;
use super::{Evaluator, UserSet};

/// Entries of the log that are read at once.
const LOG_BATCH: i64 = 1_000;
/// Entries after which everything is rather made anew.
const MAX_LOG_GAP: usize = 50_000;
/// Changes that are remembered for sets that are being made.
const MAX_RECENT_CHANGES: usize = 20_000;
/// Sets that are kept.
const MAX_SETS: usize = 4_000;

/// What a set holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum UserSetKey {
    /// Who has done something lately.
    Active,
    /// Who follows a user.
    Followers(i64),
    /// Who blocks a user.
    Blockers(i64),
    /// Whom an account does not want to reach.
    DoNotReach(i64),
    /// Whatever else a criterion says: its type and value.
    Value(String, String),
}

/// Sets that are made together: every user is in those of what is known about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum UserGroup {
    /// By place.
    Location,
    /// By the language they write in.
    Language,
    /// By what they signed in with.
    Platform,
    /// By the device.
    Device,
    /// By the version of what it runs.
    Version,
}

/// Who joins or leaves a set.
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

/// A group, and until when it holds.
#[derive(Debug)]
pub(super) struct GroupedUserSets {
    pub(super) sets: BTreeMap<String, UserSet>,
    pub(super) expires_at: Time,
}

/// What is kept.
#[derive(Debug, Default)]
pub(super) struct UserSetCache {
    pub(super) numbers: UserNumbers,
    /// How far the log was read.
    log_offset: Option<i64>,
    sets: HashMap<UserSetKey, CachedUserSet>,
    pub(super) groups: HashMap<UserGroup, GroupedUserSets>,
    recent: VecDeque<SetChange>,
    /// Changes there were.
    change_count: u64,
    /// How many of them are forgotten.
    dropped_changes: u64,
    /// Users about whom the log told something that groups depend on.
    relocated_users: Vec<i64>,
    posting_users: Vec<i64>,
    /// Users who did something.
    active_users: Vec<i64>,
    /// Users who came or went.
    changed_users: Vec<i64>,
    /// Until when it is known who signed in.
    pub(super) sign_ins_read_until: Option<Time>,
}

impl UserSetCache {
    /// The set of a key, while it holds.
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

    /// A user joins a set or leaves it, as the log was read so far.
    fn apply_membership_change(&mut self, key: UserSetKey, user: i64, joins: bool) {
        self.change_count += 1;
        let number = self.numbers.assign_number(user);
        // A set that already is so is not copied.
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
        self.recent.push_back(SetChange {
            count: self.change_count,
            key,
            user,
            joins,
        });
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

    /// How far the log was read.
    pub(super) fn log_offset(&self) -> i64 {
        self.log_offset.unwrap_or(0)
    }

    /// A user is in the sets of these values of a group and in no others.
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

    /// Keeps a set that was made from what was there after so many changes, or later.
    fn store_set(
        &mut self,
        key: UserSetKey,
        mut users: RoaringBitmap,
        (from, now, until): (u64, Time, Time),
    ) -> UserSet {
        let complete = from >= self.dropped_changes;
        for change in self
            .recent
            .iter()
            .filter(|change| change.count > from && change.key == key)
        {
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
            let set = CachedUserSet {
                users: Arc::clone(&users),
                expires_at: until,
                last_used_at: used,
            };
            self.sets.insert(key, set);
        }
        users
    }

    /// Forgets what holds no more, and then what was not asked for the longest.
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
}

impl Evaluator {
    /// Reads what the log tells since the last question.
    pub(super) fn catch_up_with_log(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let mut read = 0;
        loop {
            let Some(from) = self.set_cache.lock().log_offset else {
                let end = event_log::end_cursor(tx)?;
                let mut kept = self.set_cache.lock();
                if kept.log_offset.is_none() {
                    kept.reset_to_offset(end);
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
            let mut kept = self.set_cache.lock();
            // Another question may have read the same meanwhile.
            if kept.log_offset == Some(from) {
                for event in &events {
                    kept.apply_log_event(event);
                }
            }
            if i64::try_from(events.len()).unwrap_or(0) < LOG_BATCH {
                break;
            }
        }
        self.refresh_changed_users(tx)
    }

    /// Looks again at those about whom something was told.
    fn refresh_changed_users(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let taken = |users: &mut Vec<i64>| {
            let mut users = std::mem::take(users);
            users.sort_unstable();
            users.dedup();
            users
        };
        let (acted, turned, moved, wrote) = {
            let mut kept = self.set_cache.lock();
            (
                taken(&mut kept.active_users),
                taken(&mut kept.changed_users),
                taken(&mut kept.relocated_users),
                taken(&mut kept.posting_users),
            )
        };
        if !acted.is_empty() {
            self.add_active_users(tx, &acted)?;
        }
        if !turned.is_empty() {
            let back = ads::viewers::filter_engaged_users(tx, &turned, activity_cutoff(tx))?;
            let mut kept = self.set_cache.lock();
            for user in turned {
                kept.apply_membership_change(UserSetKey::Active, user, back.contains(&user));
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

    /// Users who did something, as far as they are there.
    pub(super) fn add_active_users(&self, tx: &mut Tx<'_>, users: &[i64]) -> Result<(), Fault> {
        let live = ads::viewers::filter_active_users(tx, users)?;
        let mut kept = self.set_cache.lock();
        for user in live {
            kept.apply_membership_change(UserSetKey::Active, user, true);
        }
        Ok(())
    }

    /// The set of a key, made if it is not kept: ids of users, and how long it holds.
    pub(super) fn get_or_build_set(
        &self,
        tx: &mut Tx<'_>,
        key: UserSetKey,
        make: impl FnOnce(&mut Tx<'_>) -> Result<(Vec<i64>, i64), base::Error>,
    ) -> Result<UserSet, base::Error> {
        let now = tx.now();
        let from = {
            let mut kept = self.set_cache.lock();
            if let Some(users) = kept.get(&key, now) {
                return Ok(users);
            }
            kept.change_count
        };
        let (ids, lasts) = make(tx)?;
        let mut kept = self.set_cache.lock();
        let users: RoaringBitmap = ids.iter().map(|id| kept.numbers.assign_number(*id)).collect();
        Ok(kept.store_set(key, users, (from, now, now.plus_ms(lasts))))
    }
}
