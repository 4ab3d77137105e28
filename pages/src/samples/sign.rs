use super::{HOSTILE, ada, dev, hostile, refused, stranger};
use crate::{Cancel, Field, Frame, Landing, SignIn, SignOut, SignUp};

pub(crate) fn sign_in() -> Vec<(&'static str, SignIn)> {
    let plain = || SignIn {
        frame: stranger(),
        action: "/sign-in".to_owned(),
        next: String::new(),
        app: None,
        login: Field::default(),
        password: Field::default(),
        sign_up: Some("/sign-up".to_owned()),
        cancel: None,
    };
    vec![
        ("plain", plain()),
        (
            "for-an-app",
            SignIn {
                app: Some("Harbour Radio".to_owned()),
                login: Field::of("ada"),
                cancel: Some(cancel("/oauth/authorize", "1")),
                next: "/oauth/authorize?oauth_token=1".to_owned(),
                ..plain()
            },
        ),
        (
            "wrong",
            SignIn {
                frame: refused(dev(stranger()), "The username or the password is wrong"),
                login: Field::of("ada"),
                ..plain()
            },
        ),
        (
            "slow-down",
            SignIn {
                frame: refused(stranger(), "Too many tries. Please wait 20 seconds."),
                login: Field::of("ada"),
                sign_up: None,
                ..plain()
            },
        ),
        (
            "incomplete",
            SignIn {
                login: Field::refused("", "Enter your username or email address"),
                password: Field::refused("", "Enter your password"),
                ..plain()
            },
        ),
        ("hostile", hostile_sign_in()),
    ]
}

fn hostile_sign_in() -> SignIn {
    SignIn {
        frame: hostile(),
        action: HOSTILE.to_owned(),
        next: HOSTILE.to_owned(),
        app: Some(HOSTILE.to_owned()),
        login: Field::refused(HOSTILE, HOSTILE),
        password: Field::refused(HOSTILE, HOSTILE),
        sign_up: Some(HOSTILE.to_owned()),
        cancel: Some(cancel(HOSTILE, HOSTILE)),
    }
}

fn cancel(action: &str, token: &str) -> Cancel {
    Cancel {
        action: action.to_owned(),
        hidden: vec![("oauth_token".to_owned(), token.to_owned())],
    }
}

pub(crate) fn landing() -> Vec<(&'static str, Landing)> {
    let of = |frame: Frame, sign_up: Option<&str>, invited_only| Landing {
        frame,
        sign_up: sign_up.map(str::to_owned),
        invited_only,
        api: "https://social.example".to_owned(),
        description: "/2/openapi.json".to_owned(),
    };
    vec![
        ("open", of(stranger(), Some("/sign-up"), false)),
        ("invited-only", of(stranger(), None, true)),
        ("signed-in", of(ada(), Some("/sign-up"), false)),
        ("dev", of(dev(stranger()), Some("/sign-up"), false)),
        (
            "hostile",
            Landing {
                api: HOSTILE.to_owned(),
                ..of(hostile(), Some(HOSTILE), false)
            },
        ),
    ]
}

pub(crate) fn sign_up() -> Vec<(&'static str, SignUp)> {
    let plain = || SignUp {
        frame: stranger(),
        action: "/sign-up".to_owned(),
        next: String::new(),
        app: None,
        open: true,
        username: Field::default(),
        name: Field::default(),
        email: Field::default(),
        password: Field::default(),
    };
    vec![
        ("plain", plain()),
        (
            "refused",
            SignUp {
                app: Some("Harbour Radio".to_owned()),
                name: Field::of("Ada Okafor"),
                username: Field::refused("ada", "@ada is taken"),
                email: Field::refused(
                    "ada@example",
                    "Enter an address with a name, an @ and a domain",
                ),
                password: Field::refused("", "Use at least 8 characters"),
                ..plain()
            },
        ),
        (
            "closed",
            SignUp {
                open: false,
                ..plain()
            },
        ),
        (
            "hostile",
            SignUp {
                frame: hostile(),
                action: HOSTILE.to_owned(),
                next: HOSTILE.to_owned(),
                app: Some(HOSTILE.to_owned()),
                username: Field::refused(HOSTILE, HOSTILE),
                name: Field::of(HOSTILE),
                email: Field::of(HOSTILE),
                password: Field::of(HOSTILE),
                ..plain()
            },
        ),
    ]
}

pub(crate) fn sign_out() -> Vec<(&'static str, SignOut)> {
    let of = |frame| SignOut {
        frame,
        action: "/sign-out".to_owned(),
        back: "/".to_owned(),
    };
    vec![("plain", of(ada())), ("hostile", of(hostile()))]
}
