//! Arguments that more than one module reads. Administration commands declare their own.

mod global_args;
mod run_args;
mod server_args;
mod tool_args;

pub use global_args::{ConfigFlag, GlobalArgs};
pub use run_args::{EnterSandboxArgs, InterceptionMode, RunArgs};
pub use server_args::{DevArgs, InitialClock, ListenArgs, ServeArgs};
pub use tool_args::{
    CaCommand, ConfigCommand, EnvArgs, EnvFormat, HealthArgs, InitArgs, LimitProcessArgs, MigrateCommand, RestoreArgs,
    RoutesArgs, WebhookListenArgs,
};
