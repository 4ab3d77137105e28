use super::{
    HOSTILE, days_ago, hostile_app_summary, hostile_frame, minutes_ago, sample_app_summary, signed_in_frame,
    with_notice,
};
use pages::{
    AccountSettingsPage, AppSummary, ConnectedAppItem, ConnectedAppsPage, EmailForm, FormField, PasswordForm,
    PermissionLevel, PrivateProfileForm, SessionItem, SessionsPage, UsernameForm,
};

pub(crate) fn account_settings_states() -> Vec<(&'static str, AccountSettingsPage)> {
    let plain = || AccountSettingsPage {
        frame: signed_in_frame(),
        username: UsernameForm {
            action: "/settings/account/username".to_owned(),
            username: FormField::default(),
            password: FormField::default(),
        },
        email: EmailForm {
            action: "/settings/account/email".to_owned(),
            address: Some("ada@example.org".to_owned()),
            confirmed: true,
            pending: None,
            resend: "/settings/account/email/again".to_owned(),
            cancel: "/settings/account/email/cancel".to_owned(),
            email: FormField::default(),
            password: FormField::default(),
        },
        password: PasswordForm {
            action: "/settings/account/password".to_owned(),
            current: FormField::default(),
            password: FormField::default(),
        },
        about: PrivateProfileForm {
            action: "/settings/account/about".to_owned(),
            born_on: FormField::new("1990-12-31"),
            gender: "female",
        },
    };
    let mut pending = plain();
    pending.frame = with_notice(signed_in_frame(), "We sent an email to ada@new.example");
    pending.email.pending = Some("ada@new.example".to_owned());
    let mut refused = plain();
    refused.username.username = FormField::invalid("grace", "The username [grace] is taken");
    refused.email.confirmed = false;
    refused.email.email = FormField::invalid("ada@example", "Enter a whole address");
    refused.password.current = FormField::invalid("", "This is not your password");
    let mut without = plain();
    without.email.address = None;
    let mut bad = plain();
    bad.frame = hostile_frame();
    bad.username.username = FormField::invalid(HOSTILE, HOSTILE);
    bad.email.address = Some(HOSTILE.to_owned());
    bad.email.pending = Some(HOSTILE.to_owned());
    bad.email.email = FormField::invalid(HOSTILE, HOSTILE);
    bad.about.born_on = FormField::invalid(HOSTILE, HOSTILE);
    vec![("plain", plain()), ("pending", pending), ("refused", refused), ("without-email", without), ("hostile", bad)]
}

fn session_item(device: &str, address: &str, current: bool) -> SessionItem {
    SessionItem {
        id: format!("s-{device}"),
        device: device.to_owned(),
        address: address.to_owned(),
        since: days_ago(3),
        last_seen: minutes_ago(42),
        current,
    }
}

pub(crate) fn sessions_states() -> Vec<(&'static str, SessionsPage)> {
    let of = |frame, sessions| SessionsPage {
        frame,
        sessions,
        revoke: "/settings/sessions/revoke".to_owned(),
        revoke_others: "/settings/sessions/revoke-others".to_owned(),
    };
    let here = || session_item("Firefox on Linux", "203.0.113.7", true);
    let several = vec![
        here(),
        session_item("Safari on iPhone", "2001:db8:85a3::8a2e:370:7334", false),
        session_item("An unknown device", "198.51.100.23", false),
    ];
    vec![
        ("one", of(signed_in_frame(), vec![here()])),
        ("several", of(signed_in_frame(), several)),
        ("hostile", of(hostile_frame(), vec![here(), session_item(HOSTILE, HOSTILE, false)])),
    ]
}

fn connected_app_item(app: AppSummary, level: PermissionLevel) -> ConnectedAppItem {
    ConnectedAppItem {
        id: format!("c-{}", app.name),
        app,
        summary: level.label().to_owned(),
        permissions: level.allowed_actions(false).into_iter().map(str::to_owned).collect(),
        since: days_ago(64),
        last_used: Some(minutes_ago(4)),
    }
}

pub(crate) fn connected_apps_states() -> Vec<(&'static str, ConnectedAppsPage)> {
    let of = |frame, apps| ConnectedAppsPage { frame, apps, revoke: "/settings/apps/revoke".to_owned() };
    let other = AppSummary {
        name: "Tidewatch".to_owned(),
        description: String::new(),
        website: None,
        owner: "marsh_lab".to_owned(),
        similar: None,
    };
    let several = vec![
        connected_app_item(sample_app_summary(), PermissionLevel::Write),
        ConnectedAppItem { last_used: None, ..connected_app_item(other, PermissionLevel::Read) },
    ];
    vec![
        ("several", of(with_notice(signed_in_frame(), "Access of Lighthouse was revoked"), several)),
        ("none", of(signed_in_frame(), Vec::new())),
        (
            "hostile",
            of(
                hostile_frame(),
                vec![ConnectedAppItem {
                    summary: HOSTILE.to_owned(),
                    permissions: vec![HOSTILE.to_owned()],
                    ..connected_app_item(hostile_app_summary(), PermissionLevel::Read)
                }],
            ),
        ),
    ]
}
