//! The table of operators, as the contract has it: names, class, where, and what each refuses.

use query::{AccessTier, OPERATORS, OperatorClass, QueryDialect, QueryProduct, parse};

use OperatorClass::{Conjunction, Standalone};

/// Where operators are known.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Where {
    /// Search and counts, of both spans.
    Search,
    /// Recent search and counts, and the filtered stream.
    Recent,
    /// Search, counts and the filtered stream.
    Both,
    /// Those and the powerstream.
    Most,
    /// Everywhere.
    All,
    /// The filtered stream.
    Stream,
    /// The filtered stream and the powerstream.
    Streams,
    /// The powerstream.
    Power,
}

impl Where {
    fn knows(self, product: QueryProduct) -> bool {
        let recent = matches!(product, QueryProduct::RecentSearch | QueryProduct::RecentCounts);
        let (stream, power) = (product == QueryProduct::Stream, product == QueryProduct::Powerstream);
        match self {
            Self::Search => product.is_search(),
            Self::Recent => recent || stream,
            Self::Both => product.is_search() || stream,
            Self::Most => product.is_search() || stream || power,
            Self::All => true,
            Self::Stream => stream,
            Self::Streams => stream || power,
            Self::Power => power,
        }
    }
}

/// A term under each of its names, its class, and where it is known.
const TERMS: [(&[&str], OperatorClass, Where); 54] = [
    (&["cat"], Standalone, Where::All),
    (&["\"two cats\""], Standalone, Where::All),
    (&["#cat"], Standalone, Where::All),
    (&["@ana"], Standalone, Where::All),
    (&["$cat"], Standalone, Where::All),
    (&["from:ana", "from:12"], Standalone, Where::Most),
    (&["to:ana"], Standalone, Where::Most),
    (&["retweets_of:ana", "retweets_of_user:ana"], Standalone, Where::Most),
    (&["url:a.example"], Standalone, Where::Both),
    (&["context:1.2", "context:1.*", "context:*.2"], Standalone, Where::Both),
    (&["entity:\"A B\""], Standalone, Where::Recent),
    (&["conversation_id:1"], Standalone, Where::Both),
    (&["in_reply_to_tweet_id:1", "in_reply_to_status_id:1"], Standalone, Where::Most),
    (&["retweets_of_tweet_id:1", "retweets_of_status_id:1"], Standalone, Where::Most),
    (&["quotes_of_tweet_id:1", "quotes_of_status_id:1"], Standalone, Where::Search),
    (&["list:1"], Standalone, Where::Search),
    (&["place:london"], Standalone, Where::Most),
    (&["place_country:GB"], Standalone, Where::Both),
    (&["point_radius:[1 2 3km]"], Standalone, Where::Most),
    (&["bounding_box:[1 2 1.1 2.1]", "geo_bounding_box:[1 2 1.1 2.1]"], Standalone, Where::Most),
    (&["min_likes:0"], Standalone, Where::Search),
    (&["min_replies:1"], Standalone, Where::Search),
    (&["min_reposts:1"], Standalone, Where::Search),
    (&["is:retweet"], Conjunction, Where::Most),
    (&["is:reply"], Conjunction, Where::Most),
    (&["is:quote"], Conjunction, Where::Both),
    (&["is:verified"], Conjunction, Where::Both),
    (&["-is:nullcast"], Conjunction, Where::Both),
    (&["has:hashtags"], Conjunction, Where::Both),
    (&["has:cashtags"], Conjunction, Where::Both),
    (&["has:symbols"], Conjunction, Where::Power),
    (&["has:links"], Conjunction, Where::Most),
    (&["has:mentions"], Conjunction, Where::Most),
    (&["has:media", "has:media_link"], Conjunction, Where::Most),
    (&["has:images"], Conjunction, Where::Most),
    (&["has:video_link", "has:videos"], Conjunction, Where::Most),
    (&["has:geo"], Conjunction, Where::Most),
    (&["has:lang"], Conjunction, Where::Power),
    (&["lang:en", "lang:zh-CN", "lang:he"], Conjunction, Where::Most),
    (&["sample:1"], Conjunction, Where::Stream),
    (&["bio:cat", "user_bio:cat"], Standalone, Where::Streams),
    (&["bio_name:cat"], Standalone, Where::Streams),
    (&["bio_location:cat", "user_bio_location:cat"], Standalone, Where::Stream),
    (&["from_affiliate_of:ana"], Standalone, Where::Stream),
    (&["to_affiliate_of:ana"], Standalone, Where::Stream),
    (&["url_title:cat", "within_url_title:cat"], Conjunction, Where::Stream),
    (&["url_description:cat", "within_url_description:cat"], Conjunction, Where::Stream),
    (&["url_contains:cat"], Conjunction, Where::Streams),
    (&["contains:cat"], Standalone, Where::Power),
    (&["source:web"], Conjunction, Where::Stream),
    (&["followers_count:1", "min_followers:1", "followers_count:1..2"], Conjunction, Where::Stream),
    (&["tweets_count:1", "statuses_count:1"], Conjunction, Where::Stream),
    (&["following_count:1", "friends_count:1"], Conjunction, Where::Stream),
    (&["listed_count:1", "user_in_lists_count:1"], Conjunction, Where::Stream),
];

const LEVELS: [AccessTier; 2] = [AccessTier::SelfServe, AccessTier::Enterprise];

fn details(text: &str, dialect: QueryDialect) -> Vec<String> {
    parse(text, dialect).map_or_else(|problems| problems.details(), |_| Vec::new())
}

/// The name that a refusal says for a term, and in which words.
fn unknown(term: &str, at: usize) -> String {
    // The minus is no part of the token.
    let (term, at) = term.strip_prefix('-').map_or((term, at), |term| (term, at + 1));
    let (name, value) = term.split_once(':').unwrap_or((term, ""));
    if matches!(name, "is" | "has") {
        return format!("Reference to invalid field '{value}' (at position {at})");
    }
    format!(
        "Reference to invalid operator '{name}'. Operator is not available in current product or \
         product packaging. Please refer to complete available operator list at \
         https://developer.twitter.com/en/docs/twitter-api/tweets/search/integrate/operators. \
         (at position {at})"
    )
}

#[test]
fn operators_have_the_class_and_the_places_of_the_contract() {
    for (names, class, place) in TERMS {
        for (term, product, level) in names
            .iter()
            .flat_map(|term| QueryProduct::ALL.map(|product| (term, product)))
            .flat_map(|(term, product)| LEVELS.map(|level| (term, product, level)))
        {
            let dialect = QueryDialect::new(product, level);
            let beside = details(&format!("dog {term}"), dialect);
            let alone = details(term, dialect);
            let what = format!("{term} {product:?} {level:?}");
            if !place.knows(product) {
                assert_eq!(beside, [unknown(term, 5)], "{what}");
                assert_eq!(alone.first(), Some(&unknown(term, 1)), "{what}");
                continue;
            }
            assert_eq!(beside, [""; 0], "{what}");
            if class == Standalone {
                assert_eq!(alone, [""; 0], "{what}");
            } else {
                let nothing = if term.starts_with('-') {
                    "Rules must contain a non-negation term (at position 1)"
                } else {
                    "Rules must contain at least one positive, non-stopword clause (at position 1)"
                };
                assert_eq!(alone, [nothing], "{what}");
            }
        }
    }
}

#[test]
fn every_operator_stands_in_the_contract() {
    let said: Vec<&str> = TERMS.iter().flat_map(|(names, ..)| *names).copied().collect();
    for operator in &OPERATORS {
        for name in operator.names {
            let held = said.iter().any(|term| {
                let term = term.trim_start_matches('-');
                match *name {
                    "keyword" => term == "cat",
                    "\"" | "#" | "@" | "$" => term.starts_with(name),
                    field if field.contains(':') => term == field,
                    field => term.split_once(':').is_some_and(|(said, _)| said == field),
                }
            });
            assert_eq!(held, !name.starts_with("embedding"), "{name}");
        }
    }
}

#[test]
fn negation_is_refused_where_it_means_nothing() {
    for (names, _, place) in TERMS {
        for term in names {
            let denied = term.strip_prefix('-').map_or_else(|| format!("-{term}"), str::to_owned);
            for product in QueryProduct::ALL.into_iter().filter(|product| place.knows(*product)) {
                let answer = details(&format!("dog {denied}"), QueryDialect::new(product, LEVELS[1]));
                let refused = match *term {
                    "sample:1" => Some("Operator 'sample' cannot be negated (at position 6)"),
                    "-is:nullcast" => Some("Reference to invalid field 'nullcast' (at position 5)"),
                    _ => None,
                };
                assert_eq!(answer, Vec::from_iter(refused), "{denied} {product:?}");
            }
        }
    }
}
