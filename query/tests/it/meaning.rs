//! What each operator finds.

use query::{AccessTier, ClauseKind, MatchMode, PostFeatures, QueryDialect, QueryProduct, matches, parse};

use crate::world::{BOTH, posts};

fn found(product: QueryProduct, text: &str) -> Vec<i64> {
    let query = parse(text, QueryDialect::new(product, AccessTier::Enterprise))
        .unwrap_or_else(|problems| panic!("{text}: {problems}"));
    posts()
        .iter()
        .filter(|post| matches(&query, &PostFeatures::new(post, query.match_mode())))
        .map(|post| post.id)
        .collect()
}

#[test]
fn search_and_streams_find_the_same() {
    for (text, ids) in BOTH {
        assert_eq!(found(QueryProduct::RecentSearch, text), ids, "search: {text}");
        assert_eq!(found(QueryProduct::Stream, text), ids, "stream: {text}");
    }
}

#[test]
fn search_reads_the_post_alone_and_folds_accents() {
    for (text, ids) in [
        ("café", &[1, 6, 9][..]),
        ("cafe", &[1, 6, 9]),
        ("acao", &[17]),
        ("read", &[4]),
        ("url:example.com", &[4]),
        ("url:\"https://news.example.com/2026\"", &[4]),
        ("example", &[]),
        ("min_likes:12 min_reposts:3", &[18]),
        ("min_replies:3", &[2, 18]),
        ("list:77 boulder", &[12]),
        ("quotes_of_tweet_id:4", &[10]),
        ("quotes_of_status_id:4 is:quote", &[10]),
        ("from:ana has:links", &[12]),
        ("from:bob_b has:links -has:media", &[4]),
        ("from:bob_b has:media -has:images -has:video_link", &[16]),
        ("from:bob_b has:geo", &[11]),
        ("from:bob_b has:mentions", &[3]),
        ("from:ana has:cashtags", &[5]),
    ] {
        assert_eq!(found(QueryProduct::RecentSearch, text), ids, "{text}");
    }
}

#[test]
fn streams_read_the_quoted_post_too_and_keep_accents() {
    for (text, ids) in [
        ("café", &[1, 9][..]),
        ("cafe", &[6]),
        ("read", &[4, 10]),
        ("url:example.com", &[4, 10]),
        ("from:ana has:links", &[10, 12]),
        ("\"tea coffee\"~3", &[3, 18]),
        ("\"tea coffee\"~2", &[3]),
        ("\"great great\"~3", &[18]),
        ("bio:roaster from:ana boulder", &[12]),
        ("user_bio:café tea", &[18]),
        ("bio_name:\"ana lima\" tea", &[18]),
        ("user_bio_location:recife tea", &[18]),
        ("from_affiliate_of:acmecorp boulder", &[12]),
        ("to_affiliate_of:900", &[3]),
        ("read url_title:\"solar power\"", &[4, 10]),
        ("read within_url_description:record", &[4, 10]),
        ("read url_contains:\"/solar-\"", &[4, 10]),
        ("tea source:\"locum web\"", &[3, 18]),
        ("coffee followers_count:1000..20000 -great", &[5, 14]),
        ("coffee min_followers:12001", &[]),
        ("tea statuses_count:20 listed_count:0..3", &[3]),
        ("coffee sample:100", &[1, 2, 3, 5, 9, 14, 15, 18]),
    ] {
        assert_eq!(found(QueryProduct::Stream, text), ids, "{text}");
    }
    assert_eq!(found(QueryProduct::Powerstream, "contains:\"offe\" -has:lang"), [0; 0]);
    assert_eq!(found(QueryProduct::Powerstream, "contains:ced from:ana has:symbols"), [5]);
}

#[test]
fn a_share_is_stable_and_grows() {
    let dialect = QueryDialect::new(QueryProduct::Stream, AccessTier::SelfServe);
    let rules: Vec<_> =
        [1, 10, 50].iter().map(|share| parse(&format!("tea sample:{share}"), dialect).unwrap()).collect();
    let mut counts = [0; 3];
    for id in 0..10_000 {
        let post = query::QueryablePost { id: 1 << 22 | id << 40, text: "tea", ..query::QueryablePost::default() };
        let facts = PostFeatures::new(&post, MatchMode::Stream);
        let seen: Vec<bool> = rules.iter().map(|rule| matches(rule, &facts)).collect();
        assert!(seen.is_sorted(), "a smaller share is part of a greater");
        for (count, seen) in counts.iter_mut().zip(seen) {
            *count += i32::from(seen);
        }
    }
    assert!((60..150).contains(&counts[0]), "{counts:?}");
    assert!((850..1_150).contains(&counts[1]), "{counts:?}");
    assert!((4_750..5_250).contains(&counts[2]), "{counts:?}");
}

#[test]
fn facts_of_another_reading_match_nothing() {
    let post = query::QueryablePost { text: "tea", ..query::QueryablePost::default() };
    let query = parse("tea", QueryDialect::new(QueryProduct::Stream, AccessTier::SelfServe)).unwrap();
    assert!(matches(&query, &PostFeatures::new(&post, MatchMode::Stream)));
    assert!(!matches(&query, &PostFeatures::new(&post, MatchMode::Search)));
}

#[test]
fn an_explanation_says_which_parts_a_post_meets() {
    let text = "(tea OR coffee) -iced from:bob_b";
    let query = parse(text, QueryDialect::new(QueryProduct::RecentSearch, AccessTier::SelfServe)).unwrap();
    let posts = posts();
    let of = |id: i64| posts.iter().find(|post| post.id == id).unwrap();
    for post in &posts {
        let facts = PostFeatures::new(post, query.match_mode());
        let said = query.explain(Some(&facts));
        assert_eq!(said.matches, Some(matches(&query, &facts)), "{}", post.id);
    }
    let said = query.explain(Some(&PostFeatures::new(of(5), query.match_mode())));
    let parts: Vec<_> = said.children.iter().map(|part| (part.text.as_str(), part.position, part.matches)).collect();
    assert_eq!(parts, [("tea OR coffee", 2, Some(true)), ("-iced", 17, Some(false)), ("from:bob_b", 23, Some(false)),]);
    assert_eq!((said.kind, said.children[0].kind), (ClauseKind::All, ClauseKind::Any));
    assert_eq!(said.children[2].description, "the author");
    assert_eq!(query.explain(None).children[0].children[1].matches, None);
    let other = PostFeatures::new(of(5), MatchMode::Stream);
    assert_eq!(query.explain(Some(&other)).matches, None);
}
