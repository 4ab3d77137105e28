//! `locum keys`: the master key, and what is sealed with it.

use base::encryption::{MasterKeyId, format_key_id};
use base::{Error, Refusal};
use clap::Subcommand;
use network::audit::{self, AuditAction as Act, AuditActor};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::key_rotation::{self, KeyRotationCursor};

use crate::instance::{self, Instance};

/// Rows in one transaction, so that nobody waits for long.
const SECRETS_PER_TRANSACTION: i64 = 200;

static KEY_COMMAND_LOCK: Mutex<()> = Mutex::new(());

/// What may be done about the master key.
#[derive(Clone, Debug, Serialize, Deserialize, Subcommand)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum KeysCommand {
    /// Names the keys, and counts what is sealed with the current one
    Show,
    /// Puts a new master key in the place of the old one, which is kept beside it
    Rotate {
        /// Then seals everything anew with it
        #[arg(long)]
        rewrap: bool,
    },
    /// Seals everything anew that is sealed with an older key; goes on where it was broken off
    Rewrap,
}

/// Does it.
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
    let noted = instance.store.write(move |tx| {
        Ok(audit::append(
            tx,
            &AuditActor::operator(),
            Act::KEY_REWRAP,
            None,
            &note,
        )?)
    });
    noted.await?;
    Ok(render_keys(
        instance,
        json!({ "sealed_anew": sealed, "sealed_with_current": current }),
    ))
}

/// What every answer says of the keys, and this.
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

/// A new key: in its file first, so that nothing is ever sealed with a key that may be lost.
async fn rotate_master_key(instance: &Instance) -> Result<(), Error> {
    let Some(file) = instance::key_file_path(&instance.settings) else {
        let message = "the configuration holds the master key itself: put a new one there, name the \
                       old one in secrets.old_master_key_files, start again and run `locum keys rewrap`";
        return Err(Refusal::invalid_parameter("master_key", "", message).into());
    };
    let before = current_key_name(instance);
    {
        // File and ring change together: of two at once, neither loses the other's key.
        let _alone = KEY_COMMAND_LOCK.lock();
        let next = instance::replace_key_file(&file, &base::Rng::Os)
            .map_err(|exit| base::Fault::new(exit.message().to_owned()))?;
        instance.store.context().keyring.rotate(next);
    }
    let note = json!({ "before": before, "key": current_key_name(instance) });
    let noted = instance.store.write(move |tx| {
        Ok(audit::append(
            tx,
            &AuditActor::operator(),
            Act::KEY_ROTATE,
            None,
            &note,
        )?)
    });
    noted.await
}

/// Looks at every secret, some at a time; answers how many were sealed anew, and how many are sealed
/// with the current key.
async fn walk_secrets(instance: &Instance, count: bool) -> Result<(u64, u64), Error> {
    let (mut sealed, mut current) = (0, 0);
    let mut next = Some(KeyRotationCursor::default());
    while let Some(from) = next {
        let step =
            move |tx: &mut store::Tx<'_>| Ok(key_rotation::rotate_batch(tx, &from, SECRETS_PER_TRANSACTION, count)?);
        let step = if count {
            instance.store.read(step).await?
        } else {
            instance.store.write(step).await?
        };
        sealed += step.reencrypted;
        current += step.already_current;
        instance.progress.report_progress(current, None);
        next = step.next;
    }
    Ok((sealed, current))
}
