//! Sample data: every page in every state worth reviewing.

pub(crate) mod account;
pub(crate) mod account_data;
pub(crate) mod account_recovery;
pub(crate) mod app;
pub(crate) mod apps;
pub(crate) mod authorize;
pub(crate) mod bookmarks;
pub(crate) mod communities;
pub(crate) mod compose;
pub(crate) mod console;
pub(crate) mod drafts;
pub(crate) mod lists;
pub(crate) mod manager;
pub(crate) mod members;
pub(crate) mod messages;
pub(crate) mod moderation;
pub(crate) mod muted_words;
pub(crate) mod notification_settings;
pub(crate) mod passkeys;
pub(crate) mod profile;
pub(crate) mod search_console;
pub(crate) mod sign_in;
pub(crate) mod tools;
pub(crate) mod two_factor;
pub(crate) mod webhooks;

use crate::{AppRef, AppSummary, HtmlPage, PageFrame, SignedInAccount, SimilarApp};
use base::{Fault, Time};

pub struct PageSample {
    pub name: String,
    pub html: String,
}

pub fn all_samples() -> Result<Vec<PageSample>, Fault> {
    let mut all = Vec::new();
    add_samples::<crate::LandingPage>(&mut all)?;
    add_samples::<crate::SignInPage>(&mut all)?;
    add_samples::<crate::SignUpPage>(&mut all)?;
    add_samples::<crate::SignOutPage>(&mut all)?;
    add_samples::<crate::ForgotPasswordPage>(&mut all)?;
    add_samples::<crate::ResetPasswordPage>(&mut all)?;
    add_samples::<crate::EmailConfirmationPage>(&mut all)?;
    add_settings_samples(&mut all)?;
    add_samples::<crate::OAuth1AuthorizePage>(&mut all)?;
    add_samples::<crate::PinPage>(&mut all)?;
    add_samples::<crate::AuthorizationDeniedPage>(&mut all)?;
    add_samples::<crate::OAuth2ConsentPage>(&mut all)?;
    add_samples::<crate::ErrorPage>(&mut all)?;
    add_samples::<crate::AppListPage>(&mut all)?;
    add_samples::<crate::NewAppPage>(&mut all)?;
    add_samples::<crate::AppSettingsPage>(&mut all)?;
    add_samples::<crate::AppKeysPage>(&mut all)?;
    add_samples::<crate::RegenerateKeyPage>(&mut all)?;
    add_samples::<crate::CallbackTesterPage>(&mut all)?;
    add_samples::<crate::WebhooksPage>(&mut all)?;
    add_samples::<crate::AppUsagePage>(&mut all)?;
    add_samples::<crate::DeleteAppPage>(&mut all)?;
    add_samples::<crate::StreamRulesPage>(&mut all)?;
    add_samples::<crate::LiveStreamPage>(&mut all)?;
    add_samples::<crate::SearchConsolePage>(&mut all)?;
    add_samples::<crate::RefusedRequestPage>(&mut all)?;
    add_samples::<crate::SignatureExplainerPage>(&mut all)?;
    add_samples::<crate::manager::AdsManagerPage>(&mut all)?;
    add_moderation_samples(&mut all)?;
    add_samples::<crate::PostPreviewPage>(&mut all)?;
    add_member_samples(&mut all)?;
    add_samples::<crate::MailboxPage>(&mut all)?;
    add_samples::<crate::EmailPage>(&mut all)?;
    add_samples::<crate::ConversationCardPage>(&mut all)?;
    add_samples::<crate::ComposePage>(&mut all)?;
    add_samples::<crate::PostSentPage>(&mut all)?;
    add_samples::<crate::console::ConsoleHomePage>(&mut all)?;
    add_samples::<crate::console::ConsoleClockPage>(&mut all)?;
    add_samples::<crate::console::FaultsPage>(&mut all)?;
    add_samples::<crate::console::ClientsPage>(&mut all)?;
    add_samples::<crate::console::ExplorerPage>(&mut all)?;
    add_samples::<crate::console::ExplorerOperationPage>(&mut all)?;
    add_samples::<crate::console::ConsoleWebhooksPage>(&mut all)?;
    add_samples::<crate::console::PeoplePage>(&mut all)?;
    add_samples::<crate::console::PersonPage>(&mut all)?;
    add_samples::<crate::console::ConsoleLimitsPage>(&mut all)?;
    add_samples::<crate::console::ConsoleStreamsPage>(&mut all)?;
    add_samples::<crate::console::ConsoleSnapshotsPage>(&mut all)?;
    add_samples::<crate::console::ConsoleWorldsPage>(&mut all)?;
    add_samples::<crate::console::ConsoleRequestsPage>(&mut all)?;
    add_samples::<crate::console::ConsoleRequestPage>(&mut all)?;
    add_samples::<crate::console::ConsoleRequestDiffPage>(&mut all)?;
    Ok(all)
}

fn add_settings_samples(all: &mut Vec<PageSample>) -> Result<(), Fault> {
    add_samples::<crate::SignInCodePage>(all)?;
    add_samples::<crate::AccountSettingsPage>(all)?;
    add_samples::<crate::AccountDataPage>(all)?;
    add_samples::<crate::RestoreAccountPage>(all)?;
    add_samples::<crate::SecurityPage>(all)?;
    add_samples::<crate::TwoFactorSetupPage>(all)?;
    add_samples::<crate::RecoveryCodesPage>(all)?;
    add_samples::<crate::PasskeySetupPage>(all)?;
    add_samples::<crate::SessionsPage>(all)?;
    add_samples::<crate::ConnectedAppsPage>(all)
}

fn add_member_samples(all: &mut Vec<PageSample>) -> Result<(), Fault> {
    add_samples::<crate::members::HomePage>(all)?;
    add_samples::<crate::members::ProfilePage>(all)?;
    add_samples::<crate::members::PeoplePage>(all)?;
    add_samples::<crate::members::ThreadPage>(all)?;
    add_samples::<crate::members::EditHistoryPage>(all)?;
    add_samples::<crate::members::PostListPage>(all)?;
    add_samples::<crate::members::BookmarksPage>(all)?;
    add_samples::<crate::members::NotificationsPage>(all)?;
    add_samples::<crate::members::FollowRequestsPage>(all)?;
    add_samples::<crate::members::MemberSearchPage>(all)?;
    add_samples::<crate::members::ConversationListPage>(all)?;
    add_samples::<crate::members::MessageThreadPage>(all)?;
    add_samples::<crate::members::NewMessagePage>(all)?;
    add_list_samples(all)?;
    add_samples::<crate::members::CommunitiesPage>(all)?;
    add_samples::<crate::members::CommunityPage>(all)?;
    add_samples::<crate::members::CommunityMembersPage>(all)?;
    add_samples::<crate::members::EditProfilePage>(all)?;
    add_samples::<crate::members::MutedWordsPage>(all)?;
    add_samples::<crate::members::NotificationSettingsPage>(all)?;
    add_samples::<crate::members::DraftsPage>(all)?;
    add_samples::<crate::members::WritePostPage>(all)
}

fn add_list_samples(all: &mut Vec<PageSample>) -> Result<(), Fault> {
    add_samples::<crate::members::ListsPage>(all)?;
    add_samples::<crate::members::NewListPage>(all)?;
    add_samples::<crate::members::EditListPage>(all)?;
    add_samples::<crate::members::DeleteListPage>(all)?;
    add_samples::<crate::members::ListTimelinePage>(all)?;
    add_samples::<crate::members::ListMembersPage>(all)?;
    add_samples::<crate::members::AddToListPage>(all)
}

fn add_moderation_samples(all: &mut Vec<PageSample>) -> Result<(), Fault> {
    add_samples::<crate::TextPage>(all)?;
    add_samples::<crate::ReportPage>(all)?;
    add_samples::<crate::DecisionsPage>(all)?;
    add_samples::<crate::AdminQueuePage>(all)?;
    add_samples::<crate::AdminPeoplePage>(all)?;
    add_samples::<crate::AdminSitePage>(all)?;
    add_samples::<crate::AdminTermsPage>(all)?;
    add_samples::<crate::AdminAuditPage>(all)
}

fn add_samples<P: HtmlPage>(all: &mut Vec<PageSample>) -> Result<(), Fault> {
    for (state, page) in P::sample_states() {
        all.push(PageSample { name: format!("{}.{state}", P::NAME), html: page.render_html()? });
    }
    Ok(())
}

pub(crate) const HOSTILE: &str = "\"><script>alert(1)</script><img src=x onerror=alert(1)>'`{{7*7}}&lt;\u{202e}";

pub(crate) const HOSTILE_URL: &str = "javascript:alert(1)//\"><script>alert(1)</script>";

fn sample_time() -> Time {
    Time::from_seconds(1_795_233_906)
}

fn minutes_ago(ago: i64) -> Time {
    sample_time().plus_ms(-60_000 * ago)
}

fn days_ago(ago: i64) -> Time {
    minutes_ago(ago.saturating_mul(1_440))
}

fn signed_out_frame() -> PageFrame {
    PageFrame {
        csrf: "c5rf-70k3n".to_owned(),
        site: "Locum".to_owned(),
        host: "social.example".to_owned(),
        now: crate::ZonedTime { at: sample_time(), ..crate::ZonedTime::default() },
        ..PageFrame::default()
    }
}

fn signed_in_frame() -> PageFrame {
    PageFrame {
        account: Some(SignedInAccount { username: "ada".to_owned(), name: "Ada Okafor".to_owned() }),
        ..signed_out_frame()
    }
}

fn hostile_frame() -> PageFrame {
    PageFrame {
        account: Some(SignedInAccount { username: HOSTILE.to_owned(), name: HOSTILE.to_owned() }),
        csrf: HOSTILE.to_owned(),
        host: HOSTILE.to_owned(),
        failure: Some(HOSTILE.to_owned()),
        notices: vec![crate::Notice::success(HOSTILE), crate::Notice::info(HOSTILE)],
        dev: true,
        ..signed_out_frame()
    }
}

fn development_frame(frame: PageFrame) -> PageFrame {
    PageFrame { dev: true, ..frame }
}

fn with_notice(frame: PageFrame, text: &str) -> PageFrame {
    PageFrame { notices: vec![crate::Notice::success(text)], ..frame }
}

fn with_failure(frame: PageFrame, text: &str) -> PageFrame {
    PageFrame { failure: Some(text.to_owned()), ..frame }
}

fn sample_app_summary() -> AppSummary {
    AppSummary {
        name: "Harbour Radio".to_owned(),
        description: "Plans posts for small radio stations and tells them who listened.".to_owned(),
        website: Some("https://harbour-radio.example".to_owned()),
        owner: "nkechi".to_owned(),
        similar: None,
    }
}

fn hostile_app_summary() -> AppSummary {
    AppSummary {
        name: HOSTILE.to_owned(),
        description: HOSTILE.to_owned(),
        website: Some(HOSTILE_URL.to_owned()),
        owner: HOSTILE.to_owned(),
        similar: Some(SimilarApp { name: HOSTILE.to_owned(), owner: HOSTILE.to_owned() }),
    }
}

fn sample_app() -> AppRef {
    AppRef {
        id: "1789440129884192768".to_owned(),
        name: "Harbour Radio".to_owned(),
        path: "/developer/apps/1789440129884192768".to_owned(),
    }
}

fn hostile_app() -> AppRef {
    AppRef { id: HOSTILE.to_owned(), name: HOSTILE.to_owned(), path: "/developer/apps/1\"><script>".to_owned() }
}
