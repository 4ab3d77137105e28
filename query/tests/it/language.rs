//! Trees and their print.

use query::{AccessTier, OPERATORS, QueryDialect, QueryNode, QueryProduct, parse};

fn printed(text: &str) -> String {
    parse(text, QueryDialect::new(QueryProduct::Stream, AccessTier::Enterprise))
        .unwrap_or_else(|problems| panic!("{text}: {problems}"))
        .to_string()
}

#[test]
fn the_print_is_canonical() {
    for (text, canonical) in [
        ("  Apple   OR iphone  iPad ", "apple OR iphone ipad"),
        ("(ipad iphone) OR (android)", "ipad iphone OR android"),
        ("cat (dog (bird fish))", "cat dog bird fish"),
        ("cat OR (dog OR (bird OR fish))", "cat OR dog OR bird OR fish"),
        ("cat -(dog OR bird)", "cat -dog -bird"),
        ("cat -(dog bird -fish)", "cat (-dog OR -bird OR fish)"),
        ("cat -(dog -(bird OR fish))", "cat (-dog OR bird OR fish)"),
        ("FROM:Ana Cat", "from:ana cat"),
        ("cat has:videos IS:Reply", "cat has:video_link is:reply"),
        ("\"Say \\\"Hi\\\" now\"~3", "\"say \\\"hi\\\" now\"~3"),
        ("url:\"https://a.example/(x)\"", "url:\"https://a.example/(x)\""),
        ("url:\"a.example\"", "url:a.example"),
        ("cat lang:HE lang:zh-TW", "cat lang:iw lang:zh-tw"),
        ("point_radius:[ 1.50  -2 16KM]", "point_radius:[1.5 -2 16km]"),
        ("bounding_box:[-105.3 40.0 -105.2 40.1]", "bounding_box:[-105.3 40 -105.2 40.1]"),
        ("cat followers_count:5 friends_count:1..9", "cat followers_count:5 following_count:1..9"),
        ("context:46.* sample:20", "context:46.* sample:20"),
        ("E\u{301}cole #É @Ana $AbC", "école #é @ana $abc"),
    ] {
        assert_eq!(printed(text), canonical, "{text}");
        assert_eq!(printed(canonical), canonical);
    }
}

#[test]
fn positions_are_kept_in_the_tree() {
    let query = parse("é -dog OR  from:x", QueryDialect::new(QueryProduct::Stream, AccessTier::SelfServe)).unwrap();
    let QueryNode::Any(parts) = query.root() else { panic!("{query:?}") };
    let [QueryNode::All(left), QueryNode::Is(right)] = parts.as_slice() else { panic!("{query:?}") };
    let at: Vec<usize> = left
        .iter()
        .map(|node| match node {
            QueryNode::Is(term) | QueryNode::Not(term) => term.position,
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!((at.as_slice(), right.position), (&[1, 3][..], 12));
}

#[test]
fn every_operator_is_taken_under_each_of_its_names() {
    for operator in &OPERATORS {
        for name in operator.names {
            let value = match operator.name() {
                "keyword" => "word",
                "\"" => "two words\"",
                "lang" => "en",
                "context" => "1.2",
                "place_country" => "US",
                "point_radius" => "[1 2 3km]",
                "bounding_box" => "[1 2 1.1 2.1]",
                _ => "12",
            };
            let term = match *name {
                "keyword" => value.to_owned(),
                "\"" | "#" | "@" | "$" => format!("{name}{value}"),
                "is:nullcast" => String::from("-is:nullcast"),
                field if field.contains(':') => field.to_owned(),
                field => format!("{field}:{value}"),
            };
            let mut taken = 0;
            for product in QueryProduct::ALL {
                let dialect = QueryDialect::new(product, AccessTier::Enterprise);
                let parsed = parse(&format!("cat {term}"), dialect);
                assert_eq!(parsed.is_ok(), operator.is_available(dialect), "{term} {product:?} {parsed:?}");
                taken += usize::from(parsed.is_ok());
            }
            assert_eq!(taken == 0, operator.name().starts_with("embedding"), "{term}");
        }
    }
}
