use super::{
    HOSTILE, development_frame, hostile_app_summary, hostile_frame, sample_app_summary, signed_in_frame,
    signed_out_frame,
};
use base::{Scope, Scopes};
use pages::{
    AppSummary, AuthorizationDeniedPage, CallbackDestination, CallbackDiff, ErrorPage, OAuth1AuthorizePage,
    OAuth2ConsentPage, PageErrorKind, PermissionLevel, PinPage, SimilarApp,
};

fn destination(address: &str, display_form: Option<&str>) -> CallbackDestination {
    CallbackDestination { address: address.to_owned(), display_form: display_form.map(str::to_owned) }
}

pub(crate) fn authorize_states() -> Vec<(&'static str, OAuth1AuthorizePage)> {
    let of = |level, email| OAuth1AuthorizePage {
        frame: signed_in_frame(),
        action: "/oauth/authorize".to_owned(),
        token: "r3qu357".to_owned(),
        app: sample_app_summary(),
        level,
        email,
        destination: Some(destination("harbour-radio.example", None)),
        switch: "/sign-in?next=1".to_owned(),
    };
    vec![
        ("read", of(PermissionLevel::Read, false)),
        ("write", of(PermissionLevel::Write, true)),
        (
            "messages-by-pin",
            OAuth1AuthorizePage {
                destination: None,
                frame: development_frame(signed_in_frame()),
                ..of(PermissionLevel::DirectMessages, true)
            },
        ),
        (
            "hostile",
            OAuth1AuthorizePage {
                frame: hostile_frame(),
                action: HOSTILE.to_owned(),
                token: HOSTILE.to_owned(),
                app: hostile_app_summary(),
                destination: Some(destination(HOSTILE, Some(HOSTILE))),
                switch: HOSTILE.to_owned(),
                ..of(PermissionLevel::Read, false)
            },
        ),
    ]
}

pub(crate) fn pin_states() -> Vec<(&'static str, PinPage)> {
    let of = |frame, app, pin: &str| PinPage { frame, app, pin: pin.to_owned() };
    vec![
        ("plain", of(signed_in_frame(), sample_app_summary(), "0419327")),
        ("hostile", of(hostile_frame(), hostile_app_summary(), HOSTILE)),
    ]
}

pub(crate) fn authorization_denied_states() -> Vec<(&'static str, AuthorizationDeniedPage)> {
    let of = |frame, app| AuthorizationDeniedPage { frame, app };
    vec![
        ("plain", of(signed_in_frame(), sample_app_summary())),
        ("hostile", of(hostile_frame(), hostile_app_summary())),
    ]
}

pub(crate) fn consent_states() -> Vec<(&'static str, OAuth2ConsentPage)> {
    let of = |scopes| OAuth2ConsentPage {
        frame: signed_in_frame(),
        action: "/i/oauth2/authorize".to_owned(),
        hidden: vec![("request".to_owned(), "0p4qu3".to_owned())],
        app: sample_app_summary(),
        scopes,
        uses_plain_pkce: false,
        destination: destination("harbour-radio.example", None),
        switch: "/sign-in?next=1".to_owned(),
    };
    let small = Scopes::from_slice(&[Scope::TweetRead, Scope::UsersRead]);
    let usual = small.with_scope(Scope::TweetWrite).with_scope(Scope::UsersEmail).with_scope(Scope::OfflineAccess);
    vec![
        ("read", of(small)),
        ("usual", of(usual)),
        (
            "similar",
            OAuth2ConsentPage {
                app: AppSummary {
                    similar: Some(SimilarApp { name: "Harb0ur Radio".to_owned(), owner: "eve".to_owned() }),
                    ..sample_app_summary()
                },
                destination: destination("xn--hrbour-radio-l8a.example", Some("h\u{e4}rbour-radio.example")),
                ..of(small)
            },
        ),
        (
            "everything",
            OAuth2ConsentPage {
                frame: development_frame(signed_in_frame()),
                uses_plain_pkce: true,
                destination: destination("com.harbour.radio:", None),
                ..of(Scopes::from_slice(&Scope::ALL))
            },
        ),
        (
            "hostile",
            OAuth2ConsentPage {
                frame: hostile_frame(),
                hidden: vec![(HOSTILE.to_owned(), HOSTILE.to_owned())],
                app: hostile_app_summary(),
                destination: destination(HOSTILE, Some(HOSTILE)),
                switch: HOSTILE_SWITCH.to_owned(),
                ..of(usual)
            },
        ),
    ]
}

const HOSTILE_SWITCH: &str = "/sign-in?next=\"><script>alert(1)</script>";

fn error_page(wrong: PageErrorKind) -> ErrorPage {
    ErrorPage { frame: signed_out_frame(), kind: wrong, app: None, comparisons: Vec::new(), reference: None }
}

pub(crate) fn error_states() -> Vec<(&'static str, ErrorPage)> {
    let pkce = "code_challenge is missing: PKCE is required for every client.";
    let mut all: Vec<_> = [
        ("token-missing", PageErrorKind::RequestTokenMissing),
        ("token-unknown", PageErrorKind::RequestTokenUnknown),
        ("token-expired", PageErrorKind::RequestTokenExpired),
        ("client-unknown", PageErrorKind::ClientUnknown),
        ("app-suspended", PageErrorKind::AppSuspended),
        ("redirect-missing", PageErrorKind::RedirectMissing),
        ("redirect", PageErrorKind::RedirectUnregistered),
        ("request", PageErrorKind::InvalidRequest(pkce.to_owned())),
        ("form-expired", PageErrorKind::FormExpired),
        ("signed-out", PageErrorKind::SignedOut(String::new())),
        ("too-many", PageErrorKind::TooManyAttempts(20)),
        ("not-found", PageErrorKind::NotFound),
        ("forbidden", PageErrorKind::Forbidden),
        ("method", PageErrorKind::MethodNotAllowed),
        ("refused", PageErrorKind::Refused("The post could not be published.".to_owned())),
        ("busy", PageErrorKind::Overloaded),
        ("broken", PageErrorKind::InternalError),
    ]
    .into_iter()
    .map(|(state, wrong)| (state, error_page(wrong)))
    .collect();
    all.extend(detailed_errors());
    all
}

fn detailed_errors() -> [(&'static str, ErrorPage); 2] {
    const GIVEN: &str = "https://harbour-radio.example/callback?from=menu";
    let compared = |registered: &str, given: &str| CallbackDiff {
        registered: registered.to_owned(),
        submitted: given.to_owned(),
        oauth1: false,
        oauth2: false,
    };
    let redirect = ErrorPage {
        frame: development_frame(signed_in_frame()),
        app: Some("Harbour Radio".to_owned()),
        comparisons: vec![
            compared("https://harbour-radio.example/callback/", GIVEN),
            compared("http://127.0.0.1:8000/callback", GIVEN),
        ],
        reference: Some("4f9a-20c1".to_owned()),
        ..error_page(PageErrorKind::RedirectUnregistered)
    };
    let bad = ErrorPage {
        frame: hostile_frame(),
        app: Some(HOSTILE.to_owned()),
        comparisons: vec![compared(HOSTILE, super::HOSTILE_URL)],
        reference: Some(HOSTILE.to_owned()),
        ..error_page(PageErrorKind::InvalidRequest(HOSTILE.to_owned()))
    };
    [("redirect-dev", redirect), ("hostile", bad)]
}
