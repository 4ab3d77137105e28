//! Users by the location in their profile.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use ads::gazetteer::{gazetteer, name_key};
use base::{Fault, sorted_distinct};
use roaring::RoaringBitmap;
use store::Tx;
use store::ads::viewers;
use store::places::{self, Place};

use super::Evaluator;
use super::base_sets::{LONG_MS, USER_BATCH};
use super::set_cache::{GroupedUserSets, UserGroup};

const PLACES: i64 = 10_000;
/// How long a group is cached if a user moved while it was built.
const SHORT_MS: i64 = 10_000;

/// Places added by an operator or an import, by name.
struct AddedPlaces {
    names: HashMap<u64, Vec<Place>>,
}

fn index_place(names: &mut HashMap<u64, Vec<Place>>, location: Place) {
    if !matches!(location.kind.as_str(), "city" | "admin" | "country") {
        return;
    }
    let (short, full) = (name_key(&location.name), name_key(&location.full_name));
    if full != short {
        names.entry(full).or_default().push(location.clone());
    }
    names.entry(short).or_default().push(location);
}

impl AddedPlaces {
    fn load(tx: &mut Tx<'_>) -> Result<Self, Fault> {
        let mut names: HashMap<u64, Vec<Place>> = HashMap::new();
        let mut last = i64::MIN;
        loop {
            let some = places::list(tx, last, PLACES)?;
            let more = i64::try_from(some.len()).unwrap_or(0) == PLACES;
            for place in some {
                last = place.id;
                index_place(&mut names, place);
            }
            if !more {
                return Ok(Self { names });
            }
        }
    }

    /// The ids of the places a text names, and of those that contain them.
    fn resolve_place_ids(&self, text: &str) -> Vec<String> {
        let resolved = gazetteer().resolve_text(text);
        let country = resolved.first().map(|spot| spot.country);
        let mut ids: Vec<String> = resolved.iter().map(|spot| spot.id.clone()).collect();
        let names = resolved.iter().map(|spot| name_key(spot.name));
        let first = text.split(',').next().map(name_key);
        let names = sorted_distinct(names.chain(first).chain([name_key(text)]));
        for place in names.iter().filter_map(|name| self.names.get(name)).flatten() {
            let code = Some(place.country_code.as_str()).filter(|code| !code.is_empty());
            // A city of the same name in another country is a different city.
            if country.is_some() && code.is_some() && country != code {
                continue;
            }
            ids.push(network::places::format_place_id(place.id));
            let within = place.contained_within.split(',');
            ids.extend(within.filter(|id| !id.is_empty()).map(str::to_owned));
            let inside = code.and_then(|code| gazetteer().find_country(code));
            ids.extend(inside.map(|spot| spot.id.clone()));
        }
        sorted_distinct(ids)
    }
}

fn add_user_to_place(by: &mut BTreeMap<String, RoaringBitmap>, id: &str, user: u32) {
    if let Some(users) = by.get_mut(id) {
        users.insert(user);
    } else {
        by.insert(id.to_owned(), RoaringBitmap::from_iter([user]));
    }
}

impl Evaluator {
    pub(super) fn load_location_groups(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let offset = self.set_cache.lock().log_offset();
        let added = AddedPlaces::load(tx)?;
        let mut by: BTreeMap<String, RoaringBitmap> = BTreeMap::new();
        // The same few texts occur many times.
        let mut resolved: HashMap<String, Vec<String>> = HashMap::new();
        let mut last = 0;
        loop {
            let some = viewers::list_locations(tx, last, USER_BATCH)?;
            let more = i64::try_from(some.len()).unwrap_or(0) == USER_BATCH;
            let mut cache = self.set_cache.lock();
            for (user, text) in some {
                last = user;
                let ids = resolved.entry(text).or_insert_with_key(|text| added.resolve_place_ids(text));
                let number = cache.numbers.assign_number(user);
                for id in ids {
                    add_user_to_place(&mut by, id, number);
                }
            }
            drop(cache);
            if !more {
                break;
            }
        }
        self.store_group(tx, UserGroup::Location, by, offset);
        Ok(())
    }

    pub(super) fn refresh_user_locations(&self, tx: &mut Tx<'_>, users: &[i64]) -> Result<(), Fault> {
        if !self.set_cache.lock().groups.contains_key(&UserGroup::Location) {
            return Ok(());
        }
        let added = AddedPlaces::load(tx)?;
        let texts: HashMap<i64, String> = viewers::user_locations(tx, users)?.into_iter().collect();
        let mut cache = self.set_cache.lock();
        for user in users {
            let ids = texts.get(user).map(|text| added.resolve_place_ids(text));
            cache.set_user_groups(UserGroup::Location, *user, &ids.unwrap_or_default());
        }
        Ok(())
    }

    /// Stores a group that reflects the event log up to an offset or later.
    pub(super) fn store_group(&self, tx: &Tx<'_>, group: UserGroup, by: BTreeMap<String, RoaringBitmap>, offset: i64) {
        let by = by.into_iter().map(|(value, users)| (value, Arc::new(users)));
        let by = by.collect();
        let mut cache = self.set_cache.lock();
        let lasts = if cache.log_offset() == offset { LONG_MS } else { SHORT_MS };
        let until = tx.now().plus_ms(lasts);
        cache.groups.insert(group, GroupedUserSets { sets: by, expires_at: until });
    }
}
