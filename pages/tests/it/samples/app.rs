use super::{
    HOSTILE, HOSTILE_URL, days_ago, hostile_app, hostile_frame, minutes_ago, sample_app, signed_in_frame, with_notice,
};
use pages::{
    AppKeysPage, AppUsagePage, CallbackDiff, CallbackTesterPage, CallbackVerdict, CredentialItem, CredentialKind,
    CredentialValue, DeleteAppPage, FormField, Pager, RegenerateKeyPage, RevealedCredentials, UsageWindow,
};

fn credential_item(kind: CredentialKind, ending: &str) -> CredentialItem {
    CredentialItem {
        kind,
        exists: true,
        public: None,
        ending: Some(ending.to_owned()),
        note: None,
        created: Some(days_ago(20)),
        last_used: Some(minutes_ago(3)),
    }
}

fn all_credential_items(public: bool) -> Vec<CredentialItem> {
    vec![
        credential_item(CredentialKind::Api, "x9Qe"),
        CredentialItem {
            exists: false,
            ending: None,
            created: None,
            last_used: None,
            ..credential_item(CredentialKind::Bearer, "")
        },
        CredentialItem {
            note: Some(
                "This token has the permission “Read”, but the app now has “Read and write”. Regenerate it to update."
                    .to_owned(),
            ),
            last_used: None,
            ..credential_item(CredentialKind::Access, "07bT")
        },
        CredentialItem {
            public: Some("bG9jdW0tc2FtcGxlLWNsaWVudC1pZA".to_owned()),
            ending: (!public).then(|| "Zk3w".to_owned()),
            ..credential_item(CredentialKind::Client, "")
        },
    ]
}

fn credential_value(name: &str, value: &str) -> CredentialValue {
    CredentialValue { name: name.to_owned(), value: value.to_owned() }
}

pub(crate) fn app_keys_states() -> Vec<(&'static str, AppKeysPage)> {
    let of = |frame, app, keys, shown| AppKeysPage { frame, app, keys, revealed: shown };
    let shown = RevealedCredentials {
        title: "API key and secret".to_owned(),
        values: vec![
            credential_value("API key", "sampleKeyNotReal1234567890"),
            credential_value("API key secret", "sampleSecretNotReal1234567890sampleSecretNotReal1234567890"),
        ],
    };
    let bad = RevealedCredentials { title: HOSTILE.to_owned(), values: vec![credential_value(HOSTILE, HOSTILE)] };
    let bad_key = CredentialItem {
        public: Some(HOSTILE.to_owned()),
        note: Some(HOSTILE.to_owned()),
        ..credential_item(CredentialKind::Client, HOSTILE)
    };
    vec![
        ("masked", of(signed_in_frame(), sample_app(), all_credential_items(false), None)),
        (
            "shown-once",
            of(
                with_notice(signed_in_frame(), "The API key and secret were regenerated."),
                sample_app(),
                all_credential_items(false),
                Some(shown),
            ),
        ),
        ("public-client", of(signed_in_frame(), sample_app(), all_credential_items(true), None)),
        ("hostile", of(hostile_frame(), hostile_app(), vec![bad_key], Some(bad))),
    ]
}

pub(crate) fn regenerate_key_states() -> Vec<(&'static str, RegenerateKeyPage)> {
    let of = |frame, app, kind, exists| RegenerateKeyPage {
        frame,
        app,
        kind,
        exists,
        action: "/developer/apps/1/keys/api/regenerate".to_owned(),
    };
    vec![
        ("again", of(signed_in_frame(), sample_app(), CredentialKind::Api, true)),
        ("client", of(signed_in_frame(), sample_app(), CredentialKind::Client, true)),
        ("first", of(signed_in_frame(), sample_app(), CredentialKind::Bearer, false)),
        ("hostile", of(hostile_frame(), hostile_app(), CredentialKind::Access, true)),
    ]
}

fn callback_comparison(registered: &str, received: &str, oauth1: bool, oauth2: bool) -> CallbackDiff {
    CallbackDiff { registered: registered.to_owned(), submitted: received.to_owned(), oauth1, oauth2 }
}

pub(crate) fn callback_tester_states() -> Vec<(&'static str, CallbackTesterPage)> {
    const REGISTERED: &str = "https://harbour-radio.example/callback";
    let of = |url: &str, verdict| CallbackTesterPage {
        frame: signed_in_frame(),
        app: sample_app(),
        action: "/developer/apps/1/callbacks".to_owned(),
        url: FormField::new(url),
        registered: 2,
        verdict,
    };
    let found = |received: &str, oauth1, oauth2| {
        let verdict = CallbackVerdict {
            oauth1,
            oauth2,
            rejection: None,
            comparisons: vec![
                callback_comparison(REGISTERED, received, oauth1, oauth2),
                callback_comparison("http://127.0.0.1:8000/callback", received, false, false),
            ],
        };
        of(received, Some(verdict))
    };
    let unfit = CallbackVerdict {
        oauth1: false,
        oauth2: false,
        rejection: Some("Addresses that begin with ftp: can’t be registered.".to_owned()),
        comparisons: Vec::new(),
    };
    let bad = CallbackVerdict {
        rejection: Some(HOSTILE.to_owned()),
        oauth1: true,
        oauth2: false,
        comparisons: vec![callback_comparison(HOSTILE, HOSTILE_URL, true, false)],
    };
    vec![
        ("blank", of("", None)),
        ("accepted", found(REGISTERED, true, true)),
        ("oauth1-only", found("https://harbour-radio.example/callback?from=menu", true, false)),
        ("refused", found("https://harbour-radio.example/Callback/", false, false)),
        ("unfit", of("ftp://files.example", Some(unfit))),
        (
            "hostile",
            CallbackTesterPage {
                frame: hostile_frame(),
                app: hostile_app(),
                url: FormField::invalid(HOSTILE, HOSTILE),
                ..of("", Some(bad))
            },
        ),
    ]
}

fn usage_window(operation: &str, counts: &str, used: u64, limit: u64) -> UsageWindow {
    UsageWindow {
        operation: operation.to_owned(),
        counted_for: counts.to_owned(),
        seconds: 900,
        used,
        limit,
        resets: minutes_ago(-9),
    }
}

pub(crate) fn app_usage_states() -> Vec<(&'static str, AppUsagePage)> {
    let of = |frame, app, windows| AppUsagePage { frame, app, windows, pager: Pager::default() };
    let several = vec![
        usage_window("POST /2/posts", "@ada", 100, 100),
        usage_window("GET /2/posts/search/recent", "the app", 391, 450),
        usage_window("GET /2/users/by/username/:username", "the app", 34, 300),
        UsageWindow { seconds: 86_400, ..usage_window("GET /2/users/me", "@harbour_at_night", 1, 75) },
    ];
    vec![
        (
            "several",
            AppUsagePage {
                pager: Pager { previous: Some("?page=1".to_owned()), next: Some("?page=3".to_owned()) },
                ..of(signed_in_frame(), sample_app(), several)
            },
        ),
        ("none", of(signed_in_frame(), sample_app(), Vec::new())),
        ("hostile", of(hostile_frame(), hostile_app(), vec![usage_window(HOSTILE, HOSTILE, 1, 0)])),
    ]
}

pub(crate) fn delete_app_states() -> Vec<(&'static str, DeleteAppPage)> {
    let of = |frame, app, connected, name| DeleteAppPage {
        frame,
        app,
        action: "/developer/apps/1/delete".to_owned(),
        connected,
        name,
    };
    vec![
        ("unused", of(signed_in_frame(), sample_app(), 0, FormField::default())),
        (
            "refused",
            of(signed_in_frame(), sample_app(), 214, FormField::invalid("harbour", "This is not the app’s name")),
        ),
        ("hostile", of(hostile_frame(), hostile_app(), 1, FormField::invalid(HOSTILE, HOSTILE))),
    ]
}
