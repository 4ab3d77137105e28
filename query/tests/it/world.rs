//! Twenty posts that tests ask about, and what finds them. The tests of the index ask the same.

use query::{
    ContextAnnotation, GeoArea, QueryableAuthor, QueryableLink, QueryablePerson, QueryablePlace, QueryablePost,
    UserHandle,
};

const fn handle(id: i64, username: &str) -> UserHandle<'_> {
    UserHandle { id, username }
}

const fn person<'a>(id: i64, username: &'a str, affiliations: &'a [UserHandle<'a>]) -> QueryablePerson<'a> {
    QueryablePerson { handle: handle(id, username), affiliations }
}

fn ana() -> QueryableAuthor<'static> {
    QueryableAuthor {
        person: person(100, "Ana", &[UserHandle { id: 900, username: "AcmeCorp" }]),
        name: "Ana Lima",
        bio: "Coffee roaster. Runs on café",
        location: "Recife, Brasil",
        verified: true,
        followers: 12_000,
        following: 300,
        posts: 4_500,
        listed: 40,
        lists: &[77],
    }
}

fn bob() -> QueryableAuthor<'static> {
    QueryableAuthor {
        person: person(200, "bob_b", &[]),
        name: "Bob",
        bio: "",
        location: "",
        verified: false,
        followers: 5,
        following: 9,
        posts: 20,
        listed: 0,
        lists: &[],
    }
}

fn post(id: i64, author: QueryableAuthor<'static>, text: &'static str) -> QueryablePost<'static> {
    QueryablePost {
        id,
        author,
        text,
        lang: "en",
        source: "Locum Web App",
        conversation: id,
        ..QueryablePost::default()
    }
}

fn linked() -> QueryablePost<'static> {
    QueryablePost {
        links: &[QueryableLink {
            url: "https://t.co/x1",
            expanded: "https://news.example.com/2026/solar-power?utm=1",
            unwound: "",
            title: "Solar power grows",
            description: "A record year",
        }],
        ..post(4, bob(), "Read this: https://t.co/x1 now")
    }
}

/// The posts, by ids from 1.
#[expect(clippy::too_many_lines, reason = "a list")]
pub(crate) fn posts() -> Vec<QueryablePost<'static>> {
    let quoted: &'static QueryablePost<'static> = Box::leak(Box::new(linked()));
    let to_ana = ana().person;
    let box_of = |west, south, east, north| GeoArea { west, south, east, north };
    vec![
        post(1, ana(), "The coffee at the Café is great"),
        QueryablePost {
            hashtags: &["Coffee", "morning"],
            likes: 12,
            replies: 3,
            reposts: 2,
            ..post(2, bob(), "Good #Coffee, good #morning")
        },
        QueryablePost {
            mentions: &[UserHandle { id: 100, username: "Ana" }],
            reply_to: Some((1, to_ana)),
            conversation: 1,
            ..post(3, bob(), "@Ana I prefer tea to coffee")
        },
        linked(),
        QueryablePost { cashtags: &["ACME"], ..post(5, ana(), "Buy $ACME, sell iced coffee") },
        QueryablePost { lang: "pt", ..post(6, ana(), "O cafe da manhã") },
        QueryablePost { lang: "ja", ..post(7, bob(), "東京タワーへ行く") },
        post(8, bob(), "Coca-Cola 👍🏽 or Pepsi 😀?"),
        QueryablePost {
            repost_of: Some((1, handle(100, "Ana"))),
            place: Some(QueryablePlace { id: "p1", full_name: "Recife, Brasil", country: "BR", area: None }),
            ..post(9, bob(), "The coffee at the Café is great")
        },
        QueryablePost { quote_of: Some(4), quoted: Some(quoted), ..post(10, ana(), "Worth your time") },
        QueryablePost { images: true, point: Some((-105.27, 40.01)), ..post(11, bob(), "View from the hill") },
        QueryablePost {
            video: true,
            place: Some(QueryablePlace {
                id: "01a9a39529b27f36",
                full_name: "Boulder, CO",
                country: "US",
                area: Some(box_of(-105.30, 39.96, -105.18, 40.09)),
            }),
            ..post(12, ana(), "Streets of Boulder")
        },
        QueryablePost {
            annotations: &[
                ContextAnnotation { domain: Some(10), entity: 799, name: "Michael Jordan" },
                ContextAnnotation { domain: Some(46), entity: 15, name: "Sports" },
            ],
            ..post(13, bob(), "What a game")
        },
        QueryablePost { nullcast: true, ..post(14, ana(), "coffee for you, sponsored") },
        post(15, bob(), "great and small, coffee or not; it's the best"),
        QueryablePost { lang: "und", animation: true, ..post(16, bob(), "") },
        QueryablePost {
            lang: "pt",
            reply_to: Some((6, person(200, "bob_b", &[]))),
            conversation: 6,
            ..post(17, ana(), "Ação e reação")
        },
        QueryablePost {
            likes: 100,
            replies: 50,
            reposts: 25,
            ..post(18, ana(), "tea is great. Coffee is great! so great")
        },
        QueryablePost { lang: "th", ..post(19, bob(), "ภาษาไทย") },
        QueryablePost {
            mentions: &[UserHandle { id: 200, username: "bob_b" }, UserHandle { id: 12345, username: "digits" }],
            ..post(20, ana(), "thanks @bob_b and @digits")
        },
    ]
}

/// What is found and by which queries: search and stream alike.
pub(crate) const BOTH: [(&str, &[i64]); 66] = [
    ("coffee", &[1, 2, 3, 5, 9, 14, 15, 18]),
    ("COFFEE -iced", &[1, 2, 3, 9, 14, 15, 18]),
    ("coffee great", &[1, 9, 15, 18]),
    ("pepsi OR tea", &[3, 8, 18]),
    ("game OR coffee tea", &[3, 13, 18]),
    ("(game OR coffee) tea", &[3, 18]),
    ("coffee -(tea OR great)", &[2, 5, 14]),
    ("coffee -(tea great)", &[1, 2, 3, 5, 9, 14, 15]),
    ("coffee -(-tea)", &[3, 18]),
    ("coffee – tea", &[3, 18]),
    ("tea -\"&\" coffee", &[3, 18]),
    ("coffee \"https://shop.example/coffee\"", &[]),
    ("\"coffee is great\"", &[18]),
    ("\"great coffee\"", &[18]),
    ("\"is great so great\"", &[18]),
    ("coca-cola", &[8]),
    ("cola", &[8]),
    ("\"coca, cola\"", &[8]),
    ("\"it's\"", &[15]),
    ("\"or\" coffee", &[15]),
    ("\"and\" coffee", &[15]),
    ("the coffee", &[1, 9, 15]),
    ("👍", &[8]),
    ("\"👍🏽\"", &[8]),
    ("😀 -👎", &[8]),
    ("東京", &[7]),
    ("京タ", &[7]),
    ("東タ", &[]),
    ("タワー", &[7]),
    ("ไทย", &[19]),
    ("#coffee", &[2]),
    ("#COFFEE #morning", &[2]),
    ("#cof", &[]),
    ("morning", &[2]),
    ("@ana", &[3]),
    ("ana", &[3]),
    ("@100", &[3]),
    ("@12345", &[20]),
    ("$acme", &[5]),
    ("from:ana coffee", &[1, 5, 14, 18]),
    ("from:nobody OR from:BOB_B #coffee", &[2]),
    ("from:100 lang:pt", &[6, 17]),
    ("to:ana", &[3]),
    ("to:200", &[17]),
    ("retweets_of:ana", &[9]),
    ("retweets_of_user:100", &[9]),
    ("retweets_of_tweet_id:1", &[9]),
    ("retweets_of_status_id:1 is:retweet", &[9]),
    ("coffee -is:retweet -is:reply -is:nullcast", &[1, 2, 5, 15, 18]),
    ("conversation_id:1", &[1, 3]),
    ("in_reply_to_tweet_id:1", &[3]),
    ("in_reply_to_status_id:6 is:reply", &[17]),
    ("context:10.799", &[13]),
    ("context:46.*", &[13]),
    ("context:*.799", &[13]),
    ("context:10.15", &[]),
    ("entity:\"michael jordan\"", &[13]),
    ("place:boulder", &[12]),
    ("place:01a9a39529b27f36", &[12]),
    ("place_country:us", &[12]),
    ("place:recife", &[]),
    ("point_radius:[-105.27 40.0 3km]", &[11]),
    ("point_radius:[-105.24 40.02 20mi] -has:images", &[12]),
    ("bounding_box:[-105.31 39.9 -105.1 40.1]", &[11, 12]),
    ("geo_bounding_box:[-105.28 40.0 -105.1 40.1]", &[11]),
    ("coffee is:verified has:hashtags", &[]),
];
