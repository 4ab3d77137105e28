//! Sample contexts of the console's pages.

mod clients;
mod clock;
mod explorer;
mod faults;
mod limits;
mod people;
mod requests;
mod webhooks;
mod worlds;

pub(crate) use clients::clients_states;
pub(crate) use clock::clock_states;
pub(crate) use explorer::{explorer_states, operation_states};
pub(crate) use faults::fault_states;
pub(crate) use limits::{limits_states, streams_states};
pub(crate) use people::{people_states, person_states};
pub(crate) use requests::{home_states, request_diff_states, request_states, requests_states};
pub(crate) use webhooks::webhooks_states;
pub(crate) use worlds::{snapshot_states, world_states};
