//! Whoever is asked, the same posts are found: by the index, by the evaluator as it reads for search
//! and as it reads for streams, and by the matcher.
//!
//! Search folds accents and reads a post without what it quotes, streams do neither; so the posts and
//! queries of this comparison have no accents and quote nothing that is known. Everything else is in
//! them: also what the index only guesses and looks at post by post (places, counters).

use std::collections::BTreeSet;
use std::sync::Arc;

use query::{
    AccessTier, MatchMode, Matcher, ParsedQuery, PostFeatures, QueryDialect, QueryProduct, QueryablePost, matches,
    parse,
};
use search::protocol::{IndexAnswer, IndexQuestion};
use search::{IndexSnapshot, PostIndex, QueryPlan, SearchLookups, SearchWindow};

use crate::posts::{ATOMS, Dice, NARROW, PEOPLE, entry, known, post};
use crate::world;

/// A post as each of them reads it.
struct Read<'a> {
    post: &'a QueryablePost<'a>,
    search: PostFeatures<'a>,
    stream: PostFeatures<'a>,
}

fn read<'a>(posts: &'a [QueryablePost<'a>]) -> Vec<Read<'a>> {
    let read = |post: &'a QueryablePost<'a>| Read {
        post,
        search: PostFeatures::new(post, MatchMode::Search),
        stream: PostFeatures::new(post, MatchMode::Stream),
    };
    posts.iter().map(read).collect()
}

fn indexed(posts: &[QueryablePost<'_>]) -> (tempfile::TempDir, Arc<IndexSnapshot>) {
    let folder = tempfile::tempdir().unwrap();
    let index = PostIndex::open(folder.path()).unwrap();
    // In two segments.
    for half in posts.chunks(posts.len() / 2 + 1) {
        let entries: Vec<_> = half.iter().map(entry).collect();
        index.add_documents(&entries, true).unwrap();
        index.commit("").unwrap();
    }
    (folder, index.snapshot())
}

/// What a process without an index is told.
fn asked_as_text(snapshot: &IndexSnapshot, plan: &QueryPlan, limit: usize) -> IndexAnswer {
    let question = IndexQuestion::NewestHits { plan, window: SearchWindow::ALL, limit };
    let question = serde_json::to_vec(&question).unwrap();
    let question: IndexQuestion<QueryPlan> = serde_json::from_slice(&question).unwrap();
    let answer = serde_json::to_vec(&question.answer(snapshot).unwrap()).unwrap();
    serde_json::from_slice(&answer).unwrap()
}

/// What search answers: what the index finds, and where that is a guess, looked at one by one.
fn searched(snapshot: &IndexSnapshot, query: &ParsedQuery, known: &SearchLookups, read: &[Read<'_>]) -> BTreeSet<i64> {
    let plan = QueryPlan::new(query, known);
    let mut found = BTreeSet::new();
    let note = |hit: search::SearchHit| found.extend([hit.id]);
    snapshot.visit_hits(&plan, &SearchWindow::ALL, note).unwrap();
    let newest = snapshot.newest_hits(&plan, &SearchWindow::ALL, read.len()).unwrap();
    assert_eq!(asked_as_text(snapshot, &plan, read.len()), IndexAnswer::Hits(newest.clone()));
    if plan.is_exact() {
        assert!(newest.iter().map(|hit| hit.id).eq(found.iter().rev().copied()));
    } else {
        let of = |id: i64| read.iter().find(|one| one.post.id == id).unwrap();
        found.retain(|id| matches(query, &of(*id).search));
    }
    found
}

fn evaluated<'a>(
    query: &ParsedQuery,
    read: &'a [Read<'a>],
    facts: impl Fn(&'a Read<'a>) -> &'a PostFeatures<'a>,
) -> BTreeSet<i64> {
    let found = read.iter().filter(|one| matches(query, facts(one)));
    found.map(|one| one.post.id).collect()
}

/// By rule, the posts for which the matcher names it.
fn matched(rules: &[ParsedQuery], read: &[Read<'_>]) -> Vec<BTreeSet<i64>> {
    let mut matcher = Matcher::new();
    for (rule, number) in rules.iter().zip(0..) {
        matcher.add_rule(number, rule);
    }
    let mut found = vec![BTreeSet::new(); rules.len()];
    for one in read {
        for number in matcher.matching_rules(&one.stream) {
            found[usize::try_from(number).unwrap()].insert(one.post.id);
        }
    }
    found
}

fn parsed(product: QueryProduct, text: &str) -> Option<ParsedQuery> {
    parse(text, QueryDialect::new(product, AccessTier::Enterprise)).ok()
}

#[test]
fn sixty_queries_find_the_same_posts_whoever_is_asked() {
    let posts = world::posts();
    let read = read(&posts);
    let (_folder, snapshot) = indexed(&posts);
    let people = [(100, "Ana"), (200, "bob_b"), (12_345, "digits")];
    let table = world::BOTH;
    let rules: Vec<ParsedQuery> = table.iter().map(|(text, _)| parsed(QueryProduct::Stream, text).unwrap()).collect();
    let matched = matched(&rules, &read);
    for (((text, ids), rule), matched) in table.iter().zip(&rules).zip(&matched) {
        let expected: BTreeSet<i64> = ids.iter().copied().collect();
        let query = parsed(QueryProduct::RecentSearch, text).unwrap();
        let known = known(&query, &people);
        let searched = searched(&snapshot, &query, &known, &read);
        assert_eq!(searched, expected, "the index: {text}");
        let by_search = evaluated(&query, &read, |one| &one.search);
        assert_eq!(by_search, expected, "the evaluator, for search: {text}");
        let by_stream = evaluated(rule, &read, |one| &one.stream);
        assert_eq!(by_stream, expected, "the evaluator, for streams: {text}");
        assert_eq!(*matched, expected, "the matcher: {text}");
    }
}

/// Nothing that one reading folds and the other keeps.
fn plain(text: &str) -> bool {
    let folded = |letter: char| "éïüßÉ\u{301}".contains(letter);
    !text.contains(folded)
}

/// A query by chance, without accents.
fn query(dice: &mut Dice) -> String {
    loop {
        let mut parts = Vec::new();
        for _ in 0..=dice.below(3) {
            let minus = if dice.one_in(4) { "-" } else { "" };
            let part = match dice.below(6) {
                0 => dice.of(&NARROW).to_owned(),
                1 => format!("({} OR {})", dice.of(&ATOMS), dice.of(&ATOMS)),
                2 => format!("({} {})", dice.of(&ATOMS), dice.of(&NARROW)),
                _ => dice.of(&ATOMS).to_owned(),
            };
            parts.push(format!("{minus}{part}"));
        }
        let text = parts.join(if dice.one_in(5) { " OR " } else { " " });
        if plain(&text) {
            return text;
        }
    }
}

fn without_accents(dice: &mut Dice, id: i64) -> QueryablePost<'static> {
    loop {
        let post = post(dice, id);
        if plain(post.text) && post.hashtags.iter().all(|tag| plain(tag)) {
            return post;
        }
    }
}

/// How many pairs there are to be at least; more are looked at when it is asked for.
fn pairs() -> usize {
    let asked = std::env::var("LOCUM_PAIRS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(1_000_000)
}

#[test]
fn a_million_pairs_by_chance_are_judged_alike_by_the_index_the_evaluator_and_the_matcher() {
    const QUERIES: usize = 1_000;
    let count = pairs() / QUERIES + 1;
    let mut dice = Dice(0x0add_1e5e);
    let ids = 1..=i64::try_from(count).unwrap();
    let posts: Vec<QueryablePost<'static>> = ids.map(|id| without_accents(&mut dice, id)).collect();
    let read = read(&posts);
    let (_folder, snapshot) = indexed(&posts);
    let (mut texts, mut rules, mut only_search) = (Vec::new(), Vec::new(), 0);
    let (mut judged, mut found) = (0, 0);
    while rules.len() < QUERIES {
        let text = query(&mut dice);
        let Some(query) = parsed(QueryProduct::RecentSearch, &text) else {
            continue;
        };
        let known = known(&query, &PEOPLE);
        let searched = searched(&snapshot, &query, &known, &read);
        let expected = evaluated(&query, &read, |one| &one.search);
        assert_eq!(searched, expected, "the index: {text}");
        // Counters of posts and lists are of search alone.
        let Some(rule) = parsed(QueryProduct::Stream, &text) else {
            only_search += 1;
            continue;
        };
        let by_stream = evaluated(&rule, &read, |one| &one.stream);
        assert_eq!(by_stream, expected, "the evaluator, for streams: {text}");
        judged += read.len();
        found += expected.len();
        texts.push((text, expected));
        rules.push(rule);
    }
    for ((text, expected), matched) in texts.iter().zip(matched(&rules, &read)) {
        assert_eq!(matched, *expected, "the matcher: {text}");
    }
    assert!(judged >= pairs(), "{judged} pairs");
    assert!(found > judged / 200 && only_search > 50, "{found} found, {only_search} of search alone");
}
