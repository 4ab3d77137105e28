//! Figures by age and gender that would tell what single people did.

use std::collections::{BTreeMap, HashMap};

use base::Fault;
use store::Tx;
use store::ledger::{self, AdEntity, ReportFilter, ReportSegment};

/// Whether figures by a segment tell what viewers are, rather than where an ad was shown.
pub(super) const fn is_demographic(segment: ReportSegment) -> bool {
    matches!(segment, ReportSegment::Age | ReportSegment::Gender)
}

/// Removes the segments of each entity that fewer than `min_viewers` people are in. Further ones go with them, the smallest
/// first, until all that is removed has so many, or it would follow from the total. `entities_of` says which entities the
/// events of a line item and creative count for.
pub(super) fn withhold_small_segments<T>(
    tx: &mut Tx<'_>,
    (line_items, filter): (&[i64], &ReportFilter<'_>),
    min_viewers: i64,
    entities_of: impl Fn((i64, (AdEntity, i64))) -> Vec<i64>,
    series: &mut BTreeMap<i64, BTreeMap<String, T>>,
) -> Result<(), Fault> {
    let mut viewers: HashMap<(i64, String), HashMap<i64, i64>> = HashMap::new();
    // Larger segments need not be told apart exactly.
    let limit = min_viewers.saturating_mul(10);
    for seen in ledger::list_segment_viewers(tx, line_items, filter, limit)? {
        for entity in entities_of((seen.line_item_id, seen.creative)) {
            let own = viewers.entry((entity, seen.segment.clone())).or_default();
            let people = own.entry(seen.viewer).or_default();
            *people = seen.people.max(*people);
        }
    }
    for (entity, segments) in series {
        let size = |segment: &String| {
            let people = viewers.get(&(*entity, segment.clone())).map(HashMap::values);
            people.into_iter().flatten().fold(0_i64, |sum, people| sum.saturating_add(*people))
        };
        let mut sizes: Vec<(i64, String)> = segments.keys().map(|segment| (size(segment), segment.clone())).collect();
        sizes.sort_unstable();
        let mut withheld: Option<i64> = None;
        for (people, segment) in sizes {
            if people >= min_viewers && withheld.is_none_or(|sum| sum >= min_viewers) {
                break;
            }
            segments.remove(&segment);
            withheld = Some(withheld.unwrap_or(0).saturating_add(people));
        }
    }
    Ok(())
}
