//! The settings of the site that its owners change while it runs.

use base::{Error, Fault, Refusal};
use serde_json::json;
use store::{Tx, site_settings};

use crate::audit::{self, AuditAction, AuditActor};
use crate::registration::RegistrationPolicy;
use crate::user_roles::{self, UserRole};

pub const NAME: &str = "name";
pub const REGISTRATIONS: &str = "registrations";
/// Whether search engines may index public profiles and posts.
pub const INDEXING: &str = "indexing";
/// Texts in Markdown, each shown at the path of its name; the contact is shown with the others.
pub const PAGES: [&str; 5] = ["about", "rules", "terms", "privacy", "contact"];
/// Every setting, in the order in which it is shown.
pub const NAMES: [&str; 8] = [NAME, REGISTRATIONS, INDEXING, "about", "rules", "terms", "privacy", "contact"];

const ALLOWED: &str = "allowed";
const REFUSED: &str = "refused";

/// Characters.
const MAX_NAME_LENGTH: usize = 60;
/// Bytes of Markdown.
pub const MAX_PAGE_BYTES: usize = 50_000;

const POLICIES: [(RegistrationPolicy, &str); 4] = [
    (RegistrationPolicy::Open, "open"),
    (RegistrationPolicy::Approval, "approval"),
    (RegistrationPolicy::Invite, "invite"),
    (RegistrationPolicy::Closed, "closed"),
];

fn validate(name: &str, value: &str) -> Result<(), Refusal> {
    if !NAMES.contains(&name) {
        let message = format!("The setting [{name}] is not one of [{}]", NAMES.join(","));
        return Err(Refusal::invalid_parameter("setting", name, message));
    }
    match name {
        NAME if value.chars().count() > MAX_NAME_LENGTH || value.chars().any(char::is_control) => {
            let message = format!("The name must have at most {MAX_NAME_LENGTH} characters, none of them a control");
            Err(Refusal::invalid_parameter(NAME, value, message))
        }
        REGISTRATIONS if !value.is_empty() && parse_policy(value).is_none() => {
            let message = format!("The value [{value}] is not one of [open,approval,invite,closed]");
            Err(Refusal::invalid_parameter(REGISTRATIONS, value, message))
        }
        INDEXING if !["", ALLOWED, REFUSED].contains(&value) => {
            let message = format!("The value [{value}] is not one of [{ALLOWED},{REFUSED}]");
            Err(Refusal::invalid_parameter(INDEXING, value, message))
        }
        _ if value.len() > MAX_PAGE_BYTES || value.contains('\0') => {
            let message = format!("The text must have at most {MAX_PAGE_BYTES} bytes, none of them zero");
            Err(Refusal::invalid_parameter("value", "", message))
        }
        _ => Ok(()),
    }
}

fn parse_policy(text: &str) -> Option<RegistrationPolicy> {
    POLICIES.iter().find(|(_, name)| *name == text).map(|(policy, _)| *policy)
}

pub fn policy_name(policy: RegistrationPolicy) -> &'static str {
    POLICIES.iter().find(|(known, _)| *known == policy).map_or("", |(_, name)| name)
}

/// An empty value returns to what the configuration says. Needs the role of an admin.
pub fn set(tx: &mut Tx<'_>, actor: &AuditActor, name: &str, value: &str) -> Result<(), Error> {
    user_roles::require_role(tx, actor, UserRole::Admin)?;
    validate(name, value)?;
    site_settings::set(tx, name, value)?;
    Ok(audit::append(tx, actor, AuditAction::SITE_UPDATE, None, &json!({ "setting": name }))?)
}

/// Those of [`PAGES`] that are not empty.
pub fn list_written_pages(tx: &mut Tx<'_>) -> Result<Vec<&'static str>, Fault> {
    let names = site_settings::list_set_names(tx)?;
    Ok(PAGES.into_iter().filter(|page| names.iter().any(|name| name == page)).collect())
}

/// Empty if it was never set.
pub fn get(tx: &mut Tx<'_>, name: &str) -> Result<String, Fault> {
    Ok(site_settings::get(tx, name)?.unwrap_or_default())
}

/// The stored policy, or the configured one.
pub fn registration_policy(tx: &mut Tx<'_>, configured: RegistrationPolicy) -> Result<RegistrationPolicy, Fault> {
    Ok(parse_policy(&get(tx, REGISTRATIONS)?).unwrap_or(configured))
}

/// False unless the owners have allowed it.
pub fn allows_indexing(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    Ok(get(tx, INDEXING)? == ALLOWED)
}
