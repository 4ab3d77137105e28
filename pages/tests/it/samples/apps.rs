use super::{HOSTILE, HOSTILE_URL, hostile_app, hostile_frame, minutes_ago, sample_app, signed_in_frame, with_notice};
use pages::{
    AppAccessSummary, AppForm, AppKind, AppListItem, AppListPage, AppRef, AppSettingsPage, FormField, NewAppPage,
    Pager, PermissionLevel,
};

fn app_list_item(app: AppRef, description: &str, kind: AppKind, level: PermissionLevel) -> AppListItem {
    AppListItem {
        app,
        description: description.to_owned(),
        kind,
        level,
        last_used: Some(minutes_ago(12)),
        suspended: false,
    }
}

pub(crate) fn app_list_states() -> Vec<(&'static str, AppListPage)> {
    let of = |frame, apps| AppListPage { frame, apps, pager: Pager::default() };
    let other = AppRef {
        id: "1789440129884192769".to_owned(),
        name: "weather_bot".to_owned(),
        path: "/developer/apps/1789440129884192769".to_owned(),
    };
    let several = vec![
        app_list_item(
            sample_app(),
            "Plans posts for small radio stations and tells them who listened.",
            AppKind::Web,
            PermissionLevel::Write,
        ),
        AppListItem {
            last_used: None,
            suspended: true,
            ..app_list_item(other, "", AppKind::Automated, PermissionLevel::DirectMessages)
        },
    ];
    vec![
        ("none", of(signed_in_frame(), Vec::new())),
        (
            "several",
            AppListPage {
                pager: Pager { previous: None, next: Some("/developer/apps?page=2".to_owned()) },
                ..of(with_notice(signed_in_frame(), "Tidewatch was deleted"), several)
            },
        ),
        (
            "hostile",
            of(hostile_frame(), vec![app_list_item(hostile_app(), HOSTILE, AppKind::Native, PermissionLevel::Read)]),
        ),
    ]
}

fn valid_form() -> AppForm {
    AppForm {
        action: sample_app().path,
        name: FormField::new("Harbour Radio"),
        description: FormField::new("Plans posts for small radio stations and tells them who listened."),
        website: FormField::new("https://harbour-radio.example"),
        permission: PermissionLevel::Write,
        callbacks: FormField::new("https://harbour-radio.example/callback\nhttp://127.0.0.1:8000/callback"),
        sign_in: true,
        ..AppForm::default()
    }
}

fn invalid_form() -> AppForm {
    AppForm {
        name: FormField::invalid("", "Enter a name"),
        website: FormField::invalid("harbour", "Begin with https:// or http://"),
        kind_error: Some("Choose what kind of app it is".to_owned()),
        permission_error: Some("Choose a permission".to_owned()),
        callbacks: FormField::invalid(
            "https://harbour-radio.example/callback?from=menu\nftp://files.example",
            "Line 1: a callback carries no query. Line 2: ftp addresses are not allowed.",
        ),
        ..valid_form()
    }
}

fn invalid_field() -> AppForm {
    AppForm {
        action: HOSTILE.to_owned(),
        name: FormField::invalid(HOSTILE, HOSTILE),
        description: FormField::new(format!("</textarea>{HOSTILE}")),
        website: FormField::new(HOSTILE_URL),
        callbacks: FormField::invalid(format!("\n</textarea>{HOSTILE}\n{HOSTILE_URL}"), HOSTILE),
        kind_error: Some(HOSTILE.to_owned()),
        permission_error: Some(HOSTILE.to_owned()),
        ..AppForm::default()
    }
}

pub(crate) fn new_app_states() -> Vec<(&'static str, NewAppPage)> {
    let of = |frame, form| NewAppPage { frame, form_id: "f1".to_owned(), form };
    let blank = AppForm { action: "/developer/apps/new".to_owned(), ..AppForm::default() };
    vec![
        ("blank", of(signed_in_frame(), blank)),
        ("refused", of(signed_in_frame(), invalid_form())),
        ("hostile", of(hostile_frame(), invalid_field())),
    ]
}

pub(crate) fn app_settings_states() -> Vec<(&'static str, AppSettingsPage)> {
    let access = |tier: &str| AppAccessSummary {
        tier: tier.to_owned(),
        entitlements: vec![("Blocking users".to_owned(), true), (tier.to_owned(), false)],
    };
    let of = |frame, app: AppRef, form: AppForm| AppSettingsPage {
        access: access(if form.action == HOSTILE { HOSTILE } else { "self-serve" }),
        frame,
        app,
        form,
    };
    vec![
        ("saved", of(with_notice(signed_in_frame(), "Saved"), sample_app(), valid_form())),
        ("refused", of(signed_in_frame(), sample_app(), invalid_form())),
        ("hostile", of(hostile_frame(), hostile_app(), invalid_field())),
    ]
}
