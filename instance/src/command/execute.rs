//! Executes administration commands.

use std::sync::Arc;

use base::Error;
use futures_util::future::BoxFuture;
use network::audit::AuditAction;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::request::CommandRequest;
use super::{
    AdminCommand, ads, annotations, apps, audit, backup, communities, export, follows, fsck, import, invite, keys,
    links, messages, metrics, moderation, news, nodes, notes, places, polls, posts, reindex, roles, sign, site, spaces,
    tokens, trigger, users, webhooks,
};
use crate::command_error::CommandError;
use crate::{Instance, NoProgress};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandAnswer {
    Done(Value),
    /// An argument is invalid.
    Invalid(String),
    Refused(String),
}

/// `description` is what the audit log says of the command. Boxed, so that the commands are compiled once and not in each
/// caller.
pub(super) fn execute(
    instance: Instance,
    command: AdminCommand,
    description: Value,
) -> BoxFuture<'static, Result<Value, Error>> {
    let instance = Instance { command: Some(Arc::new(description)), ..instance };
    Box::pin(async move { dispatch(&instance, command).await })
}

async fn dispatch(instance: &Instance, command: AdminCommand) -> Result<Value, Error> {
    match command {
        AdminCommand::User(command) => users::execute(instance, command).await,
        AdminCommand::Follow(command) => follows::execute(instance, command).await,
        AdminCommand::Post(command) => posts::execute(instance, command).await,
        AdminCommand::Poll(command) => polls::execute(instance, command).await,
        AdminCommand::Community(command) => communities::execute(instance, command).await,
        AdminCommand::Note(command) => notes::execute(instance, command).await,
        AdminCommand::News(command) => news::execute(instance, command).await,
        AdminCommand::Link(command) => links::execute(instance, command).await,
        AdminCommand::Place(command) => places::execute(instance, command).await,
        AdminCommand::Annotation(command) => annotations::execute(instance, command).await,
        AdminCommand::App(command) => apps::execute(instance, command).await,
        AdminCommand::Ads(command) => ads::execute(instance, command).await,
        AdminCommand::Token(command) => tokens::execute(instance, command).await,
        AdminCommand::Mod(command) => moderation::execute(instance, command).await,
        AdminCommand::Site(command) => site::execute(instance, command).await,
        AdminCommand::Role(command) => roles::execute(instance, command).await,
        AdminCommand::Invite(invite) => invite::execute(instance, invite).await,
        AdminCommand::Audit(command) => audit::execute(instance, command).await,
        AdminCommand::Space(command) => spaces::execute(instance, command).await,
        AdminCommand::Message(command) => messages::execute(instance, command).await,
        AdminCommand::Webhook(command) => webhooks::execute(instance, command).await,
        AdminCommand::Node(command) => nodes::execute(instance, command).await,
        AdminCommand::Trigger(trigger) => trigger::execute(instance, trigger).await,
        AdminCommand::Metrics(command) => metrics::execute(instance, command).await,
        AdminCommand::Sign(command) => sign::execute(instance, command).await,
        AdminCommand::Import(command) => {
            let report = import::execute(instance, command).await;
            audit_transfer(instance, AuditAction::DATA_IMPORT, report).await
        }
        AdminCommand::Export(command) => {
            let report = export::execute(instance, &command).await;
            audit_transfer(instance, AuditAction::DATA_EXPORT, report).await
        }
        AdminCommand::Backup(command) => {
            let report = backup::execute(instance, &command).await;
            audit_transfer(instance, AuditAction::DATA_BACKUP, report).await
        }
        AdminCommand::Keys(command) => keys::execute(instance, command).await,
        AdminCommand::Fsck(args) => fsck::execute(instance, args).await,
        AdminCommand::Reindex => reindex::execute(instance).await,
    }
}

async fn audit_transfer(instance: &Instance, kind: AuditAction, report: Result<Value, Error>) -> Result<Value, Error> {
    let report = report?;
    audit::record_separately(instance, kind, Value::Null).await?;
    Ok(report)
}

pub async fn answer_request(instance: Instance, body: &[u8]) -> Value {
    let instance = Instance { progress: Arc::new(NoProgress), ..instance };
    let request = serde_json::from_slice::<CommandRequest>(body);
    let unreadable = |error: serde_json::Error| format!("unknown command: {error}");
    let parsed = request.map_err(unreadable).and_then(|request| {
        let description = request.describe();
        Ok((request.into_command()?, description))
    });
    let answer = match parsed {
        Err(reason) => CommandAnswer::Refused(reason),
        Ok((command, description)) => match execute(instance, command, description).await {
            Ok(value) => CommandAnswer::Done(value),
            Err(error) => {
                if let Error::Failed(fault) = &error {
                    tracing::error!(error = %fault, "a command failed");
                }
                match CommandError::from(error) {
                    CommandError::Usage(reason) => CommandAnswer::Invalid(reason),
                    other => CommandAnswer::Refused(other.message().to_owned()),
                }
            }
        },
    };
    serde_json::to_value(answer).unwrap_or(Value::Null)
}

impl From<CommandAnswer> for Result<Value, CommandError> {
    fn from(answer: CommandAnswer) -> Self {
        match answer {
            CommandAnswer::Done(value) => Ok(value),
            CommandAnswer::Invalid(message) => Err(CommandError::Usage(message)),
            CommandAnswer::Refused(message) => Err(CommandError::Failed(message)),
        }
    }
}
