//! Emails to users of an account who opted in (contract ads §8.11): new recommendations, and a
//! weekly digest of results. They are queued in the transaction that causes them, so that each is
//! sent once.

use std::collections::BTreeMap;

use ads::budget::format_exact_money;
use ads::resources::accounts::{self, ACCOUNT};
use ads::resources::campaigns::CAMPAIGN;
use ads::resources::user_settings::{PERFORMANCE_EMAIL_TYPE, USER_SETTINGS};
use ads_engine::{AccountContext, AccountTimeZone, AdsRecord, AdsRole, RequiredRole};
use base::{Error, Fault, Secret, Time, UserId};
use network::emails::{self, EmailMessage, EmailSite};
use store::ledger::{self, AdEntity, Metric, MetricSums};
use store::{Tx, records};

use crate::ledger::records_by_ids;

const IMPROVEMENT_EMAIL_TYPE: &str = "PERFORMANCE_IMPROVEMENT";
/// Campaigns listed one by one in an email.
const MAX_CAMPAIGNS: usize = 20;

/// Queues emails about a new recommendation.
pub(crate) fn queue_improvement_email(
    ctx: &mut AccountContext<'_, '_>,
    site: &EmailSite,
    recommendation: &AdsRecord,
) -> Result<(), Error> {
    let account = ctx.account()?.record.clone();
    if account.flag("sandbox") {
        return Ok(());
    }
    let (name, id) = (single_line(account.text("name")), account.formatted_id());
    let text = format!(
        "Hello,\n\nThere is a new recommendation for the ads account {name} ({id}) on {}:\n\n{}\n\n\
         See recommendation {} for the suggested changes. It stays open for 14 days.\n{}",
        site.name(),
        single_line(recommendation.text("message")),
        recommendation.formatted_id(),
        subscription_footer(IMPROVEMENT_EMAIL_TYPE),
    );
    let subject = format!("New recommendation for {name} on {}", site.name());
    for row in records::list_by_account(ctx.tx, USER_SETTINGS.name, account.id)? {
        let settings = AdsRecord::from_stored(&USER_SETTINGS, row)?;
        if wants_email(ctx.tx, &settings, IMPROVEMENT_EMAIL_TYPE, RequiredRole::CampaignReader)? {
            queue_email(ctx.tx, &settings, &subject, &text)?;
        }
    }
    Ok(())
}

/// The settings record whose digest is due.
pub fn due_digest(tx: &mut Tx<'_>) -> Result<Option<i64>, Fault> {
    let now = tx.now().ms();
    let rows = records::list_due(tx, USER_SETTINGS.name, "digest_at", now, 1)?;
    Ok(rows.first().map(|row| row.id))
}

/// When the next digest is due that is not due yet.
pub fn next_digest(tx: &mut Tx<'_>) -> Result<Option<Time>, Fault> {
    let now = tx.now().ms();
    Ok(records::next_due(tx, USER_SETTINGS.name, "digest_at", now)?.map(Time::from_ms))
}

/// Queues the digest of the last whole week for a settings record, and schedules the next.
pub fn queue_digest(tx: &mut Tx<'_>, site: &EmailSite, id: i64) -> Result<(), Error> {
    let Some(row) = records::find_by_id(tx, USER_SETTINGS.name, id)? else {
        return Ok(());
    };
    records::lock(tx, ACCOUNT.name, row.account_id)?;
    let Some(mut settings) = AdsRecord::find(tx, &USER_SETTINGS, id)? else {
        return Ok(());
    };
    let now = tx.now();
    if settings.time("digest_at").is_none_or(|at| at > now) {
        return Ok(());
    }
    let account = accounts::find(tx, settings.account_id)?.filter(|account| !account.deleted);
    let is_wanted = wants_email(tx, &settings, PERFORMANCE_EMAIL_TYPE, RequiredRole::StatsReader)?;
    let Some(account) = account.filter(|_| is_wanted) else {
        settings.set("digest_at", serde_json::Value::Null);
        return Ok(settings.update(tx)?);
    };
    let zone = AccountTimeZone::from_name(account.text("timezone"));
    settings.set("digest_at", zone.next_week_start(now).ms());
    settings.update(tx)?;
    if account.flag("sandbox") {
        return Ok(());
    }
    let until = zone.week_start(now);
    let from = zone.week_start(until.plus_ms(-1));
    let name = single_line(account.text("name"));
    let subject = format!(
        "{name} on {}: {} to {}",
        site.name(),
        format_date(&zone, from),
        format_date(&zone, until.plus_ms(-1)),
    );
    let text = digest_text(tx, site, &account, (from, until))?;
    queue_email(tx, &settings, &subject, &text)
}

/// Whether a user opted in to an email and has the role it requires.
fn wants_email(tx: &mut Tx<'_>, settings: &AdsRecord, what: &str, required_role: RequiredRole) -> Result<bool, Error> {
    let asks = settings.has("subscribed_email_types", what);
    if !asks || settings.text("notification_email").is_empty() {
        return Ok(false);
    }
    let user = UserId::new(settings.int("user_id").unwrap_or(0));
    let found = store::users::find_by_id(tx, user)?;
    if found.is_none_or(|user| user.state != store::users::UserState::Active) {
        return Ok(false);
    }
    let access = store::ads::find_access(tx, user, settings.account_id)?;
    let role = access.and_then(|access| AdsRole::parse(&access.role));
    Ok(role.is_some_and(|role| required_role.allows_role(role)))
}

fn queue_email(tx: &mut Tx<'_>, settings: &AdsRecord, subject: &str, text: &str) -> Result<(), Error> {
    let email = EmailMessage {
        id: String::new(),
        to: settings.text("notification_email").to_owned(),
        subject: subject.to_owned(),
        text: Secret::new(text),
        expires_at: None,
    };
    Ok(emails::enqueue(tx, &email)?)
}

fn subscription_footer(what: &str) -> String {
    format!("\nYou receive this email because your account settings subscribe to {what}.\n")
}

/// Joins the lines of a text.
fn single_line(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).collect()
}

fn format_date(zone: &AccountTimeZone, at: Time) -> String {
    let local = at.plus_ms(zone.utc_offset_ms(at)).to_string();
    local.chars().take(10).collect()
}

fn digest_text(tx: &mut Tx<'_>, site: &EmailSite, account: &AdsRecord, span: (Time, Time)) -> Result<String, Error> {
    let zone = AccountTimeZone::from_name(account.text("timezone"));
    let head = format!(
        "Hello,\n\nHere are the results of the ads account {} ({}) on {} from {} to {} (time zone \
         {}):\n\n",
        single_line(account.text("name")),
        account.formatted_id(),
        site.name(),
        format_date(&zone, span.0),
        format_date(&zone, span.1.plus_ms(-1)),
        account.text("timezone"),
    );
    let ids = records::list_ids_by_account(tx, CAMPAIGN.name, account.id)?;
    let campaigns = records_by_ids(tx, &CAMPAIGN, &ids)?;
    let sums = ledger::sums_between(tx, AdEntity::Campaign, &ids, span)?;
    let rows: Vec<(&AdsRecord, &MetricSums)> =
        sums.iter().filter_map(|(id, sums)| Some((campaigns.get(id)?, sums))).collect();
    let body = if rows.is_empty() { "No ads were shown.\n".to_owned() } else { format_figures(rows) };
    Ok(head + &body + &subscription_footer(PERFORMANCE_EMAIL_TYPE))
}

/// Formats totals and one line per campaign.
fn format_figures(mut rows: Vec<(&AdsRecord, &MetricSums)>) -> String {
    rows.sort_by_key(|(campaign, sums)| {
        let shown = sums.get(Metric::Impressions);
        (std::cmp::Reverse(shown), campaign.id)
    });
    let mut whole = MetricSums::default();
    let mut spent: BTreeMap<&str, i64> = BTreeMap::new();
    for (campaign, sums) in &rows {
        whole.merge(sums);
        let sum = spent.entry(campaign.text("currency")).or_default();
        *sum = sum.saturating_add(sums.get(Metric::Charge));
    }
    let mut lines: Vec<String> =
        [("Impressions", Metric::Impressions), ("Engagements", Metric::Engagements), ("Clicks", Metric::Clicks)]
            .iter()
            .map(|(what, metric)| format!("{what}: {}", whole.get(*metric)))
            .collect();
    let spent = spent.iter();
    lines.extend(spent.map(|(currency, charge)| format!("Spend: {}", format_exact_money(*charge, currency))));
    lines.push("\nBy campaign:".to_owned());
    let of_campaign = |(campaign, sums): &(&AdsRecord, &MetricSums)| {
        format!(
            "- {} ({}): {} impressions, {} engagements, {} clicks, {}",
            single_line(campaign.text("name")),
            campaign.formatted_id(),
            sums.get(Metric::Impressions),
            sums.get(Metric::Engagements),
            sums.get(Metric::Clicks),
            format_exact_money(sums.get(Metric::Charge), campaign.text("currency")),
        )
    };
    lines.extend(rows.iter().take(MAX_CAMPAIGNS).map(of_campaign));
    if rows.len() > MAX_CAMPAIGNS {
        lines.push(format!("- and {} more", rows.len() - MAX_CAMPAIGNS));
    }
    lines.push(String::new());
    lines.join("\n")
}
