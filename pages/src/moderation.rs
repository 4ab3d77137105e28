//! Reports, what moderators decided, and the pages of those who run the site.

use crate::members::PostMedia;
use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame, Pager};
use askama::Template;
use base::Time;

/// A text of the site: its rules, terms and the like.
#[derive(Template)]
#[template(path = "text.html")]
pub struct TextPage {
    pub frame: PageFrame,
    pub title: String,
    /// Rendered by [`render_markdown`](crate::render_markdown), or our own.
    pub html: String,
}

html_page!(TextPage, |page| page.title.clone());

/// Sends `kind`, `id`, `category` and `text`.
#[derive(Template)]
#[template(path = "moderation/report.html")]
pub struct ReportPage {
    pub frame: PageFrame,
    /// Its query names the subject.
    pub action: String,
    /// `post`, `user`, `message` or `list`.
    pub kind: &'static str,
    /// Value and label of each choice.
    pub categories: Vec<(&'static str, &'static str)>,
    pub category: String,
    pub text: FormField,
}

html_page!(ReportPage, |page| format!("Report a {}", page.kind), |page| vec![("text", &page.text)]);

pub struct DecisionItem {
    pub id: String,
    /// A sentence.
    pub text: String,
    /// What the post says that it is about; may be empty.
    pub post_text: String,
    pub post_path: Option<String>,
    pub reason: String,
    pub at: Time,
    pub ends_at: Option<Time>,
    pub is_lifted: bool,
    /// What became of the appeal, if there is one.
    pub appeal: Option<String>,
    pub may_appeal: bool,
    /// The text of an appeal that was refused.
    pub typed: String,
}

pub const DECISIONS_PATH: &str = "/settings/moderation";

/// Sends `action`, `text` and, for someone who cannot sign in, `token`.
#[derive(Template)]
#[template(path = "moderation/decisions.html")]
pub struct DecisionsPage {
    pub frame: PageFrame,
    pub action: String,
    /// The secret of an appeal link, or empty.
    pub token: String,
    /// Newest first.
    pub decisions: Vec<DecisionItem>,
}

impl DecisionsPage {
    const SECTION: &'static str = "Moderation";
}

html_page!(DecisionsPage, |_| "What moderators decided".to_owned());

pub const ACCOUNTS_PATH: &str = "/admin/accounts";

/// The fields and buttons of a form that acts on what is reported, or on an account.
#[derive(Template)]
#[template(path = "moderation/act_fields.html")]
struct ActFields<'page> {
    id: &'page str,
    reason: &'page str,
    days: &'page str,
    /// The kind of what is reported; none for an account that nobody reported.
    reported: Option<&'static str>,
    is_admin: bool,
    /// Whether the buttons have keyboard shortcuts.
    has_keys: bool,
}

impl ActFields<'_> {
    fn key(&self, letter: char) -> String {
        if self.has_keys { format!(" accesskey=\"{letter}\"") } else { String::new() }
    }
}

pub struct AdminReportItem {
    pub id: String,
    pub category: String,
    /// What the reporter wrote.
    pub text: String,
    /// `post`, `user`, `message` or `list`.
    pub kind: &'static str,
    /// What the post or message says; may be empty.
    pub subject_text: String,
    /// None for a message, and for what the reader cannot open.
    pub subject_path: Option<String>,
    /// Pictures and videos of the post or message.
    pub media: Vec<PostMedia>,
    /// Whether the media are shown on request only.
    pub is_sensitive: bool,
    /// Without the at sign.
    pub username: String,
    /// Without the at sign; none for the server itself.
    pub reporter: Option<String>,
    pub at: Time,
    /// Earlier decisions about the account.
    pub history: Vec<String>,
    /// Other reports about the account.
    pub other_reports: usize,
    /// What was typed before an action was refused.
    pub reason: String,
    pub days: String,
}

impl AdminReportItem {
    fn act_fields(&self, frame: &PageFrame, has_keys: bool) -> ActFields<'_> {
        ActFields {
            id: &self.id,
            reason: &self.reason,
            days: &self.days,
            reported: Some(self.kind),
            is_admin: frame.is_admin,
            has_keys,
        }
    }
}

pub struct AdminAppealItem {
    /// Of the action.
    pub id: String,
    /// Continues a sentence that begins with the username.
    pub decision: String,
    /// What the post says that the action is about; may be empty.
    pub subject_text: String,
    /// What the member wrote.
    pub text: String,
    pub username: String,
    pub at: Time,
    /// What was typed before it was refused.
    pub answer: String,
}

/// A sentence about what was just done, and where it can be undone.
pub struct DoneAction {
    pub text: String,
    pub path: String,
}

/// Sends `report`, `act`, `days` and `reason`, or `action`, `decision` and `answer`.
#[derive(Template)]
#[template(path = "moderation/queue.html")]
pub struct AdminQueuePage {
    pub frame: PageFrame,
    pub done: Option<DoneAction>,
    pub action: String,
    pub appeal_action: String,
    /// Oldest first.
    pub reports: Vec<AdminReportItem>,
    pub appeals: Vec<AdminAppealItem>,
    pub pager: Pager,
}

html_page!(AdminQueuePage, |_| "Reports".to_owned());

pub struct AdminAccountItem {
    pub id: String,
    pub form_id: String,
    pub name: String,
    /// Without the at sign.
    pub username: String,
    /// Of those who run the site.
    pub role: Option<&'static str>,
    /// Such as `suspended`.
    pub states: Vec<&'static str>,
    pub joined_at: Time,
    /// Decisions about the account, newest first.
    pub history: Vec<String>,
    /// About the account and what belongs to it.
    pub reports: usize,
    /// Why the reader may not act on it.
    pub refused_because: Option<String>,
    /// What was typed before an action was refused.
    pub reason: String,
    pub days: String,
}

impl AdminAccountItem {
    fn has_profile(&self) -> bool {
        !self.states.contains(&"suspended") && !self.states.contains(&"deleted")
    }

    fn act_fields(&self, frame: &PageFrame) -> ActFields<'_> {
        ActFields {
            id: &self.id,
            reason: &self.reason,
            days: &self.days,
            reported: None,
            is_admin: frame.is_admin,
            has_keys: false,
        }
    }
}

/// A form that sends `username`, and one that sends `user`, `act`, `days` and `reason`.
#[derive(Template)]
#[template(path = "moderation/account.html")]
pub struct AdminAccountPage {
    pub frame: PageFrame,
    pub done: Option<DoneAction>,
    pub action: String,
    pub username: FormField,
    /// None before one was looked for.
    pub account: Option<AdminAccountItem>,
}

html_page!(AdminAccountPage, |_| "Accounts".to_owned(), |page| vec![("username", &page.username)]);

pub struct AdminActionItem {
    pub id: String,
    /// A sentence.
    pub text: String,
    /// Without the at sign.
    pub username: String,
    /// What the post says that it is about; may be empty.
    pub post_text: String,
    pub reason: String,
    pub at: Time,
    pub ends_at: Option<Time>,
    /// Without the at sign; none for an operator.
    pub moderator: Option<String>,
    pub is_lifted: bool,
    pub may_lift: bool,
}

/// Sends `action`, which is lifted.
#[derive(Template)]
#[template(path = "moderation/actions.html")]
pub struct AdminActionsPage {
    pub frame: PageFrame,
    pub action: String,
    /// Newest first.
    pub actions: Vec<AdminActionItem>,
    pub pager: Pager,
}

html_page!(AdminActionsPage, |_| "Actions".to_owned());

pub struct ApplicationItem {
    pub id: String,
    pub username: String,
    pub name: String,
    pub email: String,
    pub at: Time,
}

pub struct InvitationItem {
    pub id: String,
    /// Without the at sign; none for an operator.
    pub inviter: Option<String>,
    /// The address it was sent to, or empty.
    pub email: String,
    pub at: Time,
    pub expires_at: Time,
}

pub struct RoleItem {
    pub username: String,
    pub role: &'static str,
}

/// Sends `application` and `decision`, or `username` and `role`, or nothing for an invitation, or `invitation`, which is revoked.
#[derive(Template)]
#[template(path = "moderation/people.html")]
pub struct AdminPeoplePage {
    pub frame: PageFrame,
    pub application_action: String,
    pub role_action: String,
    pub invite_action: String,
    /// An invitation that was just created.
    pub invitation: Option<String>,
    /// Those that were not accepted yet, newest first.
    pub invitations: Vec<InvitationItem>,
    pub applications: Vec<ApplicationItem>,
    pub roles: Vec<RoleItem>,
    pub username: FormField,
}

html_page!(AdminPeoplePage, |_| "People".to_owned(), |page| vec![("username", &page.username)]);

pub struct SettingItem {
    pub name: &'static str,
    pub label: &'static str,
    pub value: FormField,
    /// Whether it is a text in Markdown.
    pub is_page: bool,
    pub help: &'static str,
}

pub struct SettingSection {
    pub title: &'static str,
    pub settings: Vec<SettingItem>,
}

/// Sends `shown` and a field for each setting, with its name.
#[derive(Template)]
#[template(path = "moderation/site.html")]
pub struct AdminSitePage {
    pub frame: PageFrame,
    pub action: String,
    /// What tells the values that the form was shown with.
    pub shown: String,
    pub sections: Vec<SettingSection>,
}

html_page!(AdminSitePage, |_| "Site".to_owned(), |page| {
    let settings = page.sections.iter().flat_map(|section| &section.settings);
    settings.map(|one| (one.name, &one.value)).collect()
});

pub struct BlockedTermItem {
    /// `word`, `link-host` or `email-domain`.
    pub kind: &'static str,
    pub term: String,
    pub is_held: bool,
}

pub struct BlockedTermGroup {
    pub title: &'static str,
    /// By name.
    pub terms: Vec<BlockedTermItem>,
}

/// Sends `act`, which is `block` or `unblock`, `kind`, `term` and, for a term that is held rather than refused, `hold`.
#[derive(Template)]
#[template(path = "moderation/terms.html")]
pub struct AdminTermsPage {
    pub frame: PageFrame,
    pub action: String,
    /// Groups without terms are left out.
    pub groups: Vec<BlockedTermGroup>,
    /// Value, label and help of each choice.
    pub kinds: Vec<(&'static str, &'static str, &'static str)>,
    pub kind: String,
    pub term: FormField,
    pub hold: bool,
}

html_page!(AdminTermsPage, |_| "Blocked terms".to_owned(), |page| vec![("term", &page.term)]);

pub struct AuditFact {
    pub name: String,
    pub value: String,
    /// Of the account that the value names.
    pub path: Option<String>,
}

pub struct AuditItem {
    pub at: Time,
    pub kind: String,
    /// Who did it.
    pub actor: Option<AuditFact>,
    pub facts: Vec<AuditFact>,
}

#[derive(Template)]
#[template(path = "moderation/audit.html")]
pub struct AdminAuditPage {
    pub frame: PageFrame,
    /// Newest first.
    pub entries: Vec<AuditItem>,
    pub pager: Pager,
}

html_page!(AdminAuditPage, |_| "Audit log".to_owned());
