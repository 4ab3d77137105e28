//! The settings of the site that its owners change while it runs.

use base::refusal::InvalidParameter;
use base::{Error, Fault, Refusal};
use serde_json::json;
use store::{Tx, site_settings};

use crate::audit::{self, AuditAction, AuditActor};
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

/// Who may register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistrationPolicy {
    Open,
    /// Those whom a moderator accepts, or who have an invitation.
    Approval,
    /// Only those with an invitation.
    Invite,
    Closed,
}

const POLICIES: [(RegistrationPolicy, &str); 4] = [
    (RegistrationPolicy::Open, "open"),
    (RegistrationPolicy::Approval, "approval"),
    (RegistrationPolicy::Invite, "invite"),
    (RegistrationPolicy::Closed, "closed"),
];

fn validate(name: &str, value: &str) -> Result<(), InvalidParameter> {
    let problem = match name {
        NAME if value.chars().count() > MAX_NAME_LENGTH || value.chars().any(char::is_control) => {
            format!("The name must have at most {MAX_NAME_LENGTH} characters, none of them a control")
        }
        REGISTRATIONS if !value.is_empty() && parse_policy(value).is_none() => {
            format!("The value [{value}] is not one of [open,approval,invite,closed]")
        }
        INDEXING if !["", ALLOWED, REFUSED].contains(&value) => {
            format!("The value [{value}] is not one of [{ALLOWED},{REFUSED}]")
        }
        _ if value.len() > MAX_PAGE_BYTES || value.contains('\0') => {
            format!("The text must have at most {MAX_PAGE_BYTES} bytes, none of them zero")
        }
        _ if NAMES.contains(&name) => return Ok(()),
        _ => format!("The setting [{name}] is not one of [{}]", NAMES.join(",")),
    };
    Err(InvalidParameter { parameter: name.to_owned().into(), values: vec![String::new()], message: problem })
}

fn parse_policy(text: &str) -> Option<RegistrationPolicy> {
    POLICIES.iter().find(|(_, name)| *name == text).map(|(policy, _)| *policy)
}

pub fn policy_name(policy: RegistrationPolicy) -> &'static str {
    POLICIES.iter().find(|(known, _)| *known == policy).map_or("", |(_, name)| name)
}

/// Stores those settings whose value changes, each with an audit entry; none if some are refused, with what is wrong with
/// each. An empty value returns to what the configuration says. Needs the role of an admin.
pub fn set_all(tx: &mut Tx<'_>, actor: &AuditActor, values: &[(&str, &str)]) -> Result<(), Error> {
    user_roles::require_role(tx, actor, UserRole::Admin)?;
    let wrong: Vec<InvalidParameter> = values.iter().filter_map(|(name, value)| validate(name, value).err()).collect();
    if !wrong.is_empty() {
        return Err(Refusal::InvalidParameters(wrong).into());
    }
    for (name, value) in values {
        if get(tx, name)? != *value {
            site_settings::set(tx, name, value)?;
            audit::append(tx, actor, AuditAction::SITE_UPDATE, None, &json!({ "setting": name }))?;
        }
    }
    Ok(())
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
