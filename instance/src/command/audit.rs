//! `locum audit`: the audit log of accounts and apps.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use base::{AppId, Error, Fault, UserId};
use clap::Subcommand;
use network::audit::{self, AuditAction, AuditActor, AuditEntry, AuditFilter};
use serde_json::{Value, json};
use store::{TransactionWork, Tx};

use super::find;
use super::limit::LimitArgs;
use super::output_file::ensure_new_file;
use crate::Instance;

#[derive(Clone, Debug, Subcommand)]
pub enum AuditCommand {
    /// List entries, newest first
    List {
        /// Only actions by this user: @username or id
        #[arg(long)]
        user: Option<String>,
        /// Only actions on this app: id, API key, client id or name
        #[arg(long)]
        app: Option<String>,
        /// Start before this entry
        #[arg(long, value_name = "SEQ")]
        before: Option<i64>,
        #[command(flatten)]
        limit: LimitArgs,
    },
    /// Export all entries as JSON Lines, oldest first
    Export {
        /// The output file
        file: PathBuf,
    },
}

const EXPORT_PAGE_SIZE: i64 = 1000;

pub(super) async fn execute(instance: &Instance, command: AuditCommand) -> Result<Value, Error> {
    match command {
        AuditCommand::List { user, app, before, limit: LimitArgs { limit } } => {
            let read = instance.store.read(move |tx| {
                let filter = AuditFilter {
                    actor: find_actor(tx, user.as_deref())?,
                    app: find_app_id(tx, app.as_deref())?,
                    before,
                };
                Ok::<_, Error>(audit::list(tx, filter, limit)?)
            });
            Ok(read.await?.iter().map(render_entry).collect())
        }
        AuditCommand::Export { file } => export_entries(instance, &file).await,
    }
}

fn find_actor(tx: &mut Tx<'_>, user: Option<&str>) -> Result<Option<UserId>, Error> {
    user.map(|text| Ok(find::user(tx, text)?.id)).transpose()
}

fn find_app_id(tx: &mut Tx<'_>, app: Option<&str>) -> Result<Option<AppId>, Error> {
    app.map(|text| Ok(find::app(tx, text)?.id)).transpose()
}

async fn export_entries(instance: &Instance, path: &Path) -> Result<Value, Error> {
    ensure_new_file(path)?;
    let file = File::create_new(path).map_err(Fault::context("creating the file"))?;
    let mut out = BufWriter::new(file);
    let (mut last, mut lines) = (0, 0_u64);
    loop {
        let read = instance.store.read(move |tx| Ok::<_, Error>(audit::list_after(tx, last, EXPORT_PAGE_SIZE)?));
        let page = read.await?;
        let Some(end) = page.last() else { break };
        last = end.seq;
        for entry in &page {
            writeln!(out, "{}", render_entry(entry)).map_err(Fault::context("writing the file"))?;
            lines += 1;
        }
    }
    let file = out.into_inner();
    let file = file.map_err(|error| Fault::from_cause("writing the file", error.into_error()))?;
    file.sync_all().map_err(Fault::context("writing the file"))?;
    Ok(json!({"file": path, "lines": lines}))
}

fn render_entry(entry: &AuditEntry) -> Value {
    let actor = match entry.actor {
        Some(user) => Value::from(user.to_string()),
        None if entry.operator => Value::from("operator"),
        None => Value::Null,
    };
    let detail: Value = serde_json::from_str(&entry.detail).unwrap_or(Value::Null);
    json!({
        "seq": entry.seq,
        "at": entry.at.to_string(),
        "kind": entry.kind,
        "actor": actor,
        "app_id": entry.app.map(|app| app.to_string()),
        "address": entry.address,
        "detail": detail,
    })
}

impl Instance {
    /// Runs `work` in a transaction. What a command changes has an entry in the audit log: that of `work`, or one with the
    /// command.
    pub(super) async fn write<T: Send + 'static>(&self, work: impl TransactionWork<T>) -> Result<T, Error> {
        let command = self.command.clone();
        let audited = move |tx: &mut Tx<'_>| {
            let done = work(tx)?;
            if let Some(command) = command.as_ref().filter(|_| !tx.has_audit_entry()) {
                record(tx, AuditAction::COMMAND_RUN, None, command)?;
            }
            Ok(done)
        };
        self.store.write(audited).await
    }
}

/// Records in the caller's transaction.
pub(super) fn record(tx: &mut Tx<'_>, kind: AuditAction, app: Option<AppId>, detail: &Value) -> Result<(), Fault> {
    audit::append(tx, &AuditActor::operator(), kind, app, detail)
}

/// Records in a transaction of its own.
pub(super) async fn record_separately(instance: &Instance, kind: AuditAction, detail: Value) -> Result<(), Error> {
    instance.write(move |tx| Ok(record(tx, kind, None, &detail)?)).await
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// Those that write many batches have one entry for all.
    const OWN_TRANSACTIONS: [&str; 3] = ["audit.rs", "keys.rs", "simulation.rs"];

    #[test]
    fn commands_write_in_transactions_with_an_audit_entry() {
        for entry in Path::new(env!("CARGO_MANIFEST_DIR")).join("src/command").read_dir().unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let name = path.file_name().unwrap().to_str().unwrap();
            let is_audited = !text.contains("store.write(") || OWN_TRANSACTIONS.contains(&name);
            assert!(is_audited, "{name} writes with store.write: use Instance::write");
        }
    }
}
