//! Open reports and appeals.

use base::{Error, PostId, Refusal, SplitRefusal, Time, UserId};
use network::audit::AuditActor;
use network::moderation::{self, KIND_NAMES, Kind, ModerationTarget, NewModerationAction};
use network::reports::{self, ReportContext, SubjectKind, subject_name};
use network::user_roles::UserRole;
use pages::{AdminAppealItem, AdminQueuePage, AdminReportItem, Pager};
use portal::{BrowserVisit, PageExit, PageQuery, accept_form, redirect_to, run_page};
use store::Tx;
use web::HttpReply;
use web::endpoint::HandlerFuture;
use web::error_formats::error_message;
use web::request_context::RequestContext;

use super::{APPEALS_PATH, QUEUE_PATH, REPORTS_PATH};
use crate::access::require_staff;

const PAGE_SIZE: i64 = 20;
const DAY_MS: i64 = 24 * 3600 * 1000;

/// `GET /admin`.
pub(crate) fn show(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let visit = BrowserVisit::from_call(&call).await?;
        let actor = require_staff(&call, &visit, UserRole::Moderator)?;
        render(&call, &visit, &actor, None).await
    })
}

async fn render(
    call: &RequestContext,
    visit: &BrowserVisit,
    actor: &AuditActor,
    failure: Option<String>,
) -> Result<HttpReply, PageExit> {
    let query = PageQuery::from_call(call).unwrap_or_default();
    let after = query.get("after").and_then(|text| text.parse().ok()).unwrap_or(0);
    let reader = actor.clone();
    let (reports, appeals) = call.read(move |tx: &mut Tx<'_>| load_queue(tx, &reader, after)).await?;
    let is_full = i64::try_from(reports.len()).is_ok_and(|count| count >= PAGE_SIZE);
    let next = reports.last().filter(|_| is_full).map(|last| format!("{QUEUE_PATH}?after={}", last.id));
    let mut frame = visit.page_frame(call);
    frame.failure = failure;
    let page = AdminQueuePage {
        frame,
        action: REPORTS_PATH.to_owned(),
        appeal_action: APPEALS_PATH.to_owned(),
        reports,
        appeals,
        pager: Pager { previous: (after > 0).then(|| QUEUE_PATH.to_owned()), next },
    };
    Ok(visit.render_page(call, &page)?)
}

type LoadedQueue = (Vec<AdminReportItem>, Vec<AdminAppealItem>);

fn load_queue(tx: &mut Tx<'_>, actor: &AuditActor, after: i64) -> Result<LoadedQueue, Error> {
    let mut items = Vec::new();
    for report in reports::queue(tx, actor, after, PAGE_SIZE)? {
        items.push(report_item(reports::load_context(tx, actor, report.id)?));
    }
    let mut appeals = Vec::new();
    for appeal in moderation::list_open_appeals(tx, PAGE_SIZE)? {
        let action = moderation::find_action(tx, appeal.action_id)?;
        appeals.push(AdminAppealItem {
            id: action.id.to_string(),
            decision: format!("{}: {}", moderation::kind_name(action.kind), action.reason),
            subject_text: moderation::find_post_text(tx, &action)?,
            text: appeal.text,
            username: find_username(tx, action.user_id)?,
            at: appeal.created_at,
        });
    }
    Ok((items, appeals))
}

fn find_username(tx: &mut Tx<'_>, id: UserId) -> Result<String, Error> {
    let user = store::users::find_by_id(tx, id)?;
    Ok(user.map_or_else(|| id.to_string(), |user| user.username))
}

fn report_item(context: ReportContext) -> AdminReportItem {
    let report = context.report;
    let history = context.actions.iter().map(|action| {
        let state = if action.lifted_at.is_some() { "lifted" } else { "in force" };
        format!("{} ({state}): {}", moderation::kind_name(action.kind), action.reason)
    });
    AdminReportItem {
        id: report.id.to_string(),
        at: report.created_at(),
        kind: subject_name(report.subject_kind),
        subject_text: context.post.map_or(report.evidence, |post| post.text),
        username: context.user.map_or_else(|| report.user_id.to_string(), |user| user.username),
        reporter: context.reporter.map_or_else(|| "the server".to_owned(), |user| format!("@{}", user.username)),
        history: history.collect(),
        other_reports: context.reports.len(),
        category: report.category,
        text: report.text,
    }
}

struct OrderedAct {
    report: i64,
    /// None to dismiss the report.
    kind: Option<Kind>,
    days: i64,
    reason: String,
}

/// `POST /admin/reports`.
pub(crate) fn act(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let visit = BrowserVisit::from_call(&call).await?;
        let actor = require_staff(&call, &visit, UserRole::Moderator)?;
        let sent = accept_form(&call, &visit).await?;
        let (report, act) = (sent.text("report"), sent.text("act"));
        let kind = KIND_NAMES.iter().find(|(_, name)| *name == act).map(|(kind, _)| *kind);
        if kind.is_none() && act != "dismiss" {
            return Err(Refusal::invalid_value("act", act).into());
        }
        let ordered = OrderedAct {
            report: report.parse().map_err(|_| Refusal::invalid_value("report", report))?,
            kind,
            days: sent.text("days").parse().unwrap_or(7),
            reason: sent.text("reason"),
        };
        let (site, by) = (call.state.page_context.site.clone(), actor.clone());
        let done = call.write(move |tx: &mut Tx<'_>| {
            let Some(kind) = ordered.kind else {
                return reports::dismiss(tx, &by, ordered.report).map(drop);
            };
            reports::find_open(tx, ordered.report)?;
            let context = reports::load_context(tx, &by, ordered.report)?;
            let new = build_action(&context, kind, &ordered, tx.now());
            moderation::act(tx, &site, &by, &new)?;
            reports::settle(tx, &by, ordered.report)
        });
        answer(&call, &visit, &actor, done.await).await
    })
}

fn build_action(context: &ReportContext, kind: Kind, ordered: &OrderedAct, now: Time) -> NewModerationAction {
    let is_about_post = matches!(kind, Kind::Remove | Kind::Label)
        || kind == Kind::Limit && context.report.subject_kind == SubjectKind::Post;
    let ends = matches!(kind, Kind::Silence | Kind::Suspend);
    NewModerationAction {
        kind,
        target: if is_about_post {
            ModerationTarget::Post(PostId::new(context.report.subject_id))
        } else {
            ModerationTarget::Account(context.report.user_id)
        },
        reason: ordered.reason.clone(),
        ends_at: ends.then(|| now.plus_ms(ordered.days.clamp(1, 366).saturating_mul(DAY_MS))),
    }
}

/// `POST /admin/appeals`.
pub(crate) fn decide_appeal(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let visit = BrowserVisit::from_call(&call).await?;
        let actor = require_staff(&call, &visit, UserRole::Moderator)?;
        let sent = accept_form(&call, &visit).await?;
        let action = sent.text("action");
        let action: i64 = action.parse().map_err(|_| Refusal::invalid_value("action", action))?;
        let accept = match sent.text("decision").as_str() {
            "accept" => true,
            "reject" => false,
            other => return Err(Refusal::invalid_value("decision", other).into()),
        };
        let (site, by, text) = (call.state.page_context.site.clone(), actor.clone(), sent.text("answer"));
        let decide = move |tx: &mut Tx<'_>| moderation::decide_appeal(tx, &site, &by, action, accept, &text);
        let decided = call.write(decide).await;
        answer(&call, &visit, &actor, decided).await
    })
}

async fn answer(
    call: &RequestContext,
    visit: &BrowserVisit,
    actor: &AuditActor,
    done: Result<(), Error>,
) -> Result<HttpReply, PageExit> {
    match done.split_refusal()? {
        Ok(()) => Ok(redirect_to(QUEUE_PATH)),
        Err(refusal) => Ok(render(call, visit, actor, Some(error_message(&refusal).to_owned())).await?.status(400)),
    }
}
