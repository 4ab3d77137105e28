//! The one place where commands are done.

use std::sync::Arc;

use base::{Error, Refusal};
use network::audit::AuditAction;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::integrity;

use super::{
    Command, ads, apps, audit, backup, communities, export, follows, import, invite, keys,
    messages, news, notes, places, polls, posts, reindex, sign, spaces, tokens, trigger, users,
    webhooks,
};
use crate::exit::{Exit, words};
use crate::world::{Silent, World};

/// What a server answers to a command that was sent to it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// It was done; this came of it.
    Done(Value),
    /// It was not: the sentence.
    Refused(String),
}

/// Does what a command says.
pub(crate) async fn execute(world: &World, command: Command) -> Result<Value, Error> {
    match command {
        Command::User(command) => users::execute(world, command).await,
        Command::Follow(command) => follows::execute(world, command).await,
        Command::Post(command) => posts::execute(world, command).await,
        Command::Poll(command) => polls::execute(world, command).await,
        Command::Community(command) => communities::execute(world, command).await,
        Command::Note(command) => notes::execute(world, command).await,
        Command::News(command) => news::execute(world, command).await,
        Command::Place(command) => places::execute(world, command).await,
        Command::App(command) => apps::execute(world, command).await,
        Command::Ads(command) => ads::execute(world, command).await,
        Command::Token(command) => tokens::execute(world, command).await,
        Command::Invite(invite) => invite::execute(world, invite).await,
        Command::Audit(command) => audit::execute(world, command).await,
        Command::Space(command) => spaces::execute(world, command).await,
        Command::Message(command) => messages::execute(world, command).await,
        Command::Webhook(command) => webhooks::execute(world, command).await,
        Command::Trigger(trigger) => trigger::execute(world, trigger).await,
        Command::Sign(command) => sign::execute(world, command).await,
        Command::Import(command) => {
            let report = import::execute(world, command).await;
            transferred(world, AuditAction::DATA_IMPORT, report).await
        }
        Command::Export(command) => {
            let report = export::execute(world, &command).await;
            transferred(world, AuditAction::DATA_EXPORT, report).await
        }
        Command::Backup(command) => {
            let report = backup::execute(world, &command).await;
            transferred(world, AuditAction::DATA_BACKUP, report).await
        }
        Command::Keys(command) => keys::execute(world, command).await,
        Command::Fsck => check(world).await,
        Command::Reindex => reindex::execute(world).await,
    }
}

/// What a transfer came to, noted if it was done.
async fn transferred(
    world: &World,
    kind: AuditAction,
    report: Result<Value, Error>,
) -> Result<Value, Error> {
    let report = report?;
    audit::noted(world, kind, Value::Null).await?;
    Ok(report)
}

/// Does what the bytes of a request to the control interface say.
pub(crate) async fn answer(world: World, body: &[u8]) -> Value {
    let world = World {
        progress: Arc::new(Silent),
        ..world
    };
    let answer = match serde_json::from_slice::<Command>(body) {
        Err(error) => Answer::Refused(format!("not a command that this version knows: {error}")),
        Ok(command) => match Box::pin(execute(&world, command)).await {
            Ok(value) => Answer::Done(value),
            Err(Error::Refused(refusal)) => Answer::Refused(words(&refusal)),
            Err(Error::Failed(fault)) => {
                tracing::error!(%fault, "a command failed");
                Answer::Refused(fault.to_string())
            }
        },
    };
    serde_json::to_value(answer).unwrap_or(Value::Null)
}

/// Counts everything again and compares, and looks at every page of the file.
pub(crate) async fn check(world: &World) -> Result<Value, Error> {
    let found = world
        .store
        .read(|tx| Ok(integrity::find_mismatches(tx)?))
        .await?;
    let rows = found.iter().map(|difference| {
        json!({
            "counter": difference.counter,
            "id": difference.id.to_string(),
            "stored": difference.stored,
            "counted": difference.counted,
        })
    });
    let differences: Vec<Value> = rows.collect();
    let damage = world.store.check_integrity().await?;
    let sound = differences.is_empty() && damage.is_empty();
    Ok(json!({"sound": sound, "differences": differences, "damage": damage}))
}

/// A file that a command names, where the command runs; it does not take another's place.
pub(super) fn new_file(path: &std::path::Path) -> Result<(), Error> {
    if path.exists() {
        let message = format!("{} is there already", path.display());
        return Err(Refusal::invalid_parameter("file", path.display(), message).into());
    }
    Ok(())
}

/// The answer of another process.
impl From<Answer> for Result<Value, Exit> {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Done(value) => Ok(value),
            Answer::Refused(message) => Err(Exit::Failed(message)),
        }
    }
}
