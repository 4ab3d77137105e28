//! Work that nobody waits for: every minute, what has had its time is forgotten; where there is a
//! mail server, letters are handed to it.

use std::sync::Arc;
use std::time::Duration;

use base::{Fault, clock};
use edge::Shutdown;
use network::letters::{self, Mailer};
use network::sweeping::{Kept, sweep};

use crate::config::Settings;
use crate::world::World;

const EACH: Duration = Duration::from_mins(1);

/// Sweeps each minute until the signal to stop.
pub(super) async fn keep(world: World, shutdown: Shutdown) {
    let kept = kept(&world.settings);
    while !shutdown.is_triggered() {
        let _early = tokio::time::timeout(EACH, shutdown.triggered()).await;
        if shutdown.is_triggered() {
            return;
        }
        match sweep(&world.store, kept, clock::wall()).await {
            Ok(swept) => {
                for (what, rows) in swept.into_iter().filter(|(_, rows)| *rows > 0) {
                    tracing::debug!(what, rows, "swept");
                }
            }
            Err(stop) => tracing::warn!(?stop, "sweeping failed; the next minute tries again"),
        }
    }
}

fn kept(settings: &Settings) -> Kept {
    let ms = |span: Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    Kept {
        session_ttl_ms: ms(settings.session_ttl),
        log_ms: ms(settings.log_retention),
        audit_ms: ms(settings.audit_retention),
    }
}

/// The mail server, if the configuration names one.
pub(super) fn mailer(settings: &Settings) -> Result<Option<Arc<dyn Mailer>>, Fault> {
    let Some(mail) = &settings.mail else {
        return Ok(None);
    };
    Ok(Some(Arc::new(mail::Smtp::new(&mail.url, &mail.from)?)))
}

/// Sends letters until the signal to stop. One that is just being handed over is claimed for some
/// minutes and is tried again after that.
pub(super) async fn send(world: World, mailer: Option<Arc<dyn Mailer>>, shutdown: Shutdown) {
    let Some(mailer) = mailer else {
        return;
    };
    tokio::select! {
        () = letters::run(world.store, mailer) => {}
        () = shutdown.triggered() => {}
    }
}
