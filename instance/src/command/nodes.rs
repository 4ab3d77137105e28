//! `locum node`: the processes at work on a PostgreSQL database.

use base::Error;
use clap::Subcommand;
use serde_json::{Value, json};
use store::NodeRole;
use store::nodes::{self, NodeRecord};

use super::find;
use crate::Instance;

#[derive(Clone, Debug, Subcommand)]
pub enum NodeCommand {
    /// List the nodes on the database; a SQLite database has one, which is not listed
    List,
    /// Take a node out of service: it is not ready, gives its webhooks to other nodes, and still answers requests
    Drain {
        /// The node's number, as shown by `node list`
        number: u16,
    },
}

pub(super) async fn execute(instance: &Instance, command: NodeCommand) -> Result<Value, Error> {
    match command {
        NodeCommand::List => {
            let found = instance.store.read(|tx| Ok(nodes::list(tx)?)).await?;
            Ok(found.iter().map(render_node).collect())
        }
        NodeCommand::Drain { number } => {
            let drained = instance.write(move |tx| {
                let found = nodes::drain(tx, i64::from(number))?;
                if found { Ok(()) } else { Err(find::not_found("node", &number.to_string())) }
            });
            drained.await?;
            Ok(json!({ "node": number, "draining": true }))
        }
    }
}

/// The roles that no live server has, of a list of nodes. None on SQLite, which has one process.
pub(super) fn missing_roles(list: &Value) -> impl Iterator<Item = &'static str> {
    let nodes = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let is_live = |node: &&Value| node["state"] != "lost" && node["purpose"] == "server";
    let live: Vec<&str> = nodes.iter().filter(is_live).filter_map(|node| node["roles"].as_str()).collect();
    let is_missing = move |role: &&str| !live.iter().any(|roles| roles.split(',').any(|other| other == *role));
    let has_servers = !nodes.is_empty();
    NodeRole::ALL.into_iter().map(NodeRole::name).filter(is_missing).filter(move |_| has_servers)
}

fn render_node(node: &NodeRecord) -> Value {
    let state = match (node.has_lease, node.draining) {
        (false, _) => "lost",
        (true, true) => "draining",
        (true, false) => "active",
    };
    json!({
        "number": node.number,
        "incarnation": node.incarnation.to_string(),
        "host": node.host,
        "purpose": node.purpose,
        "roles": node.roles,
        "address": node.address,
        "state": state,
        "started_at": node.started_at.to_string(),
        "lease_until": node.until.to_string(),
        "schema": node.schema_version,
        "webhooks": node.webhook_count,
    })
}
