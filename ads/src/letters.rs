//! Letters to those who work on an account and asked for them (contract §8.11): what could do
//! better, when that is found, and every week what the account came to. They are queued in the
//! transaction that says so, so that each is written once.

use std::collections::BTreeMap;

use base::{Error, Fault, Secret, Time, UserId};
use network::emails::{self, EmailMessage, EmailSite};
use store::ledger::{self, AdEntity, Metric, MetricSums, Placement};
use store::{Tx, records};

use crate::access::{Role, Who};
use crate::change::Change;
use crate::desk::Desk;
use crate::ledger::all;
use crate::record::Record;
use crate::resources::accounts;
use crate::resources::bidding::bounds;
use crate::resources::campaigns::CAMPAIGN;
use crate::resources::user_settings::USER_SETTINGS;
use crate::zone::Zone;

const IMPROVEMENT: &str = "PERFORMANCE_IMPROVEMENT";
const PERFORMANCE: &str = "ACCOUNT_PERFORMANCE";
const DAY: i64 = 86_400_000;
/// Campaigns that a letter tells of one by one.
const CAMPAIGNS: usize = 20;
const MICROS: i64 = 1_000_000;

/// Tells of a new recommendation.
pub(crate) fn improvement(
    desk: &mut Desk<'_, '_>,
    site: &EmailSite,
    recommendation: &Record,
) -> Result<(), Error> {
    let account = desk.account()?.record.clone();
    if account.flag("sandbox") {
        return Ok(());
    }
    let (name, id) = (line(account.text("name")), account.written_id());
    let text = format!(
        "Hello,\n\nthere is a new recommendation for the advertising account {name} ({id}) on \
         {}:\n\n{}\n\nWhat to change stands in the recommendation {}, and is open for 14 days.\n{}",
        site.name(),
        line(recommendation.text("message")),
        recommendation.written_id(),
        why(IMPROVEMENT),
    );
    let subject = format!("A recommendation for {name} on {}", site.name());
    for row in records::list_by_account(desk.tx, USER_SETTINGS.name, account.id)? {
        let settings = Record::stored(&USER_SETTINGS, &row)?;
        if wants(desk.tx, &settings, IMPROVEMENT, Who::CampaignReader)? {
            send(desk.tx, &settings, &subject, &text)?;
        }
    }
    Ok(())
}

/// When the next weekly letter is written, once somebody asks for it; never where nobody does.
pub(crate) fn plan(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    let now = desk.now();
    let zone = Zone::named(desk.account()?.record.text("timezone"));
    let record = &mut change.record;
    let asks = record.has("subscribed_email_types", PERFORMANCE)
        && !record.text("notification_email").is_empty();
    let planned = record.time("digest_at");
    let at = asks.then(|| planned.unwrap_or_else(|| next_week(&zone, now)));
    record.set("digest_at", at.map(Time::ms));
    Ok(())
}

/// Settings whose weekly letter is to be written now.
pub fn due(tx: &mut Tx<'_>) -> Result<Option<i64>, Fault> {
    let now = tx.now().ms();
    let rows = records::list_due(tx, USER_SETTINGS.name, "digest_at", now, 1)?;
    Ok(rows.first().map(|row| row.id))
}

/// Writes the weekly letter that some settings ask for, of the last whole week, and plans the next.
pub fn digest(tx: &mut Tx<'_>, site: &EmailSite, id: i64) -> Result<(), Error> {
    records::lock(tx, USER_SETTINGS.name, id)?;
    let Some(row) = records::find_by_id(tx, USER_SETTINGS.name, id)? else {
        return Ok(());
    };
    let now = tx.now();
    let mut settings = Record::stored(&USER_SETTINGS, &row)?;
    if settings.time("digest_at").is_none_or(|at| at > now) {
        return Ok(());
    }
    let account = accounts::find(tx, settings.account_id)?.filter(|account| !account.deleted);
    let wanted = wants(tx, &settings, PERFORMANCE, Who::StatsReader)?;
    let Some(account) = account.filter(|_| wanted) else {
        settings.set("digest_at", serde_json::Value::Null);
        return Ok(records::update(
            tx,
            USER_SETTINGS.name,
            &settings.to_store(),
        )?);
    };
    let zone = Zone::named(account.text("timezone"));
    settings.set("digest_at", next_week(&zone, now).ms());
    records::update(tx, USER_SETTINGS.name, &settings.to_store())?;
    if account.flag("sandbox") {
        return Ok(());
    }
    let until = week(&zone, now);
    let from = week(&zone, until.plus_ms(-1));
    let name = line(account.text("name"));
    let subject = format!(
        "{name} on {}: {} to {}",
        site.name(),
        date(&zone, from),
        date(&zone, until.plus_ms(-1)),
    );
    let text = told(tx, site, &account, (from, until))?;
    send(tx, &settings, &subject, &text)
}

/// Whether a user who may know it wants to hear of something.
fn wants(tx: &mut Tx<'_>, settings: &Record, what: &str, who: Who) -> Result<bool, Error> {
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
    let role = access.and_then(|access| Role::parse(&access.role));
    Ok(role.is_some_and(|role| who.allows(role)))
}

fn send(tx: &mut Tx<'_>, settings: &Record, subject: &str, text: &str) -> Result<(), Error> {
    let letter = EmailMessage {
        to: settings.text("notification_email").to_owned(),
        subject: subject.to_owned(),
        text: Secret::new(text),
        expires_at: None,
    };
    Ok(emails::enqueue(tx, &letter)?)
}

fn why(what: &str) -> String {
    format!("\nYou get this because your settings on the account ask for {what}.\n")
}

/// On one line.
fn line(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).collect()
}

/// The beginning of the week that a moment is in: of Monday.
fn week(zone: &Zone, at: Time) -> Time {
    let days = (at.ms() + zone.offset(at)).div_euclid(DAY);
    // The first day of all was a Thursday.
    let passed = (days + 3).rem_euclid(7);
    (0..passed).fold(zone.day(at).0, |day, _| zone.day(day.plus_ms(-1)).0)
}

fn next_week(zone: &Zone, at: Time) -> Time {
    (0..7).fold(week(zone, at), |day, _| zone.day(day).1)
}

fn date(zone: &Zone, at: Time) -> String {
    let here = at.plus_ms(zone.offset(at)).to_string();
    here.chars().take(10).collect()
}

/// An amount as it is: with the decimals of its currency at least.
fn money(micros: i64, currency: &str) -> String {
    let least = match bounds(currency).step {
        1_000_000 => 0,
        1_000 => 3,
        _ => 2,
    };
    let decimals = format!("{:06}", micros.rem_euclid(MICROS));
    let mut shown = decimals.trim_end_matches('0').to_owned();
    while shown.len() < least {
        shown.push('0');
    }
    let point = if shown.is_empty() { "" } else { "." };
    format!("{}{point}{shown} {currency}", micros.div_euclid(MICROS))
}

/// What some entities came to in a span, wherever it was.
fn sums(
    tx: &mut Tx<'_>,
    entity: AdEntity,
    ids: &[i64],
    span: (Time, Time),
) -> Result<BTreeMap<i64, MetricSums>, Fault> {
    let mut found: BTreeMap<i64, MetricSums> = BTreeMap::new();
    let groups = Placement::ALL.iter().filter(|one| one.group() == **one);
    for group in groups {
        for (id, _, sums) in ledger::hourly_sums(tx, entity, ids, span, *group)? {
            found.entry(id).or_default().merge(&sums);
        }
    }
    Ok(found)
}

/// What an account came to.
fn told(
    tx: &mut Tx<'_>,
    site: &EmailSite,
    account: &Record,
    span: (Time, Time),
) -> Result<String, Error> {
    let zone = Zone::named(account.text("timezone"));
    let head = format!(
        "Hello,\n\nthis is what the advertising account {} ({}) on {} came to from {} to {}, by the \
         clocks of {}:\n\n",
        line(account.text("name")),
        account.written_id(),
        site.name(),
        date(&zone, span.0),
        date(&zone, span.1.plus_ms(-1)),
        account.text("timezone"),
    );
    let ids = records::list_ids_by_account(tx, CAMPAIGN.name, account.id)?;
    let campaigns = all(tx, &CAMPAIGN, &ids)?;
    let sums = sums(tx, AdEntity::Campaign, &ids, span)?;
    let rows: Vec<(&Record, &MetricSums)> = sums
        .iter()
        .filter_map(|(id, sums)| Some((campaigns.get(id)?, sums)))
        .collect();
    let body = if rows.is_empty() {
        "Nothing was shown.\n".to_owned()
    } else {
        figures(rows)
    };
    Ok(head + &body + &why(PERFORMANCE))
}

/// What some campaigns came to: together, and one by one.
fn figures(mut rows: Vec<(&Record, &MetricSums)>) -> String {
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
    let mut lines: Vec<String> = [
        ("Impressions", Metric::Impressions),
        ("Engagements", Metric::Engagements),
        ("Clicks", Metric::Clicks),
    ]
    .iter()
    .map(|(what, metric)| format!("{what}: {}", whole.get(*metric)))
    .collect();
    let spent = spent.iter();
    lines.extend(spent.map(|(currency, charge)| format!("Spent: {}", money(*charge, currency))));
    lines.push("\nBy campaign:".to_owned());
    let of_campaign = |(campaign, sums): &(&Record, &MetricSums)| {
        format!(
            "- {} ({}): {} impressions, {} engagements, {} clicks, {}",
            line(campaign.text("name")),
            campaign.written_id(),
            sums.get(Metric::Impressions),
            sums.get(Metric::Engagements),
            sums.get(Metric::Clicks),
            money(sums.get(Metric::Charge), campaign.text("currency")),
        )
    };
    lines.extend(rows.iter().take(CAMPAIGNS).map(of_campaign));
    if rows.len() > CAMPAIGNS {
        lines.push(format!("- and {} more", rows.len() - CAMPAIGNS));
    }
    lines.push(String::new());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use base::Time;

    use super::{date, money, next_week, week};
    use crate::zone::Zone;

    #[test]
    fn weeks_begin_on_monday_where_the_account_is() {
        // A Sunday evening in California, a Monday in UTC.
        let at = Time::from_ms(1_763_944_200_000);
        let here = Zone::named("America/Los_Angeles");
        assert_eq!(date(&here, at), "2025-11-23");
        assert_eq!(date(&here, week(&here, at)), "2025-11-17");
        assert_eq!(date(&here, next_week(&here, at)), "2025-11-24");
        let utc = Zone::named("UTC");
        assert_eq!(week(&utc, at).to_string(), "2025-11-24T00:00:00.000Z");
        assert_eq!(next_week(&utc, at).to_string(), "2025-12-01T00:00:00.000Z");
        // The week in which clocks are set back lasts an hour longer.
        let autumn = week(&here, Time::from_ms(1_761_900_000_000));
        let hours = (next_week(&here, autumn).ms() - autumn.ms()) / 3_600_000;
        assert_eq!(hours, 169);
    }

    #[test]
    fn amounts_are_told_to_the_last_decimal() {
        assert_eq!(money(12_300_000, "USD"), "12.30 USD");
        assert_eq!(money(0, "USD"), "0.00 USD");
        assert_eq!(money(1_234_567, "USD"), "1.234567 USD");
        assert_eq!(money(40_000_000, "JPY"), "40 JPY");
        assert_eq!(money(5_100_000, "KWD"), "5.100 KWD");
    }
}
