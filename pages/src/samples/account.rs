use super::{HOSTILE, ada, card, days, hostile, hostile_card, minutes, told};
use crate::{
    AboutForm, AccountSettings, AppCard, Connected, Connection, EmailForm, Field, Level,
    PasswordForm, Session, Sessions,
};

pub(crate) fn settings() -> Vec<(&'static str, AccountSettings)> {
    let plain = || AccountSettings {
        frame: ada(),
        email: EmailForm {
            action: "/settings/account/email".to_owned(),
            address: Some("ada@example.org".to_owned()),
            confirmed: true,
            pending: None,
            resend: "/settings/account/email/again".to_owned(),
            cancel: "/settings/account/email/cancel".to_owned(),
            email: Field::default(),
            password: Field::default(),
        },
        password: PasswordForm {
            action: "/settings/account/password".to_owned(),
            current: Field::default(),
            password: Field::default(),
        },
        about: AboutForm {
            action: "/settings/account/about".to_owned(),
            born_on: Field::of("1990-12-31"),
            gender: "female",
        },
    };
    let mut pending = plain();
    pending.frame = told(ada(), "We sent a letter to ada@new.example");
    pending.email.pending = Some("ada@new.example".to_owned());
    let mut refused = plain();
    refused.email.confirmed = false;
    refused.email.email = Field::refused("ada@example", "Enter a whole address");
    refused.password.current = Field::refused("", "This is not your password");
    let mut without = plain();
    without.email.address = None;
    let mut bad = plain();
    bad.frame = hostile();
    bad.email.address = Some(HOSTILE.to_owned());
    bad.email.pending = Some(HOSTILE.to_owned());
    bad.email.email = Field::refused(HOSTILE, HOSTILE);
    bad.about.born_on = Field::refused(HOSTILE, HOSTILE);
    vec![
        ("plain", plain()),
        ("pending", pending),
        ("refused", refused),
        ("without-email", without),
        ("hostile", bad),
    ]
}

fn session(device: &str, address: &str, current: bool) -> Session {
    Session {
        id: format!("s-{device}"),
        device: device.to_owned(),
        address: address.to_owned(),
        since: days(3),
        last_seen: minutes(42),
        current,
    }
}

pub(crate) fn sessions() -> Vec<(&'static str, Sessions)> {
    let of = |frame, sessions| Sessions {
        frame,
        sessions,
        revoke: "/settings/sessions/revoke".to_owned(),
        revoke_others: "/settings/sessions/revoke-others".to_owned(),
    };
    let here = || session("Firefox on Linux", "203.0.113.7", true);
    let several = vec![
        here(),
        session("Safari on iPhone", "2001:db8:85a3::8a2e:370:7334", false),
        session("An unknown device", "198.51.100.23", false),
    ];
    vec![
        ("one", of(ada(), vec![here()])),
        ("several", of(ada(), several)),
        (
            "hostile",
            of(hostile(), vec![here(), session(HOSTILE, HOSTILE, false)]),
        ),
    ]
}

fn connection(app: AppCard, level: Level) -> Connection {
    Connection {
        id: format!("c-{}", app.name),
        app,
        summary: level.name().to_owned(),
        permissions: level.can(false).into_iter().map(str::to_owned).collect(),
        since: days(64),
        last_used: Some(minutes(4)),
    }
}

pub(crate) fn connected() -> Vec<(&'static str, Connected)> {
    let of = |frame, apps| Connected {
        frame,
        apps,
        revoke: "/settings/apps/revoke".to_owned(),
    };
    let other = AppCard {
        name: "Tidewatch".to_owned(),
        description: String::new(),
        website: None,
        owner: "marsh_lab".to_owned(),
    };
    let several = vec![
        connection(card(), Level::Write),
        Connection {
            last_used: None,
            ..connection(other, Level::Read)
        },
    ];
    vec![
        (
            "several",
            of(told(ada(), "Lighthouse is disconnected"), several),
        ),
        ("none", of(ada(), Vec::new())),
        (
            "hostile",
            of(
                hostile(),
                vec![Connection {
                    summary: HOSTILE.to_owned(),
                    permissions: vec![HOSTILE.to_owned()],
                    ..connection(hostile_card(), Level::Read)
                }],
            ),
        ),
    ]
}
