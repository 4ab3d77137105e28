//! Age and gender of viewers from their profiles, where the reporting network sent none.

use std::collections::HashMap;

use base::{Fault, sorted_distinct};
use network::private_profiles::age_at;
use store::ledger::ViewerTraits;
use store::{Tx, private_profiles};

use super::LedgerEvent;
use crate::analytics::age_bucket;

/// Birth date and gender by user id.
#[derive(Default)]
pub(crate) struct ViewerProfiles(HashMap<i64, (String, i64)>);

impl ViewerProfiles {
    /// Loads the profiles of viewers for whom the events lack a trait.
    pub(super) fn load(tx: &mut Tx<'_>, events: &[LedgerEvent]) -> Result<Self, Fault> {
        let lacks = |traits: &ViewerTraits| traits.age.is_none() || traits.gender.is_none();
        let events = events.iter();
        let viewers = events.filter(|event| event.viewer > 0 && lacks(&event.viewer_traits));
        let viewers = sorted_distinct(viewers.map(|event| event.viewer));
        let profiles = private_profiles::list_demographics(tx, &viewers)?;
        let profiles = profiles.into_iter();
        Ok(Self(profiles.map(|(user, born_on, gender)| (user, (born_on, gender))).collect()))
    }

    pub(super) fn viewer_traits(&self, event: &LedgerEvent) -> ViewerTraits {
        let mut traits = event.viewer_traits.clone();
        if let Some((born_on, gender)) = self.0.get(&event.viewer) {
            let age = age_at(born_on, event.at).and_then(age_bucket);
            traits.age = traits.age.or(age);
            traits.gender = traits.gender.or((*gender > 0).then_some(*gender));
        }
        traits
    }
}
