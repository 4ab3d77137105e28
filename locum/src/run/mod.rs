//! A server from its start to its end.

mod advertising;
mod background;
mod doors;
mod log;
mod notify;
mod server;
mod signals;
mod sockets;

pub(crate) use server::{Ready, run};
pub(crate) use sockets::{Listening, short};

use std::sync::Arc;

use crate::cli::{Common, ListenArgs, Output, ServeArgs};
use crate::config::{Mode, Settings};
use crate::exit::Exit;
use crate::world::{self, Creating, Silent};

/// `locum serve`.
pub(crate) fn serve(common: &Common, args: &ServeArgs) -> Result<(), Exit> {
    let settings = prepare(common, Mode::Serve, &args.listen, args.listen.flags())?;
    let node = settings.node;
    let world = world::open(settings, Creating::Allowed, node, Arc::new(Silent))?;
    let output = Output::of(common);
    run(world, args.listen.ready_fd, |ready| {
        let line = format!(
            "locum {} serves {}",
            env!("CARGO_PKG_VERSION"),
            ready.base_url
        );
        output.text(&line);
        Ok(())
    })
}

/// The settings of a server, with its log started.
pub(crate) fn prepare(
    common: &Common,
    mode: Mode,
    args: &ListenArgs,
    flags: Vec<crate::cli::Flag>,
) -> Result<Arc<Settings>, Exit> {
    let values = common.values(mode, flags)?;
    let mut settings = Settings::read(&values)?;
    settings.listen_on(args.port);
    log::start(&settings)?;
    for danger in &settings.dangers {
        warn_in_red(&format!("{danger} is on"));
    }
    Ok(Arc::new(settings))
}

fn warn_in_red(text: &str) {
    use std::io::IsTerminal;
    tracing::warn!("{text}");
    if std::io::stderr().is_terminal() {
        eprintln!("\x1b[31mdanger: {text}\x1b[0m");
    } else {
        eprintln!("danger: {text}");
    }
}
