//! Whatever the posts and whatever the query: the index finds what matches.

use std::collections::HashMap;
use std::sync::Arc;

use query::{
    AccessTier, MatchMode, ParsedQuery, PostFeatures, QueryDialect, QueryProduct, QueryablePost, matches, parse,
};
use search::{IndexSnapshot, PostIndex, QueryPlan, SearchWindow};

use crate::posts::{Dice, PEOPLE, START, STEP, entry, known, post, query};

fn window(dice: &mut Dice, posts: i64) -> SearchWindow {
    let some = |dice: &mut Dice| i64::try_from(dice.below(usize::try_from(posts).unwrap())).unwrap();
    if dice.one_in(2) {
        return SearchWindow::ALL;
    }
    SearchWindow {
        after_id: some(dice) / 2,
        before_id: posts - some(dice) / 2,
        since_ms: START + some(dice) / 3 * STEP,
        until_ms: START + posts * STEP - some(dice) / 3 * STEP,
    }
}

struct World {
    facts: HashMap<i64, PostFeatures<'static>>,
    snapshot: Arc<IndexSnapshot>,
}

impl World {
    fn matching(&self, query: &ParsedQuery, window: &SearchWindow) -> Vec<i64> {
        let mut found: Vec<i64> = self
            .facts
            .iter()
            .filter(|(id, _)| **id > window.after_id && **id < window.before_id)
            .filter(|(id, _)| (window.since_ms..window.until_ms).contains(&(START + *id * STEP)))
            .filter(|(_, facts)| matches(query, facts))
            .map(|(id, _)| *id)
            .collect();
        found.sort_unstable_by(|one, other| other.cmp(one));
        found
    }

    fn compare(&self, text: &str, query: &ParsedQuery, window: &SearchWindow, limit: usize) -> usize {
        let plan = QueryPlan::new(query, &known(query, &PEOPLE));
        let expected = self.matching(query, window);
        let mut every = Vec::new();
        self.snapshot.visit_hits(&plan, window, |hit| every.push(hit.id)).unwrap();
        // Counted by five hours, those of a part of the time only.
        let place = |at: i64| usize::try_from((at - START).div_euclid(300 * STEP) - 2).ok();
        let mut figures = [0_u64; 9];
        let spread = self.snapshot.count_by_time(&plan, window, place, &mut figures);
        spread.unwrap();
        let mut counted = [0_u64; 9];
        for id in &every {
            let figure = place(START + id * STEP);
            if let Some(figure) = figure.and_then(|place| counted.get_mut(place)) {
                *figure += 1;
            }
        }
        assert_eq!(figures, counted, "{text:?} {window:?}");
        let held = u64::try_from(every.len()).unwrap();
        let frequency = self.snapshot.count_hits(&plan, window).unwrap();
        assert_eq!(frequency, held, "{text:?} {window:?}");
        let (sampled, _) = self.snapshot.count_sample(&plan, window, u64::MAX).unwrap();
        assert_eq!(sampled, held, "{text:?} {window:?}");
        every.sort_unstable_by(|one, other| other.cmp(one));
        let newest = self.snapshot.newest_hits(&plan, window, limit).unwrap();
        let newest: Vec<i64> = newest.into_iter().map(|hit| hit.id).collect();
        assert_eq!(newest, every[..limit.min(every.len())], "{text:?} {window:?}");
        if !plan.is_exact() {
            every.retain(|id| matches(query, &self.facts[id]));
        }
        assert_eq!(every, expected, "{text:?} {window:?}");
        expected.len()
    }
}

const POSTS: i64 = 5_000;

#[test]
fn the_index_finds_what_the_evaluator_matches() {
    let folder = tempfile::tempdir().unwrap();
    let index = PostIndex::open(folder.path()).unwrap();
    let mut dice = Dice(0x5eed_cafe);
    let mut posts = HashMap::new();
    // In pieces and out of order, as edits, imports and mergers leave them.
    for piece in [2, 0, 3, 1] {
        for id in (1..=POSTS).filter(|id| id % 4 == piece) {
            posts.insert(id, post(&mut dice, id));
            index.add_documents(&[entry(&posts[&id])], true).unwrap();
        }
        index.commit("").unwrap();
    }
    for id in (1..=POSTS).filter(|id| id % 7 == 0) {
        posts.insert(id, post(&mut dice, id));
        index.add_documents(&[entry(&posts[&id])], false).unwrap();
    }
    let gone: Vec<i64> = (1..=POSTS).filter(|id| id % 11 == 0).collect();
    posts.retain(|id, _| id % 11 != 0);
    index.remove_posts(&gone).unwrap();
    index.commit("").unwrap();
    let snapshot = index.snapshot();
    assert_eq!(snapshot.len(), u64::try_from(posts.len()).unwrap());
    let facts = posts.into_iter().map(|(id, post)| {
        let post: &QueryablePost<'_> = Box::leak(Box::new(post));
        (id, PostFeatures::new(post, MatchMode::Search))
    });
    let world = World { facts: facts.collect(), snapshot };

    let (mut read, mut found) = (0, 0);
    for _ in 0..1_500 {
        let text = query(&mut dice);
        let dialect = QueryDialect::new(QueryProduct::RecentSearch, AccessTier::Enterprise);
        let Ok(query) = parse(&text, dialect) else {
            continue;
        };
        read += 1;
        let window = window(&mut dice, POSTS);
        let limit = 1 + dice.below(100);
        found += usize::from(world.compare(&text, &query, &window, limit) > 0);
    }
    assert!(read > 700 && found > 400, "{read} read, {found} found");
}
