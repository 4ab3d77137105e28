//! `locum mod`.

use base::Error;
use clap::{ArgGroup, Args, Subcommand};
use identity::moderation::{self, Action, Kind, ModerationTarget, NewModerationAction};
use identity::registration;
use network::audit::AuditActor;
use network::blocked_terms;
use network::reports::{self, ReportContext, StoredReport};
use serde_json::{Value, json};
use store::Tx;

use super::blocked_terms::{TermCommand, execute_term_command};
use super::limit::LimitArgs;
use super::{find, invite};
use crate::Instance;
use crate::config::TimeSpan;

#[derive(Clone, Debug, Subcommand)]
pub enum ModerationCommand {
    /// List open reports, oldest first
    Queue {
        /// Start after this report
        #[arg(long)]
        after: Option<i64>,
        #[command(flatten)]
        limit: LimitArgs,
    },
    /// Show a report with what it is about and the history of the account
    Show {
        /// The report's id
        report: i64,
    },
    /// Close a report, and others about the same subject, without an action
    Dismiss {
        /// The report's id
        report: i64,
    },
    /// Remove a post; lifting the action brings it back
    Remove {
        /// The post's id
        post: String,
        #[command(flatten)]
        reason: ReasonArgs,
    },
    /// Mark a post as sensitive
    Label {
        /// The post's id
        post: String,
        #[command(flatten)]
        reason: ReasonArgs,
    },
    /// Warn an account
    Warn {
        /// @username or id
        user: String,
        #[command(flatten)]
        reason: ReasonArgs,
    },
    /// Keep an account's posts, or one post, out of search, trends and recommendations
    #[command(group(ArgGroup::new("subject").args(["user", "post"]).required(true)))]
    Limit {
        /// @username or id
        user: Option<String>,
        /// The post's id, to limit only that
        #[arg(long)]
        post: Option<String>,
        #[command(flatten)]
        end: EndArgs,
        #[command(flatten)]
        reason: ReasonArgs,
    },
    /// Stop an account from writing
    Silence {
        /// @username or id
        user: String,
        #[command(flatten)]
        end: EndArgs,
        #[command(flatten)]
        reason: ReasonArgs,
    },
    /// Suspend an account for a time and hide its posts
    Suspend {
        /// @username or id
        user: String,
        /// How long, at most a year, such as 12h or 7d; `mod ban` has no end
        #[arg(long = "for", value_name = "DURATION", value_parser = parse_duration)]
        duration: TimeSpan,
        #[command(flatten)]
        reason: ReasonArgs,
    },
    /// Suspend an account without an end, and revoke its tokens
    Ban {
        /// @username or id
        user: String,
        /// What the person concerned reads
        #[arg(long)]
        reason: String,
    },
    /// Undo an action
    Lift {
        /// The action's id
        action: i64,
    },
    /// List actions, newest first
    Actions {
        /// Only those about this account: @username or id
        #[arg(long)]
        user: Option<String>,
        /// Start before this action
        #[arg(long)]
        before: Option<i64>,
        #[command(flatten)]
        limit: LimitArgs,
    },
    /// List undecided appeals, oldest first
    Appeals {
        #[command(flatten)]
        limit: LimitArgs,
    },
    /// Decide an appeal; accepting lifts the action
    Decide {
        /// The action's id
        action: i64,
        /// The decision
        decision: AppealDecision,
        /// What the person concerned reads
        #[arg(long, default_value = "", hide_default_value = true)]
        answer: String,
    },
    /// List applications for accounts, oldest first
    Applications,
    /// Accept or refuse an application for an account
    Admit {
        /// The application's id
        application: i64,
        /// The decision
        decision: AppealDecision,
    },
    /// Manage blocked words, link hosts and email domains
    #[command(subcommand)]
    Term(TermCommand),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum AppealDecision {
    Accept,
    Reject,
}

#[derive(Args, Clone, Debug, Default)]
pub struct ReasonArgs {
    /// What the person concerned reads
    #[arg(long, default_value = "", hide_default_value = true)]
    reason: String,
}

#[derive(Args, Clone, Debug, Default)]
pub struct EndArgs {
    /// How long, such as 12h or 7d [default: until it is lifted]
    #[arg(long = "for", value_name = "DURATION", value_parser = parse_duration)]
    duration: Option<TimeSpan>,
}

fn parse_duration(text: &str) -> Result<TimeSpan, &'static str> {
    TimeSpan::try_from(text.to_owned()).map_err(|_| "expected a duration such as 30m, 12h or 7d")
}

pub(super) async fn execute(instance: &Instance, command: ModerationCommand) -> Result<Value, Error> {
    use ModerationCommand as Command;
    match command {
        Command::Queue { after, limit: LimitArgs { limit } } => list_queue(instance, after, limit).await,
        Command::Show { report } => show_report(instance, report).await,
        Command::Dismiss { report } => {
            let work = move |tx: &mut Tx<'_>| reports::dismiss(tx, &AuditActor::operator(), report);
            instance.write(work).await?;
            Ok(json!({ "report": report.to_string(), "dismissed": true }))
        }
        Command::Remove { post, reason } => act_on_post(instance, Kind::Remove, post, EndArgs::default(), reason).await,
        Command::Label { post, reason } => act_on_post(instance, Kind::Label, post, EndArgs::default(), reason).await,
        Command::Limit { post: Some(post), end, reason, .. } => {
            act_on_post(instance, Kind::Limit, post, end, reason).await
        }
        Command::Limit { user, end, reason, .. } => {
            act_on_account(instance, Kind::Limit, user.unwrap_or_default(), end, reason).await
        }
        Command::Warn { user, reason } => act_on_account(instance, Kind::Warn, user, EndArgs::default(), reason).await,
        Command::Silence { user, end, reason } => act_on_account(instance, Kind::Silence, user, end, reason).await,
        Command::Suspend { user, duration, reason } => {
            let end = EndArgs { duration: Some(duration) };
            act_on_account(instance, Kind::Suspend, user, end, reason).await
        }
        Command::Ban { user, reason } => {
            act_on_account(instance, Kind::Ban, user, EndArgs::default(), ReasonArgs { reason }).await
        }
        Command::Lift { action } => lift(instance, action).await,
        Command::Actions { user, before, limit: LimitArgs { limit } } => {
            list_actions(instance, user, before, limit).await
        }
        Command::Appeals { limit: LimitArgs { limit } } => list_appeals(instance, limit).await,
        Command::Decide { action, decision, answer } => decide_appeal(instance, action, decision, answer).await,
        Command::Applications => list_applications(instance).await,
        Command::Admit { application, decision } => decide_application(instance, application, decision).await,
        Command::Term(command) => execute_term_command(instance, command).await,
    }
}

async fn act_on_post(
    instance: &Instance,
    kind: Kind,
    post: String,
    end: EndArgs,
    reason: ReasonArgs,
) -> Result<Value, Error> {
    let id = find::post_id(&post)?;
    act(instance, kind, move |_| Ok(ModerationTarget::Post(id)), end, reason).await
}

async fn act_on_account(
    instance: &Instance,
    kind: Kind,
    user: String,
    end: EndArgs,
    reason: ReasonArgs,
) -> Result<Value, Error> {
    let find = move |tx: &mut Tx<'_>| Ok(ModerationTarget::Account(find::user(tx, &user)?.id));
    act(instance, kind, find, end, reason).await
}

async fn act(
    instance: &Instance,
    kind: Kind,
    find_target: impl Fn(&mut Tx<'_>) -> Result<ModerationTarget, Error> + Send + 'static,
    end: EndArgs,
    reason: ReasonArgs,
) -> Result<Value, Error> {
    let site = invite::email_site(instance).await?;
    let work = move |tx: &mut Tx<'_>| {
        let new = NewModerationAction {
            kind,
            target: find_target(tx)?,
            reason: reason.reason.clone(),
            ends_at: end.duration.as_ref().map(|span| tx.now().plus_ms(span.as_ms())),
        };
        moderation::act(tx, &site, &AuditActor::operator(), &new)
    };
    instance.write(work).await.map(|action| render_action(&action))
}

async fn lift(instance: &Instance, action: i64) -> Result<Value, Error> {
    let site = invite::email_site(instance).await?;
    let work = move |tx: &mut Tx<'_>| moderation::lift(tx, &site, &AuditActor::operator(), action);
    instance.write(work).await.map(|action| render_action(&action))
}

async fn list_queue(instance: &Instance, after: Option<i64>, limit: i64) -> Result<Value, Error> {
    let work = move |tx: &mut Tx<'_>| reports::queue(tx, &AuditActor::operator(), after.unwrap_or(0), limit);
    Ok(instance.store.read(work).await?.iter().map(render_report).collect())
}

async fn show_report(instance: &Instance, report: i64) -> Result<Value, Error> {
    let work = move |tx: &mut Tx<'_>| reports::load_context(tx, &AuditActor::operator(), report);
    instance.store.read(work).await.map(|context| render_context(&context))
}

async fn list_actions(
    instance: &Instance,
    user: Option<String>,
    before: Option<i64>,
    limit: i64,
) -> Result<Value, Error> {
    let work = move |tx: &mut Tx<'_>| match &user {
        Some(user) => {
            let id = find::user_or_deleted(tx, user)?.id;
            Ok::<_, Error>(moderation::list_by_user(tx, id, limit)?)
        }
        None => Ok(moderation::list(tx, before.unwrap_or(i64::MAX), limit)?),
    };
    Ok(instance.store.read(work).await?.iter().map(render_action).collect())
}

async fn list_appeals(instance: &Instance, limit: i64) -> Result<Value, Error> {
    let work = move |tx: &mut Tx<'_>| {
        let mut all = Vec::new();
        for appeal in moderation::list_open_appeals(tx, None, limit)? {
            let action = moderation::find_action(tx, appeal.action_id)?;
            all.push(json!({
                "action": render_action(&action),
                "text": appeal.text,
                "created_at": appeal.created_at.to_string(),
            }));
        }
        Ok::<_, Error>(Value::Array(all))
    };
    instance.store.read(work).await
}

async fn decide_appeal(
    instance: &Instance,
    action: i64,
    decision: AppealDecision,
    answer: String,
) -> Result<Value, Error> {
    let site = invite::email_site(instance).await?;
    let accept = decision == AppealDecision::Accept;
    let work = move |tx: &mut Tx<'_>| {
        moderation::decide_appeal(tx, &site, &AuditActor::operator(), action, accept, &answer)?;
        moderation::find_action(tx, action)
    };
    instance.write(work).await.map(|action| render_action(&action))
}

async fn list_applications(instance: &Instance) -> Result<Value, Error> {
    let work = |tx: &mut Tx<'_>| registration::list_applications(tx, &AuditActor::operator(), 1_000);
    let found = instance.store.read(work).await?.into_iter().map(|request| {
        json!({
            "id": request.id.to_string(),
            "username": request.username,
            "name": request.name,
            "email": request.email,
            "created_at": request.created_at().to_string(),
        })
    });
    Ok(found.collect())
}

async fn decide_application(instance: &Instance, id: i64, decision: AppealDecision) -> Result<Value, Error> {
    let site = invite::email_site(instance).await?;
    let accept = decision == AppealDecision::Accept;
    let work = move |tx: &mut Tx<'_>| {
        let actor = AuditActor::operator();
        if accept {
            return registration::accept_application(tx, &site, &actor, id).map(Some);
        }
        registration::refuse_application(tx, &site, &actor, id).map(|()| None)
    };
    let user = instance.write(work).await?;
    Ok(json!({ "application": id.to_string(), "user_id": user.map(|id| id.to_string()) }))
}

fn render_action(action: &Action) -> Value {
    json!({
        "id": action.id.to_string(),
        "kind": moderation::kind_name(action.kind),
        "user_id": action.user_id.to_string(),
        "post_id": action.post_id.map(|id| id.to_string()),
        "moderator_id": action.moderator_id.map(|id| id.to_string()),
        "reason": action.reason,
        "created_at": action.created_at().to_string(),
        "ends_at": action.ends_at.map(|time| time.to_string()),
        "lifted_at": action.lifted_at.map(|time| time.to_string()),
    })
}

fn render_report(report: &StoredReport) -> Value {
    json!({
        "id": report.id.to_string(),
        "reporter_id": report.reporter_id.to_string(),
        "subject": reports::subject_name(report.subject_kind),
        "subject_id": report.subject_id.to_string(),
        "user_id": report.user_id.to_string(),
        "category": report.category,
        "text": report.text,
        "created_at": report.created_at().to_string(),
        "closed_at": report.closed_at.map(|time| time.to_string()),
        "upheld": report.upheld,
    })
}

fn render_context(context: &ReportContext) -> Value {
    json!({
        "report": render_report(&context.report),
        "reporter": context.reporter.as_ref().map(|user| user.username.clone()),
        "user": context.user.as_ref().map(|user| user.username.clone()),
        "post": context.post.as_ref().map(|post| post.text.clone()),
        "message": context.report.evidence,
        "actions": context.actions.iter().map(render_action).collect::<Value>(),
        "reports": context.reports.iter().map(render_report).collect::<Value>(),
    })
}

pub(super) fn render_term(term: &blocked_terms::Term) -> Value {
    json!({ "kind": blocked_terms::kind_name(term.kind), "term": term.term, "hold": term.hold })
}
