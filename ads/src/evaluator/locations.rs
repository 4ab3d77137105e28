//! Where users say that they are.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use base::Fault;
use roaring::RoaringBitmap;
use store::Tx;
use store::ads::viewers;
use store::places::{self, Place};

use super::Evaluator;
use super::built::{AT_ONCE, LONG_MS};
use super::kept::{Group, Grouped};
use crate::gazetteer::{gazetteer, name_key};

/// Places that are read at once.
const PLACES: i64 = 10_000;
/// How long a group holds during whose making somebody moved.
const SHORT_MS: i64 = 10_000;

/// The places that an operator or an import added, by their names.
struct Added {
    names: HashMap<u64, Vec<Place>>,
}

fn add(names: &mut HashMap<u64, Vec<Place>>, place: Place) {
    if !matches!(place.kind.as_str(), "city" | "admin" | "country") {
        return;
    }
    let (short, full) = (name_key(&place.name), name_key(&place.full_name));
    if full != short {
        names.entry(full).or_default().push(place.clone());
    }
    names.entry(short).or_default().push(place);
}

impl Added {
    fn read(tx: &mut Tx<'_>) -> Result<Self, Fault> {
        let mut names: HashMap<u64, Vec<Place>> = HashMap::new();
        let mut last = i64::MIN;
        loop {
            let some = places::list(tx, last, PLACES)?;
            let more = i64::try_from(some.len()).unwrap_or(0) == PLACES;
            for place in some {
                last = place.id;
                add(&mut names, place);
            }
            if !more {
                return Ok(Self { names });
            }
        }
    }

    /// The ids of the places that a text means, with those that they lie in.
    fn ids(&self, text: &str) -> Vec<String> {
        let meant = gazetteer().places(text);
        let country = meant.first().map(|spot| spot.country);
        let mut ids: Vec<String> = meant.iter().map(|spot| spot.id.clone()).collect();
        let names = meant.iter().map(|spot| name_key(spot.name));
        let first = text.split(',').next().map(name_key);
        let mut names: Vec<u64> = names.chain(first).chain([name_key(text)]).collect();
        names.sort_unstable();
        names.dedup();
        for place in names
            .iter()
            .filter_map(|name| self.names.get(name))
            .flatten()
        {
            let code = Some(place.country_code.as_str()).filter(|code| !code.is_empty());
            // A town of the same name in another country is another town.
            if country.is_some() && code.is_some() && country != code {
                continue;
            }
            ids.push(network::places::format_place_id(place.id));
            let within = place.contained_within.split(',');
            ids.extend(within.filter(|id| !id.is_empty()).map(str::to_owned));
            let inside = code.and_then(|code| gazetteer().country(code));
            ids.extend(inside.map(|spot| spot.id.clone()));
        }
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

/// Adds a user to the set of a place.
fn join(by: &mut BTreeMap<String, RoaringBitmap>, id: &str, user: u32) {
    if let Some(users) = by.get_mut(id) {
        users.insert(user);
    } else {
        by.insert(id.to_owned(), RoaringBitmap::from_iter([user]));
    }
}

impl Evaluator {
    /// Finds out where everybody is.
    pub(super) fn locate(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let begun = self.kept.lock().place();
        let added = Added::read(tx)?;
        let mut by: BTreeMap<String, RoaringBitmap> = BTreeMap::new();
        // The same few texts again and again.
        let mut meant: HashMap<String, Vec<String>> = HashMap::new();
        let mut last = 0;
        loop {
            let some = viewers::list_locations(tx, last, AT_ONCE)?;
            let more = i64::try_from(some.len()).unwrap_or(0) == AT_ONCE;
            let mut kept = self.kept.lock();
            for (user, text) in some {
                last = user;
                let ids = meant.entry(text).or_insert_with_key(|text| added.ids(text));
                let number = kept.numbers.of(user);
                for id in ids {
                    join(&mut by, id, number);
                }
            }
            drop(kept);
            if !more {
                break;
            }
        }
        self.keep_group(tx, Group::Location, by, begun);
        Ok(())
    }

    /// Finds out where some users are now.
    pub(super) fn relocate(&self, tx: &mut Tx<'_>, users: &[i64]) -> Result<(), Fault> {
        if !self.kept.lock().groups.contains_key(&Group::Location) {
            return Ok(());
        }
        let added = Added::read(tx)?;
        let texts: HashMap<i64, String> = viewers::user_locations(tx, users)?.into_iter().collect();
        let mut kept = self.kept.lock();
        for user in users {
            let ids = texts.get(user).map(|text| added.ids(text));
            kept.regroup(Group::Location, *user, &ids.unwrap_or_default());
        }
        Ok(())
    }

    /// Keeps a group that was made from what was there at a place of the log or later.
    pub(super) fn keep_group(
        &self,
        tx: &Tx<'_>,
        group: Group,
        by: BTreeMap<String, RoaringBitmap>,
        begun: i64,
    ) {
        let by = by
            .into_iter()
            .map(|(value, users)| (value, Arc::new(users)));
        let by = by.collect();
        let mut kept = self.kept.lock();
        let lasts = if kept.place() == begun {
            LONG_MS
        } else {
            SHORT_MS
        };
        let until = tx.now().plus_ms(lasts);
        kept.groups.insert(group, Grouped { by, until });
    }
}
