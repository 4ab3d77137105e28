//! `locum invite`.

use base::{Error, Refusal, Time};
use clap::Args;
use identity::email_links;
use identity::registration::RegistrationPolicy;
use network::audit::AuditActor;
use network::emails::EmailSite;
use network::site_settings::registration_policy;
use serde_json::{Value, json};

use crate::Instance;
use crate::ListeningAddresses;
use crate::config::RegistrationName;

#[derive(Args, Clone, Debug)]
pub struct InviteArgs {
    /// Also send the link to this address
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,
}

pub(super) async fn execute(instance: &Instance, invite: InviteArgs) -> Result<Value, Error> {
    let configured = instance.settings.auth.registration;
    let policy = move |tx: &mut store::Tx<'_>| Ok::<_, Error>(registration_policy(tx, configured.into())?);
    if instance.store.read(policy).await? == RegistrationPolicy::Closed {
        let detail = if configured == RegistrationName::Closed {
            "Registration is closed: auth.registration is [closed]. `locum site set registrations invite` opens it to invited people."
        } else {
            "Registration is closed: the site's setting registrations is [closed]. `locum site set registrations invite` opens it to invited people."
        };
        return Err(Refusal::forbidden(detail).into());
    }
    let (site, email) = (email_site(instance).await?, invite.email.unwrap_or_default());
    let made = instance.write(move |tx| {
        let link = email_links::create_invitation(tx, &site, &AuditActor::operator(), email.trim())?;
        Ok::<(String, Time), Error>((link, tx.now().plus_ms(email_links::INVITE_TTL_MS)))
    });
    let (link, end) = made.await?;
    Ok(json!({"link": link, "expires_at": end.to_string()}))
}

/// Uses the configured base URL, or the last known address of the server on this data directory.
pub async fn email_site(instance: &Instance) -> Result<EmailSite, Error> {
    let settings = &instance.settings;
    let last = || ListeningAddresses::read(&settings.core.data_dir).map(|listening| listening.base_url);
    let url = settings.core.base_url.as_ref().map(|url| url.0.clone()).or_else(last);
    let url = url.unwrap_or_else(|| settings.public_url(settings.listen.addr));
    let site = EmailSite::new(&settings.core.site_name, &url)?;
    let loaded = site.clone();
    instance.store.read(move |tx| Ok::<_, Error>(loaded.load_settings(tx)?)).await?;
    Ok(site)
}
