//! The parameters of a statistics request and their validation.

use ads::gazetteer::{find_country, gazetteer};
use ads::resources::accounts::ACCOUNT;
use ads::resources::campaigns::CAMPAIGN;
use ads::resources::funding_instruments::FUNDING_INSTRUMENT;
use ads::resources::line_items::LINE_ITEM;
use ads::resources::media_creatives::MEDIA_CREATIVE;
use ads::resources::promotable_users;
use ads::resources::promoted_accounts::PROMOTED_ACCOUNT;
use ads::resources::promoted_posts::PROMOTED_POST;
use ads::targeting_values::PLATFORMS;
use ads_engine::account_context::{record_not_found, unknown_record};
use ads_engine::engine::ensure_valid_params;
use ads_engine::field_kind::{format_time, parse_time_in_zone};
use ads_engine::{AccountContext, AccountTimeZone, AdsRole, IdFormat, Kind, ParsedParams, Resource, parse_record_id};
use base::refusal::AdsProblem;
use base::time::{DAY_MS, HOUR_MS};
use base::{Error, Time, Vocabulary, VocabularyWord};
use serde_json::{Map, Value, json};
use store::ledger::{AdEntity, Placement, ReportSegment};
use store::records;

use crate::evaluator::Evaluator;

pub(super) const ENTITIES: &[VocabularyWord] = &[
    VocabularyWord::same_in_both("ACCOUNT"),
    VocabularyWord::same_in_both("CAMPAIGN"),
    VocabularyWord::same_in_both("FUNDING_INSTRUMENT"),
    VocabularyWord::same_in_both("LINE_ITEM"),
    VocabularyWord::same_in_both("PROMOTED_ACCOUNT"),
    VocabularyWord::new("PROMOTED_POST", "PROMOTED_TWEET"),
    VocabularyWord::same_in_both("MEDIA_CREATIVE"),
    VocabularyWord::new("ORGANIC_POST", "ORGANIC_TWEET"),
];
pub(super) const GRANULARITIES: &[&str] = &["DAY", "HOUR", "TOTAL"];
pub(super) const GROUPS: &[&str] = &[
    "BILLING",
    "ENGAGEMENT",
    "LIFE_TIME_VALUE_MOBILE_CONVERSION",
    "MEDIA",
    "MOBILE_CONVERSION",
    "VIDEO",
    "WEB_CONVERSION",
];
pub(super) const PLACEMENTS: &[&str] = &["ALL_ON_TWITTER", "PUBLISHER_NETWORK", "SPOTLIGHT", "TREND"];
pub(super) const SEGMENTS: &[&str] = &["AGE", "CONVERSION_TAGS", "GENDER", "METROS", "PLATFORMS"];

const MAX_SEGMENTED_DAYS: i64 = 45;

#[derive(Clone, Debug)]
pub(super) struct StatsQuery {
    pub(super) account: i64,
    /// The entity type in the posts vocabulary.
    pub(super) kind: String,
    pub(super) ids: Vec<i64>,
    pub(super) from: Time,
    pub(super) to: Time,
    /// Where each bucket begins, and where the last one ends.
    pub(super) bounds: Vec<Time>,
    pub(super) granularity: String,
    pub(super) groups: Vec<String>,
    pub(super) placement: String,
    pub(super) segments: Option<String>,
    pub(super) country: Option<String>,
    pub(super) platform: Option<String>,
    pub(super) vocabulary: Vocabulary,
    /// Segments by age or gender with fewer people are withheld.
    pub(super) min_viewers: i64,
}

/// The minimum size that is told of an audience; 1 for operators, who ask without an evaluator.
pub(super) fn min_viewers(ctx: &AccountContext<'_, '_>) -> i64 {
    Evaluator::from_context(ctx).map_or(1, |evaluator| evaluator.size_disclosure.min_size)
}

pub(super) fn entity_resource(kind: &str) -> Option<&'static Resource> {
    Some(match kind {
        "ACCOUNT" => &ACCOUNT,
        "CAMPAIGN" => &CAMPAIGN,
        "FUNDING_INSTRUMENT" => &FUNDING_INSTRUMENT,
        "LINE_ITEM" => &LINE_ITEM,
        "PROMOTED_ACCOUNT" => &PROMOTED_ACCOUNT,
        "PROMOTED_POST" => &PROMOTED_POST,
        "MEDIA_CREATIVE" => &MEDIA_CREATIVE,
        _ => return None,
    })
}

impl StatsQuery {
    /// Parses the request; refuses combinations for which no statistics exist.
    pub(super) fn parse(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams, days: i64) -> Result<Self, Error> {
        ensure_valid_params(params)?;
        let word = |name: &str| params.text(name).unwrap_or_default().to_owned();
        let optional = |name: &str| params.text(name).map(str::to_owned);
        let (from, to) = parse_time_window(ctx, params, days)?;
        let granularity = word("granularity");
        let mut ask = Self {
            account: ctx.account_id()?,
            kind: word("entity"),
            ids: Vec::new(),
            from,
            to,
            bounds: bucket_bounds(ctx, &granularity, (from, to))?,
            granularity,
            groups: params.texts("metric_groups"),
            placement: word("placement"),
            segments: optional("segmentation_type"),
            country: optional("country"),
            platform: optional("platform"),
            vocabulary: ctx.caller.vocabulary,
            min_viewers: min_viewers(ctx),
        };
        ask.check_segmentation(&AccountTimeZone::from_name(ctx.account()?.record.text("timezone")))?;
        ask.check_viewer_filters()?;
        let is_known = |platform: &str| PLATFORMS.iter().any(|(known, _)| *known == platform);
        if let Some(platform) = ask.platform.as_deref().filter(|platform| !is_known(platform)) {
            let message = format!("There is no platform {platform}");
            return Err(AdsProblem::invalid_parameter("platform", platform, message).into());
        }
        let country = ask.country.as_deref();
        // A country may be given by its two letters.
        let is_code = |text: &str| gazetteer().find_country(&text.to_ascii_uppercase()).is_some();
        if let Some(id) = country.filter(|country| !is_code(country)) {
            find_country(ctx, "country", id)?;
        }
        if !ask.is_visible_to(ctx.account()?.role) {
            let message = "This role sees the engagement of the account only";
            return Err(AdsProblem::new("ACTION_NOT_ALLOWED", message).into());
        }
        ask.ids = parse_entity_ids(ctx, &ask.kind, &params.texts("entity_ids"))?;
        Ok(ask)
    }

    /// Whether a role may see these statistics (contract ads §1.9).
    pub(super) fn is_visible_to(&self, role: AdsRole) -> bool {
        role != AdsRole::Analyst || self.kind == "ACCOUNT" && self.groups == ["ENGAGEMENT"]
    }

    /// For synchronous requests only: connectors ask for all groups in one job.
    pub(super) fn check_metric_groups(&self) -> Result<(), Error> {
        let has = |name: &str| self.groups.iter().any(|group| group == name);
        if has("MOBILE_CONVERSION") && self.groups.len() > 1 {
            let message = "MOBILE_CONVERSION is asked for alone";
            return Err(AdsProblem::at_parameter("metric_groups", "REQUEST_TOO_COMPLEX", message).into());
        }
        Ok(())
    }

    /// Whether the figures are counted from single events, because sums know nothing of the viewers.
    pub(super) fn counts_events(&self) -> bool {
        match self.segments.as_deref() {
            None => self.country.is_some() || self.platform.is_some(),
            Some(segments) => segments != "CONVERSION_TAGS",
        }
    }

    /// Refuses filters by viewers where no figures are known by them.
    fn check_viewer_filters(&self) -> Result<(), Error> {
        let is_unknown = self.kind == "ORGANIC_POST" || self.segments.as_deref() == Some("CONVERSION_TAGS");
        for (name, value) in [("country", &self.country), ("platform", &self.platform)] {
            if let Some(value) = value.as_deref().filter(|_| is_unknown) {
                let message = format!("These figures are not known by {name}");
                return Err(AdsProblem::invalid_parameter(name, value, message).into());
            }
        }
        Ok(())
    }

    fn check_segmentation(&self, zone: &AccountTimeZone) -> Result<(), Error> {
        let Some(segments) = self.segments.as_deref() else {
            return Ok(());
        };
        if segments == "CONVERSION_TAGS" && self.groups != ["WEB_CONVERSION"] {
            let message = "CONVERSION_TAGS segments WEB_CONVERSION only";
            let wrong = AdsProblem::invalid_parameter("segmentation_type", segments, message);
            return Err(wrong.into());
        }
        if segments == "METROS" && self.country.is_none() {
            return Err(AdsProblem::at_parameter("country", "INCLUSIVE_PARAMETERS", "METROS needs country").into());
        }
        if self.kind == "ORGANIC_POST" {
            let message = "Posts that are not promoted are not segmented";
            return Err(AdsProblem::invalid_parameter("segmentation_type", segments, message).into());
        }
        if is_longer_than(zone, (self.from, self.to), MAX_SEGMENTED_DAYS) {
            return Err(time_window_too_long(MAX_SEGMENTED_DAYS).into());
        }
        Ok(())
    }

    pub(super) fn bucket_count(&self) -> usize {
        self.bounds.len().saturating_sub(1)
    }

    /// The bucket that contains a moment; out of range outside the window.
    pub(super) fn bucket_index(&self, at: Time) -> usize {
        self.bounds.partition_point(|bound| *bound <= at).checked_sub(1).unwrap_or(usize::MAX)
    }

    /// For queries that count in equal intervals: the length of all buckets, or else one of which every day has a whole
    /// number, also where clocks change.
    pub(super) fn interval_ms(&self) -> i64 {
        let mut lengths = self.bounds.windows(2).map(|pair| match pair {
            [from, to] => to.ms() - from.ms(),
            _ => 0,
        });
        let first = lengths.next().unwrap_or(HOUR_MS);
        if lengths.all(|length| length == first) { first.max(1) } else { HOUR_MS / 2 }
    }

    /// The bucket of the interval with this number.
    pub(super) fn bucket_of_interval(&self, number: i64) -> usize {
        self.bucket_index(self.from.plus_ms(number.saturating_mul(self.interval_ms())))
    }

    pub(super) fn ledger_entity(&self) -> AdEntity {
        AdEntity::parse(&self.kind).unwrap_or(AdEntity::Post)
    }

    pub(super) fn placement_group(&self) -> Placement {
        Placement::parse(&self.placement).unwrap_or(Placement::AllOn)
    }

    pub(super) fn ledger_segment(&self) -> ReportSegment {
        match self.segments.as_deref() {
            Some("AGE") => ReportSegment::Age,
            Some("GENDER") => ReportSegment::Gender,
            Some("METROS") => ReportSegment::Metro,
            Some("PLATFORMS") => ReportSegment::Platform,
            _ => ReportSegment::None,
        }
    }

    pub(super) fn format_entity_id(&self, id: i64) -> String {
        match entity_resource(&self.kind) {
            Some(resource) => resource.id_format.format(id),
            None => IdFormat::Long.format(id),
        }
    }

    pub(super) fn format_account_id(&self) -> String {
        ACCOUNT.id_format.format(self.account)
    }

    /// The effective parameters, defaults included.
    pub(super) fn echo_params(&self) -> Map<String, Value> {
        let entity = Kind::word(ENTITIES).render_value(&self.kind.as_str().into(), self.vocabulary);
        let ids: Vec<String> = self.ids.iter().map(|id| self.format_entity_id(*id)).collect();
        let all = json!({
            "start_time": format_time(self.from),
            "end_time": format_time(self.to),
            "segmentation_type": self.segments,
            "entity_ids": ids,
            "country": self.country,
            "placement": self.placement,
            "granularity": self.granularity,
            "entity": entity,
            "platform": self.platform,
            "metric_groups": self.groups,
        });
        match all {
            Value::Object(members) => members,
            _ => Map::new(),
        }
    }

    pub(super) fn to_job_json(&self) -> String {
        let bounds = Some(&self.bounds).filter(|all| **all != equal_bounds(&self.granularity, (self.from, self.to)));
        json!({
            "entity": self.kind,
            "entity_ids": self.ids,
            "start": self.from.ms(),
            "end": self.to.ms(),
            "bounds": bounds.map(|all| all.iter().map(|bound| bound.ms()).collect::<Vec<_>>()),
            "granularity": self.granularity,
            "metric_groups": self.groups,
            "placement": self.placement,
            "segmentation_type": self.segments,
            "country": self.country,
            "platform": self.platform,
            "min_viewers": self.min_viewers,
            "older": self.vocabulary == Vocabulary::Tweet,
        })
        .to_string()
    }

    pub(super) fn from_job(account: i64, stored: &str) -> Self {
        let stored: Value = serde_json::from_str(stored).unwrap_or_default();
        let optional = |name: &str| stored.get(name).and_then(Value::as_str).map(str::to_owned);
        let word = |name: &str| optional(name).unwrap_or_default();
        let number = |name: &str| stored.get(name).and_then(Value::as_i64).unwrap_or(0);
        let items = |name: &str| {
            let items = stored.get(name).and_then(Value::as_array);
            items.cloned().unwrap_or_default()
        };
        let older = stored.get("older").and_then(Value::as_bool) == Some(true);
        Self {
            account,
            kind: word("entity"),
            ids: items("entity_ids").iter().filter_map(Value::as_i64).collect(),
            from: Time::from_ms(number("start")),
            to: Time::from_ms(number("end")),
            bounds: match items("bounds").iter().filter_map(Value::as_i64).map(Time::from_ms).collect::<Vec<_>>() {
                // Only those of days that differ in length are stored.
                bounds if bounds.is_empty() => {
                    equal_bounds(&word("granularity"), (Time::from_ms(number("start")), Time::from_ms(number("end"))))
                }
                bounds => bounds,
            },
            granularity: word("granularity"),
            groups: items("metric_groups").iter().filter_map(|group| group.as_str().map(str::to_owned)).collect(),
            placement: word("placement"),
            segments: optional("segmentation_type"),
            country: optional("country"),
            platform: optional("platform"),
            vocabulary: if older { Vocabulary::Tweet } else { Vocabulary::Post },
            min_viewers: number("min_viewers"),
        }
    }
}

/// Days begin at midnight in the account's time zone, also where clocks change within the window. Clients that add the
/// current UTC offset to each date get days of 24 hours.
pub(super) fn bucket_bounds(
    ctx: &AccountContext<'_, '_>,
    granularity: &str,
    (from, to): (Time, Time),
) -> Result<Vec<Time>, Error> {
    let zone = AccountTimeZone::from_name(ctx.account()?.record.text("timezone"));
    if granularity != "DAY" {
        return Ok(equal_bounds(granularity, (from, to)));
    }
    if let Some(bounds) = calendar_bounds(&zone, (from, to)) {
        return Ok(bounds);
    }
    let offset = zone.utc_offset_ms(ctx.now());
    for (name, at) in [("start_time", from), ("end_time", to)] {
        if (at.ms() + offset).rem_euclid(DAY_MS) != 0 {
            let shown = format_time(at);
            let message = format!("Expected a time at midnight of the account's time zone, got \"{shown}\" for {name}");
            return Err(AdsProblem::invalid_parameter(name, shown, message).into());
        }
    }
    Ok(equal_bounds(granularity, (from, to)))
}

/// `None` unless both are midnight in the zone.
fn calendar_bounds(zone: &AccountTimeZone, (from, to): (Time, Time)) -> Option<Vec<Time>> {
    let is_midnight = |at: Time| zone.day_bounds(at).0 == at;
    if !is_midnight(from) || !is_midnight(to) {
        return None;
    }
    let next = |at: &Time| (*at < to).then(|| zone.day_bounds(*at).1);
    Some(std::iter::successors(Some(from), next).collect())
}

fn equal_bounds(granularity: &str, (from, to): (Time, Time)) -> Vec<Time> {
    let length = match granularity {
        "HOUR" => HOUR_MS,
        "DAY" => DAY_MS,
        _ => (to.ms() - from.ms()).max(1),
    };
    let count = ((to.ms() - from.ms()) / length).max(1);
    (0..=count).map(|number| from.plus_ms(number.saturating_mul(length))).collect()
}

fn time_window_too_long(days: i64) -> AdsProblem {
    let message = format!("The end time must be at most {days} days after the start time");
    AdsProblem::new("INVALID_TIME_WINDOW", message)
}

/// In hours, and by the clocks of the zone: a window in which these are set back has an hour more.
fn is_longer_than(zone: &AccountTimeZone, (from, to): (Time, Time), days: i64) -> bool {
    let local = |at: Time| at.ms() + zone.utc_offset_ms(at);
    (to.ms() - from.ms()).min(local(to) - local(from)) > days * DAY_MS
}

/// Parses `start_time` and `end_time`: whole hours in the account's time zone, at most this many days apart.
pub(super) fn parse_time_window(
    ctx: &AccountContext<'_, '_>,
    params: &ParsedParams,
    days: i64,
) -> Result<(Time, Time), Error> {
    let zone = AccountTimeZone::from_name(ctx.account()?.record.text("timezone"));
    let mut problems = Vec::new();
    let mut read = |name: &'static str| {
        let text = params.text(name).unwrap_or_default();
        let wrong = |message: String| AdsProblem::invalid_parameter(name, text, message);
        match parse_time_in_zone(&zone, text) {
            None => {
                let message = format!("Expected a time in ISO 8601, got \"{text}\" for {name}");
                problems.push(wrong(message));
                None
            }
            Some(at) if !zone.is_full_hour(at) => {
                let message =
                    format!("Expected {name} expressed in whole hours of the account's time zone, got \"{text}\"");
                problems.push(wrong(message));
                None
            }
            at => at,
        }
    };
    let (from, to) = (read("start_time"), read("end_time"));
    let (Some(from), Some(to)) = (from, to) else {
        return Err(base::Refusal::from(problems).into());
    };
    if to <= from {
        let message = "The end time must be after the start time";
        return Err(AdsProblem::new("INVALID_TIME_WINDOW", message).into());
    }
    if is_longer_than(&zone, (from, to), days) {
        return Err(time_window_too_long(days).into());
    }
    Ok((from, to))
}

/// Parses entity ids; all must belong to the account, deleted or not.
fn parse_entity_ids(ctx: &mut AccountContext<'_, '_>, kind: &str, texts: &[String]) -> Result<Vec<i64>, Error> {
    let Some(resource) = entity_resource(kind) else {
        return parse_post_ids(ctx, texts);
    };
    let mut ids = Vec::with_capacity(texts.len());
    for text in texts {
        let id = parse_record_id(resource.id_format, "entity_ids", text)?;
        if id == IdFormat::UNKNOWN {
            return Err(unknown_record(resource, "entity_ids", text).into());
        }
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let account = ctx.account_id()?;
    let rows = records::find_by_ids(ctx.tx, resource.name, &ids)?;
    let known: Vec<i64> = rows.iter().filter(|row| row.account_id == account).map(|row| row.id).collect();
    match ids.iter().find(|id| !known.contains(id)) {
        Some(unknown) => Err(record_not_found(resource, "entity_ids", *unknown).into()),
        None => Ok(ids),
    }
}

/// Parses ids of posts by the account's promotable users.
fn parse_post_ids(ctx: &mut AccountContext<'_, '_>, texts: &[String]) -> Result<Vec<i64>, Error> {
    let authors: Vec<i64> = promotable_users::list_all(ctx)?.iter().filter_map(|user| user.int("user_id")).collect();
    let mut ids = Vec::with_capacity(texts.len());
    for text in texts {
        let id = parse_record_id(IdFormat::Long, "entity_ids", text)?;
        let post = store::posts::find_by_id(ctx.tx, base::PostId::new(id))?;
        if post.is_none_or(|post| !authors.contains(&post.author_id.get())) {
            let message = format!("The post {text} was not found");
            let problem = AdsProblem::invalid_parameter("entity_ids", text, message);
            return Err(problem.with_code("TWEET_NOT_FOUND").into());
        }
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use ads_engine::AccountTimeZone;

    use super::{HOUR_MS, calendar_bounds, is_longer_than};

    #[test]
    fn days_across_clock_changes_begin_at_midnight() {
        // Two days before and after each change of 2026, and the length of the day of the change in minutes.
        let cases = [
            ("America/Los_Angeles", "2026-03-06", "2026-03-11", 23 * 60),
            ("America/Los_Angeles", "2026-10-30", "2026-11-04", 25 * 60),
            ("Europe/Berlin", "2026-03-27", "2026-04-01", 23 * 60),
            ("Europe/Berlin", "2026-10-23", "2026-10-28", 25 * 60),
            ("Australia/Sydney", "2026-04-03", "2026-04-08", 25 * 60),
            ("Australia/Sydney", "2026-10-02", "2026-10-07", 23 * 60),
            ("Australia/Lord_Howe", "2026-04-03", "2026-04-08", 24 * 60 + 30),
            ("Asia/Kolkata", "2026-03-06", "2026-03-11", 24 * 60),
        ];
        for (name, from, to, minutes) in cases {
            let zone = AccountTimeZone::from_name(name);
            let window = (zone.midnight_of_date(from).unwrap(), zone.midnight_of_date(to).unwrap());
            let bounds = calendar_bounds(&zone, window).unwrap();
            let lengths: Vec<i64> =
                bounds.iter().zip(&bounds[1..]).map(|(from, to)| (to.ms() - from.ms()) / 60_000).collect();
            assert_eq!(lengths.len(), 5, "{name}");
            assert_eq!(lengths.iter().filter(|length| **length != 24 * 60).count(), usize::from(minutes != 24 * 60));
            assert!(lengths.contains(&minutes), "{name}: {lengths:?}");
            assert_eq!((bounds[0], bounds[5]), window);
            assert!(!is_longer_than(&zone, window, 5), "{name}");
            assert_eq!(calendar_bounds(&zone, (window.0.plus_ms(HOUR_MS), window.1)), None);
            assert!(is_longer_than(&zone, (window.0, window.1.plus_ms(2 * HOUR_MS)), 5));
        }
    }
}
