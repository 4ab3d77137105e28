//! What those who saw something told of themselves, where the network that showed it says nothing.

use std::collections::HashMap;

use base::Fault;
use network::private_profiles::age_at;
use store::ledger::ViewerTraits;
use store::{Tx, private_profiles};

use super::{Event, distinct};
use crate::analytics::bucket_of;

/// Birth dates and genders, by user.
pub(super) struct Told(HashMap<i64, (String, i64)>);

impl Told {
    /// What is told of those whom events are about and of whom something is missing.
    pub(super) fn of(tx: &mut Tx<'_>, events: &[Event]) -> Result<Self, Fault> {
        let lacks = |looks: &ViewerTraits| looks.age.is_none() || looks.gender.is_none();
        let events = events.iter();
        let viewers = events.filter(|event| event.viewer > 0 && lacks(&event.looks));
        let viewers = distinct(viewers.map(|event| event.viewer));
        let told = private_profiles::list_demographics(tx, &viewers)?;
        let told = told.into_iter();
        Ok(Self(
            told.map(|(user, born_on, gender)| (user, (born_on, gender)))
                .collect(),
        ))
    }

    /// What is known of an event's viewer at its time.
    pub(super) fn looks(&self, event: &Event) -> ViewerTraits {
        let mut looks = event.looks.clone();
        if let Some((born_on, gender)) = self.0.get(&event.viewer) {
            let age = age_at(born_on, event.at).and_then(bucket_of);
            looks.age = looks.age.or(age);
            looks.gender = looks.gender.or((*gender > 0).then_some(*gender));
        }
        looks
    }
}
