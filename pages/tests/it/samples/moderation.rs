//! Samples of reports, decisions and administration.

use pages::members::PostMedia;

use super::{HOSTILE, days_ago, hostile_frame, minutes_ago, signed_in_frame};
use pages::{
    AdminAccountItem, AdminAccountPage, AdminActionItem, AdminActionsPage, AdminAppealItem, AdminAuditPage,
    AdminPeoplePage, AdminQueuePage, AdminReportItem, AdminSitePage, AdminTermsPage, ApplicationItem, AuditFact,
    AuditItem, BlockedTermGroup, BlockedTermItem, DecisionItem, DecisionsPage, DoneAction, FormField, InvitationItem,
    PageFrame, Pager, ReportPage, RoleItem, SettingItem, SettingSection, TextPage, render_markdown,
};

pub(crate) fn text_states() -> Vec<(&'static str, TextPage)> {
    let of = |frame, text: &str| TextPage { frame, title: "Rules".to_owned(), html: render_markdown(text) };
    vec![("rules", of(signed_in_frame(), "1. Be *kind*.\n")), ("hostile", of(hostile_frame(), HOSTILE))]
}

pub(crate) fn report_states() -> Vec<(&'static str, ReportPage)> {
    let of = |frame, text: FormField| ReportPage {
        frame,
        action: "/report?post=12".to_owned(),
        kind: "post",
        categories: vec![("spam", "Spam"), ("other", "Something else")],
        category: "spam".to_owned(),
        text,
    };
    vec![
        ("empty", of(signed_in_frame(), FormField::default())),
        ("hostile", of(hostile_frame(), FormField::invalid(HOSTILE, HOSTILE))),
    ]
}

pub(crate) fn decisions_states() -> Vec<(&'static str, DecisionsPage)> {
    let one = |text: &str, may_appeal: bool| DecisionItem {
        id: "12".to_owned(),
        text: "A moderator suspended your account.".to_owned(),
        post_text: text.to_owned(),
        post_path: Some("/ada/status/12".to_owned()),
        reason: text.to_owned(),
        at: days_ago(2),
        ends_at: Some(minutes_ago(-60)),
        is_lifted: false,
        appeal: (!may_appeal).then(|| text.to_owned()),
        may_appeal,
        typed: text.to_owned(),
    };
    let of = |frame, decisions| DecisionsPage {
        frame,
        action: "/settings/moderation".to_owned(),
        token: String::new(),
        decisions,
    };
    vec![
        ("none", of(signed_in_frame(), Vec::new())),
        ("one", of(signed_in_frame(), vec![one("Rule 1", true)])),
        ("hostile", of(hostile_frame(), vec![one(HOSTILE, false)])),
    ]
}

fn moderator_frame() -> PageFrame {
    PageFrame { is_moderator: true, undecided: 3, ..signed_in_frame() }
}

fn admin_frame() -> PageFrame {
    PageFrame { is_admin: true, undecided: 100, ..moderator_frame() }
}

pub(crate) fn queue_states() -> Vec<(&'static str, AdminQueuePage)> {
    let report = |id: &str, text: &str| AdminReportItem {
        id: id.to_owned(),
        category: "spam".to_owned(),
        text: text.to_owned(),
        kind: "post",
        subject_text: text.to_owned(),
        subject_path: Some("/ada/status/12".to_owned()),
        media: vec![PostMedia { picture: "/media/small.jpg".to_owned(), video: None, description: text.to_owned() }],
        is_sensitive: id == "2",
        username: text.to_owned(),
        reporter: (id == "1").then(|| text.to_owned()),
        at: minutes_ago(5),
        history: vec![text.to_owned()],
        other_reports: 2,
        reason: text.to_owned(),
        days: text.to_owned(),
    };
    let appeal = |text: &str| AdminAppealItem {
        id: "77".to_owned(),
        decision: "was suspended: Rule 4".to_owned(),
        subject_text: text.to_owned(),
        text: text.to_owned(),
        username: text.to_owned(),
        at: days_ago(1),
        answer: text.to_owned(),
    };
    let done = |text: &str| Some(DoneAction { text: text.to_owned(), path: "/admin/actions?below=2".to_owned() });
    let of = |frame, done, reports, appeals| AdminQueuePage {
        frame,
        done,
        action: "/admin/reports".to_owned(),
        appeal_action: "/admin/appeals".to_owned(),
        reports,
        appeals,
        pager: Pager::default(),
    };
    vec![
        ("none", of(moderator_frame(), None, Vec::new(), Vec::new())),
        (
            "several",
            of(
                admin_frame(),
                done("@ada was suspended."),
                vec![report("1", "Buy now"), report("2", "")],
                vec![appeal("Why?")],
            ),
        ),
        ("hostile", of(hostile_frame(), done(HOSTILE), vec![report("1", HOSTILE)], vec![appeal(HOSTILE)])),
    ]
}

pub(crate) fn account_states() -> Vec<(&'static str, AdminAccountPage)> {
    let account = |text: &str, refused: Option<&str>| AdminAccountItem {
        id: "7".to_owned(),
        form_id: "once".to_owned(),
        name: text.to_owned(),
        username: text.to_owned(),
        role: refused.map(|_| "owner"),
        states: vec!["suspended", "limited"],
        joined_at: days_ago(9),
        history: vec![text.to_owned()],
        reports: 2,
        refused_because: refused.map(str::to_owned),
        reason: text.to_owned(),
        days: text.to_owned(),
    };
    let of = |frame, text: &str, username, account| AdminAccountPage {
        frame,
        done: Some(DoneAction { text: text.to_owned(), path: "/admin/actions?below=2".to_owned() }),
        action: "/admin/accounts".to_owned(),
        username,
        account,
    };
    let wrong = FormField::invalid("nobody", "There is no account with this name.");
    vec![
        ("unknown", of(moderator_frame(), "ada", wrong, None)),
        ("found", of(admin_frame(), "ada", FormField::new("ada"), Some(account("ada", None)))),
        ("refused", of(admin_frame(), "ada", FormField::new("ada"), Some(account("ada", Some("You may not."))))),
        ("hostile", of(hostile_frame(), HOSTILE, FormField::new(HOSTILE), Some(account(HOSTILE, None)))),
        (
            "hostile refused",
            of(hostile_frame(), HOSTILE, FormField::new(HOSTILE), Some(account(HOSTILE, Some(HOSTILE)))),
        ),
    ]
}

pub(crate) fn actions_states() -> Vec<(&'static str, AdminActionsPage)> {
    let one = |id: &str, text: &str, may_lift: bool| AdminActionItem {
        id: id.to_owned(),
        text: text.to_owned(),
        username: text.to_owned(),
        post_text: text.to_owned(),
        reason: text.to_owned(),
        at: days_ago(2),
        ends_at: Some(minutes_ago(-60)),
        moderator: may_lift.then(|| text.to_owned()),
        is_lifted: !may_lift,
        may_lift,
    };
    let of = |frame, actions| AdminActionsPage {
        frame,
        action: "/admin/actions".to_owned(),
        actions,
        pager: Pager::default(),
    };
    vec![
        ("none", of(moderator_frame(), Vec::new())),
        ("several", of(admin_frame(), vec![one("1", "ada", true), one("2", "bob", false)])),
        ("hostile", of(hostile_frame(), vec![one("1", HOSTILE, true), one("2", HOSTILE, false)])),
    ]
}

pub(crate) fn people_states() -> Vec<(&'static str, AdminPeoplePage)> {
    let of = |frame, text: &str| AdminPeoplePage {
        frame,
        application_action: "/admin/applications".to_owned(),
        role_action: "/admin/roles".to_owned(),
        invite_action: "/admin/invitations".to_owned(),
        invitation: Some("https://social.example/account/join?token=sample".to_owned()),
        invitations: [true, false]
            .map(|is_sent| InvitationItem {
                id: "ab12".to_owned(),
                inviter: is_sent.then(|| text.to_owned()),
                email: if is_sent { text.to_owned() } else { String::new() },
                at: minutes_ago(5),
                expires_at: minutes_ago(-60),
            })
            .into(),
        applications: vec![ApplicationItem {
            id: "1".to_owned(),
            username: text.to_owned(),
            name: text.to_owned(),
            email: text.to_owned(),
            at: minutes_ago(5),
        }],
        roles: vec![RoleItem { username: text.to_owned(), role: "owner" }],
        username: FormField::default(),
    };
    vec![
        ("several", of(admin_frame(), "ada")),
        ("moderator", of(moderator_frame(), "ada")),
        ("hostile", of(hostile_frame(), HOSTILE)),
    ]
}

pub(crate) fn site_states() -> Vec<(&'static str, AdminSitePage)> {
    let item = |name, value| SettingItem { name, label: "Label", value, is_page: name == "rules", help: "Markdown" };
    let section = |title, setting| SettingSection { title, settings: vec![setting] };
    let of = |frame, text: &str| AdminSitePage {
        frame,
        action: "/admin/site".to_owned(),
        shown: text.to_owned(),
        sections: vec![
            section("Site", item("name", FormField::new(text))),
            section("Texts", item("rules", FormField::invalid(text, text))),
        ],
    };
    vec![("filled", of(admin_frame(), "Locum")), ("hostile", of(hostile_frame(), HOSTILE))]
}

pub(crate) fn terms_states() -> Vec<(&'static str, AdminTermsPage)> {
    let group = |text: &str| BlockedTermGroup {
        title: "Words and phrases",
        terms: [false, true].map(|is_held| BlockedTermItem { kind: "word", term: text.to_owned(), is_held }).into(),
    };
    let of = |frame, groups, term: FormField| AdminTermsPage {
        frame,
        action: "/admin/terms".to_owned(),
        groups,
        kinds: vec![
            ("word", "Word or phrase", "In posts and messages"),
            ("email-domain", "Email domain", "Of registrations"),
        ],
        kind: "word".to_owned(),
        term,
        hold: false,
    };
    vec![
        ("none", of(admin_frame(), Vec::new(), FormField::default())),
        ("several", of(admin_frame(), vec![group("cheap pills")], FormField::default())),
        ("refused", of(admin_frame(), Vec::new(), FormField::invalid("no host", "A host has letters only"))),
        ("hostile", of(hostile_frame(), vec![group(HOSTILE)], FormField::invalid(HOSTILE, HOSTILE))),
    ]
}

pub(crate) fn audit_states() -> Vec<(&'static str, AdminAuditPage)> {
    let fact = |name: &str, text: &str| AuditFact {
        name: name.to_owned(),
        value: text.to_owned(),
        path: (name == "user").then(|| format!("/{text}")),
    };
    let of = |frame, text: &str| AdminAuditPage {
        frame,
        entries: vec![AuditItem {
            at: minutes_ago(5),
            kind: "moderation.act".to_owned(),
            actor: Some(fact("by", text)),
            facts: vec![fact("user", text), fact(text, text)],
        }],
        pager: Pager::default(),
    };
    vec![("one", of(admin_frame(), "@ada")), ("hostile", of(hostile_frame(), HOSTILE))]
}
