//! The form of an app: submitted, stored and refused.

use base::Refusal;
use identity::apps::{AppProfile, OAuthClientKind};
use pages::{AppForm, AppKind, FormField, PermissionLevel};
use store::apps::App;

use crate::site::app_summary::{network_permission, permission_level};
use crate::site::forms::SubmittedForm;

/// The form as sent, and whether type and permission are valid.
pub(super) fn parse_submitted(form: &SubmittedForm<'_>, action: String) -> (AppForm, bool) {
    let (kind, level) = (form.text("kind"), form.text("permission"));
    let (kind, level) = (AppKind::parse(&kind), PermissionLevel::parse(&level));
    let missing = |there: bool, text: &str| (!there).then(|| text.to_owned());
    let typed = AppForm {
        action,
        name: FormField::new(form.text("name").trim()),
        description: FormField::new(form.text("description").trim()),
        website: FormField::new(form.text("website").trim()),
        kind: kind.unwrap_or_default(),
        kind_error: missing(kind.is_some(), "Choose a type."),
        permission: level.unwrap_or_default(),
        permission_error: missing(level.is_some(), "Choose a permission."),
        callbacks: FormField::new(form.text("callbacks").replace('\r', "")),
        sign_in: form.optional_text("sign_in").is_some(),
        email: form.optional_text("email").is_some(),
    };
    (typed, kind.is_some() && level.is_some())
}

pub(super) fn stored_form(app: &App, action: String) -> AppForm {
    AppForm {
        action,
        name: FormField::new(&app.name),
        description: FormField::new(&app.description),
        website: FormField::new(&app.website_url),
        kind: page_app_kind(app.kind),
        permission: permission_level(app.permission),
        callbacks: FormField::new(&app.callback_urls),
        sign_in: app.sign_in,
        email: app.request_email,
        ..AppForm::default()
    }
}

pub(super) fn build_profile(form: &AppForm) -> AppProfile {
    AppProfile {
        name: form.name.value.clone(),
        description: form.description.value.clone(),
        website_url: form.website.value.clone(),
        kind: network_app_kind(form.kind),
        permission: network_permission(form.permission),
        callback_urls: callback_urls(form),
        request_email: form.email,
        sign_in: form.sign_in,
    }
}

/// Adds errors to their fields; returns those that belong to none.
pub(super) fn apply_refusal(form: &mut AppForm, refusal: &Refusal) -> Option<String> {
    let wrong = match refusal {
        Refusal::InvalidParameters(wrong) => wrong,
        Refusal::Forbidden { detail, .. } => return Some(detail.to_string()),
        _ => return Some("Something went wrong.".to_owned()),
    };
    let mut rest = None;
    for wrong in wrong {
        let message = wrong.message.replace("website_url", "website").replace('`', "");
        let sentence = format!("{}.", message.trim_end_matches('.'));
        match wrong.parameter.as_ref() {
            "name" => form.name.error = Some(sentence),
            "description" => form.description.error = Some(sentence),
            "website_url" => form.website.error = Some(sentence),
            "callback_urls" => form.callbacks.error = Some(sentence),
            _ => rest = Some(sentence),
        }
    }
    rest
}

fn callback_urls(form: &AppForm) -> Vec<String> {
    let lines = form.callbacks.value.lines().map(str::trim);
    let mut urls: Vec<String> = Vec::new();
    for line in lines.filter(|line| !line.is_empty()) {
        if !urls.iter().any(|known| known == line) {
            urls.push(line.to_owned());
        }
    }
    urls
}

pub(super) const fn page_app_kind(kind: OAuthClientKind) -> AppKind {
    match kind {
        OAuthClientKind::Web => AppKind::Web,
        OAuthClientKind::Automated => AppKind::Automated,
        OAuthClientKind::Native => AppKind::Native,
        OAuthClientKind::SinglePage => AppKind::SinglePage,
    }
}

const fn network_app_kind(kind: AppKind) -> OAuthClientKind {
    match kind {
        AppKind::Web => OAuthClientKind::Web,
        AppKind::Automated => OAuthClientKind::Automated,
        AppKind::Native => OAuthClientKind::Native,
        AppKind::SinglePage => OAuthClientKind::SinglePage,
    }
}
