//! The fields of a profile and what they may contain.

use base::Refusal;
use base::text::{NAME_LENGTH, find_name_problem};

use crate::link_facts::is_web_url;

/// Characters.
pub const BIOGRAPHY_LENGTH: usize = 160;

/// Characters.
pub const LOCATION_LENGTH: usize = 150;
/// Characters.
pub const URL_LENGTH: usize = 2048;

pub const VERIFIED_TYPES: &[&str] = &["none", "blue", "business", "government"];
pub const SUBSCRIPTION_TYPES: &[&str] = &["None", "Basic", "Premium", "PremiumPlus"];

/// Returns the first choice for an empty value.
pub(crate) fn validate_choice(
    parameter: &'static str,
    value: &str,
    choices: &[&'static str],
) -> Result<String, Refusal> {
    if value.is_empty() {
        return Ok(choices.first().copied().unwrap_or_default().to_owned());
    }
    if choices.contains(&value) {
        return Ok(value.to_owned());
    }
    let message = format!("The `{parameter}` query parameter value [{value}] is not one of [{}]", choices.join(","));
    Err(Refusal::invalid_parameter(parameter, value, message))
}

/// Fields without a value stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileChanges {
    pub username: Option<String>,
    pub name: Option<String>,
    pub description: Option<String>,
    pub location: Option<String>,
    pub url: Option<String>,
    pub profile_image_url: Option<String>,
    pub profile_banner_url: Option<String>,
}

impl ProfileChanges {
    /// With what people read in Unicode's composed form, in which its length counts.
    pub(crate) fn normalize(&self) -> Self {
        let mut changes = self.clone();
        let texts = [&mut changes.name, &mut changes.description, &mut changes.location];
        for text in texts.into_iter().flatten() {
            *text = base::text::normalize(text).into_owned();
        }
        changes
    }
}

pub fn validate_display_name(name: &str) -> Result<String, Refusal> {
    if find_name_problem(name).is_some() {
        let message =
            format!("The `name` must have 1 to {NAME_LENGTH} characters, none of them invisible or a control");
        return Err(Refusal::invalid_parameter("name", name, message));
    }
    Ok(name.to_owned())
}

pub(crate) fn validate_changes(changes: &ProfileChanges) -> Result<(), Refusal> {
    if let Some(name) = &changes.name {
        validate_display_name(name)?;
    }
    let lengths = [
        ("description", &changes.description, BIOGRAPHY_LENGTH),
        ("location", &changes.location, LOCATION_LENGTH),
        ("url", &changes.url, URL_LENGTH),
        ("profile_image_url", &changes.profile_image_url, URL_LENGTH),
        ("profile_banner_url", &changes.profile_banner_url, URL_LENGTH),
    ];
    for (name, text, max) in lengths {
        let text = text.as_deref().unwrap_or_default();
        if text.chars().count() > max {
            let message = format!("The `{name}` must have at most {max} characters");
            let shown: String = text.chars().take(100).collect();
            return Err(Refusal::invalid_parameter(name, shown, message));
        }
        if max == URL_LENGTH {
            validate_web_url(name, text)?;
        }
    }
    Ok(())
}

/// Accepts none.
pub(crate) fn validate_web_url(name: &'static str, text: &str) -> Result<(), Refusal> {
    if text.is_empty() || is_web_url(text) {
        return Ok(());
    }
    let message = format!("The `{name}` must be an address that begins with https://");
    Err(Refusal::invalid_parameter(name, text, message))
}
