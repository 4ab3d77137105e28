//! Locum: a social platform server in one binary. The command line, the configuration, the
//! start-up and the worlds of the test platform; every rule lives in the floors below.

mod cli;
mod command;
mod command_error;
mod config;
mod dev;
mod instance;
mod runtime;
mod tools;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::main()
}
