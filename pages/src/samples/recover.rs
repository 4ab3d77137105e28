use super::{HOSTILE, ada, hostile, stranger};
use crate::{Confirmation, Confirmed, Field, Forgotten, Reset, ResetState};

pub(crate) fn forgotten() -> Vec<(&'static str, Forgotten)> {
    let of = |email, sent| Forgotten {
        frame: stranger(),
        action: "/forgotten-password".to_owned(),
        email,
        sent,
    };
    vec![
        ("plain", of(Field::default(), false)),
        (
            "refused",
            of(Field::refused("ada", "Enter an email address"), false),
        ),
        ("sent", of(Field::of("ada@example.org"), true)),
        (
            "hostile",
            Forgotten {
                frame: hostile(),
                ..of(Field::of(HOSTILE), true)
            },
        ),
    ]
}

pub(crate) fn reset() -> Vec<(&'static str, Reset)> {
    let of = |state, password| Reset {
        frame: stranger(),
        action: "/reset-password".to_owned(),
        state,
        password,
    };
    let open = |username: &str| ResetState::Open {
        username: username.to_owned(),
        token: "r3537".to_owned(),
    };
    vec![
        ("open", of(open("ada"), Field::default())),
        (
            "refused",
            of(
                open("ada"),
                Field::refused("", "This password is known from leaks. Choose another."),
            ),
        ),
        ("dead", of(ResetState::Dead, Field::default())),
        (
            "hostile",
            Reset {
                frame: hostile(),
                ..of(open(HOSTILE), Field::refused(HOSTILE, HOSTILE))
            },
        ),
    ]
}

pub(crate) fn confirmed() -> Vec<(&'static str, Confirmed)> {
    let of = |state| Confirmed {
        frame: ada(),
        action: "/confirm-email".to_owned(),
        resend: Some("/confirm-email/again".to_owned()),
        state,
    };
    let email = || "ada@example.org".to_owned();
    let ask = |email| Confirmation::Ask {
        email,
        token: "c0nf1rm".to_owned(),
    };
    vec![
        ("ask", of(ask(email()))),
        ("sent", of(Confirmation::Sent { email: email() })),
        ("done", of(Confirmation::Done { email: email() })),
        ("dead", of(Confirmation::Dead)),
        (
            "dead-signed-out",
            Confirmed {
                frame: stranger(),
                resend: None,
                ..of(Confirmation::Dead)
            },
        ),
        (
            "hostile",
            Confirmed {
                frame: hostile(),
                ..of(ask(HOSTILE.to_owned()))
            },
        ),
    ]
}
