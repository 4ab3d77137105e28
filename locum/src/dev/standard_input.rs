//! `locum dev --until-eof`: ends with the process that started it, however that ends.

use std::io;

use base::Fault;
use rustix::process::{Signal, getpid, kill_process};

/// Requests a graceful shutdown at the end of the input.
pub(super) fn stop_at_end() -> Result<(), Fault> {
    let thread = std::thread::Builder::new().name("stdin".to_owned()).spawn(|| {
        let _ended = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _sent = kill_process(getpid(), Signal::TERM);
    });
    thread.map(drop).map_err(Fault::context("watching standard input"))
}
