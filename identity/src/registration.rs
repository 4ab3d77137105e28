//! Registration of accounts: who may register, and the rules for email addresses and passwords.

mod applications;

use base::{Error, Refusal, Secret, UserId};
use futures_util::future::BoxFuture;
use store::users::User;
use store::{Tx, users};

use crate::email_links;
use crate::sessions::ClientInfo;
use crate::sign_in::{MAX_PASSWORD_BYTES, SignInService};
use network::audit::{self, AuditAction, AuditActor, user_detail};
use network::email_addresses::validate_email;
use network::emails::EmailSite;
use network::users::NewUser;
use network::{blocked_terms, site_settings};

pub use network::site_settings::RegistrationPolicy;

pub use applications::{accept_application, list_applications, refuse_application};

/// Characters.
pub const MIN_PASSWORD_LENGTH: usize = 8;

#[derive(Clone, Debug)]
pub struct RegistrationApplicant {
    pub username: String,
    /// The display name; empty for the handle.
    pub name: String,
    pub email: String,
    pub password: Secret,
    /// The secret of an invitation.
    pub invite: Option<Secret>,
    pub client_info: ClientInfo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistrationOutcome {
    Joined(UserId),
    /// A moderator has to accept the application.
    Waiting,
}

/// Creates an account and sends a link to confirm its email address, or stores an application. `configured` is the
/// policy unless the site's owners have set another. Refused by policy, by rate limit per client address, for blocked
/// email domains, and for invalid input.
pub fn register<'a>(
    sign_in: &'a SignInService,
    site: &'a EmailSite,
    configured: RegistrationPolicy,
    applicant: &'a RegistrationApplicant,
) -> BoxFuture<'a, Result<RegistrationOutcome, Error>> {
    Box::pin(async move {
        let policy = move |tx: &mut Tx<'_>| Ok(site_settings::registration_policy(tx, configured)?);
        let registration = sign_in.store.read(policy).await?;
        if registration == RegistrationPolicy::Closed {
            return Err(Refusal::forbidden("New accounts can not be made here.").into());
        }
        if registration == RegistrationPolicy::Invite && applicant.invite.is_none() {
            return Err(Refusal::forbidden("New accounts can be made with an invitation only.").into());
        }
        let (email, hash) = prepare_account(sign_in, applicant).await?;
        let (site, applicant) = (site.clone(), applicant.clone());
        let work = move |tx: &mut Tx<'_>| {
            let is_held = check_email_domain(tx, &email)? | check_names(tx, &applicant)?;
            if registration == RegistrationPolicy::Invite
                || registration == RegistrationPolicy::Approval && applicant.invite.is_some()
            {
                let invite = applicant.invite.as_ref();
                email_links::accept_invitation(tx, invite.unwrap_or(&Secret::new("")))?;
            } else if is_held || registration == RegistrationPolicy::Approval {
                applications::insert(tx, &applicant, &email, &hash)?;
                return Ok(RegistrationOutcome::Waiting);
            }
            let user = create_account(tx, &applicant, &email, &hash)?;
            email_links::send_email_confirmation(tx, &site, &user, &email)?;
            let actor = AuditActor::user(user.id, &applicant.client_info.address);
            audit::append(tx, &actor, AuditAction::USER_JOIN, None, &user_detail(user.id))?;
            Ok(RegistrationOutcome::Joined(user.id))
        };
        sign_in.store.write(work).await
    })
}

/// Validates what was entered and counts the attempt; returns the email address and the hash of the password.
pub(crate) async fn prepare_account(
    sign_in: &SignInService,
    applicant: &RegistrationApplicant,
) -> Result<(String, String), Error> {
    if !network::users::is_free_for_members(&applicant.username) {
        let message = format!("The username [{}] is taken", applicant.username);
        return Err(Refusal::invalid_parameter("username", &applicant.username, message).into());
    }
    let email = applicant.email.trim().to_owned();
    validate_email(&email)?;
    validate_password(&applicant.password, &applicant.username, &email)?;
    let (address, invite) = (applicant.client_info.address.clone(), applicant.invite.clone());
    let check_rate_limit =
        move |tx: &mut Tx<'_>| Ok(email_links::count_registration_attempt(tx, &address, invite.as_ref())?);
    if !sign_in.store.write(check_rate_limit).await? {
        return Err(Refusal::RateLimited.into());
    }
    let rng = &sign_in.store.context().rng;
    let hash = sign_in.pool.hash(&applicant.password, rng).await?;
    Ok((email, hash))
}

/// Whether addresses at the domain wait for approval. Refused for domains that are not allowed.
fn check_email_domain(tx: &mut Tx<'_>, email: &str) -> Result<bool, Error> {
    match blocked_terms::find_email_domain(tx, email)? {
        Some(term) if !term.hold => {
            Err(Refusal::invalid_field("email", "Addresses at this domain cannot be used to register here").into())
        }
        found => Ok(found.is_some()),
    }
}

/// Whether the names wait for approval. Refused for those that contain a blocked term.
fn check_names(tx: &mut Tx<'_>, applicant: &RegistrationApplicant) -> Result<bool, Error> {
    let names = format!("{}\n{}", applicant.username, applicant.name);
    Ok(blocked_terms::check_text(tx, "name", &names, "")?.is_some())
}

/// The account, with an unconfirmed address.
pub(crate) fn create_account(
    tx: &mut Tx<'_>,
    applicant: &RegistrationApplicant,
    email: &str,
    hash: &str,
) -> Result<User, Error> {
    let new = NewUser {
        username: applicant.username.clone(),
        name: applicant.name.clone(),
        password_hash: Some(hash.to_owned()),
        ..NewUser::default()
    };
    let mut user = network::users::create(tx, &new)?;
    users::set_email(tx, user.id, email, false)?;
    email.clone_into(&mut user.email);
    Ok(user)
}

/// Refuses syntactically invalid email addresses.
/// Shorter names are part of too many words to be refused inside a password.
const MIN_CONTAINED_NAME: usize = 4;
/// Guesses, in the order of common lists and patterns: what sign-in allows at one account in a year.
const MIN_GUESSES: u64 = 1_000_000;
/// Characters of a password whose guesses are estimated: estimating long ones can take seconds.
const MAX_ESTIMATED_LENGTH: usize = 20;

/// Refuses passwords that are too short, too long or easily guessed.
pub fn validate_password(password: &Secret, username: &str, email: &str) -> Result<(), Refusal> {
    let text = password.expose_secret();
    if text.chars().count() < MIN_PASSWORD_LENGTH {
        return Err(Refusal::invalid_field(
            "password",
            format!("The password must have at least {MIN_PASSWORD_LENGTH} characters"),
        ));
    }
    if text.len() > MAX_PASSWORD_BYTES {
        return Err(Refusal::invalid_field("password", "The password is too long"));
    }
    if contains_own_name(text, username, email) {
        let message = "The password must not contain the username or the email address";
        return Err(Refusal::invalid_field("password", message));
    }
    let start: String = text.chars().take(MAX_ESTIMATED_LENGTH).collect();
    if zxcvbn::zxcvbn(&start, &[username, email]).guesses() < MIN_GUESSES {
        let message = "This password would be guessed at once: choose another";
        return Err(Refusal::invalid_field("password", message));
    }
    Ok(())
}

fn contains_own_name(password: &str, username: &str, email: &str) -> bool {
    let password = password.to_lowercase();
    let local = email.split_once('@').map_or("", |(local, _)| local);
    [username, local].iter().any(|name| {
        let name = name.to_lowercase();
        name.chars().count() >= MIN_CONTAINED_NAME && password.contains(&name)
    })
}

#[cfg(test)]
mod tests {
    use base::Secret;

    use super::validate_password;

    #[test]
    fn password_that_would_be_guessed_is_refused() {
        let is_valid = |text: &str| validate_password(&Secret::new(text), "grace_hopper", "gh1906@b.org").is_ok();
        for good in
            ["tr4ms stop here", "correct horse battery", "a long secret", "\u{fc}n\u{ef}c\u{f6}d\u{e9}!", "xK9#vQ2m"]
        {
            assert!(is_valid(good), "{good}");
        }
        let long = "x1".repeat(600);
        for bad in [
            "",
            "short",
            "PassWord1",
            "P@ssw0rd!",
            "12345678",
            "aaaaaaaaaa",
            "abcabcabcabc",
            "qwertyuiop",
            "letmein123",
            "iloveyou2",
            "Liverpool1",
            "25121987",
            "changeme1",
            long.as_str(),
        ] {
            assert!(!is_valid(bad), "{bad:?}");
        }
    }

    #[test]
    fn password_that_contains_the_name_is_refused() {
        let is_valid = |password: &str, username: &str| {
            validate_password(&Secret::new(password), username, "hopper@example.org").is_ok()
        };
        assert!(!is_valid("GraceH-2026! of the navy", "graceh") && !is_valid("xxHopper99 of the navy", "graceh"));
        assert!(is_valid("many an apple", "any") && is_valid("a long secret", "graceh"));
    }

    /// Letters with many spellings are the most expensive to estimate.
    #[test]
    fn estimate_of_any_password_is_cheap() {
        let spellings = "4@8({[<369&#!1/|0$5+7%2".repeat(40);
        let start = cpu_time::ThreadTime::now();
        for text in [&spellings, &"1".repeat(1000), &"ab".repeat(500), &"p4$5w0rd".repeat(120)] {
            let _verdict = validate_password(&Secret::new(text.as_str()), "grace", "");
        }
        let took = start.elapsed();
        assert!(took.as_secs() < 5, "{took:?}, without optimization");
    }
}
