//! Reports by members, and the queue of moderators.

use std::collections::HashMap;

use base::refusal::ResourceRef;
use base::{Error, Fault, MediaId, PostId, Refusal, UserId};
use serde_json::json;
use store::attempt_limits::{AttemptDecision, AttemptRateLimit};
use store::media::Media;
use store::moderation::ModerationAction;
use store::posts::{self, Post};
use store::reports::{self, Report, ReportSubjectKind};
use store::users::{self, User};
use store::{Tx, moderation};

use crate::attempt_limits::charge_action;
use crate::audit::{self, AuditAction, AuditActor};
use crate::user_roles::{self, UserRole};
use crate::visibility::Viewer;
use crate::{lists, media, messages, notifications, post_actions, post_limits};

pub use store::reports::{Report as StoredReport, ReportSubjectKind as SubjectKind, find, list_by_user};

/// What a report can be about, in the order in which forms show it.
pub const CATEGORIES: [(&str, &str); 10] = [
    ("spam", "Spam"),
    ("abuse", "Abuse or harassment"),
    ("hate", "Hate"),
    ("violence", "Violence or threats"),
    ("sexual", "Sexual content"),
    ("self-harm", "Self-harm"),
    ("illegal", "Something illegal"),
    ("impersonation", "Impersonation"),
    ("copyright", "Copyright"),
    ("other", "Something else"),
];
/// Characters.
pub const MAX_TEXT_LENGTH: usize = 1_000;
/// Of one reporter: twenty at once, and twenty in a day.
const REPORTS_PER_USER: AttemptRateLimit = AttemptRateLimit { burst: 20, refill_interval_ms: 24 * 3600 * 1000 / 20 };
/// Earlier decisions and reports that the queue shows.
const HISTORY_LENGTH: i64 = 20;

/// Every kind of subject by its name.
pub const SUBJECT_NAMES: [(ReportSubjectKind, &str); 4] = [
    (ReportSubjectKind::Post, "post"),
    (ReportSubjectKind::User, "user"),
    (ReportSubjectKind::Message, "message"),
    (ReportSubjectKind::List, "list"),
];

pub fn subject_name(kind: ReportSubjectKind) -> &'static str {
    SUBJECT_NAMES.iter().find(|(known, _)| *known == kind).map_or("", |(_, name)| name)
}

#[derive(Clone, Debug)]
pub struct NewReport {
    pub subject_kind: ReportSubjectKind,
    pub subject_id: i64,
    /// One of [`CATEGORIES`].
    pub category: String,
    /// May be empty.
    pub text: String,
}

/// Refused about what the reporter cannot see, about oneself, while an open report of theirs is about the same, and
/// beyond twenty a day.
pub fn report(tx: &mut Tx<'_>, actor: &AuditActor, new: &NewReport) -> Result<Report, Error> {
    let reporter = crate::users::find_active(tx, actor.require_user()?)?.id;
    validate(new)?;
    let (user, evidence) = find_subject(tx, reporter, new.subject_kind, new.subject_id)?;
    if user == reporter {
        return Err(Refusal::forbidden("You cannot report yourself.").into());
    }
    if charge_action(tx, "report", &reporter.to_string(), REPORTS_PER_USER)? != AttemptDecision::Allowed {
        return Err(Refusal::RateLimited.into());
    }
    let report = Report {
        id: tx.next_id::<()>().get(),
        reporter_id: reporter,
        subject_kind: new.subject_kind,
        subject_id: new.subject_id,
        user_id: user,
        category: new.category.clone(),
        text: new.text.trim().to_owned(),
        evidence,
        closed_at: None,
        upheld: false,
    };
    if !reports::insert(tx, &report)? {
        return Err(Refusal::forbidden("You have already reported this. A moderator will look at it.").into());
    }
    Ok(report)
}

/// What contains a blocked term that is held for a moderator.
#[derive(Clone, Debug)]
pub(crate) struct HeldSubject {
    pub(crate) kind: ReportSubjectKind,
    pub(crate) id: i64,
    /// Who wrote it.
    pub(crate) user_id: UserId,
    /// What it says, if moderators cannot read that otherwise.
    pub(crate) evidence: String,
}

impl HeldSubject {
    pub(crate) const fn new(kind: ReportSubjectKind, id: i64, user_id: UserId) -> Self {
        Self { kind, id, user_id, evidence: String::new() }
    }
}

/// A report by the server itself about what contains a blocked term, unless one is open.
pub(crate) fn report_held(tx: &mut Tx<'_>, held: &HeldSubject, term: &str) -> Result<(), Fault> {
    let report = Report {
        id: tx.next_id::<()>().get(),
        reporter_id: UserId::new(0),
        subject_kind: held.kind,
        subject_id: held.id,
        user_id: held.user_id,
        category: "held".to_owned(),
        text: format!("It contains the blocked term [{term}]."),
        evidence: held.evidence.clone(),
        closed_at: None,
        upheld: false,
    };
    reports::insert(tx, &report).map(drop)
}

fn validate(new: &NewReport) -> Result<(), Refusal> {
    if !CATEGORIES.iter().any(|(name, _)| *name == new.category) {
        let names: Vec<&str> = CATEGORIES.iter().map(|(name, _)| *name).collect();
        let message = format!("The category [{}] is not one of [{}]", new.category, names.join(","));
        return Err(Refusal::invalid_parameter("category", &new.category, message));
    }
    if new.text.chars().count() > MAX_TEXT_LENGTH {
        let message = format!("The text must have at most {MAX_TEXT_LENGTH} characters");
        return Err(Refusal::invalid_parameter("text", "", message));
    }
    Ok(())
}

/// Whom a subject concerns, and what a message said, which moderators cannot read otherwise.
pub fn find_subject(
    tx: &mut Tx<'_>,
    reporter: UserId,
    kind: ReportSubjectKind,
    id: i64,
) -> Result<(UserId, String), Error> {
    let missing = |what: &'static str| Error::from(Refusal::NotFound(ResourceRef::new(what, "id", id)));
    match kind {
        ReportSubjectKind::Post => {
            let post = post_actions::find_visible_post(tx, Viewer::user(reporter), PostId::new(id))?;
            Ok((post.author_id, String::new()))
        }
        ReportSubjectKind::User => Ok((crate::users::find_target(tx, UserId::new(id), "id")?.id, String::new())),
        ReportSubjectKind::Message => {
            let event = messages::find_event(tx, reporter, id)?.ok_or_else(|| missing("dm_event"))?;
            Ok((event.sender_id, event.text))
        }
        ReportSubjectKind::List => {
            let list = lists::find_visible(tx, Viewer::user(reporter), id)?.ok_or_else(|| missing("list"))?;
            Ok((list.owner_id, String::new()))
        }
    }
}

/// What a moderator needs to decide about a report.
#[derive(Clone, Debug)]
pub struct ReportContext {
    pub report: Report,
    /// None for the server itself.
    pub reporter: Option<User>,
    pub user: Option<User>,
    /// The reported post in its latest version.
    pub post: Option<Post>,
    /// Pictures and videos of the post or message.
    pub media: Vec<Media>,
    /// Languages and names of the subtitles of these.
    pub subtitles: HashMap<MediaId, Vec<(String, String)>>,
    /// Earlier decisions about the account, newest first.
    pub actions: Vec<ModerationAction>,
    /// Other reports about the account, newest first.
    pub reports: Vec<Report>,
}

/// As [`queue`], missing for the person whom the report is about.
pub fn load_context(tx: &mut Tx<'_>, actor: &AuditActor, id: i64) -> Result<ReportContext, Error> {
    user_roles::require_role(tx, actor, UserRole::Moderator)?;
    let report = find(tx, id)?.filter(|report| actor.user != Some(report.user_id));
    let report = report.ok_or_else(|| crate::lookup::not_found("report", &id.to_string()))?;
    let post = match report.subject_kind {
        ReportSubjectKind::Post => posts::find_by_id(tx, PostId::new(report.subject_id))?,
        _ => None,
    };
    let media = match (&post, report.subject_kind) {
        (Some(post), _) => media::parse_media_keys(&post.media_keys),
        (None, ReportSubjectKind::Message) => {
            let event = store::messages::find_event(tx, report.subject_id)?;
            event.and_then(|event| event.media_id).into_iter().collect()
        }
        _ => Vec::new(),
    };
    let media: Vec<i64> = media.into_iter().map(MediaId::get).collect();
    let media = if media.is_empty() { Vec::new() } else { store::media::find_by_ids(tx, &media)? };
    let mut others = list_by_user(tx, report.user_id, HISTORY_LENGTH)?;
    others.retain(|other| other.id != id);
    Ok(ReportContext {
        reporter: users::find_by_id(tx, report.reporter_id)?,
        user: users::find_by_id(tx, report.user_id)?,
        post,
        subtitles: store::media::list_subtitles(tx, &media)?,
        media,
        actions: moderation::list_by_user(tx, report.user_id, HISTORY_LENGTH)?,
        reports: others,
        report,
    })
}

/// Open reports, oldest first. Nobody reads those about themselves, which would tell them who reported.
pub fn queue(tx: &mut Tx<'_>, actor: &AuditActor, after: i64, limit: i64) -> Result<Vec<Report>, Error> {
    user_roles::require_role(tx, actor, UserRole::Moderator)?;
    Ok(reports::list_open(tx, actor.user, after, limit)?)
}

/// Closes a report, and the others about the same subject, without an action. Refused like an action about oneself and about someone with the same or a higher role.
pub fn dismiss(tx: &mut Tx<'_>, actor: &AuditActor, id: i64) -> Result<Report, Error> {
    user_roles::require_role(tx, actor, UserRole::Moderator)?;
    let report = find_open(tx, id)?;
    user_roles::require_authority(tx, actor, UserRole::Moderator, report.user_id)?;
    close(tx, actor, report.subject_kind, report.subject_id, false)?;
    let detail = json!({ "report": id.to_string(), "user": report.user_id.to_string() });
    audit::append(tx, actor, AuditAction::REPORT_DISMISS, None, &detail)?;
    Ok(report)
}

/// Refused if the report is closed, such as by another moderator meanwhile. It stays open until the end of the transaction,
/// since the account is locked that it is about.
pub fn find_open(tx: &mut Tx<'_>, id: i64) -> Result<Report, Error> {
    let missing = || crate::lookup::not_found("report", &id.to_string());
    let subject = find(tx, id)?.ok_or_else(missing)?.user_id;
    users::lock(tx, subject)?;
    let report = find(tx, id)?.ok_or_else(missing)?;
    if report.closed_at.is_some() {
        return Err(Refusal::invalid_parameter(
            "report",
            id,
            "The report is closed already, by you or another moderator",
        )
        .into());
    }
    Ok(report)
}

/// Closes a report whose action was about the account rather than the subject.
pub fn settle(tx: &mut Tx<'_>, actor: &AuditActor, id: i64) -> Result<(), Error> {
    user_roles::require_role(tx, actor, UserRole::Moderator)?;
    match find(tx, id)?.filter(|report| report.closed_at.is_none()) {
        Some(report) => close(tx, actor, report.subject_kind, report.subject_id, true),
        None => Ok(()),
    }
}

/// Closes the open reports about a subject and tells the reporters. A post that was held is found from then on, unless an
/// action limited or removed it.
pub fn close(
    tx: &mut Tx<'_>,
    actor: &AuditActor,
    kind: ReportSubjectKind,
    subject: i64,
    upheld: bool,
) -> Result<(), Error> {
    let text = if upheld {
        "A moderator read your report and took action. Thank you."
    } else {
        "A moderator read your report and found no violation of the rules."
    };
    for reporter in reports::close_by_subject(tx, kind, subject, actor.user, upheld)? {
        if reporter.get() != 0 {
            notifications::notify_user(tx, reporter, text, "")?;
        }
    }
    if kind == ReportSubjectKind::Post {
        post_limits::release_held_post(tx, PostId::new(subject))?;
    }
    Ok(())
}
