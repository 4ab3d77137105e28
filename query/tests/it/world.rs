//! Twenty posts that tests ask about.

use query::{Annotation, Area, Author, Handle, Link, Person, Place, Post};

const fn handle(id: i64, username: &str) -> Handle<'_> {
    Handle { id, username }
}

const fn person<'a>(id: i64, username: &'a str, affiliations: &'a [Handle<'a>]) -> Person<'a> {
    Person {
        handle: handle(id, username),
        affiliations,
    }
}

fn ana() -> Author<'static> {
    Author {
        person: person(
            100,
            "Ana",
            &[Handle {
                id: 900,
                username: "AcmeCorp",
            }],
        ),
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

fn bob() -> Author<'static> {
    Author {
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

fn post(id: i64, author: Author<'static>, text: &'static str) -> Post<'static> {
    Post {
        id,
        author,
        text,
        lang: "en",
        source: "Locum Web App",
        conversation: id,
        ..Post::default()
    }
}

fn linked() -> Post<'static> {
    Post {
        links: &[Link {
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
pub(crate) fn posts() -> Vec<Post<'static>> {
    let quoted: &'static Post<'static> = Box::leak(Box::new(linked()));
    let to_ana = ana().person;
    let box_of = |west, south, east, north| Area {
        west,
        south,
        east,
        north,
    };
    vec![
        post(1, ana(), "The coffee at the Café is great"),
        Post {
            hashtags: &["Coffee", "morning"],
            likes: 12,
            replies: 3,
            reposts: 2,
            ..post(2, bob(), "Good #Coffee, good #morning")
        },
        Post {
            mentions: &[Handle {
                id: 100,
                username: "Ana",
            }],
            reply_to: Some((1, to_ana)),
            conversation: 1,
            ..post(3, bob(), "@Ana I prefer tea to coffee")
        },
        linked(),
        Post {
            cashtags: &["ACME"],
            ..post(5, ana(), "Buy $ACME, sell iced coffee")
        },
        Post {
            lang: "pt",
            ..post(6, ana(), "O cafe da manhã")
        },
        Post {
            lang: "ja",
            ..post(7, bob(), "東京タワーへ行く")
        },
        post(8, bob(), "Coca-Cola 👍🏽 or Pepsi 😀?"),
        Post {
            repost_of: Some((1, handle(100, "Ana"))),
            place: Some(Place {
                id: "p1",
                full_name: "Recife, Brasil",
                country: "BR",
                area: None,
            }),
            ..post(9, bob(), "The coffee at the Café is great")
        },
        Post {
            quote_of: Some(4),
            quoted: Some(quoted),
            ..post(10, ana(), "Worth your time")
        },
        Post {
            images: true,
            point: Some((-105.27, 40.01)),
            ..post(11, bob(), "View from the hill")
        },
        Post {
            video: true,
            place: Some(Place {
                id: "01a9a39529b27f36",
                full_name: "Boulder, CO",
                country: "US",
                area: Some(box_of(-105.30, 39.96, -105.18, 40.09)),
            }),
            ..post(12, ana(), "Streets of Boulder")
        },
        Post {
            annotations: &[
                Annotation {
                    domain: Some(10),
                    entity: 799,
                    name: "Michael Jordan",
                },
                Annotation {
                    domain: Some(46),
                    entity: 15,
                    name: "Sports",
                },
            ],
            ..post(13, bob(), "What a game")
        },
        Post {
            nullcast: true,
            ..post(14, ana(), "coffee for you, sponsored")
        },
        post(15, bob(), "great and small, coffee or not; it's the best"),
        Post {
            lang: "und",
            animation: true,
            ..post(16, bob(), "")
        },
        Post {
            lang: "pt",
            reply_to: Some((6, person(200, "bob_b", &[]))),
            conversation: 6,
            ..post(17, ana(), "Ação e reação")
        },
        Post {
            likes: 100,
            replies: 50,
            reposts: 25,
            ..post(18, ana(), "tea is great. Coffee is great! so great")
        },
        Post {
            lang: "th",
            ..post(19, bob(), "ภาษาไทย")
        },
        Post {
            mentions: &[
                Handle {
                    id: 200,
                    username: "bob_b",
                },
                Handle {
                    id: 12345,
                    username: "digits",
                },
            ],
            ..post(20, ana(), "thanks @bob_b and @digits")
        },
    ]
}
