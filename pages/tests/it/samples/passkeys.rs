use super::{HOSTILE, days_ago, hostile_frame, minutes_ago, signed_in_frame};
use pages::{FormField, PasskeyAddition, PasskeyItem, PasskeySettings, PasskeySetupPage};

fn settings(passkeys: Vec<PasskeyItem>, addition: PasskeyAddition, removal_password: FormField) -> PasskeySettings {
    let remove = "/settings/security/passkeys/remove".to_owned();
    PasskeySettings { passkeys, addition, remove, removal_password }
}

fn items(name: &str, count: usize) -> Vec<PasskeyItem> {
    let item = |index: usize| PasskeyItem {
        id: format!("AAE{index}"),
        name: name.to_owned(),
        created_at: days_ago(20),
        last_used_at: (index == 0).then(|| minutes_ago(5)),
    };
    (0..count).map(item).collect()
}

fn addition_form(password: FormField, code: Option<FormField>) -> PasskeyAddition {
    PasskeyAddition::Form { action: "/settings/security/passkeys".to_owned(), password, code }
}

pub(super) fn no_passkeys(password: FormField, code: Option<FormField>) -> PasskeySettings {
    settings(Vec::new(), addition_form(password, code), FormField::default())
}

pub(super) fn some_passkeys(name: &str, count: usize, field: FormField) -> PasskeySettings {
    settings(items(name, count), addition_form(field.clone(), Some(field.clone())), field)
}

pub(super) fn full_passkeys() -> PasskeySettings {
    settings(items("Safari on iPhone", 10), PasskeyAddition::Full, FormField::default())
}

pub(super) fn unavailable_passkeys() -> PasskeySettings {
    settings(Vec::new(), PasskeyAddition::Unavailable, FormField::default())
}

pub(crate) fn setup_states() -> Vec<(&'static str, PasskeySetupPage)> {
    let of = |frame, text: &str, existing| PasskeySetupPage {
        frame,
        action: "/settings/security/passkeys/confirm".to_owned(),
        name: text.to_owned(),
        challenge: "x".repeat(43),
        user_handle: "AAAAAAAAAAw".to_owned(),
        site: "social.example".to_owned(),
        username: text.to_owned(),
        display_name: text.to_owned(),
        existing,
    };
    vec![
        ("plain", of(signed_in_frame(), "Firefox on Linux", vec!["AAE0".to_owned(), "AAE1".to_owned()])),
        ("hostile", of(hostile_frame(), HOSTILE, vec![HOSTILE.to_owned()])),
    ]
}
