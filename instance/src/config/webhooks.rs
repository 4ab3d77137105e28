//! The webhook settings.

use std::sync::Arc;

use deliver::webhooks::{AllowedTargets, CertificateAuthorities, NameResolver, RetrySchedule, WebhookSettings};

use super::keys::WebhooksSection;
use crate::command_error::CommandError;

/// In debug builds, only the names that `LOCUM_TEST_RESOLVE` (`name=address,…`) contains have an address, if it is set.
fn name_resolver() -> NameResolver {
    match std::env::var("LOCUM_TEST_RESOLVE") {
        Ok(names) if cfg!(debug_assertions) => NameResolver::Custom(Arc::new(move |host| {
            let pairs = names.split(',').filter_map(|pair| pair.split_once('='));
            pairs.filter(|(name, _)| *name == host).filter_map(|(_, address)| address.parse().ok()).collect()
        })),
        _ => NameResolver::System,
    }
}

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
        resolver: name_resolver(),
        authorities,
        max_webhooks: (section.per_app, section.per_enterprise_app),
        faults: None,
    })
}
