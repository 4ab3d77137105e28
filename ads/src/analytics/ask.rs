//! What figures are asked for, and the rules that this keeps.

use base::refusal::{AdsProblem, ProblemLocation};
use base::{Error, Time, Vocabulary, VocabularyWord};
use serde_json::{Map, Value, json};
use store::ledger::{AdEntity, Placement, ReportSegment};
use store::records;

use crate::access::Role;
use crate::declare::Resource;
use crate::desk::{Desk, not_found};
use crate::engine::checked;
use crate::given::Given;
use crate::kind::{Ids, Kind, instant, time};
use crate::resources::accounts::ACCOUNT;
use crate::resources::campaigns::CAMPAIGN;
use crate::resources::funding_instruments::FUNDING_INSTRUMENT;
use crate::resources::line_items::LINE_ITEM;
use crate::resources::media_creatives::MEDIA_CREATIVE;
use crate::resources::promotable_users;
use crate::resources::promoted_accounts::PROMOTED_ACCOUNT;
use crate::resources::promoted_posts::PROMOTED_POST;
use crate::zone::Zone;

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
pub(super) const PLACEMENTS: &[&str] =
    &["ALL_ON_TWITTER", "PUBLISHER_NETWORK", "SPOTLIGHT", "TREND"];
pub(super) const SEGMENTS: &[&str] = &["AGE", "CONVERSION_TAGS", "GENDER", "METROS", "PLATFORMS"];

pub(super) const HOUR: i64 = 3_600_000;
pub(super) const DAY: i64 = 86_400_000;
/// Days of a job whose figures are segmented.
const SEGMENTED: i64 = 45;

/// What is asked for.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) account: i64,
    /// The kind of entity, in the posts vocabulary.
    pub(super) kind: String,
    pub(super) ids: Vec<i64>,
    pub(super) from: Time,
    pub(super) to: Time,
    pub(super) granularity: String,
    pub(super) groups: Vec<String>,
    pub(super) placement: String,
    pub(super) segments: Option<String>,
    pub(super) country: Option<String>,
    pub(super) platform: Option<String>,
    pub(super) speech: Vocabulary,
}

/// The resource whose records entities of a kind are.
pub(super) fn resource(kind: &str) -> Option<&'static Resource> {
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

impl Ask {
    /// Reads it; refuses what figures are not kept or not given for.
    pub(super) fn read(desk: &mut Desk<'_, '_>, given: &Given, days: i64) -> Result<Self, Error> {
        checked(given)?;
        let word = |name: &str| given.text(name).unwrap_or_default().to_owned();
        let optional = |name: &str| given.text(name).map(str::to_owned);
        let (from, to) = span(desk, given, days)?;
        let mut ask = Self {
            account: desk.account_id()?,
            kind: word("entity"),
            ids: Vec::new(),
            from,
            to,
            granularity: word("granularity"),
            groups: given.texts("metric_groups"),
            placement: word("placement"),
            segments: optional("segmentation_type"),
            country: optional("country"),
            platform: optional("platform"),
            speech: desk.caller.speech,
        };
        ask.keeps_to_its_days(desk)?;
        ask.has_groups_that_go_together()?;
        ask.is_segmented_properly()?;
        if desk.account()?.role == Role::Analyst
            && (ask.kind != "ACCOUNT" || ask.groups != ["ENGAGEMENT"])
        {
            let message = "This role sees the engagement of the account only";
            return Err(AdsProblem::new("ACTION_NOT_ALLOWED", message).into());
        }
        ask.ids = entities(desk, &ask.kind, &given.texts("entity_ids"))?;
        Ok(ask)
    }

    /// Days begin at midnight of the account, as far as its clocks are from UTC today.
    fn keeps_to_its_days(&self, desk: &Desk<'_, '_>) -> Result<(), Error> {
        if self.granularity != "DAY" {
            return Ok(());
        }
        let zone = Zone::named(desk.account()?.record.text("timezone"));
        let offset = zone.offset(desk.now());
        for (name, at) in [("start_time", self.from), ("end_time", self.to)] {
            if (at.ms() + offset).rem_euclid(DAY) != 0 {
                let shown = instant(at);
                let message = format!(
                    "Expected a time at midnight of the account's time zone, got \"{shown}\" for {name}"
                );
                return Err(AdsProblem::invalid_parameter(name, shown, message).into());
            }
        }
        Ok(())
    }

    fn has_groups_that_go_together(&self) -> Result<(), Error> {
        let has = |name: &str| self.groups.iter().any(|group| group == name);
        if has("MOBILE_CONVERSION") && self.groups.len() > 1 {
            let message = "MOBILE_CONVERSION is asked for alone";
            let problem = AdsProblem {
                location: ProblemLocation::Parameter("metric_groups".into()),
                ..AdsProblem::new("REQUEST_TOO_COMPLEX", message)
            };
            return Err(problem.into());
        }
        Ok(())
    }

    fn is_segmented_properly(&self) -> Result<(), Error> {
        let Some(segments) = self.segments.as_deref() else {
            return Ok(());
        };
        if segments == "CONVERSION_TAGS" && self.groups != ["WEB_CONVERSION"] {
            let message = "CONVERSION_TAGS segments WEB_CONVERSION only";
            let wrong = AdsProblem::invalid_parameter("segmentation_type", segments, message);
            return Err(wrong.into());
        }
        if segments == "METROS" && self.country.is_none() {
            let problem = AdsProblem {
                location: ProblemLocation::Parameter("country".into()),
                ..AdsProblem::new("INCLUSIVE_PARAMETERS", "METROS needs country")
            };
            return Err(problem.into());
        }
        if self.kind == "ORGANIC_POST" {
            let message = "Posts that are not promoted are not segmented";
            return Err(
                AdsProblem::invalid_parameter("segmentation_type", segments, message).into(),
            );
        }
        if self.to.ms() - self.from.ms() > SEGMENTED * DAY {
            return Err(too_long(SEGMENTED).into());
        }
        Ok(())
    }

    /// How long a bucket is, and how many there are.
    pub(super) fn buckets(&self) -> (i64, usize) {
        let whole = self.to.ms() - self.from.ms();
        let length = match self.granularity.as_str() {
            "HOUR" => HOUR,
            "DAY" => DAY,
            _ => whole.max(1),
        };
        (length, usize::try_from(whole / length).unwrap_or(0).max(1))
    }

    /// The entity in the ledger.
    pub(super) fn entity(&self) -> AdEntity {
        AdEntity::parse(&self.kind).unwrap_or(AdEntity::Post)
    }

    pub(super) fn group(&self) -> Placement {
        Placement::parse(&self.placement).unwrap_or(Placement::AllOn)
    }

    pub(super) fn segment(&self) -> ReportSegment {
        match self.segments.as_deref() {
            Some("AGE") => ReportSegment::Age,
            Some("GENDER") => ReportSegment::Gender,
            Some("METROS") => ReportSegment::Metro,
            Some("PLATFORMS") => ReportSegment::Platform,
            _ => ReportSegment::None,
        }
    }

    /// An entity's id as it is written.
    pub(super) fn written(&self, id: i64) -> String {
        match resource(&self.kind) {
            Some(of) => of.ids.write(id),
            None => Ids::Long.write(id),
        }
    }

    pub(super) fn account_written(&self) -> String {
        ACCOUNT.ids.write(self.account)
    }

    /// What was understood; what was not sent as well.
    pub(super) fn echo(&self) -> Map<String, Value> {
        let entity = Kind::Word(ENTITIES).speak(&self.kind.as_str().into(), self.speech);
        let ids: Vec<String> = self.ids.iter().map(|id| self.written(*id)).collect();
        let all = json!({
            "start_time": instant(self.from),
            "end_time": instant(self.to),
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

    /// As a job keeps it.
    pub(super) fn kept(&self) -> String {
        json!({
            "entity": self.kind,
            "entity_ids": self.ids,
            "start": self.from.ms(),
            "end": self.to.ms(),
            "granularity": self.granularity,
            "metric_groups": self.groups,
            "placement": self.placement,
            "segmentation_type": self.segments,
            "country": self.country,
            "platform": self.platform,
            "older": self.speech == Vocabulary::Tweet,
        })
        .to_string()
    }

    /// One that a job kept.
    pub(super) fn of_job(account: i64, kept: &str) -> Self {
        let kept: Value = serde_json::from_str(kept).unwrap_or_default();
        let optional = |name: &str| kept.get(name).and_then(Value::as_str).map(str::to_owned);
        let word = |name: &str| optional(name).unwrap_or_default();
        let number = |name: &str| kept.get(name).and_then(Value::as_i64).unwrap_or(0);
        let items = |name: &str| {
            let items = kept.get(name).and_then(Value::as_array);
            items.cloned().unwrap_or_default()
        };
        let older = kept.get("older").and_then(Value::as_bool) == Some(true);
        Self {
            account,
            kind: word("entity"),
            ids: items("entity_ids")
                .iter()
                .filter_map(Value::as_i64)
                .collect(),
            from: Time::from_ms(number("start")),
            to: Time::from_ms(number("end")),
            granularity: word("granularity"),
            groups: items("metric_groups")
                .iter()
                .filter_map(|group| group.as_str().map(str::to_owned))
                .collect(),
            placement: word("placement"),
            segments: optional("segmentation_type"),
            country: optional("country"),
            platform: optional("platform"),
            speech: if older {
                Vocabulary::Tweet
            } else {
                Vocabulary::Post
            },
        }
    }
}

fn too_long(days: i64) -> AdsProblem {
    let message = format!("The end time must be at most {days} days after the start time");
    AdsProblem::new("INVALID_TIME_WINDOW", message)
}

/// The span asked for: whole hours of the account's time zone, so many days at most.
pub(super) fn span(desk: &Desk<'_, '_>, given: &Given, days: i64) -> Result<(Time, Time), Error> {
    let zone = Zone::named(desk.account()?.record.text("timezone"));
    let mut problems = Vec::new();
    let mut read = |name: &'static str| {
        let text = given.text(name).unwrap_or_default();
        // A date alone is its midnight in the account's time zone.
        let at = if text.contains(['T', 't', ' ']) {
            time(text)
        } else {
            zone.midnight(text)
        };
        let wrong = |message: String| AdsProblem::invalid_parameter(name, text, message);
        match at {
            None => {
                let message = format!("Expected a time in ISO 8601, got \"{text}\" for {name}");
                problems.push(wrong(message));
                None
            }
            Some(at) if (at.ms() - zone.shift(at)).rem_euclid(HOUR) != 0 => {
                let message = format!("Expected {name} expressed in whole hours, got \"{text}\"");
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
    if to.ms() - from.ms() > days * DAY {
        return Err(too_long(days).into());
    }
    Ok((from, to))
}

/// The entities asked for: all of this account, deleted or not.
fn entities(desk: &mut Desk<'_, '_>, kind: &str, texts: &[String]) -> Result<Vec<i64>, Error> {
    let Some(of) = resource(kind) else {
        return own_posts(desk, texts);
    };
    let mut ids = Vec::with_capacity(texts.len());
    for text in texts {
        let id = of.ids.read("entity_ids", text)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let account = desk.account_id()?;
    let rows = records::find_by_ids(desk.tx, of.name, &ids)?;
    let known: Vec<i64> = rows
        .iter()
        .filter(|row| row.account_id == account)
        .map(|row| row.id)
        .collect();
    match ids.iter().find(|id| !known.contains(id)) {
        Some(unknown) => Err(not_found(of, "entity_ids", *unknown).into()),
        None => Ok(ids),
    }
}

/// Posts of users whom the account promotes.
fn own_posts(desk: &mut Desk<'_, '_>, texts: &[String]) -> Result<Vec<i64>, Error> {
    let authors: Vec<i64> = promotable_users::all(desk)?
        .iter()
        .filter_map(|user| user.int("user_id"))
        .collect();
    let mut ids = Vec::with_capacity(texts.len());
    for text in texts {
        let id = Ids::Long.read("entity_ids", text)?;
        let post = store::posts::find_by_id(desk.tx, base::PostId::new(id))?;
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
