//! Starts a Locum development server from Rust tests.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use locum_testing::{Error, FaultRule, shared_server};
//!
//! fn main() -> Result<(), Error> {
//!     let world = shared_server()?.create_world("demo")?;
//!     world.faults().add(FaultRule::new("status").parameter("status", 503).route("GET /2/users/me").nth(2))?;
//!     world.clock().advance(Duration::from_hours(24))?;
//!     println!("{} {:?}", world.url(), world.variable("LOCUM_USER_TOKEN"));
//!     world.journal().expect(&["GET /2/users/me status=503 count=0"])
//! }
//! ```

mod control;
mod error;
mod fault_rule;
mod server;
mod world;

pub use control::ControlClient;
pub use error::Error;
pub use fault_rule::FaultRule;
pub use server::{Server, ServerOptions, shared_server};
pub use world::{Clock, Faults, Journal, Limits, Snapshots, World};
