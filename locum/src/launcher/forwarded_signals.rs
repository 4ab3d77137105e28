//! Passes signals on to the program.

use std::fs::File;

use base::Fault;
use rustix::process::{Pid, Signal, getpgrp, kill_process};
use rustix::termios::tcgetpgrp;
use tokio::signal::unix;

use super::child_process::ChildProcess;
use crate::ignored_signals::is_ignored;

const FORWARDED: [Signal; 7] =
    [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT, Signal::USR1, Signal::USR2, Signal::WINCH];

pub(super) struct ForwardedSignals(Vec<(Signal, unix::Signal)>);

impl ForwardedSignals {
    /// Signals that this process ignores, as under `nohup`, stay ignored, and so they are by the program.
    pub(super) fn install() -> Result<Self, Fault> {
        let heard = FORWARDED.into_iter().filter(|signal| !is_ignored(*signal));
        let streams = heard.map(|signal| {
            let stream = unix::signal(unix::SignalKind::from_raw(signal.as_raw()));
            Ok((signal, stream.map_err(Fault::context("watching for signals"))?))
        });
        streams.collect::<Result<_, Fault>>().map(Self)
    }

    pub(super) fn forward_to(self, program: &mut ChildProcess) {
        for (signal, stream) in self.0 {
            program.tasks.spawn(forward_signal(signal, stream, program.pid));
        }
    }
}

async fn forward_signal(signal: Signal, mut stream: unix::Signal, pid: Pid) {
    while stream.recv().await.is_some() {
        if !is_sent_by_terminal(signal) {
            let _gone = kill_process(pid, signal);
        }
    }
}

/// A terminal sends these to all processes in the foreground, and so to the program as well.
fn is_sent_by_terminal(signal: Signal) -> bool {
    [Signal::INT, Signal::QUIT, Signal::WINCH].contains(&signal) && is_in_foreground()
}

fn is_in_foreground() -> bool {
    File::open("/dev/tty").is_ok_and(|terminal| tcgetpgrp(terminal).is_ok_and(|group| group == getpgrp()))
}
