//! The part of the configuration that webhooks are served by.

use std::path::Path;
use std::time::Duration;

use deliver::webhooks::{Authorities, Names, Schedule, Settings, Targets};

use super::key::Mode;
use super::parse;
use super::values::Values;
use crate::exit::Exit;

/// How webhooks are served.
pub(super) fn read(values: &Values, node: u16) -> Result<Settings, Exit> {
    let text = |name| values.text(name).unwrap_or_default();
    let span = |name| parse::span(text(name)).unwrap_or_default();
    let count = |name| text(name).parse::<i64>().unwrap_or(0);
    let switch = |name| parse::switch(text(name)).unwrap_or(false);
    let targets = Targets {
        plain: switch("webhooks.allow_http"),
        private: parse::blocks(text("webhooks.allow_private")).unwrap_or_default(),
    };
    let open = targets.plain || !targets.private.is_empty();
    if values.mode == Mode::Serve && open && !switch("webhooks.danger_targets") {
        return Err(Exit::Mode(
            "webhooks.allow_http, webhooks.allow_private: a real network sends to public \
             addresses over https, unless webhooks.danger_targets is set"
                .to_owned(),
        ));
    }
    let authorities = match values.text("webhooks.authorities") {
        Some(path) => Authorities::read(Path::new(path))
            .map_err(|fault| Exit::Usage(format!("webhooks.authorities: {fault}")))?,
        None => Authorities::default(),
    };
    let waits: Vec<Duration> = parse::items(text("webhooks.retry"))
        .filter_map(parse::span)
        .collect();
    Ok(Settings {
        node,
        timeout: span("webhooks.timeout"),
        retry: Schedule::new(waits),
        disable_after: span("webhooks.disable_after"),
        check_every: span("webhooks.crc_interval"),
        targets,
        names: Names::System,
        authorities,
        most: (
            count("webhooks.per_app"),
            count("webhooks.per_enterprise_app"),
        ),
    })
}
