//! The link that makes someone the first owner of a site.

use base::secret::digest;
use base::{Error, Fault, Refusal, Secret, UserId};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use store::{Tx, user_roles};

use crate::email_links::{self, TTL_MS, create_link};
use crate::registration::{self, RegistrationApplicant};
use crate::sign_in::SignInService;
use network::audit::{self, AuditAction, AuditActor, user_detail};
use network::emails::{EmailSite, SETUP_PATH};
use network::user_roles::{UserRole, role_name};
use network::users;

const SETUP: &str = "setup";
/// What setup links are stored under instead of a user.
const NOBODY: UserId = UserId::new(0);

pub fn has_owner(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    Ok(user_roles::count_owners(tx)? > 0)
}

/// Creates a link that works for 30 minutes, until there is an owner. Earlier ones go on working: nodes that start at the
/// same time each print one. Refused if there is an owner.
pub fn create_setup_link(tx: &mut Tx<'_>, site: &EmailSite) -> Result<String, Error> {
    require_no_owner(tx)?;
    let secret = create_link(tx, SETUP, NOBODY, "", TTL_MS)?;
    Ok(site.build_link(SETUP_PATH, &secret))
}

/// Like [`create_setup_link`], but earlier links no longer work.
pub fn replace_setup_links(tx: &mut Tx<'_>, site: &EmailSite) -> Result<String, Error> {
    store::emails::expire_links(tx, NOBODY, SETUP)?;
    let link = create_setup_link(tx, site)?;
    audit::append(tx, &AuditActor::operator(), AuditAction::ROLE_SETUP, None, &Value::Null)?;
    Ok(link)
}

/// Does not use the link up.
pub fn is_setup_link_valid(tx: &mut Tx<'_>, secret: &str) -> Result<bool, Fault> {
    Ok(store::emails::find_link(tx, &digest(secret), SETUP)?.is_some())
}

/// Makes the actor the first owner by a setup link.
pub fn accept_setup(tx: &mut Tx<'_>, actor: &AuditActor, secret: &str) -> Result<(), Error> {
    require_no_owner(tx)?;
    let user = users::find_active(tx, actor.require_user()?)?.id;
    consume_setup_link(tx, secret)?;
    grant_ownership(tx, actor, user)
}

/// Creates the account of the first owner by a setup link, whoever may register otherwise. The address is confirmed
/// later if the server `sends_mail`. Refused by rate limit per client address, and for invalid input.
pub fn register_first_owner<'a>(
    sign_in: &'a SignInService,
    site: &'a EmailSite,
    sends_mail: bool,
    secret: &'a Secret,
    applicant: &'a RegistrationApplicant,
) -> BoxFuture<'a, Result<UserId, Error>> {
    Box::pin(async move {
        let text = secret.clone();
        let is_valid = move |tx: &mut Tx<'_>| Ok(is_setup_link_valid(tx, text.expose_secret())?);
        if !sign_in.store.read(is_valid).await? {
            return Err(dead_link_refusal());
        }
        let (email, hash) = registration::prepare_account(sign_in, applicant).await?;
        let (site, secret, applicant) = (site.clone(), secret.clone(), applicant.clone());
        let work = move |tx: &mut Tx<'_>| {
            require_no_owner(tx)?;
            consume_setup_link(tx, secret.expose_secret())?;
            let user = registration::create_account(tx, &applicant, &email, &hash)?;
            if sends_mail {
                email_links::send_email_confirmation(tx, &site, &user, &email)?;
            }
            let actor = AuditActor::user(user.id, &applicant.client_info.address);
            audit::append(tx, &actor, AuditAction::USER_JOIN, None, &user_detail(user.id))?;
            grant_ownership(tx, &actor, user.id)?;
            Ok(user.id)
        };
        sign_in.store.write(work).await
    })
}

fn require_no_owner(tx: &mut Tx<'_>) -> Result<(), Error> {
    user_roles::lock_owners(tx);
    if has_owner(tx)? {
        return Err(Refusal::forbidden("This site has an owner.").into());
    }
    Ok(())
}

fn consume_setup_link(tx: &mut Tx<'_>, secret: &str) -> Result<(), Error> {
    if !is_setup_link_valid(tx, secret)? || !store::emails::mark_link_used(tx, &digest(secret))? {
        return Err(dead_link_refusal());
    }
    Ok(())
}

fn dead_link_refusal() -> Error {
    Refusal::forbidden("This link no longer works.").into()
}

fn grant_ownership(tx: &mut Tx<'_>, actor: &AuditActor, user: UserId) -> Result<(), Error> {
    user_roles::set(tx, user, UserRole::Owner)?;
    let detail = json!({ "user": user.to_string(), "role": role_name(UserRole::Owner) });
    Ok(audit::append(tx, actor, AuditAction::ROLE_GRANT, None, &detail)?)
}
