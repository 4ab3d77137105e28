//! The webhook settings.

use deliver::webhooks::{AllowedTargets, CertificateAuthorities, NameResolver, RetrySchedule, WebhookSettings};

use super::keys::WebhooksSection;
use crate::command_error::CommandError;

pub(super) fn webhook_settings(section: WebhooksSection) -> Result<WebhookSettings, CommandError> {
    let authorities = match section.authorities {
        Some(path) => CertificateAuthorities::load_pem(&path)
            .map_err(|fault| CommandError::Usage(format!("webhooks.authorities: {fault}")))?,
        None => CertificateAuthorities::default(),
    };
    Ok(WebhookSettings {
        timeout: section.timeout.0,
        retry: RetrySchedule::new(section.retry.into_iter().map(|delay| delay.0).collect()),
        disable_after: section.disable_after.0,
        challenge_interval: section.crc_interval.0,
        targets: AllowedTargets { allow_http: section.allow_http, private_blocks: section.allow_private.0 },
        resolver: NameResolver::System,
        authorities,
        max_webhooks: (section.per_app, section.per_enterprise_app),
    })
}
