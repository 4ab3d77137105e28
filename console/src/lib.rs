//! The testing tools of a development server: the control API below `/control/v1`, and the console. A production server
//! mounts neither.

mod assertion_names;
mod console_pages;
mod control;
mod endpoint_lookup;
mod fault_rules;
mod rate_limits;
mod refusal_message;
mod request_queries;
mod stream_connections;
mod traffic;
mod world_clock;
mod world_control;
mod world_environment;

pub use console_pages::ENDPOINTS as PAGES;
pub use control::ENDPOINTS as CONTROL;
