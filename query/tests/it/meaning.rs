//! What each operator finds.

use query::{Dialect, Facts, Joint, Level, Product, Reading, matches, parse};

use crate::world::{BOTH, posts};

fn found(product: Product, text: &str) -> Vec<i64> {
    let query = parse(text, Dialect::new(product, Level::Enterprise))
        .unwrap_or_else(|problems| panic!("{text}: {problems}"));
    posts()
        .iter()
        .filter(|post| matches(&query, &Facts::new(post, query.reading())))
        .map(|post| post.id)
        .collect()
}

#[test]
fn search_and_streams_find_the_same() {
    for (text, ids) in BOTH {
        assert_eq!(found(Product::RecentSearch, text), ids, "search: {text}");
        assert_eq!(found(Product::Stream, text), ids, "stream: {text}");
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
        assert_eq!(found(Product::RecentSearch, text), ids, "{text}");
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
        assert_eq!(found(Product::Stream, text), ids, "{text}");
    }
    assert_eq!(
        found(Product::Powerstream, "contains:\"offe\" -has:lang"),
        [0; 0]
    );
    assert_eq!(
        found(Product::Powerstream, "contains:ced from:ana has:symbols"),
        [5]
    );
}

#[test]
fn a_share_is_stable_and_grows() {
    let dialect = Dialect::new(Product::Stream, Level::SelfServe);
    let rules: Vec<_> = [1, 10, 50]
        .iter()
        .map(|share| parse(&format!("tea sample:{share}"), dialect).unwrap())
        .collect();
    let mut counts = [0; 3];
    for id in 0..10_000 {
        let post = query::Post {
            id: 1 << 22 | id << 40,
            text: "tea",
            ..query::Post::default()
        };
        let facts = Facts::new(&post, Reading::Stream);
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
    let post = query::Post {
        text: "tea",
        ..query::Post::default()
    };
    let query = parse("tea", Dialect::new(Product::Stream, Level::SelfServe)).unwrap();
    assert!(matches(&query, &Facts::new(&post, Reading::Stream)));
    assert!(!matches(&query, &Facts::new(&post, Reading::Search)));
}

#[test]
fn an_explanation_says_which_parts_a_post_meets() {
    let text = "(tea OR coffee) -iced from:bob_b";
    let query = parse(text, Dialect::new(Product::RecentSearch, Level::SelfServe)).unwrap();
    let posts = posts();
    let of = |id: i64| posts.iter().find(|post| post.id == id).unwrap();
    for post in &posts {
        let facts = Facts::new(post, query.reading());
        let said = query.explained(Some(&facts));
        assert_eq!(said.holds, Some(matches(&query, &facts)), "{}", post.id);
    }
    let said = query.explained(Some(&Facts::new(of(5), query.reading())));
    let parts: Vec<_> = said
        .parts
        .iter()
        .map(|part| (part.text.as_str(), part.at, part.holds))
        .collect();
    assert_eq!(
        parts,
        [
            ("tea OR coffee", 2, Some(true)),
            ("-iced", 17, Some(false)),
            ("from:bob_b", 23, Some(false)),
        ]
    );
    assert_eq!((said.joint, said.parts[0].joint), (Joint::All, Joint::Any));
    assert_eq!(said.parts[2].about, "the author");
    assert_eq!(query.explained(None).parts[0].parts[1].holds, None);
    let other = Facts::new(of(5), Reading::Stream);
    assert_eq!(query.explained(Some(&other)).holds, None);
}
