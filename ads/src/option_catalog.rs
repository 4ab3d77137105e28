//! The catalog of targeting options that are a matter of choice: interests, conversations, events and the
//! like. Some are built in; operators add others and change any.

use std::sync::LazyLock;

use base::{Error, Fault, Refusal};
use post_search::keywords;
use serde_json::{Map, Value, json};
use store::Tx;
use store::ads::options;

use crate::resources::categories;

/// Option types that operators may add to.
pub const OPTION_TYPES: &[&str] = &[
    "INTEREST",
    "CONVERSATION",
    "EVENT",
    "TV_SHOW",
    "APP_STORE_CATEGORY",
    "DEVICE",
    "NETWORK_OPERATOR",
    "PLATFORM_VERSION",
    BLOCKED,
];
/// Conversation types (contract ads §9.4).
pub const CONVERSATION_TYPES: &[&str] = &[
    "ACTORS",
    "ATHLETES",
    "BOOK_GENRES",
    "BOOKS",
    "BRAND_CATEGORIES",
    "BRANDS",
    "CELEBRITIES",
    "COACHES",
    "DIGITAL_CREATORS",
    "ENTERTAINMENT_BRANDS",
    "ENTERTAINMENT_PERSONALITIES",
    "FICTIONAL_CHARACTERS",
    "JOURNALISTS",
    "LIFESTYLES",
    "MOVIE_GENRES",
    "MOVIES",
    "MUSIC_GENRES",
    "MUSICIANS",
    "NEWS_STORIES",
    "NEWS",
    "PERSONS",
    "PLACES",
    "PODCASTS",
    "POLITICAL_AFFILIATIONS",
    "POLITICIANS",
    "PRODUCTS",
    "RADIO_STATIONS",
    "SPORTS_LEAGUES",
    "SPORTS_PERSONALITIES",
    "SPORTS_TEAMS",
    "SPORTS",
    "TRENDS",
    "TV_SHOWS",
    "VIDEO_GAME_PLATFORMS",
    "VIDEO_GAME_PUBLISHERS",
    "VIDEO_GAMES",
];
pub const EVENT_TYPES: &[&str] =
    &["CONFERENCE", "HOLIDAY", "MUSIC_AND_ENTERTAINMENT", "OTHER", "POLITICS", "RECURRING", "SPORTS"];

/// The detail members that options of a type show.
pub fn shown_detail_names(kind: &str) -> &'static [&'static str] {
    match kind {
        "CONVERSATION" => &["conversation_type"],
        "DEVICE" => &["manufacturer", "os_type"],
        "APP_STORE_CATEGORY" => &["os_type"],
        "PLATFORM_VERSION" => &["number", "os_type"],
        "NETWORK_OPERATOR" => &["country_code"],
        _ => &[],
    }
}

/// The option type for keywords that are never suggested.
pub const BLOCKED: &str = "BLOCKED_KEYWORD";
/// Interests below this number are built in.
pub const FIRST_CUSTOM_INTEREST: i64 = 1_000_000;

#[derive(Clone, Debug)]
pub struct CatalogOption {
    /// The value in criteria.
    pub value: String,
    pub name: String,
    /// Additional members, and what makes a user match the option.
    pub details: Map<String, Value>,
    /// The serialized details, which change whenever the details do.
    pub details_json: String,
}

impl CatalogOption {
    fn new(value: String, name: String, details: Value) -> Self {
        let details_json = details.to_string();
        let details = match details {
            Value::Object(members) => members,
            _ => Map::new(),
        };
        Self { value, name, details, details_json }
    }

    fn from_stored(choice: options::TargetingOption) -> Self {
        let details = serde_json::from_str(&choice.details).unwrap_or_default();
        Self::new(choice.value, choice.name, details)
    }

    pub fn detail_texts(&self, name: &str) -> Vec<&str> {
        let items = self.details.get(name).and_then(Value::as_array);
        let items = items.map(Vec::as_slice).unwrap_or_default();
        items.iter().filter_map(Value::as_str).collect()
    }

    /// Users whose followers match the option.
    pub fn seed_user_ids(&self) -> Vec<i64> {
        let ids = self.detail_texts("users");
        ids.iter().filter_map(|id| id.parse().ok()).collect()
    }

    /// Search clauses for posts about the option.
    pub fn search_clauses(&self) -> Vec<String> {
        let keywords = self.detail_texts("keywords").into_iter().map(str::to_owned);
        let tags = self.detail_texts("hashtags").into_iter();
        let tags = tags.map(|tag| format!("#{}", tag.trim_start_matches('#')));
        let all = keywords.chain(tags);
        all.filter_map(|text| keywords::keyword_clause(&text)).collect()
    }
}

#[derive(Clone, Debug, Default)]
pub struct NewCatalogOption {
    pub kind: String,
    pub name: String,
    /// `None` for a generated value.
    pub value: Option<String>,
    pub details: Map<String, Value>,
}

fn next_value(tx: &mut Tx<'_>, kind: &str, name: &str) -> Result<String, Fault> {
    if kind == BLOCKED {
        return Ok(name.to_lowercase());
    }
    let next = store::records::next_id(tx, "ads_option")?;
    Ok(match kind {
        "INTEREST" => (FIRST_CUSTOM_INTEREST + next).to_string(),
        _ => base::id::format_base36(next),
    })
}

/// Adds an option, or replaces the one with its value.
pub fn upsert(tx: &mut Tx<'_>, new: &NewCatalogOption) -> Result<CatalogOption, Error> {
    let kind = new.kind.to_ascii_uppercase();
    let wrong = |name: &'static str, value: &str, message: String| -> Error {
        Refusal::invalid_parameter(name, value, message).into()
    };
    if !OPTION_TYPES.contains(&kind.as_str()) {
        let message = format!("A type is one of {}", OPTION_TYPES.join(", "));
        return Err(wrong("type", &new.kind, message));
    }
    let name = new.name.trim();
    if name.is_empty() || name.chars().count() > 255 {
        return Err(wrong("name", name, "A name has 1 to 255 characters".to_owned()));
    }
    let text = |name: &str| new.details.get(name).and_then(Value::as_str);
    for (of, member, words) in
        [("CONVERSATION", "conversation_type", CONVERSATION_TYPES), ("EVENT", "event_type", EVENT_TYPES)]
    {
        let known = text(member).is_some_and(|word| words.contains(&word));
        if kind == of && !known {
            let message = format!("It is one of {}", words.join(", "));
            return Err(wrong(member, text(member).unwrap_or_default(), message));
        }
    }
    for member in ["start_time", "end_time"] {
        if let Some(moment) = text(member).filter(|text| ads_engine::field_kind::parse_time(text).is_none()) {
            return Err(wrong(member, moment, "A time is written in ISO 8601".to_owned()));
        }
    }
    let value = match &new.value {
        Some(value) => value.to_ascii_lowercase(),
        None => next_value(tx, &kind, name)?,
    };
    let plain = value.bytes().all(|byte| byte.is_ascii_digit());
    if kind == "INTEREST" && !plain || value.is_empty() || value.len() > 255 {
        let message = "A value has 1 to 255 characters; that of an interest is a number";
        return Err(wrong("value", &value, message.to_owned()));
    }
    let stored = options::TargetingOption {
        kind,
        value,
        name: name.to_owned(),
        details: Value::Object(new.details.clone()).to_string(),
    };
    options::upsert(tx, &stored)?;
    Ok(CatalogOption::from_stored(stored))
}

/// All options of a type, built-in ones first.
pub fn list_by_type(tx: &mut Tx<'_>, kind: &str) -> Result<Vec<CatalogOption>, Fault> {
    let stored = options::list_by_kind(tx, kind)?;
    let mut all: Vec<CatalogOption> = if kind == "INTEREST" {
        let changed = |value: &str| stored.iter().any(|other| other.value == value);
        BUILTIN_INTERESTS.iter().filter(|choice| !changed(&choice.value)).cloned().collect()
    } else {
        Vec::new()
    };
    all.extend(stored.into_iter().map(CatalogOption::from_stored));
    Ok(all)
}

pub fn find(tx: &mut Tx<'_>, kind: &str, value: &str) -> Result<Option<CatalogOption>, Fault> {
    if let Some(stored) = options::find(tx, kind, value)? {
        return Ok(Some(CatalogOption::from_stored(stored)));
    }
    let mut built_in = BUILTIN_INTERESTS.iter().filter(|_| kind == "INTEREST");
    Ok(built_in.find(|choice| choice.value == value).cloned())
}

pub fn list_blocked_keywords(tx: &mut Tx<'_>) -> Result<Vec<String>, Fault> {
    let all = options::list_by_kind(tx, BLOCKED)?.into_iter();
    Ok(all.map(|choice| choice.name).collect())
}

static BUILTIN_INTERESTS: LazyLock<Vec<CatalogOption>> = LazyLock::new(|| builtin_interests().collect());

/// Interests: content categories in two levels. The number of `IAB17-3` is 17003. Posts about an interest
/// contain its name.
fn builtin_interests() -> impl Iterator<Item = CatalogOption> {
    let named = |id: &str| {
        let mut all = categories::iab_names();
        all.find(|(known, _)| *known == id).map_or("", |(_, name)| name)
    };
    categories::iab_names().filter_map(move |(id, name)| {
        let number = id.strip_prefix("IAB")?;
        let (group, sub) = number.split_once('-').unwrap_or((number, "0"));
        let value = group.parse::<u32>().ok()? * 1_000 + sub.parse::<u32>().ok()?;
        let full = match id.split_once('-') {
            Some((parent, _)) => format!("{}/{name}", named(parent)),
            None => name.to_owned(),
        };
        let words = name.to_lowercase();
        let words: Vec<&str> = words.split([',', '/', '&']).map(str::trim).filter(|word| !word.is_empty()).collect();
        let tags = words.iter().map(|word| word.replace(|letter: char| !letter.is_alphanumeric(), ""));
        let tags: Vec<String> = tags.filter(|tag| !tag.is_empty()).collect();
        let details = json!({ "keywords": words, "hashtags": tags });
        Some(CatalogOption::new(value.to_string(), full, details))
    })
}

#[cfg(test)]
mod tests {
    use super::builtin_interests;

    #[test]
    fn interests_have_two_levels_and_numbers_of_their_own() {
        let all: Vec<_> = builtin_interests().collect();
        let bicycling = all.iter().find(|one| one.name == "Sports/Bicycling").unwrap();
        assert_eq!(bicycling.search_clauses(), ["\"bicycling\"", "#bicycling"]);
        let mut values: Vec<&str> = all.iter().map(|one| one.value.as_str()).collect();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values.len(), all.len());
        assert!(all.len() > 350);
    }
}
