//! `locum invite`.

use base::{Error, Fault, Refusal, Time};
use clap::Args;
use network::audit::AuditActor;
use network::email_links;
use network::emails::EmailSite;
use network::registration::RegistrationPolicy;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::run::Listening;
use crate::world::World;

/// A link to join by, once.
#[derive(Args, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Invite {
    /// Sends it there as well
    #[arg(long, value_name = "ADDRESS")]
    #[serde(default)]
    email: Option<String>,
}

/// Does it.
pub(super) async fn execute(world: &World, invite: Invite) -> Result<Value, Error> {
    if world.settings.registration == RegistrationPolicy::Closed {
        let detail = "Nobody can join here: auth.registration is [closed].";
        return Err(Refusal::forbidden(detail).into());
    }
    let (site, email) = (site(world)?, invite.email.unwrap_or_default());
    let made = world.store.write(move |tx| {
        let link =
            email_links::create_invitation(tx, &site, &AuditActor::operator(), email.trim())?;
        Ok::<(String, Time), Error>((link, tx.now().plus_ms(email_links::INVITE_TTL_MS)))
    });
    let (link, end) = made.await?;
    Ok(json!({"link": link, "expires_at": end.to_string()}))
}

/// The platform as its letters name it: under the address that is configured, or under which the
/// server on this folder was last met.
pub(super) fn site(world: &World) -> Result<EmailSite, Fault> {
    let settings = &world.settings;
    let last = || Listening::read(&settings.data_dir).map(|listening| listening.base_url);
    let url = settings.base_url.clone().or_else(last);
    let url = url.unwrap_or_else(|| settings.base_url(settings.addr));
    EmailSite::new(&settings.site_name, &url)
}
