//! Changes of audience members within one request: looked up by key, merged when a key links two members,
//! written at the end.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use base::Time;
use store::ads::audiences::{AudienceKey, AudienceMemberChanges};

#[derive(Clone, Debug, Default)]
struct RequestMember {
    existed: bool,
    removed: bool,
    /// The other member this one was merged into.
    merged_into: Option<i64>,
    /// The validity period, once written.
    membership: Option<(Time, Time)>,
}

#[derive(Clone, Debug, Default)]
pub struct MemberChangeSet {
    stored_keys: HashMap<AudienceKey, i64>,
    keys: HashMap<AudienceKey, i64>,
    members: BTreeMap<i64, RequestMember>,
}

impl MemberChangeSet {
    pub fn from_stored(stored: Vec<(AudienceKey, i64)>) -> Self {
        let there = RequestMember { existed: true, ..RequestMember::default() };
        Self {
            members: stored.iter().map(|(_, member)| (*member, there.clone())).collect(),
            keys: stored.iter().copied().collect(),
            stored_keys: stored.into_iter().collect(),
        }
    }

    fn merged_number(&self, mut number: i64) -> i64 {
        while let Some(into) = self.members.get(&number).and_then(|member| member.merged_into) {
            number = into;
        }
        number
    }

    fn is_removed(&self, number: i64) -> bool {
        self.members.get(&number).is_some_and(|member| member.removed)
    }

    /// The members that hold any of these keys.
    fn find_holders(&self, keys: &[AudienceKey]) -> BTreeSet<i64> {
        let found = keys.iter().filter_map(|key| self.keys.get(key));
        let found = found.map(|number| self.merged_number(*number));
        found.filter(|number| !self.is_removed(*number)).collect()
    }

    /// Writes a member with these keys: the member that holds one of them, or a new one under `number`.
    /// Several holders are merged.
    pub fn update(&mut self, keys: &[AudienceKey], times: (Time, Time), number: i64) {
        let mut holders = self.find_holders(keys).into_iter();
        let first = holders.next().unwrap_or(number);
        for other in holders {
            if let Some(member) = self.members.get_mut(&other) {
                member.merged_into = Some(first);
            }
        }
        self.members.entry(first).or_default().membership = Some(times);
        for key in keys {
            self.keys.insert(*key, first);
        }
    }

    /// Removes every member that holds any of these keys.
    pub fn delete(&mut self, keys: &[AudienceKey]) {
        for number in self.find_holders(keys) {
            if let Some(member) = self.members.get_mut(&number) {
                member.removed = true;
            }
        }
    }

    pub fn to_changes(&self) -> AudienceMemberChanges {
        let mut changes = AudienceMemberChanges::default();
        for (number, member) in &self.members {
            let now = self.merged_number(*number);
            match (member.existed, self.is_removed(now), member.membership) {
                (true, true, _) => changes.removed.push(*number),
                (true, false, _) if now != *number => changes.merged.push((*number, now)),
                (true, false, Some((from, until))) => changes.renewed.push((*number, from, until)),
                (false, false, Some((from, until))) if now == *number => {
                    changes.added.push((*number, from, until));
                }
                _ => {}
            }
        }
        for (key, number) in &self.keys {
            let now = self.merged_number(*number);
            let stored = self.stored_keys.get(key).map(|number| self.merged_number(*number));
            if !self.is_removed(now) && stored != Some(now) {
                changes.keys.push((*key, now));
            }
        }
        // The same request writes the same rows in the same order.
        changes.keys.sort_unstable();
        changes
    }
}

#[cfg(test)]
mod tests {
    use base::Time;
    use store::ads::audiences::{AudienceKey, AudienceKeyKind};

    use super::MemberChangeSet;

    const TIMES: (Time, Time) = (Time::from_ms(1), Time::from_ms(2));

    fn key(number: u8) -> AudienceKey {
        AudienceKeyKind::Email.to_key(&[number; 32])
    }

    #[test]
    fn a_key_that_is_known_leads_to_its_member() {
        let mut members = MemberChangeSet::from_stored(vec![(key(1), 10), (key(2), 10)]);
        members.update(&[key(2), key(3)], TIMES, 50);
        members.update(&[key(4)], TIMES, 51);
        members.update(&[key(4), key(5)], TIMES, 52);
        let changes = members.to_changes();
        assert_eq!(changes.renewed, [(10, TIMES.0, TIMES.1)]);
        assert_eq!(changes.added, [(51, TIMES.0, TIMES.1)]);
        assert_eq!(changes.keys, [(key(3), 10), (key(4), 51), (key(5), 51)]);
        assert!(changes.merged.is_empty() && changes.removed.is_empty());
    }

    #[test]
    fn members_that_share_a_new_member_s_keys_become_one() {
        let mut members = MemberChangeSet::from_stored(vec![(key(1), 10), (key(2), 20)]);
        members.update(&[key(3)], TIMES, 50);
        members.update(&[key(1), key(2), key(3)], TIMES, 51);
        let changes = members.to_changes();
        assert_eq!(changes.merged, [(20, 10)]);
        assert_eq!(changes.renewed, [(10, TIMES.0, TIMES.1)]);
        assert_eq!(changes.keys, [(key(3), 10)]);
        assert!(changes.added.is_empty());
        // After merging, one key removes both.
        members.delete(&[key(2)]);
        let changes = members.to_changes();
        assert_eq!(changes.removed, [10, 20]);
        assert!(changes.merged.is_empty() && changes.keys.is_empty());
    }

    #[test]
    fn who_was_taken_away_comes_back_as_somebody_new() {
        let mut members = MemberChangeSet::from_stored(vec![(key(1), 10), (key(2), 10)]);
        members.delete(&[key(1), key(9)]);
        members.update(&[key(2)], TIMES, 50);
        let changes = members.to_changes();
        assert_eq!(changes.removed, [10]);
        assert_eq!(changes.added, [(50, TIMES.0, TIMES.1)]);
        assert_eq!(changes.keys, [(key(2), 50)]);
        members.delete(&[key(2)]);
        let changes = members.to_changes();
        assert!(changes.added.is_empty() && changes.keys.is_empty());
    }
}
