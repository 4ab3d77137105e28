use super::{HOSTILE, ada, card, dev, hostile, hostile_card, stranger};
use crate::{Authorize, Cancelled, Compared, Consent, ErrorPage, Level, Pin, Wrong};
use base::{Scope, Scopes};

pub(crate) fn authorize() -> Vec<(&'static str, Authorize)> {
    let of = |level, email| Authorize {
        frame: ada(),
        action: "/oauth/authorize".to_owned(),
        token: "r3qu357".to_owned(),
        app: card(),
        level,
        email,
        destination: Some("harbour-radio.example".to_owned()),
        switch: "/sign-in?next=1".to_owned(),
    };
    vec![
        ("read", of(Level::Read, false)),
        ("write", of(Level::Write, true)),
        (
            "messages-by-pin",
            Authorize {
                destination: None,
                frame: dev(ada()),
                ..of(Level::DirectMessages, true)
            },
        ),
        (
            "hostile",
            Authorize {
                frame: hostile(),
                action: HOSTILE.to_owned(),
                token: HOSTILE.to_owned(),
                app: hostile_card(),
                destination: Some(HOSTILE.to_owned()),
                switch: HOSTILE.to_owned(),
                ..of(Level::Read, false)
            },
        ),
    ]
}

pub(crate) fn pin() -> Vec<(&'static str, Pin)> {
    let of = |frame, app, pin: &str| Pin {
        frame,
        app,
        pin: pin.to_owned(),
    };
    vec![
        ("plain", of(ada(), card(), "0419327")),
        ("hostile", of(hostile(), hostile_card(), HOSTILE)),
    ]
}

pub(crate) fn cancelled() -> Vec<(&'static str, Cancelled)> {
    let of = |frame, app| Cancelled { frame, app };
    vec![
        ("plain", of(ada(), card())),
        ("hostile", of(hostile(), hostile_card())),
    ]
}

pub(crate) fn consent() -> Vec<(&'static str, Consent)> {
    let of = |scopes| Consent {
        frame: ada(),
        action: "/i/oauth2/authorize".to_owned(),
        hidden: vec![("request".to_owned(), "0p4qu3".to_owned())],
        app: card(),
        scopes,
        destination: "harbour-radio.example".to_owned(),
        switch: "/sign-in?next=1".to_owned(),
    };
    let small = Scopes::of(&[Scope::TweetRead, Scope::UsersRead]);
    let usual = small
        .with(Scope::TweetWrite)
        .with(Scope::UsersEmail)
        .with(Scope::OfflineAccess);
    vec![
        ("read", of(small)),
        ("usual", of(usual)),
        (
            "everything",
            Consent {
                frame: dev(ada()),
                destination: "com.harbour.radio:// on this device".to_owned(),
                ..of(Scopes::all())
            },
        ),
        (
            "hostile",
            Consent {
                frame: hostile(),
                hidden: vec![(HOSTILE.to_owned(), HOSTILE.to_owned())],
                app: hostile_card(),
                destination: HOSTILE.to_owned(),
                switch: HOSTILE_SWITCH.to_owned(),
                ..of(usual)
            },
        ),
    ]
}

const HOSTILE_SWITCH: &str = "/sign-in?next=\"><script>alert(1)</script>";

pub(crate) fn error() -> Vec<(&'static str, ErrorPage)> {
    let of = |wrong| ErrorPage {
        frame: stranger(),
        wrong,
        app: None,
        compared: Vec::new(),
        reference: None,
    };
    let compared = |registered: &str, given: &str, oauth1| Compared {
        registered: registered.to_owned(),
        given: given.to_owned(),
        oauth1,
        oauth2: false,
    };
    vec![
        ("token-missing", of(Wrong::RequestTokenMissing)),
        ("token-unknown", of(Wrong::RequestTokenUnknown)),
        ("token-expired", of(Wrong::RequestTokenExpired)),
        ("client-unknown", of(Wrong::ClientUnknown)),
        ("app-suspended", of(Wrong::AppSuspended)),
        ("redirect-missing", of(Wrong::RedirectMissing)),
        ("redirect", of(Wrong::RedirectUnregistered)),
        (
            "redirect-dev",
            ErrorPage {
                frame: dev(ada()),
                app: Some("Harbour Radio".to_owned()),
                compared: vec![
                    compared(
                        "https://harbour-radio.example/callback/",
                        "https://harbour-radio.example/callback?from=menu",
                        false,
                    ),
                    compared(
                        "http://127.0.0.1:8000/callback",
                        "https://harbour-radio.example/callback?from=menu",
                        false,
                    ),
                ],
                reference: Some("4f9a-20c1".to_owned()),
                ..of(Wrong::RedirectUnregistered)
            },
        ),
        (
            "request",
            of(Wrong::Request(
                "code_challenge is missing: PKCE is needed from every client.".to_owned(),
            )),
        ),
        ("form-expired", of(Wrong::FormExpired)),
        ("too-many", of(Wrong::TooMany(20))),
        ("not-found", of(Wrong::NotFound)),
        ("forbidden", of(Wrong::Forbidden)),
        (
            "broken",
            ErrorPage {
                reference: Some("4f9a-20c1".to_owned()),
                ..of(Wrong::Broken)
            },
        ),
        (
            "hostile",
            ErrorPage {
                frame: hostile(),
                app: Some(HOSTILE.to_owned()),
                compared: vec![compared(HOSTILE, super::HOSTILE_URL, true)],
                reference: Some(HOSTILE.to_owned()),
                ..of(Wrong::Request(HOSTILE.to_owned()))
            },
        ),
    ]
}
