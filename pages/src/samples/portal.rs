use super::{HOSTILE, HOSTILE_URL, ada, app, hostile, hostile_app, minutes, told};
use crate::{
    App, AppAccess, AppForm, AppKind, AppRow, AppSettings, Apps, Field, Level, NewApp, Pager,
};

fn row(app: App, description: &str, kind: AppKind, level: Level) -> AppRow {
    AppRow {
        app,
        description: description.to_owned(),
        kind,
        level,
        last_used: Some(minutes(12)),
        suspended: false,
    }
}

pub(crate) fn apps() -> Vec<(&'static str, Apps)> {
    let of = |frame, apps| Apps {
        frame,
        apps,
        pager: Pager::default(),
    };
    let other = App {
        id: "1789440129884192769".to_owned(),
        name: "weather_bot".to_owned(),
        path: "/developer/apps/1789440129884192769".to_owned(),
    };
    let several = vec![
        row(
            app(),
            "Plans posts for small radio stations and tells them who listened.",
            AppKind::Web,
            Level::Write,
        ),
        AppRow {
            last_used: None,
            suspended: true,
            ..row(other, "", AppKind::Automated, Level::DirectMessages)
        },
    ];
    vec![
        ("none", of(ada(), Vec::new())),
        (
            "several",
            Apps {
                pager: Pager {
                    previous: None,
                    next: Some("/developer/apps?page=2".to_owned()),
                },
                ..of(told(ada(), "Tidewatch is deleted"), several)
            },
        ),
        (
            "hostile",
            of(
                hostile(),
                vec![row(hostile_app(), HOSTILE, AppKind::Native, Level::Read)],
            ),
        ),
    ]
}

fn filled() -> AppForm {
    AppForm {
        action: app().path,
        name: Field::of("Harbour Radio"),
        description: Field::of("Plans posts for small radio stations and tells them who listened."),
        website: Field::of("https://harbour-radio.example"),
        permission: Level::Write,
        callbacks: Field::of(
            "https://harbour-radio.example/callback\nhttp://127.0.0.1:8000/callback",
        ),
        sign_in: true,
        ..AppForm::default()
    }
}

fn refused() -> AppForm {
    AppForm {
        name: Field::refused("", "Give the app a name"),
        website: Field::refused("harbour", "Begin with https:// or http://"),
        kind_error: Some("Choose what kind of app it is".to_owned()),
        permission_error: Some("Choose a permission".to_owned()),
        callbacks: Field::refused(
            "https://harbour-radio.example/callback?from=menu\nftp://files.example",
            "Line 1: a callback carries no query. Line 2: ftp addresses are not allowed.",
        ),
        ..filled()
    }
}

fn bad() -> AppForm {
    AppForm {
        action: HOSTILE.to_owned(),
        name: Field::refused(HOSTILE, HOSTILE),
        description: Field::of(format!("</textarea>{HOSTILE}")),
        website: Field::of(HOSTILE_URL),
        callbacks: Field::refused(format!("\n</textarea>{HOSTILE}\n{HOSTILE_URL}"), HOSTILE),
        kind_error: Some(HOSTILE.to_owned()),
        permission_error: Some(HOSTILE.to_owned()),
        ..AppForm::default()
    }
}

pub(crate) fn new_app() -> Vec<(&'static str, NewApp)> {
    let of = |frame, form| NewApp { frame, form };
    let blank = AppForm {
        action: "/developer/apps/new".to_owned(),
        ..AppForm::default()
    };
    vec![
        ("blank", of(ada(), blank)),
        ("refused", of(ada(), refused())),
        ("hostile", of(hostile(), bad())),
    ]
}

pub(crate) fn app_settings() -> Vec<(&'static str, AppSettings)> {
    let access = |tier: &str| AppAccess {
        tier: tier.to_owned(),
        parts: vec![
            ("Blocking users".to_owned(), true),
            (tier.to_owned(), false),
        ],
    };
    let of = |frame, app: App, form: AppForm| AppSettings {
        access: access(if form.action == HOSTILE {
            HOSTILE
        } else {
            "self-serve"
        }),
        frame,
        app,
        form,
    };
    vec![
        ("saved", of(told(ada(), "Saved"), app(), filled())),
        ("refused", of(ada(), app(), refused())),
        ("hostile", of(hostile(), hostile_app(), bad())),
    ]
}
