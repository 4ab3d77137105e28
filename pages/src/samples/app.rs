use super::{HOSTILE, HOSTILE_URL, ada, app, days, hostile, hostile_app, minutes, told};
use crate::{
    CallbackTester, Compared, Delete, Field, Key, KeyKind, Keys, Pager, Regenerate, Shown, Usage,
    Value, Verdict, Window,
};

fn key(kind: KeyKind, ending: &str) -> Key {
    Key {
        kind,
        exists: true,
        public: None,
        ending: Some(ending.to_owned()),
        note: None,
        created: Some(days(20)),
        last_used: Some(minutes(3)),
    }
}

fn all_keys(public: bool) -> Vec<Key> {
    vec![
        key(KeyKind::Api, "x9Qe"),
        Key {
            exists: false,
            ending: None,
            created: None,
            last_used: None,
            ..key(KeyKind::Bearer, "")
        },
        Key {
            note: Some(
                "Made when the app could only read. Regenerate it to use Read and write."
                    .to_owned(),
            ),
            last_used: None,
            ..key(KeyKind::Access, "07bT")
        },
        Key {
            public: Some("bG9jdW0tc2FtcGxlLWNsaWVudC1pZA".to_owned()),
            ending: (!public).then(|| "Zk3w".to_owned()),
            ..key(KeyKind::Client, "")
        },
    ]
}

fn value(name: &str, value: &str) -> Value {
    Value {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

pub(crate) fn keys() -> Vec<(&'static str, Keys)> {
    let of = |frame, app, keys, shown| Keys {
        frame,
        app,
        keys,
        shown,
    };
    let shown = Shown {
        what: "API key and secret".to_owned(),
        values: vec![
            value("API key", "sampleKeyNotReal1234567890"),
            value(
                "API key secret",
                "sampleSecretNotReal1234567890sampleSecretNotReal1234567890",
            ),
        ],
    };
    let bad = Shown {
        what: HOSTILE.to_owned(),
        values: vec![value(HOSTILE, HOSTILE)],
    };
    let bad_key = Key {
        public: Some(HOSTILE.to_owned()),
        note: Some(HOSTILE.to_owned()),
        ..key(KeyKind::Client, HOSTILE)
    };
    vec![
        ("masked", of(ada(), app(), all_keys(false), None)),
        (
            "shown-once",
            of(
                told(ada(), "The API key and secret were regenerated"),
                app(),
                all_keys(false),
                Some(shown),
            ),
        ),
        ("public-client", of(ada(), app(), all_keys(true), None)),
        (
            "hostile",
            of(hostile(), hostile_app(), vec![bad_key], Some(bad)),
        ),
    ]
}

pub(crate) fn regenerate() -> Vec<(&'static str, Regenerate)> {
    let of = |frame, app, kind, exists| Regenerate {
        frame,
        app,
        kind,
        exists,
        action: "/developer/apps/1/keys/api/regenerate".to_owned(),
    };
    vec![
        ("again", of(ada(), app(), KeyKind::Api, true)),
        ("client", of(ada(), app(), KeyKind::Client, true)),
        ("first", of(ada(), app(), KeyKind::Bearer, false)),
        (
            "hostile",
            of(hostile(), hostile_app(), KeyKind::Access, true),
        ),
    ]
}

fn compared(registered: &str, given: &str, oauth1: bool, oauth2: bool) -> Compared {
    Compared {
        registered: registered.to_owned(),
        given: given.to_owned(),
        oauth1,
        oauth2,
    }
}

pub(crate) fn callbacks() -> Vec<(&'static str, CallbackTester)> {
    const REGISTERED: &str = "https://harbour-radio.example/callback";
    let of = |url: &str, verdict| CallbackTester {
        frame: ada(),
        app: app(),
        action: "/developer/apps/1/callbacks".to_owned(),
        url: Field::of(url),
        registered: 2,
        verdict,
    };
    let found = |given: &str, oauth1, oauth2| {
        let verdict = Verdict {
            oauth1,
            oauth2,
            unfit: None,
            compared: vec![
                compared(REGISTERED, given, oauth1, oauth2),
                compared("http://127.0.0.1:8000/callback", given, false, false),
            ],
        };
        of(given, Some(verdict))
    };
    let unfit = Verdict {
        oauth1: false,
        oauth2: false,
        unfit: Some("Addresses that begin with ftp: can’t be registered.".to_owned()),
        compared: Vec::new(),
    };
    let bad = Verdict {
        unfit: Some(HOSTILE.to_owned()),
        oauth1: true,
        oauth2: false,
        compared: vec![compared(HOSTILE, HOSTILE_URL, true, false)],
    };
    vec![
        ("blank", of("", None)),
        ("accepted", found(REGISTERED, true, true)),
        (
            "oauth1-only",
            found(
                "https://harbour-radio.example/callback?from=menu",
                true,
                false,
            ),
        ),
        (
            "refused",
            found("https://harbour-radio.example/Callback/", false, false),
        ),
        ("unfit", of("ftp://files.example", Some(unfit))),
        (
            "hostile",
            CallbackTester {
                frame: hostile(),
                app: hostile_app(),
                url: Field::refused(HOSTILE, HOSTILE),
                ..of("", Some(bad))
            },
        ),
    ]
}

fn window(operation: &str, counts: &str, used: u64, limit: u64) -> Window {
    Window {
        operation: operation.to_owned(),
        counts: counts.to_owned(),
        seconds: 900,
        used,
        limit,
        resets: minutes(-9),
    }
}

pub(crate) fn usage() -> Vec<(&'static str, Usage)> {
    let of = |frame, app, windows| Usage {
        frame,
        app,
        windows,
        pager: Pager::default(),
    };
    let several = vec![
        window("POST /2/posts", "@ada", 100, 100),
        window("GET /2/posts/search/recent", "the app", 391, 450),
        window("GET /2/users/by/username/:username", "the app", 34, 300),
        Window {
            seconds: 86_400,
            ..window("GET /2/users/me", "@harbour_at_night", 1, 75)
        },
    ];
    vec![
        (
            "several",
            Usage {
                pager: Pager {
                    previous: Some("?page=1".to_owned()),
                    next: Some("?page=3".to_owned()),
                },
                ..of(ada(), app(), several)
            },
        ),
        ("none", of(ada(), app(), Vec::new())),
        (
            "hostile",
            of(
                hostile(),
                hostile_app(),
                vec![window(HOSTILE, HOSTILE, 1, 0)],
            ),
        ),
    ]
}

pub(crate) fn delete() -> Vec<(&'static str, Delete)> {
    let of = |frame, app, connected, name| Delete {
        frame,
        app,
        action: "/developer/apps/1/delete".to_owned(),
        connected,
        name,
    };
    vec![
        ("unused", of(ada(), app(), 0, Field::default())),
        (
            "refused",
            of(
                ada(),
                app(),
                214,
                Field::refused("harbour", "This is not the app’s name"),
            ),
        ),
        (
            "hostile",
            of(
                hostile(),
                hostile_app(),
                1,
                Field::refused(HOSTILE, HOSTILE),
            ),
        ),
    ]
}
