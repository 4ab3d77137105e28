//! The `locum` binary: command line, configuration, startup and development data.

mod cli;
mod cluster;
mod dev;
mod ignored_signals;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only the sandbox needs it"))]
mod launcher;
mod operations;
mod runtime;
mod testing;
mod tls;
mod tools;
mod worlds;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    // Keys, databases, backups and exports are for their owner only.
    let inherited = rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    cli::main(inherited)
}
