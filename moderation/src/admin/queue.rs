//! Open reports and appeals.

use base::{Error, Fault, PostId, Refusal, SplitRefusal};
use identity::moderation::{self, Kind, ModerationTarget};
use network::audit::AuditActor;
use network::emails::EmailSite;
use network::lists;
use network::reports::{self, ReportContext, StoredReport, SubjectKind, subject_name};
use network::user_roles::{self, UserRole};
use network::visibility::{AuthorVisibilities, Viewer, Visibility, profile_visibility};
use pages::members::PostMedia;
use pages::{AdminAppealItem, AdminQueuePage, AdminReportItem, Notice};
use portal::{BrowserVisit, PageExit, PageQuery, accept_form, build_pager, cut_page, redirect_to};
use store::Tx;
use store::media::Media;
use store::posts::Post;
use view::ShownMedia;
use web::HttpReply;
use web::error_formats::error_message;
use web::media_files::{MediaFileReaders, send_media_file};
use web::request_context::RequestContext;

use super::actions::{describe_appealed, describe_in_history, find_username, load_done};
use super::acts::{ActForm, DEFAULT_DAYS};
use super::{APPEALS_PATH, QUEUE_PATH, REPORTS_PATH};
use crate::access::require_staff;

const PAGE_SIZE: i64 = 20;

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

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let actor = require_staff(&call, &visit, UserRole::Moderator)?;
    render(&call, &visit, &actor, None).await
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
    let ((mut reports, next, mut appeals), done) = call.read(load).await?;
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
        pager: build_pager(QUEUE_PATH, "after", after <= 0, next),
    };
    Ok(visit.render_page(call, &page)?.status(status))
}

type LoadedQueue = (Vec<AdminReportItem>, Option<i64>, Vec<AdminAppealItem>);

fn load_queue(tx: &mut Tx<'_>, actor: &AuditActor, after: i64) -> Result<LoadedQueue, Error> {
    let (mut items, reader) = (Vec::new(), actor.require_user()?);
    let mut reports = reports::queue(tx, actor, after, PAGE_SIZE + 1)?;
    let next = cut_page(&mut reports, PAGE_SIZE, |report| report.id);
    for report in reports {
        let context = reports::load_context(tx, actor, report.id)?;
        let path = find_subject_path(tx, Viewer::user(reader), &context)?;
        items.push(report_item(context, path));
    }
    let mut appeals = Vec::new();
    let role = user_roles::find(tx, reader)?;
    for appeal in moderation::list_open_appeals(tx, role, PAGE_SIZE)? {
        let action = moderation::find_action(tx, appeal.action_id)?;
        appeals.push(AdminAppealItem {
            id: action.id.to_string(),
            decision: describe_appealed(&action),
            subject_text: moderation::find_post_text(tx, &action)?,
            text: appeal.text,
            username: find_username(tx, action.user_id)?,
            at: appeal.created_at,
            answer: String::new(),
        });
    }
    Ok((items, next, appeals))
}

/// None if the reader cannot open it.
fn find_subject_path(tx: &mut Tx<'_>, reader: Viewer, context: &ReportContext) -> Result<Option<String>, Fault> {
    let ReportContext { report, post, user: Some(user), .. } = context else { return Ok(None) };
    Ok(match report.subject_kind {
        SubjectKind::Post => {
            let mut visibilities = AuthorVisibilities::load(tx, reader, [user])?;
            visibilities.admit_posts(tx, post)?;
            let is_visible = |post: &&Post| visibilities.post_visibility(post) == Visibility::Visible;
            post.as_ref().filter(is_visible).map(|post| format!("/{}/status/{}", user.username, post.id))
        }
        SubjectKind::User => (profile_visibility(user) == Visibility::Visible).then(|| format!("/{}", user.username)),
        SubjectKind::List => {
            lists::find_visible(tx, reader, report.subject_id)?.map(|list| format!("/lists/{}", list.id))
        }
        SubjectKind::Message => None,
    })
}

fn report_item(context: ReportContext, subject_path: Option<String>) -> AdminReportItem {
    let media = context.media.iter().filter_map(|media| show_media(&context, media)).collect();
    let report = context.report;
    let username = context.user.map_or_else(|| report.user_id.to_string(), |user| user.username);
    AdminReportItem {
        id: report.id.to_string(),
        at: report.created_at(),
        kind: subject_name(report.subject_kind),
        subject_path,
        media,
        is_sensitive: context.post.as_ref().is_some_and(|post| post.possibly_sensitive),
        subject_text: context.post.map_or(report.evidence, |post| post.text),
        username,
        reporter: context.reporter.map(|user| user.username),
        history: context.actions.iter().map(describe_in_history).collect(),
        other_reports: context.reports.len(),
        category: report.category,
        text: report.text,
        reason: String::new(),
        days: DEFAULT_DAYS.to_owned(),
    }
}

/// None if there is no file. Moderators read the files of protected posts and messages below the report.
fn show_media(context: &ReportContext, media: &Media) -> Option<PostMedia> {
    let (report, subtitles) = (context.report.id, context.subtitles.get(&media.id).cloned().unwrap_or_default());
    let url = |path: &str| {
        let name = path.rsplit('/').next().filter(|name| !name.is_empty())?;
        Some(format!("{REPORTS_PATH}/{report}/files/{name}"))
    };
    let ShownMedia { picture, video, description, subtitles } = view::show_stored_media(media, subtitles, url);
    let is_empty = picture.is_empty() && video.is_none();
    (!is_empty).then_some(PostMedia { picture, video, description, subtitles })
}

pub(crate) async fn show_file(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let actor = require_staff(&call, &visit, UserRole::Moderator)?;
    let report = call.path_id::<()>("report")?.get();
    let context = call.read(move |tx: &mut Tx<'_>| reports::load_context(tx, &actor, report)).await?;
    let name = call.path_text("file")?;
    let found = context.media.iter().find_map(|media| Some((media, media.find_path(name)?)));
    let (media, path) = found.ok_or(Refusal::RouteNotFound)?;
    let sent = send_media_file(&call, media, &path, MediaFileReaders::SignedInPerson, None).await?;
    Ok(sent.ok_or(Refusal::RouteNotFound)?)
}

pub(crate) async fn act(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let actor = require_staff(&call, &visit, UserRole::Moderator)?;
    let sent = accept_form(&call, &visit).await?;
    let (report, form) = (sent.text("report"), ActForm::read(&sent)?);
    let report: i64 = report.parse().map_err(|_| Refusal::invalid_value("report", report))?;
    let (site, by, ordered) = (call.state.page_context.site.clone(), actor.clone(), form.clone());
    let done = call.write(move |tx: &mut Tx<'_>| order_act(tx, &site, &by, report, &ordered)).await;
    match done.split_refusal()? {
        Ok(Some(action)) => Ok(redirect_to(&format!("{QUEUE_PATH}?done={action}"))),
        Ok(None) => Ok(redirect_to(&format!("{QUEUE_PATH}?dismissed=1"))),
        Err(refusal) => {
            let refused = RefusedOrder::new(report, (form.reason, form.days), &refusal);
            render(&call, &visit, &actor, Some(refused)).await
        }
    }
}

/// Returns the action that was taken; none if the report was dismissed.
fn order_act(
    tx: &mut Tx<'_>,
    site: &EmailSite,
    by: &AuditActor,
    report: i64,
    form: &ActForm,
) -> Result<Option<i64>, Error> {
    let Some(kind) = form.kind else {
        reports::dismiss(tx, by, report)?;
        return Ok(None);
    };
    reports::find_open(tx, report)?;
    let context = reports::load_context(tx, by, report)?;
    let new = form.build_action(kind, select_target(&context.report, kind), tx.now())?;
    let action = moderation::act(tx, site, by, &new)?;
    reports::settle(tx, by, report)?;
    Ok(Some(action.id))
}

fn select_target(report: &StoredReport, kind: Kind) -> ModerationTarget {
    let is_about_post =
        matches!(kind, Kind::Remove | Kind::Label) || kind == Kind::Limit && report.subject_kind == SubjectKind::Post;
    if is_about_post {
        ModerationTarget::Post(PostId::new(report.subject_id))
    } else {
        ModerationTarget::Account(report.user_id)
    }
}

pub(crate) async fn decide_appeal(call: RequestContext) -> Result<HttpReply, PageExit> {
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
}
