//! What is refused, and in which words.

use query::{AccessTier, OPERATORS, QueryDialect, QueryError, QueryProduct, parse};

fn refused(product: QueryProduct, text: &str) -> Vec<String> {
    match parse(text, QueryDialect::new(product, AccessTier::SelfServe)) {
        Ok(query) => panic!("{text} is taken as {query}"),
        Err(problems) => problems.details(),
    }
}

fn operator(name: &str, at: usize) -> String {
    format!(
        "Reference to invalid operator '{name}'. Operator is not available in current product or \
         product packaging. Please refer to complete available operator list at \
         https://developer.twitter.com/en/docs/twitter-api/tweets/search/integrate/operators. \
         (at position {at})"
    )
}

const NOTHING: &str = "Rules must contain at least one positive, non-stopword clause";
const DENIES: &str = "Rules must contain a non-negation term";

#[test]
fn every_alternative_needs_something_positive_that_stands_alone() {
    for (text, what, at) in [
        ("the", NOTHING, 1),
        ("to OR the", NOTHING, 1),
        ("has:links", NOTHING, 1),
        ("lang:en is:retweet", NOTHING, 1),
        ("the has:links -cat", NOTHING, 1),
        ("\"!?\"", NOTHING, 1),
        ("-is:nullcast lang:en", NOTHING, 1),
        ("-cat", DENIES, 1),
        ("  -cat -dog", DENIES, 3),
        ("-cat OR -dog", DENIES, 1),
        ("-(cat OR dog)", DENIES, 3),
        ("apple OR -ipad", DENIES, 10),
        ("apple OR has:media", NOTHING, 10),
        ("apple OR (has:media (is:reply OR -x))", NOTHING, 11),
        ("cat OR -(a dog)", DENIES, 10),
    ] {
        let details = refused(QueryProduct::RecentSearch, text);
        assert_eq!(details[0], format!("{what} (at position {at})"), "{text}");
    }
    assert_eq!(refused(QueryProduct::Stream, "has:links OR is:retweet").len(), 2);
    for sound in ["\"x\" has:mentions (has:media OR has:links)", "the cat", "\"to be\""] {
        parse(sound, QueryDialect::new(QueryProduct::Stream, AccessTier::SelfServe)).unwrap();
    }
}

#[test]
fn operators_are_known_where_they_are() {
    let (search, stream) = (QueryProduct::RecentSearch, QueryProduct::Stream);
    for (product, text, detail) in [
        (search, "filter:media cat", operator("filter", 1)),
        (search, "cat min_faves:10", operator("min_faves", 5)),
        (search, "http://a.example", operator("http", 1)),
        (search, "cat bio:dog", operator("bio", 5)),
        (search, "\"a b\"~2", operator("~", 1)),
        (search, "cat keyword:x", operator("keyword", 5)),
        (stream, "cat list:7", operator("list", 5)),
        (stream, "cat min_likes:7", operator("min_likes", 5)),
        (stream, "embedding:\"spring\"", operator("embedding", 1)),
        (QueryProduct::FullArchive, "entity:\"x\"", operator("entity", 1)),
        (QueryProduct::Activity, "from:ana", operator("from", 1)),
        (QueryProduct::Powerstream, "cat context:1.2", operator("context", 5)),
        (search, "has:h cat", String::from("Reference to invalid field 'h' (at position 1)")),
        (search, "cat is:nullcast", String::from("Reference to invalid field 'nullcast' (at position 5)")),
        (search, "cat has:lang", String::from("Reference to invalid field 'lang' (at position 5)")),
        (stream, "cat -sample:5", String::from("Operator 'sample' cannot be negated (at position 6)")),
        (
            stream,
            "cat OR (dog sample:5)",
            String::from("Operator 'sample' applies to the whole rule: group the other clauses (at position 13)"),
        ),
    ] {
        assert_eq!(refused(product, text), [detail], "{text}");
    }
    let mut dialect = QueryDialect::new(search, AccessTier::SelfServe);
    assert!(parse("min_likes:5", dialect).is_ok());
    dialect.engagement_operators = false;
    assert_eq!(parse("min_likes:5", dialect).unwrap_err().details(), [operator("min_likes", 1)]);
}

#[test]
fn values_are_refused_where_they_stand() {
    for (name, value) in [
        ("from", "a,b"),
        ("from", "@ana"),
        ("lang", "xx"),
        ("lang", "english"),
        ("sample", "0"),
        ("sample", "101"),
        ("sample", "x"),
        ("context", "10"),
        ("context", "*.*"),
        ("conversation_id", "x"),
        ("conversation_id", "12345678901234567890"),
        ("place_country", "USA"),
        ("followers_count", "9..3"),
        ("followers_count", "-3"),
        ("point_radius", "[1 2 3]"),
        ("point_radius", "[1 2 26mi]"),
        ("point_radius", "[1 91 2mi]"),
        ("point_radius", "[1 2 0km]"),
        ("point_radius", "[1 nan 2mi]"),
        ("point_radius", "x"),
        ("bounding_box", "[1 2 3 4]"),
        ("bounding_box", "[1 2 1.1]"),
        ("url", "\"!\""),
    ] {
        let shown = value.trim_matches('"');
        assert_eq!(
            refused(QueryProduct::Stream, &format!("cat {name}:{value}")),
            [format!("Invalid value '{shown}' for operator '{name}' (at position 5)")],
        );
    }
    assert_eq!(
        refused(QueryProduct::Stream, "\"a b\"~7 filter:x"),
        [String::from("Invalid value '7' for operator '~' (at position 1)"), operator("filter", 9)],
    );
}

#[test]
fn syntax_ends_the_reading_where_it_is_broken() {
    let stuck = |found: &str, at| format!("no viable alternative at character '{found}' (at position {at})");
    for (text, detail) in [
        ("<cat", stuck("<", 1)),
        ("cat, dog", stuck(",", 4)),
        ("cat & dog", stuck("&", 5)),
        ("cat - dog", stuck(" ", 6)),
        ("cat -", stuck("<EOF>", 6)),
        ("--cat", stuck("-", 2)),
        ("OR cat", stuck("O", 1)),
        ("cat OR", stuck("<EOF>", 7)),
        ("cat OR OR dog", stuck("O", 8)),
        ("(cat OR) dog", stuck(")", 8)),
        ("()", stuck(")", 2)),
        ("cat(dog)", stuck("(", 4)),
        ("(cat)(dog)", stuck("(", 6)),
        ("cat\"dog\"", stuck("\"", 4)),
        ("#", stuck("#", 1)),
        ("from: ana", stuck(" ", 6)),
        ("cat lang:", stuck("<EOF>", 10)),
        ("cat)", String::from("missing EOF at ')' (at position 4)")),
        (")", String::from("missing EOF at ')' (at position 1)")),
        ("(cat", String::from("missing ')' at '<EOF>' (at position 5)")),
        ("cat \"dog", String::from("mismatched character '<EOF>' expecting '\"' (at position 9)")),
        ("point_radius:[1 2", String::from("mismatched character '<EOF>' expecting ']' (at position 18)")),
        (
            "cats AND dogs",
            String::from(
                "Ambiguous use of and as a keyword. Use a space to logically join two clauses, or \"and\" to find occurrences of and in text (at position 6)",
            ),
        ),
        (
            "cats or dogs",
            String::from(
                "Ambiguous use of or as a keyword. Use \"OR\" to logically join two clauses, or \"or\" to find occurrences of or in text (at position 6)",
            ),
        ),
    ] {
        assert_eq!(refused(QueryProduct::RecentSearch, text), [detail], "{text}");
    }
}

#[test]
fn messages_of_search_join_the_faults() {
    let say =
        |text: &str| parse(text, QueryDialect::new(QueryProduct::RecentSearch, AccessTier::SelfServe)).unwrap_err();
    assert_eq!(say("").to_string(), "Invalid 'query':''. 'query' must be a non-empty string");
    assert_eq!(say(" \n"), QueryError::Empty);
    assert_eq!(
        say("has:h is:i cat").to_string(),
        "There were errors processing your request: Reference to invalid field 'h' (at position 1), \
         Reference to invalid field 'i' (at position 7)"
    );
    assert_eq!(say(&"é".repeat(513)), QueryError::TooLong { length: 513, limit: 512 });
}

#[test]
fn lengths_and_numbers_are_those_of_the_product() {
    use AccessTier::{Enterprise, SelfServe};
    for (product, level, longest, rules) in [
        (QueryProduct::RecentSearch, SelfServe, 512, 1),
        (QueryProduct::RecentCounts, Enterprise, 4_096, 1),
        (QueryProduct::FullArchive, SelfServe, 1_024, 1),
        (QueryProduct::FullCounts, Enterprise, 4_096, 1),
        (QueryProduct::Stream, SelfServe, 1_024, 1_000),
        (QueryProduct::Stream, Enterprise, 2_048, 25_000),
        (QueryProduct::Powerstream, SelfServe, 2_048, 1_000),
        (QueryProduct::Activity, SelfServe, 150, 1_500),
    ] {
        let dialect = QueryDialect::new(product, level);
        assert_eq!((dialect.max_length(), dialect.max_rules()), (longest, rules), "{product:?}");
        assert!(parse(&"ab".repeat(longest / 2), dialect).is_ok());
        assert!(parse(&"ab".repeat(longest / 2 + 1), dialect).is_err());
    }
}

#[test]
fn no_two_operators_share_a_name() {
    let names: Vec<&str> = OPERATORS.iter().flat_map(|operator| operator.names).copied().collect();
    for (place, name) in names.iter().enumerate() {
        assert!(!names[..place].contains(name), "{name}");
    }
}
