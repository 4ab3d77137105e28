//! Open reports and appeals.

use base::{Error, PostId, Refusal, SplitRefusal, Time};
use network::audit::AuditActor;
use network::emails::EmailSite;
use network::moderation::{self, KIND_NAMES, Kind, ModerationTarget, NewModerationAction};
use network::reports::{self, ReportContext, SubjectKind, subject_name};
use network::user_roles::UserRole;
use pages::members::PostMedia;
use pages::{AdminAppealItem, AdminQueuePage, AdminReportItem, DoneAction, Notice, Pager};
use portal::{BrowserVisit, PageExit, PageQuery, accept_form, redirect_to, run_page};
use store::Tx;
use store::media::Media;
use web::HttpReply;
use web::endpoint::HandlerFuture;
use web::error_formats::error_message;
use web::media_files::{MediaFileReaders, send_media_file};
use web::request_context::RequestContext;

use super::actions::{action_path, describe_done, find_username};
use super::{APPEALS_PATH, QUEUE_PATH, REPORTS_PATH};
use crate::access::require_staff;

const PAGE_SIZE: i64 = 20;
const DAY_MS: i64 = 24 * 3600 * 1000;
const MAX_DAYS: i64 = 366;
const DEFAULT_DAYS: &str = "7";

/// What was refused: the report, or the action of an appeal, and what was typed.
struct RefusedOrder {
    id: i64,
    /// The reason of an action, or the answer to an appeal.
    text: String,
    days: String,
    problem: String,
}

impl RefusedOrder {
    fn new(id: i64, (text, days): (String, String), refusal: &Refusal) -> Self {
        Self { id, text, days, problem: error_message(refusal).to_owned() }
    }
}

/// `GET /admin`.
pub(crate) fn show(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let visit = BrowserVisit::from_call(&call).await?;
        let actor = require_staff(&call, &visit, UserRole::Moderator)?;
        render(&call, &visit, &actor, None).await
    })
}

/// Starts with the report whose action was refused, which may be on another page.
async fn render(
    call: &RequestContext,
    visit: &BrowserVisit,
    actor: &AuditActor,
    refused: Option<RefusedOrder>,
) -> Result<HttpReply, PageExit> {
    let query = PageQuery::from_call(call).unwrap_or_default();
    let number = |name: &str| query.get(name).and_then(|text| text.parse::<i64>().ok());
    let order = refused.as_ref().filter(|order| !order.days.is_empty());
    let after = order.map_or_else(|| number("after").unwrap_or(0), |order| order.id.saturating_sub(1));
    let (reader, done) = (actor.clone(), number("done"));
    let load =
        move |tx: &mut Tx<'_>| Ok((load_queue(tx, &reader, after)?, done.map(|id| load_done(tx, id)).transpose()?));
    let ((mut reports, mut appeals), done) = call.read(load).await?;
    let is_full = i64::try_from(reports.len()).is_ok_and(|count| count >= PAGE_SIZE);
    let next = reports.last().filter(|_| is_full).map(|last| format!("{QUEUE_PATH}?after={}", last.id));
    let mut frame = visit.page_frame(call);
    if query.get("dismissed").is_some() {
        frame.notices.push(Notice::success("The report was dismissed."));
    }
    let status = if refused.is_some() { 400 } else { 200 };
    if let Some(order) = refused {
        let id = order.id.to_string();
        for one in reports.iter_mut().filter(|one| one.id == id) {
            (one.reason, one.days) = (order.text.clone(), order.days.clone());
        }
        appeals.iter_mut().filter(|one| one.id == id).for_each(|one| one.answer.clone_from(&order.text));
        frame.failure = Some(order.problem);
    }
    let page = AdminQueuePage {
        frame,
        done,
        action: REPORTS_PATH.to_owned(),
        appeal_action: APPEALS_PATH.to_owned(),
        reports,
        appeals,
        pager: Pager { previous: (after > 0).then(|| QUEUE_PATH.to_owned()), next },
    };
    Ok(visit.render_page(call, &page)?.status(status))
}

fn load_done(tx: &mut Tx<'_>, id: i64) -> Result<DoneAction, Error> {
    let action = moderation::find_action(tx, id)?;
    let username = find_username(tx, action.user_id)?;
    Ok(DoneAction { text: describe_done(&action, &username), path: action_path(&action) })
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
            answer: String::new(),
        });
    }
    Ok((items, appeals))
}

fn report_item(context: ReportContext) -> AdminReportItem {
    let report = context.report;
    let history = context.actions.iter().map(|action| {
        let state = if action.lifted_at.is_some() { "lifted" } else { "in force" };
        format!("{} ({state}): {}", moderation::kind_name(action.kind), action.reason)
    });
    let username = context.user.map_or_else(|| report.user_id.to_string(), |user| user.username);
    let subject_path = match report.subject_kind {
        SubjectKind::Post => context.post.as_ref().map(|post| format!("/{username}/status/{}", post.id)),
        SubjectKind::User => Some(format!("/{username}")),
        SubjectKind::List => Some(format!("/lists/{}", report.subject_id)),
        SubjectKind::Message => None,
    };
    AdminReportItem {
        id: report.id.to_string(),
        at: report.created_at(),
        kind: subject_name(report.subject_kind),
        subject_path,
        media: context.media.iter().filter_map(|media| show_media(report.id, media)).collect(),
        is_sensitive: context.post.as_ref().is_some_and(|post| post.possibly_sensitive),
        subject_text: context.post.map_or(report.evidence, |post| post.text),
        username,
        reporter: context.reporter.map(|user| user.username),
        history: history.collect(),
        other_reports: context.reports.len(),
        category: report.category,
        text: report.text,
        reason: String::new(),
        days: DEFAULT_DAYS.to_owned(),
    }
}

/// None if there is no file. Moderators read the files of protected posts and messages below the report.
fn show_media(report: i64, media: &Media) -> Option<PostMedia> {
    let url = |path: &str| {
        let name = path.rsplit('/').next().filter(|name| !name.is_empty())?;
        Some(format!("{REPORTS_PATH}/{report}/files/{name}"))
    };
    let shown = view::show_stored_media(media, url);
    let is_empty = shown.picture.is_empty() && shown.video.is_none();
    (!is_empty).then_some(PostMedia { picture: shown.picture, video: shown.video, description: shown.description })
}

/// `GET /admin/reports/{report}/files/{file}`.
pub(crate) fn show_file(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let visit = BrowserVisit::from_call(&call).await?;
        let actor = require_staff(&call, &visit, UserRole::Moderator)?;
        let report = call.path_id::<()>("report")?.get();
        let context = call.read(move |tx: &mut Tx<'_>| reports::load_context(tx, &actor, report)).await?;
        let name = call.path_text("file")?;
        let found = context.media.iter().find_map(|media| Some((media, media.find_path(name)?)));
        let (media, path) = found.ok_or(Refusal::RouteNotFound)?;
        let sent = send_media_file(&call, media, &path, MediaFileReaders::SignedInPerson, None).await?;
        Ok(sent.ok_or(Refusal::RouteNotFound)?)
    })
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
        let report: i64 = report.parse().map_err(|_| Refusal::invalid_value("report", report))?;
        let typed = (sent.text("reason"), sent.text("days"));
        let days = if matches!(kind, Some(Kind::Silence | Kind::Suspend)) { parse_days(&typed.1) } else { Ok(0) };
        let days = match days {
            Ok(days) => days,
            Err(refusal) => {
                let refused = RefusedOrder::new(report, typed, &refusal);
                return render(&call, &visit, &actor, Some(refused)).await;
            }
        };
        let ordered = OrderedAct { report, kind, days, reason: typed.0.clone() };
        let (site, by) = (call.state.page_context.site.clone(), actor.clone());
        let done = call.write(move |tx: &mut Tx<'_>| order_act(tx, &site, &by, &ordered)).await;
        match done.split_refusal()? {
            Ok(Some(action)) => Ok(redirect_to(&format!("{QUEUE_PATH}?done={action}"))),
            Ok(None) => Ok(redirect_to(&format!("{QUEUE_PATH}?dismissed=1"))),
            Err(refusal) => render(&call, &visit, &actor, Some(RefusedOrder::new(report, typed, &refusal))).await,
        }
    })
}

fn parse_days(text: &str) -> Result<i64, Refusal> {
    let days = text.trim().parse().ok().filter(|days| (1..=MAX_DAYS).contains(days));
    days.ok_or_else(|| {
        let message = format!("Enter the days as a whole number from 1 to {MAX_DAYS}.");
        Refusal::invalid_parameter("days", text, message)
    })
}

/// Returns the action that was taken; none if the report was dismissed.
fn order_act(tx: &mut Tx<'_>, site: &EmailSite, by: &AuditActor, ordered: &OrderedAct) -> Result<Option<i64>, Error> {
    let Some(kind) = ordered.kind else {
        reports::dismiss(tx, by, ordered.report)?;
        return Ok(None);
    };
    reports::find_open(tx, ordered.report)?;
    let context = reports::load_context(tx, by, ordered.report)?;
    let new = build_action(&context, kind, ordered, tx.now());
    let action = moderation::act(tx, site, by, &new)?;
    reports::settle(tx, by, ordered.report)?;
    Ok(Some(action.id))
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
        ends_at: ends.then(|| now.plus_ms(ordered.days.saturating_mul(DAY_MS))),
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
        let typed = (text.clone(), String::new());
        let decide = move |tx: &mut Tx<'_>| moderation::decide_appeal(tx, &site, &by, action, accept, &text);
        match call.write(decide).await.split_refusal()? {
            Ok(()) => Ok(redirect_to(QUEUE_PATH)),
            Err(refusal) => render(&call, &visit, &actor, Some(RefusedOrder::new(action, typed, &refusal))).await,
        }
    })
}
