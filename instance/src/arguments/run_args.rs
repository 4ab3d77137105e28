//! Arguments of `locum run` and of the command that it starts inside the sandbox.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    /// How requests to the public hosts are led to the server
    #[arg(long, value_enum, default_value_t = InterceptionMode::Auto)]
    pub mode: InterceptionMode,
    /// Use a new world, which is removed when the program ends
    #[arg(long)]
    pub fresh: bool,
    /// The initial data of a new world: demo, ads (demo plus ad campaigns) or empty
    #[arg(long)]
    pub world: Option<String>,
    /// The port of the server if one is started [default: a free port]
    #[arg(long)]
    pub port: Option<u16>,
    /// Label the requests that arrive while the program runs, for `locum log` and `locum cost`
    #[arg(long)]
    pub label: Option<String>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum InterceptionMode {
    /// Sandbox where it works, else proxy
    Auto,
    /// Environment variables that name a proxy and certificates
    Proxy,
    /// Linux namespaces in which nothing else is reachable
    Sandbox,
}

#[derive(Args, Clone, Debug)]
pub struct EnterSandboxArgs {
    /// The folder with the plan of the sandbox and the socket of `locum run`
    pub folder: PathBuf,
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<OsString>,
}
