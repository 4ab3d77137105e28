//! Applications for accounts that wait for a moderator.

use base::text::is_valid_username;
use base::{Error, Refusal, UserId};
use serde_json::json;
use store::registration_requests::{self, RegistrationRequest};
use store::{Tx, users};

use super::RegistrationApplicant;
use crate::email_links;
use network::audit::{self, AuditAction, AuditActor};
use network::emails::EmailSite;
use network::user_roles::{self, UserRole};
use network::users::NewUser;

/// Applications that wait at most.
const MAX_WAITING: i64 = 1_000;

/// A second application with the same address changes nothing.
pub(super) fn insert(
    tx: &mut Tx<'_>,
    applicant: &RegistrationApplicant,
    email: &str,
    password_hash: &str,
) -> Result<(), Error> {
    let username = &applicant.username;
    if !is_valid_username(username) || users::find_by_username(tx, username)?.is_some() {
        let message = format!("The username [{username}] is taken or invalid");
        return Err(Refusal::invalid_parameter("username", username, message).into());
    }
    if !applicant.name.trim().is_empty() {
        network::profile_fields::validate_display_name(&applicant.name)?;
    }
    if registration_requests::count(tx)? >= MAX_WAITING {
        return Err(Refusal::RateLimited.into());
    }
    let request = RegistrationRequest {
        id: tx.next_id::<()>().get(),
        username: username.clone(),
        name: applicant.name.clone(),
        email: email.to_lowercase(),
        password_hash: password_hash.to_owned(),
        address: applicant.client_info.address.clone(),
    };
    registration_requests::insert(tx, &request)?;
    Ok(())
}

/// Oldest first.
pub fn list_applications(tx: &mut Tx<'_>, actor: &AuditActor, limit: i64) -> Result<Vec<RegistrationRequest>, Error> {
    user_roles::require_role(tx, actor, UserRole::Moderator)?;
    Ok(registration_requests::list(tx, limit)?)
}

/// Creates the account, and sends a link to confirm its address that says so.
pub fn accept_application(tx: &mut Tx<'_>, site: &EmailSite, actor: &AuditActor, id: i64) -> Result<UserId, Error> {
    let request = take(tx, actor, id, true)?;
    let new = NewUser {
        username: request.username,
        name: request.name,
        password_hash: Some(request.password_hash),
        ..NewUser::default()
    };
    let user = network::users::create(tx, &new)?;
    users::set_email(tx, user.id, &request.email, false)?;
    let accepted = format!("Your application for an account on {} was accepted. You can sign in.\n\n", site.name());
    email_links::send_email_confirmation_after(tx, site, &user, &request.email, &accepted)?;
    Ok(user.id)
}

/// Deletes the application and says so to its address, unless that got too many emails.
pub fn refuse_application(tx: &mut Tx<'_>, site: &EmailSite, actor: &AuditActor, id: i64) -> Result<(), Error> {
    let request = take(tx, actor, id, false)?;
    let text = format!(
        "Hello,\n\nYour application for the account @{} on {} was refused, and what you entered was deleted.\n",
        request.username,
        site.name(),
    );
    let subject = format!("Your application on {}", site.name());
    Ok(email_links::notify_recipient(tx, "application", &request.email, &subject, &text)?)
}

fn take(tx: &mut Tx<'_>, actor: &AuditActor, id: i64, accepted: bool) -> Result<RegistrationRequest, Error> {
    user_roles::require_role(tx, actor, UserRole::Moderator)?;
    let missing = || network::lookup::not_found("application", &id.to_string());
    let request = registration_requests::find(tx, id)?.ok_or_else(missing)?;
    if !registration_requests::delete(tx, id)? {
        return Err(missing());
    }
    let detail = json!({ "username": request.username, "accepted": accepted });
    audit::append(tx, actor, AuditAction::REGISTRATION_DECIDE, None, &detail)?;
    Ok(request)
}
