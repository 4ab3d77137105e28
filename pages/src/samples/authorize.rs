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
        plain: false,
        destination: "harbour-radio.example".to_owned(),
        switch: "/sign-in?next=1".to_owned(),
    };
    let small = Scopes::from_slice(&[Scope::TweetRead, Scope::UsersRead]);
    let usual = small
        .with_scope(Scope::TweetWrite)
        .with_scope(Scope::UsersEmail)
        .with_scope(Scope::OfflineAccess);
    vec![
        ("read", of(small)),
        ("usual", of(usual)),
        (
            "everything",
            Consent {
                frame: dev(ada()),
                plain: true,
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

fn stopped(wrong: Wrong) -> ErrorPage {
    ErrorPage {
        frame: stranger(),
        wrong,
        app: None,
        compared: Vec::new(),
        reference: None,
    }
}

pub(crate) fn error() -> Vec<(&'static str, ErrorPage)> {
    let pkce = "code_challenge is missing: PKCE is needed from every client.";
    let mut all: Vec<_> = [
        ("token-missing", Wrong::RequestTokenMissing),
        ("token-unknown", Wrong::RequestTokenUnknown),
        ("token-expired", Wrong::RequestTokenExpired),
        ("client-unknown", Wrong::ClientUnknown),
        ("app-suspended", Wrong::AppSuspended),
        ("redirect-missing", Wrong::RedirectMissing),
        ("redirect", Wrong::RedirectUnregistered),
        ("request", Wrong::Request(pkce.to_owned())),
        ("form-expired", Wrong::FormExpired),
        ("too-many", Wrong::TooMany(20)),
        ("not-found", Wrong::NotFound),
        ("forbidden", Wrong::Forbidden),
        ("method", Wrong::Method),
        (
            "refused",
            Wrong::Refused("That was not possible.".to_owned()),
        ),
        ("busy", Wrong::Busy),
        ("broken", Wrong::Broken),
    ]
    .into_iter()
    .map(|(state, wrong)| (state, stopped(wrong)))
    .collect();
    all.extend(detailed_errors());
    all
}

fn detailed_errors() -> [(&'static str, ErrorPage); 2] {
    const GIVEN: &str = "https://harbour-radio.example/callback?from=menu";
    let compared = |registered: &str, given: &str| Compared {
        registered: registered.to_owned(),
        given: given.to_owned(),
        oauth1: false,
        oauth2: false,
    };
    let redirect = ErrorPage {
        frame: dev(ada()),
        app: Some("Harbour Radio".to_owned()),
        compared: vec![
            compared("https://harbour-radio.example/callback/", GIVEN),
            compared("http://127.0.0.1:8000/callback", GIVEN),
        ],
        reference: Some("4f9a-20c1".to_owned()),
        ..stopped(Wrong::RedirectUnregistered)
    };
    let bad = ErrorPage {
        frame: hostile(),
        app: Some(HOSTILE.to_owned()),
        compared: vec![compared(HOSTILE, super::HOSTILE_URL)],
        reference: Some(HOSTILE.to_owned()),
        ..stopped(Wrong::Request(HOSTILE.to_owned()))
    };
    [("redirect-dev", redirect), ("hostile", bad)]
}
