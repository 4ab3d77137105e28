//! `locum enter-sandbox`: enters the sandbox and becomes the program. Runs on one thread, which namespaces of users
//! require.

use std::fmt::Display;
use std::fs;
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use base::Fault;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use rustix::fs::Mode;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType};
use rustix::process::{getgid, getuid, umask};

use super::descriptors::{send_failure, send_sockets};
use super::plan::{BindMount, SOCKET_NAME, SandboxPlan};
use crate::launcher::child_process::{execution_error, missing_program};
use instance::arguments::EnterSandboxArgs;
use instance::command_error::CommandError;
use instance::shorten_socket_path;

const UBUNTU_RESTRICTION: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

/// The first interface of a namespace.
const LOOPBACK_INDEX: i32 = 1;

pub(crate) fn enter_sandbox(args: &EnterSandboxArgs, inherited: Mode) -> Result<ExitCode, CommandError> {
    let context = Fault::context("the socket of `locum run`");
    let mut socket = UnixStream::connect(shorten_socket_path(&args.folder.join(SOCKET_NAME))).map_err(context)?;
    let plan = SandboxPlan::read(&args.folder)?;
    let context = || Fault::context("answering `locum run`");
    match set_up(&plan) {
        Ok(listeners) => send_sockets(&socket, &listeners).map_err(context())?,
        Err(reason) => {
            send_failure(&socket, &(reason + &restriction_hint())).map_err(context())?;
            return Ok(ExitCode::FAILURE);
        }
    }
    socket.read_exact(&mut [0]).map_err(context())?;
    let (program, rest) = args.command.split_first().ok_or_else(missing_program)?;
    umask(inherited);
    let error = Command::new(program).args(rest).exec();
    Err(execution_error(program, &error))
}

fn set_up(plan: &SandboxPlan) -> Result<Vec<TcpListener>, String> {
    enter_namespaces()?;
    mount_files(&plan.mounts)?;
    enable_loopback().map_err(|error| format!("enabling the loopback interface: {error}"))?;
    let listen = |port: &u16| {
        TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).map_err(|error| format!("listening on port {port}: {error}"))
    };
    plan.ports.iter().map(listen).collect()
}

/// Root keeps its rights over files of others, which it would not have in a namespace of users.
fn enter_namespaces() -> Result<(), String> {
    let spaces = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWNET;
    let (user, group) = (getuid(), getgid());
    if user.is_root() && unshare(spaces).is_ok() {
        return Ok(());
    }
    unshare(spaces | CloneFlags::CLONE_NEWUSER).map_err(describe_failure("creating namespaces"))?;
    let (user, group) = (user.as_raw(), group.as_raw());
    let written = fs::write("/proc/self/setgroups", "deny")
        .and_then(|()| fs::write("/proc/self/uid_map", format!("{user} {user} 1")))
        .and_then(|()| fs::write("/proc/self/gid_map", format!("{group} {group} 1")));
    written.map_err(describe_failure("mapping the user into the namespace"))
}

fn mount_files(mounts: &[BindMount]) -> Result<(), String> {
    let none = None::<&str>;
    let private = mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none);
    private.map_err(describe_failure("making mounts private"))?;
    for BindMount { source, target } in mounts {
        let bound = mount(Some(source), target, none, MsFlags::MS_BIND, none);
        bound.map_err(|error| format!("mounting {}: {error}", target.display()))?;
    }
    Ok(())
}

/// Sends `RTM_NEWLINK` (`rtnetlink(7)`) and reads the acknowledgement.
fn enable_loopback() -> io::Result<()> {
    const RTM_NEWLINK: u16 = 16;
    const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
    const IFF_UP: u32 = 1;
    let mut message = Vec::from(32_u32.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    // The sequence number, the port, the family and the type.
    message.extend([0; 12]);
    message.extend(LOOPBACK_INDEX.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    let socket = rustix::net::socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    rustix::net::sendto(&socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0; 64];
    rustix::net::recv(&socket, &mut answer[..], RecvFlags::empty())?;
    // The header has 16 bytes; a negative error number follows, or 0.
    let error = answer.get(16..20).and_then(|bytes| bytes.try_into().ok()).map_or(0, i32::from_ne_bytes);
    if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(-error)) }
}

fn describe_failure<E: Display>(step: &str) -> impl FnOnce(E) -> String {
    move |error| format!("{step}: {error}")
}

fn restriction_hint() -> String {
    let is_restricted = fs::read_to_string(UBUNTU_RESTRICTION).is_ok_and(|text| text.trim() == "1");
    let name = "kernel.apparmor_restrict_unprivileged_userns";
    if is_restricted { format!("; {name} is 1: set it to 0 with sysctl, or run as root") } else { String::new() }
}
