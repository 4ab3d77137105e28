//! The webhook settings.

use std::path::Path;
use std::time::Duration;

use deliver::webhooks::{AllowedTargets, CertificateAuthorities, NameResolver, RetrySchedule, WebhookSettings};

use super::key::RunMode;
use super::parse;
use super::values::ConfigValues;
use crate::command_error::CommandError;

pub(super) fn webhook_settings(values: &ConfigValues, node: u16) -> Result<WebhookSettings, CommandError> {
    let text = |name| values.get_text(name).unwrap_or_default();
    let span = |name| parse::parse_duration(text(name)).unwrap_or_default();
    let count = |name| text(name).parse::<i64>().unwrap_or(0);
    let switch = |name| parse::parse_bool(text(name)).unwrap_or(false);
    let targets = AllowedTargets {
        allow_http: switch("webhooks.allow_http"),
        private_blocks: parse::parse_ip_blocks(text("webhooks.allow_private")).unwrap_or_default(),
    };
    let open = targets.allow_http || !targets.private_blocks.is_empty();
    if values.mode == RunMode::Serve && open && !switch("webhooks.danger_targets") {
        return Err(CommandError::WrongMode(
            "webhooks.allow_http, webhooks.allow_private: production sends only to public \
             addresses over https unless webhooks.danger_targets is set"
                .to_owned(),
        ));
    }
    let authorities = match values.get_text("webhooks.authorities") {
        Some(path) => CertificateAuthorities::load_pem(Path::new(path))
            .map_err(|fault| CommandError::Usage(format!("webhooks.authorities: {fault}")))?,
        None => CertificateAuthorities::default(),
    };
    let waits: Vec<Duration> = parse::list_items(text("webhooks.retry")).filter_map(parse::parse_duration).collect();
    Ok(WebhookSettings {
        node_id: node,
        timeout: span("webhooks.timeout"),
        retry: RetrySchedule::new(waits),
        disable_after: span("webhooks.disable_after"),
        challenge_interval: span("webhooks.crc_interval"),
        targets,
        resolver: NameResolver::System,
        authorities,
        max_webhooks: (count("webhooks.per_app"), count("webhooks.per_enterprise_app")),
    })
}
