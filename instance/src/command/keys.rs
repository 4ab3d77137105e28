//! `locum keys`: the master key and re-encryption of secrets.

use base::encryption::{MasterKeyId, format_key_id};
use base::refusal::RefusalKind;
use base::{Error, Refusal};
use clap::Subcommand;
use network::audit::{self, AuditAction, AuditActor};
use parking_lot::Mutex;
use serde_json::{Value, json};
use store::key_rotation::{self, KeyRotationCursor};
use store::{meta, nodes};

use crate::Instance;

/// Kept small so that other writers do not wait long.
const SECRETS_PER_TRANSACTION: i64 = 200;

static KEY_COMMAND_LOCK: Mutex<()> = Mutex::new(());

#[derive(Clone, Debug, Subcommand)]
pub enum KeysCommand {
    /// Show the keys and how many secrets the current key encrypts
    Show,
    /// Replace the master key; the old key is kept next to it
    Rotate {
        /// Then re-encrypt all secrets with the new key
        #[arg(long)]
        rewrap: bool,
    },
    /// Re-encrypt secrets that use an older key; resumes after an interruption
    Rewrap,
}

pub(super) async fn execute(instance: &Instance, command: KeysCommand) -> Result<Value, Error> {
    match command {
        KeysCommand::Show => show_keys(instance).await,
        KeysCommand::Rotate { rewrap: false } => {
            rotate_master_key(instance).await?;
            show_keys(instance).await
        }
        KeysCommand::Rotate { rewrap: true } => {
            rotate_master_key(instance).await?;
            reencrypt_secrets(instance).await
        }
        KeysCommand::Rewrap => reencrypt_secrets(instance).await,
    }
}

async fn show_keys(instance: &Instance) -> Result<Value, Error> {
    let (_, current) = walk_secrets(instance, true).await?;
    Ok(render_keys(instance, json!({ "sealed_with_current": current })))
}

async fn reencrypt_secrets(instance: &Instance) -> Result<Value, Error> {
    let (sealed, current) = walk_secrets(instance, false).await?;
    let by = current_key_name(instance);
    let note = json!({ "key": by, "sealed": sealed });
    super::audit::record_separately(instance, AuditAction::KEY_REWRAP, note).await?;
    Ok(render_keys(instance, json!({ "sealed_anew": sealed, "sealed_with_current": current })))
}

/// After a rotation without re-encryption.
pub(super) fn describe_next_step(shown: &Value) -> Option<String> {
    let old = shown.get("old")?.as_array()?.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ");
    Some(format!(
        "Only new secrets are encrypted with the new key; older ones still need an old key ({old}).\n\
         Next: run `locum keys rewrap`. Keep the files of old keys until it has finished; older backups, and worlds and \
         snapshots of a development server, need them longer."
    ))
}

fn render_keys(instance: &Instance, mut more: Value) -> Value {
    let old = instance.store.context().keyring.old_key_ids();
    let old: Vec<String> = old.into_iter().map(format_key_id).collect();
    if let Some(map) = more.as_object_mut() {
        map.insert("current".to_owned(), current_key_name(instance).into());
        map.insert("old".to_owned(), old.into());
    }
    more
}

fn current_key_name(instance: &Instance) -> String {
    let current: MasterKeyId = instance.store.context().keyring.current_key_id();
    format_key_id(current)
}

/// Writes the key file first, so that nothing is encrypted with a key that could be lost.
async fn rotate_master_key(instance: &Instance) -> Result<(), Error> {
    let Some(file) = crate::key_file_path(&instance.settings) else {
        let message = "the configuration holds the master key itself: put a new one there, name the \
                       old one in secrets.old_master_key_files, start again and run `locum keys rewrap`";
        return Err(Refusal::named_reason(RefusalKind::Conflict, "master_key", "", message).into());
    };
    refuse_with_other_servers(instance).await?;
    let before = current_key_name(instance);
    {
        // The file and the keyring change under one lock, so concurrent rotations do not lose a key.
        let _alone = KEY_COMMAND_LOCK.lock();
        let next = crate::replace_key_file(&file, &base::Rng::Os)
            .map_err(|exit| base::Fault::new(exit.message().to_owned()))?;
        instance.store.context().keyring.rotate(next);
    }
    let note = json!({ "before": before, "key": current_key_name(instance) });
    let noted = instance.write(move |tx| {
        meta::require_current_master_key(tx)?;
        Ok(audit::append(tx, &AuditActor::operator(), AuditAction::KEY_ROTATE, None, &note)?)
    });
    noted.await
}

/// Other servers would not have the new key, and could not read what it encrypts.
async fn refuse_with_other_servers(instance: &Instance) -> Result<(), Error> {
    let own = instance.store.context().node.incarnation();
    let found = instance.store.read(|tx| Ok(nodes::list(tx)?)).await?;
    let is_other = |node: &&nodes::NodeRecord| node.has_lease && node.purpose == "server" && node.incarnation != own;
    let Some(node) = found.iter().find(is_other) else { return Ok(()) };
    let message = format!(
        "node {} ({}) is running, or was a few seconds ago, and would not have the new key: stop all servers but \
         one, rotate, and copy the key files to the others before they start",
        node.number, node.host
    );
    Err(Refusal::named_reason(RefusalKind::Conflict, "", "", message).into())
}

/// Returns how many secrets were re-encrypted and how many use the current key.
async fn walk_secrets(instance: &Instance, count: bool) -> Result<(u64, u64), Error> {
    let (mut sealed, mut current) = (0, 0);
    let mut next = Some(KeyRotationCursor::default());
    while let Some(from) = next {
        let step =
            move |tx: &mut store::Tx<'_>| Ok(key_rotation::rotate_batch(tx, &from, SECRETS_PER_TRANSACTION, count)?);
        let step = if count { instance.store.read(step).await? } else { instance.store.write(step).await? };
        sealed += step.reencrypted;
        current += step.already_current;
        instance.progress.report_progress(current, None);
        next = step.next;
    }
    Ok((sealed, current))
}
