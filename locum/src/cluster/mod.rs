//! Requests between the nodes of a network: those without a search index ask those with one.

mod request_key;
mod search_client;
mod search_server;

pub(crate) use request_key::ClusterKey;
pub(crate) use search_client::SearchNodeClient;
pub(crate) use search_server::{ClusterServer, listener_limits};

/// The path of questions to a search index.
const SEARCH_PATH: &str = "/_cluster/search";
/// Bytes of a question or an answer.
const MAX_MESSAGE_BYTES: usize = 64 * 1024 * 1024;
