//! Sets of users that were made, and how the log keeps them up to date.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use base::{Fault, Time};
use roaring::RoaringBitmap;
use store::event_log::{self, LogEvent};
use store::{Tx, ads};

use super::built::since;
use super::numbers::Numbers;
use super::{Evaluator, Users};

/// Entries of the log that are read at once.
const ENTRIES: i64 = 1_000;
/// Entries after which everything is rather made anew.
const FAR: usize = 50_000;
/// Changes that are remembered for sets that are being made.
const REMEMBERED: usize = 20_000;
/// Sets that are kept.
const MOST: usize = 4_000;

/// What a set holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// Who has done something lately.
    Active,
    /// Who follows a user.
    Followers(i64),
    /// Who blocks a user.
    Blockers(i64),
    /// Whom an account does not want to reach.
    Away(i64),
    /// Whatever else a criterion says: its type and value.
    Value(String, String),
}

/// Sets that are made together: every user is in those of what is known about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Group {
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
struct Change {
    count: u64,
    key: Key,
    user: i64,
    joins: bool,
}

#[derive(Debug)]
struct Set {
    users: Users,
    until: Time,
    used: Time,
}

/// A group, and until when it holds.
#[derive(Debug)]
pub(super) struct Grouped {
    pub(super) by: BTreeMap<String, Users>,
    pub(super) until: Time,
}

/// What is kept.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) numbers: Numbers,
    /// How far the log was read.
    seq: Option<i64>,
    sets: HashMap<Key, Set>,
    pub(super) groups: HashMap<Group, Grouped>,
    recent: VecDeque<Change>,
    /// Changes there were.
    count: u64,
    /// How many of them are forgotten.
    forgotten: u64,
    /// Users about whom the log told something that groups depend on.
    moved: Vec<i64>,
    wrote: Vec<i64>,
    /// Users who did something.
    acted: Vec<i64>,
    /// Users who came or went.
    turned: Vec<i64>,
    /// Until when it is known who signed in.
    pub(super) seen: Option<Time>,
}

impl Kept {
    /// The set of a key, while it holds.
    fn get(&mut self, key: &Key, now: Time) -> Option<Users> {
        let set = self.sets.get_mut(key).filter(|set| set.until > now)?;
        set.used = now;
        Some(Arc::clone(&set.users))
    }

    fn forget(&mut self, seq: i64) {
        self.sets.clear();
        self.groups.clear();
        self.recent.clear();
        self.count += 1;
        self.forgotten = self.count;
        self.moved.clear();
        self.wrote.clear();
        self.acted.clear();
        self.turned.clear();
        self.seen = None;
        self.seq = Some(seq);
    }

    /// A user joins a set or leaves it, as the log was read so far.
    fn turn(&mut self, key: Key, user: i64, joins: bool) {
        self.count += 1;
        let number = self.numbers.of(user);
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
        self.recent.push_back(Change {
            count: self.count,
            key,
            user,
            joins,
        });
        if self.recent.len() > REMEMBERED
            && let Some(oldest) = self.recent.pop_front()
        {
            self.forgotten = oldest.count;
        }
    }

    fn take(&mut self, event: &LogEvent) {
        let (seq, actor, subject) = (event.seq, event.actor_id, event.subject_id);
        match event.kind.as_str() {
            "follow.follow" => {
                self.turn(Key::Followers(subject), actor, true);
                self.acted.push(actor);
            }
            "follow.unfollow" => self.turn(Key::Followers(subject), actor, false),
            "block.block" => self.turn(Key::Blockers(subject), actor, true),
            "block.unblock" => self.turn(Key::Blockers(subject), actor, false),
            "post.create" => {
                self.acted.push(actor);
                self.wrote.push(actor);
            }
            "post.delete" => self.wrote.push(actor),
            "like.create" | "user.create" => self.acted.push(actor),
            "user.suspend" | "user.restore" | "user.delete" => {
                self.turned.push(subject);
                self.moved.push(subject);
                self.wrote.push(subject);
            }
            "profile.update.geo" => self.moved.push(subject),
            _ => {}
        }
        self.seq = Some(seq);
    }

    /// How far the log was read.
    pub(super) fn place(&self) -> i64 {
        self.seq.unwrap_or(0)
    }

    /// A user is in the sets of these values of a group and in no others.
    pub(super) fn regroup(&mut self, group: Group, user: i64, values: &[String]) {
        let number = self.numbers.of(user);
        let Some(grouped) = self.groups.get_mut(&group) else {
            return;
        };
        for (value, users) in &mut grouped.by {
            if users.contains(number) && !values.contains(value) {
                Arc::make_mut(users).remove(number);
            }
        }
        for value in values {
            let users = grouped.by.entry(value.clone()).or_default();
            if !users.contains(number) {
                Arc::make_mut(users).insert(number);
            }
        }
    }

    /// Keeps a set that was made from what was there after so many changes, or later.
    fn keep(
        &mut self,
        key: Key,
        mut users: RoaringBitmap,
        (from, now, until): (u64, Time, Time),
    ) -> Users {
        let complete = from >= self.forgotten;
        for change in self
            .recent
            .iter()
            .filter(|change| change.count > from && change.key == key)
        {
            let number = self.numbers.of(change.user);
            if change.joins {
                users.insert(number);
            } else {
                users.remove(number);
            }
        }
        let users = Arc::new(users);
        if complete {
            if self.sets.len() >= MOST {
                self.make_room(now);
            }
            let used = now;
            let set = Set {
                users: Arc::clone(&users),
                until,
                used,
            };
            self.sets.insert(key, set);
        }
        users
    }

    /// Forgets what holds no more, and then what was not asked for the longest.
    fn make_room(&mut self, now: Time) {
        self.sets.retain(|_, set| set.until > now);
        let mut used: Vec<Time> = self.sets.values().map(|set| set.used).collect();
        used.sort_unstable();
        if self.sets.len() >= MOST
            && let Some(median) = used.get(used.len() / 2)
        {
            self.sets.retain(|_, set| set.used > *median);
        }
    }
}

impl Evaluator {
    /// Reads what the log tells since the last question.
    pub(super) fn catch_up(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let mut read = 0;
        loop {
            let Some(from) = self.kept.lock().seq else {
                let end = event_log::end_cursor(tx)?;
                let mut kept = self.kept.lock();
                if kept.seq.is_none() {
                    kept.forget(end);
                }
                break;
            };
            let events = event_log::list_after(tx, from, ENTRIES)?;
            read += events.len();
            let imported = events.iter().any(|event| event.kind == "import.batch");
            if imported || read > FAR || !events.is_empty() && event_log::may_be_pruned(tx, from)? {
                let end = event_log::end_cursor(tx)?;
                self.kept.lock().forget(end);
                break;
            }
            let mut kept = self.kept.lock();
            // Another question may have read the same meanwhile.
            if kept.seq == Some(from) {
                for event in &events {
                    kept.take(event);
                }
            }
            if i64::try_from(events.len()).unwrap_or(0) < ENTRIES {
                break;
            }
        }
        self.settle(tx)
    }

    /// Looks again at those about whom something was told.
    fn settle(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let taken = |users: &mut Vec<i64>| {
            let mut users = std::mem::take(users);
            users.sort_unstable();
            users.dedup();
            users
        };
        let (acted, turned, moved, wrote) = {
            let mut kept = self.kept.lock();
            (
                taken(&mut kept.acted),
                taken(&mut kept.turned),
                taken(&mut kept.moved),
                taken(&mut kept.wrote),
            )
        };
        if !acted.is_empty() {
            self.join(tx, &acted)?;
        }
        if !turned.is_empty() {
            let back = ads::viewers::filter_engaged_users(tx, &turned, since(tx))?;
            let mut kept = self.kept.lock();
            for user in turned {
                kept.turn(Key::Active, user, back.contains(&user));
            }
        }
        if !moved.is_empty() {
            self.relocate(tx, &moved)?;
        }
        if !wrote.is_empty() {
            self.listen_again(tx, &wrote)?;
        }
        self.see(tx)
    }

    /// Users who did something, as far as they are there.
    pub(super) fn join(&self, tx: &mut Tx<'_>, users: &[i64]) -> Result<(), Fault> {
        let live = ads::viewers::filter_active_users(tx, users)?;
        let mut kept = self.kept.lock();
        for user in live {
            kept.turn(Key::Active, user, true);
        }
        Ok(())
    }

    /// The set of a key, made if it is not kept: ids of users, and how long it holds.
    pub(super) fn set(
        &self,
        tx: &mut Tx<'_>,
        key: Key,
        make: impl FnOnce(&mut Tx<'_>) -> Result<(Vec<i64>, i64), base::Error>,
    ) -> Result<Users, base::Error> {
        let now = tx.now();
        let from = {
            let mut kept = self.kept.lock();
            if let Some(users) = kept.get(&key, now) {
                return Ok(users);
            }
            kept.count
        };
        let (ids, lasts) = make(tx)?;
        let mut kept = self.kept.lock();
        let users: RoaringBitmap = ids.iter().map(|id| kept.numbers.of(*id)).collect();
        Ok(kept.keep(key, users, (from, now, now.plus_ms(lasts))))
    }
}
