//! Sample data: every page in every state worth reviewing. The example `gallery` compiles this module too.

pub(crate) mod account;
pub(crate) mod account_data;
pub(crate) mod account_recovery;
pub(crate) mod app;
pub(crate) mod apps;
pub(crate) mod authorize;
pub(crate) mod blocked_accounts;
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

use base::{Fault, Time};
use pages::{AppRef, AppSummary, HtmlPage, PageFrame, SignedInAccount, SimilarApp};

pub(crate) struct PageSample {
    /// `PAGE.STATE`, where `PAGE` is [`HtmlPage::NAME`].
    pub(crate) name: String,
    pub(crate) html: String,
}

pub(crate) fn all_samples() -> Result<Vec<PageSample>, Fault> {
    let mut all = Vec::new();
    add_samples(&mut all, sign_in::landing_states())?;
    add_samples(&mut all, sign_in::sign_in_states())?;
    add_samples(&mut all, sign_in::sign_up_states())?;
    add_samples(&mut all, sign_in::sign_out_states())?;
    add_samples(&mut all, account_recovery::forgot_password_states())?;
    add_samples(&mut all, account_recovery::reset_password_states())?;
    add_samples(&mut all, account_recovery::email_confirmation_states())?;
    add_settings_samples(&mut all)?;
    add_samples(&mut all, authorize::authorize_states())?;
    add_samples(&mut all, authorize::pin_states())?;
    add_samples(&mut all, authorize::authorization_denied_states())?;
    add_samples(&mut all, authorize::consent_states())?;
    add_samples(&mut all, authorize::error_states())?;
    add_samples(&mut all, apps::app_list_states())?;
    add_samples(&mut all, apps::new_app_states())?;
    add_samples(&mut all, apps::app_settings_states())?;
    add_samples(&mut all, app::app_keys_states())?;
    add_samples(&mut all, app::regenerate_key_states())?;
    add_samples(&mut all, app::callback_tester_states())?;
    add_samples(&mut all, webhooks::webhooks_states())?;
    add_samples(&mut all, app::app_usage_states())?;
    add_samples(&mut all, app::delete_app_states())?;
    add_samples(&mut all, search_console::stream_rules_states())?;
    add_samples(&mut all, search_console::live_stream_states())?;
    add_samples(&mut all, search_console::search_console_states())?;
    add_samples(&mut all, tools::refused_request_states())?;
    add_samples(&mut all, tools::signature_states())?;
    add_samples(&mut all, manager::ads_manager_states())?;
    add_moderation_samples(&mut all)?;
    add_samples(&mut all, tools::post_preview_states())?;
    add_member_samples(&mut all)?;
    add_samples(&mut all, tools::mailbox_states())?;
    add_samples(&mut all, tools::email_states())?;
    add_samples(&mut all, compose::conversation_card_states())?;
    add_samples(&mut all, compose::compose_states())?;
    add_samples(&mut all, compose::post_sent_states())?;
    add_console_samples(&mut all)?;
    Ok(all)
}

fn add_settings_samples(all: &mut Vec<PageSample>) -> Result<(), Fault> {
    add_samples(all, two_factor::sign_in_code_states())?;
    add_samples(all, account::account_settings_states())?;
    add_samples(all, account_data::account_data_states())?;
    add_samples(all, account_data::restore_account_states())?;
    add_samples(all, two_factor::security_states())?;
    add_samples(all, two_factor::setup_states())?;
    add_samples(all, two_factor::recovery_code_states())?;
    add_samples(all, passkeys::setup_states())?;
    add_samples(all, account::sessions_states())?;
    add_samples(all, account::connected_apps_states())
}

fn add_member_samples(all: &mut Vec<PageSample>) -> Result<(), Fault> {
    add_samples(all, members::home_states())?;
    add_samples(all, members::profile_states())?;
    add_samples(all, members::people_states())?;
    add_samples(all, members::thread_states())?;
    add_samples(all, members::history_states())?;
    add_samples(all, members::posts_states())?;
    add_samples(all, bookmarks::bookmarks_states())?;
    add_samples(all, members::notifications_states())?;
    add_samples(all, members::follow_requests_states())?;
    add_samples(all, members::search_states())?;
    add_samples(all, messages::conversation_list_states())?;
    add_samples(all, messages::message_thread_states())?;
    add_samples(all, messages::new_message_states())?;
    add_list_samples(all)?;
    add_samples(all, communities::communities_states())?;
    add_samples(all, communities::community_states())?;
    add_samples(all, communities::community_members_states())?;
    add_samples(all, profile::edit_profile_states())?;
    add_samples(all, muted_words::muted_words_states())?;
    add_samples(all, blocked_accounts::blocked_accounts_states())?;
    add_samples(all, notification_settings::notification_settings_states())?;
    add_samples(all, drafts::drafts_states())?;
    add_samples(all, members::write_states())
}

fn add_list_samples(all: &mut Vec<PageSample>) -> Result<(), Fault> {
    add_samples(all, lists::lists_states())?;
    add_samples(all, lists::new_list_states())?;
    add_samples(all, lists::edit_list_states())?;
    add_samples(all, lists::delete_list_states())?;
    add_samples(all, lists::list_timeline_states())?;
    add_samples(all, lists::list_members_states())?;
    add_samples(all, lists::add_to_list_states())
}

fn add_moderation_samples(all: &mut Vec<PageSample>) -> Result<(), Fault> {
    add_samples(all, moderation::text_states())?;
    add_samples(all, moderation::report_states())?;
    add_samples(all, moderation::decisions_states())?;
    add_samples(all, moderation::queue_states())?;
    add_samples(all, moderation::account_states())?;
    add_samples(all, moderation::actions_states())?;
    add_samples(all, moderation::people_states())?;
    add_samples(all, moderation::site_states())?;
    add_samples(all, moderation::terms_states())?;
    add_samples(all, moderation::audit_states())
}

fn add_console_samples(all: &mut Vec<PageSample>) -> Result<(), Fault> {
    add_samples(all, console::home_states())?;
    add_samples(all, console::clock_states())?;
    add_samples(all, console::fault_states())?;
    add_samples(all, console::clients_states())?;
    add_samples(all, console::explorer_states())?;
    add_samples(all, console::operation_states())?;
    add_samples(all, console::webhooks_states())?;
    add_samples(all, console::people_states())?;
    add_samples(all, console::person_states())?;
    add_samples(all, console::limits_states())?;
    add_samples(all, console::streams_states())?;
    add_samples(all, console::snapshot_states())?;
    add_samples(all, console::world_states())?;
    add_samples(all, console::requests_states())?;
    add_samples(all, console::request_states())?;
    add_samples(all, console::request_diff_states())
}

fn add_samples<P: HtmlPage>(all: &mut Vec<PageSample>, states: Vec<(&'static str, P)>) -> Result<(), Fault> {
    for (state, page) in states {
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
        site_texts: vec![("/about", "About"), ("/rules", "Rules")],
        now: pages::ZonedTime { at: sample_time(), ..pages::ZonedTime::default() },
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
        notices: vec![pages::Notice::success(HOSTILE), pages::Notice::info(HOSTILE)],
        dev: true,
        ..signed_out_frame()
    }
}

fn development_frame(frame: PageFrame) -> PageFrame {
    PageFrame { dev: true, ..frame }
}

fn with_notice(frame: PageFrame, text: &str) -> PageFrame {
    PageFrame { notices: vec![pages::Notice::success(text)], ..frame }
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
