//! What line items can be targeted by (contract §4.6, §9.4).

use base::{Error, Time};
use serde_json::{Value, json};
use store::Tx;
use store::places;

use crate::access::Who;
use crate::answer::Answer;
use crate::choices::{self, CONVERSATIONS, Choice, EVENTS};
use crate::declare::{COUNT, CURSOR, Custom, Field, Often};
use crate::desk::Desk;
use crate::engine::checked;
use crate::evaluator::{Audience, Criterion, Operator};
use crate::gazetteer::{Spot, gazetteer};
use crate::given::Given;
use crate::kind::{Kind, instant};
use crate::reference::page;

const Q: Field = Field::text("q", 1, 255);
const OS: Field = Field::one_of("os_type", &["ANDROID", "IOS"]);
const COUNTRY: Field = Field::text("country_code", 2, 2);
/// Options on a page.
const USUAL: i64 = 200;
const PLACES: i64 = 10_000;

/// What people who are reached sign in with.
pub const PLATFORMS: &[(&str, &str)] = &[
    ("0", "iOS"),
    ("1", "Android"),
    ("2", "BlackBerry"),
    ("3", "Mobile web & other"),
    ("4", "Desktop"),
];
const TV_MARKETS: &[&str] = &[
    "fr-FR", "es-CL", "de-DE", "nl-NL", "en-US", "es-VE", "pt-BR", "es-MX", "es-CO", "en-GB",
    "es-AR", "ja-JP", "en-CA", "es-ES", "it-IT", "es-US", "en-IE",
];
/// Languages that posts are known to be in (ISO 639-1).
const LANGUAGES: &[(&str, &str)] = &[
    ("am", "Amharic"),
    ("ar", "Arabic"),
    ("hy", "Armenian"),
    ("eu", "Basque"),
    ("bn", "Bengali"),
    ("bs", "Bosnian"),
    ("bg", "Bulgarian"),
    ("my", "Burmese"),
    ("ca", "Catalan"),
    ("zh", "Chinese"),
    ("hr", "Croatian"),
    ("cs", "Czech"),
    ("da", "Danish"),
    ("dv", "Divehi"),
    ("nl", "Dutch"),
    ("en", "English"),
    ("et", "Estonian"),
    ("fi", "Finnish"),
    ("fr", "French"),
    ("ka", "Georgian"),
    ("de", "German"),
    ("el", "Greek"),
    ("gu", "Gujarati"),
    ("ht", "Haitian Creole"),
    ("he", "Hebrew"),
    ("hi", "Hindi"),
    ("hu", "Hungarian"),
    ("is", "Icelandic"),
    ("id", "Indonesian"),
    ("it", "Italian"),
    ("ja", "Japanese"),
    ("kn", "Kannada"),
    ("km", "Khmer"),
    ("ko", "Korean"),
    ("lo", "Lao"),
    ("lv", "Latvian"),
    ("lt", "Lithuanian"),
    ("ml", "Malayalam"),
    ("mr", "Marathi"),
    ("ne", "Nepali"),
    ("no", "Norwegian"),
    ("or", "Odia"),
    ("ps", "Pashto"),
    ("fa", "Persian"),
    ("pl", "Polish"),
    ("pt", "Portuguese"),
    ("pa", "Punjabi"),
    ("ro", "Romanian"),
    ("ru", "Russian"),
    ("sr", "Serbian"),
    ("sd", "Sindhi"),
    ("si", "Sinhala"),
    ("sk", "Slovak"),
    ("sl", "Slovenian"),
    ("es", "Spanish"),
    ("sv", "Swedish"),
    ("tl", "Tagalog"),
    ("ta", "Tamil"),
    ("te", "Telugu"),
    ("th", "Thai"),
    ("bo", "Tibetan"),
    ("tr", "Turkish"),
    ("uk", "Ukrainian"),
    ("ur", "Urdu"),
    ("ug", "Uyghur"),
    ("vi", "Vietnamese"),
    ("cy", "Welsh"),
];
const LOCATION_TYPES: &[&str] = &[
    "COUNTRIES",
    "REGIONS",
    "METROS",
    "CITIES",
    "CITY",
    "POSTAL_CODES",
];

const fn list(
    id: &'static str,
    path: &'static str,
    about: &'static str,
    params: &'static [Field],
    act: fn(&mut Desk<'_, '_>, &Given) -> Result<Answer, Error>,
) -> Custom {
    Custom::get(id, path, about, act)
        .who(Who::Anyone)
        .often(Often::Options)
        .params(params)
}

/// The lists.
pub static OPERATIONS: &[Custom] = &[
    list(
        "getAdsAppStoreCategories",
        "/targeting_criteria/app_store_categories",
        "Categories of apps that viewers have.",
        &[Q, OS],
        |desk, given| chosen(desk, given, "APP_STORE_CATEGORY"),
    ),
    list(
        "getAdsConversations",
        "/targeting_criteria/conversations",
        "What viewers talk about.",
        &[
            Field::one_of("conversation_type", CONVERSATIONS),
            COUNT,
            CURSOR,
            Q,
        ],
        |desk, given| chosen(desk, given, "CONVERSATION"),
    ),
    list(
        "getAdsDevices",
        "/targeting_criteria/devices",
        "What viewers use.",
        &[COUNT, CURSOR, Q, OS],
        |desk, given| chosen(desk, given, "DEVICE"),
    ),
    list(
        "getAdsEvents",
        "/targeting_criteria/events",
        "Events that viewers care about.",
        &[
            Field::new("event_types", Kind::SomeOf(EVENTS)).required(),
            COUNT,
            Field::new("country_codes", Kind::Texts(200, 2)),
            CURSOR,
            Field::new("start_time", Kind::Time),
            Field::new("end_time", Kind::Time),
        ],
        events,
    ),
    list(
        "getAdsInterests",
        "/targeting_criteria/interests",
        "What viewers are interested in.",
        &[COUNT, CURSOR, Q],
        |desk, given| chosen(desk, given, "INTEREST"),
    ),
    list(
        "getAdsLanguages",
        "/targeting_criteria/languages",
        "Languages that viewers write in.",
        &[COUNT, CURSOR, Q],
        |desk, given| {
            let rows = LANGUAGES.iter();
            let rows = rows.map(|(code, name)| option("LANGUAGE", code, name));
            paged(desk, given, rows.collect())
        },
    ),
    list(
        "getAdsLocations",
        "/targeting_criteria/locations",
        "Where viewers live.",
        &[
            COUNT,
            COUNTRY,
            CURSOR,
            Field::one_of("location_type", LOCATION_TYPES),
            Q,
        ],
        locations,
    ),
    list(
        "getAdsNetworkOperators",
        "/targeting_criteria/network_operators",
        "Networks that viewers come by.",
        &[COUNT, COUNTRY.or("US"), CURSOR, Q],
        |desk, given| chosen(desk, given, "NETWORK_OPERATOR"),
    ),
    list(
        "getAdsPlatformVersions",
        "/targeting_criteria/platform_versions",
        "Versions of what viewers' devices run.",
        &[Q, OS],
        |desk, given| {
            let mut answer = chosen(desk, given, "PLATFORM_VERSION")?;
            answer.data_type = "targeting_criterion";
            Ok(answer)
        },
    ),
    list(
        "getAdsPlatforms",
        "/targeting_criteria/platforms",
        "What viewers' devices run.",
        &[COUNT, CURSOR, Q, Field::text("lang", 2, 5)],
        |desk, given| {
            let rows = PLATFORMS.iter().map(|(value, name)| {
                let mut row = option("PLATFORM", value, name);
                set(&mut row, "localized_name", (*name).into());
                row
            });
            paged(desk, given, rows.collect())
        },
    ),
    list(
        "getAdsTvMarkets",
        "/targeting_criteria/tv_markets",
        "Markets of television.",
        &[],
        tv_markets,
    ),
    list(
        "getAdsTvShows",
        "/targeting_criteria/tv_shows",
        "What viewers watch.",
        &[
            Field::one_of("locale", TV_MARKETS).required(),
            Field::new("count", Kind::Int(1, 50)).or_number(50),
            CURSOR,
            Q,
        ],
        tv_shows,
    ),
];

fn option(kind: &str, value: &str, name: &str) -> Value {
    json!({ "name": name, "targeting_type": kind, "targeting_value": value })
}

fn set(row: &mut Value, name: &str, value: Value) {
    if let Some(members) = row.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
}

fn paged(desk: &Desk<'_, '_>, given: &Given, rows: Vec<Value>) -> Result<Answer, Error> {
    checked(given)?;
    Ok(page(desk, given, rows, Some(USUAL))?.0)
}

/// Options with what they are shown with; parameters of the same names choose among them.
fn chosen(desk: &mut Desk<'_, '_>, given: &Given, kind: &'static str) -> Result<Answer, Error> {
    checked(given)?;
    let mut rows = Vec::new();
    for choice in choices::of_kind(desk.tx, kind)? {
        let mut row = option(kind, &choice.value, &choice.name);
        let mut fits = true;
        for name in choices::shown(kind) {
            let value = choice.details.get(*name).cloned().unwrap_or(Value::Null);
            fits &= given
                .get(name)
                .is_none_or(|asked| same(asked.as_str(), value.as_str()));
            set(&mut row, name, value);
        }
        if fits {
            rows.push(row);
        }
    }
    paged(desk, given, rows)
}

fn same(asked: Option<&str>, known: Option<&str>) -> bool {
    let pair = asked.zip(known);
    pair.is_some_and(|(asked, known)| asked.eq_ignore_ascii_case(known))
}

fn shown_spot(spot: &Spot) -> Value {
    let name = if spot.kind == "COUNTRIES" {
        spot.name.to_owned()
    } else {
        let country = gazetteer().country(spot.country);
        format!("{}, {}", spot.name, country.map_or("", |one| one.name))
    };
    let mut row = option("LOCATION", &spot.id, &name);
    set(&mut row, "country_code", spot.country.into());
    set(&mut row, "location_type", spot.kind.into());
    row
}

/// Places: the built-in ones, and those that posts can be tagged with.
fn locations(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    let mut rows: Vec<Value> = gazetteer().all().iter().map(shown_spot).collect();
    let mut last = i64::MIN;
    loop {
        let some = places::list(desk.tx, last, PLACES)?;
        let Some(end) = some.last() else { break };
        last = end.id;
        rows.extend(some.iter().filter_map(|place| {
            let kind = location_type(&place.kind)?;
            let mut row = option(
                "LOCATION",
                &network::places::format_place_id(place.id),
                &place.full_name,
            );
            set(&mut row, "country_code", place.country_code.as_str().into());
            set(&mut row, "location_type", kind.into());
            Some(row)
        }));
    }
    let kind = given.text("location_type");
    // An older name.
    let kind = kind.map(|kind| if kind == "CITY" { "CITIES" } else { kind });
    let text = |row: &Value, name: &str| {
        let text = row.get(name).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    rows.retain(|row| {
        let country = given.text("country_code");
        country.is_none_or(|code| text(row, "country_code").eq_ignore_ascii_case(code))
            && kind.is_none_or(|kind| text(row, "location_type") == kind)
    });
    paged(desk, given, rows)
}

fn location_type(kind: &str) -> Option<&'static str> {
    match kind {
        "country" => Some("COUNTRIES"),
        "admin" => Some("REGIONS"),
        "city" => Some("CITIES"),
        _ => None,
    }
}

fn tv_markets(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    let rows = TV_MARKETS.iter().map(|locale| {
        let code = locale.split('-').nth(1).unwrap_or_default();
        let name = gazetteer().country(code).map_or(code, |spot| spot.name);
        json!({ "name": name, "country_code": code, "locale": locale })
    });
    paged(desk, given, rows.collect())
}

fn tv_shows(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    const LEAST: u64 = 1_000;
    checked(given)?;
    let asked = given.text("locale").unwrap_or_default();
    let parts = |locale: &str| {
        let (language, country) = locale.split_once('-').unwrap_or((locale, ""));
        json!({ "language": language, "country": country })
    };
    let mut rows = Vec::new();
    for choice in choices::of_kind(desk.tx, "TV_SHOW")? {
        if !choice.texts("locales").contains(&asked) {
            continue;
        }
        let mut row = option("TV_SHOW", &choice.value, &choice.name);
        let genre = choice.details.get("genre").cloned();
        set(&mut row, "genre", genre.unwrap_or(Value::Null));
        let locales = choice.texts("locales").into_iter().map(parts).collect();
        set(&mut row, "locales", locales);
        let users = reach(desk, "TV_SHOW", &choice)?;
        set(&mut row, "estimated_users", users.max(LEAST).into());
        rows.push(row);
    }
    let mut answer = paged(desk, given, rows)?;
    let (language, country) = asked.split_once('-').unwrap_or((asked, ""));
    let locale = json!({ "countryCode": country, "languageCode": language });
    answer.echo.insert("locale".to_owned(), locale);
    Ok(answer)
}

/// How many active users an option comes to.
fn reach(desk: &mut Desk<'_, '_>, kind: &str, choice: &Choice) -> Result<u64, Error> {
    let audience = Audience {
        criteria: vec![Criterion {
            kind: kind.to_owned(),
            value: choice.value.clone(),
            operator: Operator::Eq,
        }],
        ..Audience::default()
    };
    let evaluator = desk.evaluator()?;
    Ok(evaluator.estimate(desk.tx, &audience)?.count)
}

fn events(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let kinds = given.texts("event_types");
    let countries = given.texts("country_codes");
    let since = given.int("start_time").map_or(desk.now(), Time::from_ms);
    let until = given.int("end_time").map(Time::from_ms);
    let mut rows = Vec::new();
    for choice in choices::of_kind(desk.tx, "EVENT")? {
        let text = |name: &str| {
            let text = choice.details.get(name).and_then(Value::as_str);
            text.unwrap_or_default()
        };
        let time = |name: &str| crate::kind::time(text(name));
        let (begins, ends) = (time("start_time"), time("end_time"));
        let code = text("country_code");
        let here = countries.is_empty()
            || code.is_empty()
            || countries.iter().any(|one| one.eq_ignore_ascii_case(code));
        let fits = kinds.iter().any(|kind| kind == text("event_type"))
            && here
            && ends.is_none_or(|ends| ends >= since)
            && until.is_none_or(|until| begins.is_none_or(|begins| begins < until));
        if !fits {
            continue;
        }
        let total = reach(desk, "EVENT", &choice)?;
        let moment = |at: Option<Time>| at.map_or(Value::Null, |at| instant(at).into());
        let country = Some(code).filter(|code| !code.is_empty());
        rows.push(json!({
            "name": choice.name,
            "targeting_type": "EVENT",
            "targeting_value": choice.value,
            "event_type": text("event_type"),
            "country_code": country,
            "is_global": country.is_none(),
            "start_time": moment(begins),
            "end_time": moment(ends),
            "reach": { "total_reach": total },
            "top_users": [],
            "top_tweets": [],
            "top_hashtags": choice.texts("hashtags"),
            "gender_breakdown_percentage": {},
            "device_breakdown_percentage": {},
            "country_breakdown_percentage": {},
        }));
    }
    paged(desk, given, rows)
}

/// What a value of a criterion is called; none where it is its own name.
pub fn label(tx: &mut Tx<'_>, kind: &str, value: &str) -> Result<Option<String>, Error> {
    let named = |all: &[(&str, &str)]| {
        let mut all = all.iter();
        let found = all.find(|(known, _)| known.eq_ignore_ascii_case(value));
        found.map(|(_, name)| (*name).to_owned())
    };
    Ok(match kind {
        "LOCATION" => match gazetteer().by_id(value) {
            Some(spot) => Some(spot.name.to_owned()),
            None => network::places::find_by_text_id(tx, value)?.map(|place| place.full_name),
        },
        "LANGUAGE" => named(LANGUAGES),
        "PLATFORM" => named(PLATFORMS),
        "LIVE_TV_EVENT" => choices::find(tx, "EVENT", value)?.map(|one| one.name),
        kind if choices::KINDS.contains(&kind) => {
            choices::find(tx, kind, value)?.map(|one| one.name)
        }
        _ => None,
    })
}

/// The country that a value of `LOCATION` is in, or is.
pub fn country_of(tx: &mut Tx<'_>, value: &str) -> Result<Option<String>, Error> {
    if let Some(spot) = gazetteer().by_id(value) {
        return Ok(Some(spot.country.to_owned()));
    }
    let place = network::places::find_by_text_id(tx, value)?;
    Ok(place.map(|place| place.country_code))
}

/// Which kind of place a value of `LOCATION` is.
pub fn kind_of_place(tx: &mut Tx<'_>, value: &str) -> Result<Option<&'static str>, Error> {
    if let Some(spot) = gazetteer().by_id(value) {
        return Ok(Some(spot.kind));
    }
    let place = network::places::find_by_text_id(tx, value)?;
    Ok(place.and_then(|place| location_type(&place.kind)))
}
