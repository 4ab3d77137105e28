//! `locum limit-process`: gives up what a program does not need, and becomes that program. The limits apply to ffmpeg,
//! which reads files of strangers.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use base::Fault;
use rustix::process::{Resource, Rlimit, getppid, nice, setrlimit};

use instance::arguments::LimitProcessArgs;
use instance::command_error::CommandError;

/// Libraries, the pipes, the input and the output.
const MAX_DESCRIPTORS: u64 = 32;
/// Of 19 at most.
const NICENESS: i32 = 15;

pub(crate) fn limit_process(args: &LimitProcessArgs) -> Result<ExitCode, CommandError> {
    set_limits(args).map_err(Fault::context("limiting the process"))?;
    #[cfg(target_os = "linux")]
    leave_network();
    let (program, rest) = args.command.split_first().ok_or_else(|| CommandError::Usage("no program".to_owned()))?;
    let error = Command::new(program).args(rest).exec();
    Err(CommandError::Failed(format!("{}: {error}", program.display())))
}

fn set_limits(args: &LimitProcessArgs) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    // It may have ended before.
    if getppid().and_then(|parent| u32::try_from(parent.as_raw_nonzero().get()).ok()) != Some(args.parent) {
        return Err(io::Error::other("the parent has ended"));
    }
    for (resource, limit) in [
        (Resource::Cpu, args.cpu_seconds),
        (Resource::As, args.memory_bytes),
        (Resource::Fsize, args.file_bytes),
        (Resource::Nofile, MAX_DESCRIPTORS),
        (Resource::Core, 0),
    ] {
        setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })?;
    }
    // The system calls of a service may not include it.
    let _allowed = nice(NICENESS);
    Ok(())
}

/// Where the system does not allow it, ffmpeg's list of protocols is what keeps it from the network.
#[cfg(target_os = "linux")]
fn leave_network() {
    use nix::sched::{CloneFlags, unshare};
    if rustix::process::getuid().is_root() && unshare(CloneFlags::CLONE_NEWNET).is_ok() {
        return;
    }
    let _allowed = unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET);
}
