//! Targeting options (contract ads §4.6, §9.4).

use crate::evaluator::{CriterionOperator, Evaluator, TargetedAudience, TargetingCriterion};
use ads_engine::engine::ensure_valid_params;
use ads_engine::field_kind::format_time;
use ads_engine::listing::exclusive_params;
use ads_engine::reference_lists::search_page;
use ads_engine::{
    AccountContext, AdsRateClass, COUNT, CURSOR, CustomOperation, FieldSpec, Kind, OperationOutput, ParsedParams,
    RequiredRole, SORT_BY, WITH_TOTAL_COUNT,
};
use base::{Error, Time};
use serde_json::{Value, json};
use store::places;

use ads::gazetteer::{CountryCode, GeoPlace, gazetteer};
use ads::option_catalog::{self, CONVERSATION_TYPES, CatalogOption, EVENT_TYPES};
use ads::targeting_values::{LANGUAGES, PLATFORMS, location_type, place_label};

const Q_PARAM: FieldSpec = FieldSpec::text("q", 1, 255);
const OS_PARAM: FieldSpec = FieldSpec::one_of("os_type", &["ANDROID", "IOS"]);
const COUNTRY_PARAM: FieldSpec = FieldSpec::new("country_code", Kind::custom(&CountryCode));
const PARENT_TAXONOMY_IDS: FieldSpec = FieldSpec::new("parent_behavior_taxonomy_ids", Kind::text(1, 16).list(1, 200));
const DEFAULT_PAGE_SIZE: i64 = 200;
const PLACES_PER_QUERY: i64 = 10_000;

const TV_MARKETS: &[&str] = &[
    "fr-FR", "es-CL", "de-DE", "nl-NL", "en-US", "es-VE", "pt-BR", "es-MX", "es-CO", "en-GB", "es-AR", "ja-JP",
    "en-CA", "es-ES", "it-IT", "es-US", "en-IE",
];
const LOCATION_TYPES: &[&str] = &["COUNTRIES", "REGIONS", "METROS", "CITIES", "CITY", "POSTAL_CODES"];

const fn option_list(
    id: &'static str,
    path: &'static str,
    act: fn(&mut AccountContext<'_, '_>, &ParsedParams) -> Result<OperationOutput, Error>,
) -> CustomOperation {
    CustomOperation::get(id, path, act).requires_role(RequiredRole::Anyone).rate_limited(AdsRateClass::Options)
}

pub(super) static OPERATIONS: &[CustomOperation] = &[
    option_list("getAdsAppStoreCategories", "/targeting_criteria/app_store_categories", |ctx, params| {
        list_all_choices(ctx, params, "APP_STORE_CATEGORY")
    })
    .summary("Categories of apps that viewers have.")
    .params(&[Q_PARAM, OS_PARAM]),
    option_list("getAdsBehaviors", "/targeting_criteria/behaviors", list_nothing)
        .summary("Behaviors of viewers; always empty, since no partner provides any.")
        .params(&[COUNT, COUNTRY_PARAM, CURSOR, SORT_BY, WITH_TOTAL_COUNT]),
    option_list("getAdsBehaviorTaxonomies", "/targeting_criteria/behavior_taxonomies", list_nothing)
        .summary("Groups of behaviors; always empty.")
        .params(&[COUNT, CURSOR, PARENT_TAXONOMY_IDS, SORT_BY, WITH_TOTAL_COUNT]),
    option_list("getAdsConversations", "/targeting_criteria/conversations", |ctx, params| {
        list_choices(ctx, params, "CONVERSATION")
    })
    .summary("What viewers talk about.")
    .params(&[FieldSpec::one_of("conversation_type", CONVERSATION_TYPES), COUNT, CURSOR, Q_PARAM]),
    option_list("getAdsDevices", "/targeting_criteria/devices", |ctx, params| list_choices(ctx, params, "DEVICE"))
        .summary("What viewers use.")
        .params(&[COUNT, CURSOR, Q_PARAM, OS_PARAM]),
    option_list("getAdsEvents", "/targeting_criteria/events", list_events)
        .summary("Events that viewers care about.")
        .params(&[
            FieldSpec::new("event_types", Kind::one_of(EVENT_TYPES).list(1, EVENT_TYPES.len())).required(),
            COUNT,
            FieldSpec::new("country_codes", Kind::custom(&CountryCode).list(1, 200)),
            CURSOR,
            FieldSpec::new("start_time", Kind::TIME),
            FieldSpec::new("end_time", Kind::TIME),
        ]),
    option_list("getAdsInterests", "/targeting_criteria/interests", |ctx, params| {
        list_choices(ctx, params, "INTEREST")
    })
    .summary("What viewers are interested in.")
    .params(&[COUNT, CURSOR, Q_PARAM]),
    option_list("getAdsLanguages", "/targeting_criteria/languages", |ctx, params| {
        let rows = LANGUAGES.iter();
        let rows = rows.map(|(code, name)| option_row("LANGUAGE", code, name));
        paginate_rows(ctx, params, rows.collect())
    })
    .summary("Languages that viewers write in.")
    .params(&[COUNT, CURSOR, Q_PARAM]),
    option_list("getAdsLocations", "/targeting_criteria/locations", list_locations)
        .summary("Where viewers live.")
        .params(&[COUNT, COUNTRY_PARAM, CURSOR, FieldSpec::one_of("location_type", LOCATION_TYPES), Q_PARAM]),
    option_list("getAdsNetworkOperators", "/targeting_criteria/network_operators", |ctx, params| {
        list_choices(ctx, params, "NETWORK_OPERATOR")
    })
    .summary("Networks that viewers come by.")
    .params(&[COUNT, COUNTRY_PARAM.default_word("US"), CURSOR, Q_PARAM]),
    option_list("getAdsPlatformVersions", "/targeting_criteria/platform_versions", |ctx, params| {
        let mut answer = list_all_choices(ctx, params, "PLATFORM_VERSION")?;
        answer.data_type = "targeting_criterion";
        Ok(answer)
    })
    .summary("Versions of what viewers' devices run.")
    .params(&[Q_PARAM, OS_PARAM]),
    option_list("getAdsPlatforms", "/targeting_criteria/platforms", |ctx, params| {
        let rows = PLATFORMS.iter().map(|(value, name)| {
            let mut row = option_row("PLATFORM", value, name);
            set_member(&mut row, "localized_name", (*name).into());
            row
        });
        paginate_rows(ctx, params, rows.collect())
    })
    .summary("What viewers' devices run.")
    .params(&[COUNT, CURSOR, Q_PARAM, FieldSpec::text("lang", 2, 5)]),
    option_list("getAdsTvMarkets", "/targeting_criteria/tv_markets", list_tv_markets)
        .summary("Markets of television.")
        .rate_limited(AdsRateClass::Standard),
    option_list("getAdsTvShows", "/targeting_criteria/tv_shows", list_tv_shows)
        .summary("What viewers watch.")
        .params(&[
            FieldSpec::one_of("locale", TV_MARKETS).required(),
            FieldSpec::new("count", Kind::int(1, 50)).default_number(50),
            CURSOR,
            Q_PARAM,
        ])
        .rate_limited(AdsRateClass::Standard),
];

fn option_row(kind: &str, value: &str, name: &str) -> Value {
    json!({ "name": name, "targeting_type": kind, "targeting_value": value })
}

fn set_member(row: &mut Value, name: &str, value: Value) {
    if let Some(members) = row.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
}

fn paginate_rows(
    ctx: &AccountContext<'_, '_>,
    params: &ParsedParams,
    rows: Vec<Value>,
) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    Ok(search_page(ctx, params, rows, Some(DEFAULT_PAGE_SIZE))?.0)
}

/// As [`list_choices`], for operations that take no cursor.
fn list_all_choices(
    ctx: &mut AccountContext<'_, '_>,
    params: &ParsedParams,
    kind: &'static str,
) -> Result<OperationOutput, Error> {
    let rows = load_choices(ctx, params, kind)?;
    Ok(search_page(ctx, params, rows, None)?.0)
}

fn list_nothing(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let counts = params.flag("with_total_count");
    if counts && params.has("cursor") {
        return Err(exclusive_params("cursor", "with_total_count"));
    }
    let page = paginate_rows(ctx, params, Vec::new())?;
    Ok(if counts { page.with_total_count(0) } else { page })
}

/// Options with their details; parameters of the same names filter them.
fn list_choices(
    ctx: &mut AccountContext<'_, '_>,
    params: &ParsedParams,
    kind: &'static str,
) -> Result<OperationOutput, Error> {
    let rows = load_choices(ctx, params, kind)?;
    paginate_rows(ctx, params, rows)
}

fn load_choices(
    ctx: &mut AccountContext<'_, '_>,
    params: &ParsedParams,
    kind: &'static str,
) -> Result<Vec<Value>, Error> {
    ensure_valid_params(params)?;
    let mut rows = Vec::new();
    for choice in option_catalog::list_by_type(ctx.tx, kind)? {
        let mut row = option_row(kind, &choice.value, &choice.name);
        let mut fits = true;
        for name in option_catalog::shown_detail_names(kind) {
            let value = choice.details.get(*name).cloned().unwrap_or(Value::Null);
            fits &= params.get(name).is_none_or(|locale| matches_ignoring_case(locale.as_str(), value.as_str()));
            set_member(&mut row, name, value);
        }
        if fits {
            rows.push(row);
        }
    }
    Ok(rows)
}

fn matches_ignoring_case(locale: Option<&str>, known: Option<&str>) -> bool {
    let pair = locale.zip(known);
    pair.is_some_and(|(locale, known)| locale.eq_ignore_ascii_case(known))
}

fn render_place(place: &GeoPlace) -> Value {
    let mut row = option_row("LOCATION", &place.id, &place_label(place));
    set_member(&mut row, "country_code", place.country.into());
    set_member(&mut row, "location_type", place.kind.into());
    row
}

/// Locations: the built-in places, and those that posts can be tagged with.
fn list_locations(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let mut rows: Vec<Value> = gazetteer().all().iter().map(render_place).collect();
    let mut last = i64::MIN;
    loop {
        let some = places::list(ctx.tx, last, PLACES_PER_QUERY)?;
        let Some(end) = some.last() else { break };
        last = end.id;
        rows.extend(some.iter().filter_map(|place| {
            let kind = location_type(&place.kind)?;
            let mut row = option_row("LOCATION", &network::places::format_place_id(place.id), &place.full_name);
            set_member(&mut row, "country_code", place.country_code.as_str().into());
            set_member(&mut row, "location_type", kind.into());
            Some(row)
        }));
    }
    let kind = params.text("location_type");
    // A legacy name.
    let kind = kind.map(|kind| if kind == "CITY" { "CITIES" } else { kind });
    let text = |row: &Value, name: &str| {
        let text = row.get(name).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    rows.retain(|row| {
        let country = params.text("country_code");
        country.is_none_or(|code| text(row, "country_code").eq_ignore_ascii_case(code))
            && kind.is_none_or(|kind| text(row, "location_type") == kind)
    });
    paginate_rows(ctx, params, rows)
}

fn list_tv_markets(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let rows = TV_MARKETS.iter().map(|locale| {
        let code = locale.split('-').nth(1).unwrap_or_default();
        let name = gazetteer().find_country(code).map_or(code, |place| place.name);
        json!({ "name": name, "country_code": code, "locale": locale })
    });
    paginate_rows(ctx, params, rows.collect())
}

fn list_tv_shows(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    const MIN_USERS: u64 = 1_000;
    ensure_valid_params(params)?;
    let asked = params.text("locale").unwrap_or_default();
    let parts = |locale: &str| {
        let (language, country) = locale.split_once('-').unwrap_or((locale, ""));
        json!({ "language": language, "country": country })
    };
    let mut rows = Vec::new();
    for choice in option_catalog::list_by_type(ctx.tx, "TV_SHOW")? {
        if !choice.detail_texts("locales").contains(&asked) {
            continue;
        }
        let mut row = option_row("TV_SHOW", &choice.value, &choice.name);
        let genre = choice.details.get("genre").cloned();
        set_member(&mut row, "genre", genre.unwrap_or(Value::Null));
        let locales = choice.detail_texts("locales").into_iter().map(parts).collect();
        set_member(&mut row, "locales", locales);
        let users = estimate_reach(ctx, "TV_SHOW", &choice)?;
        set_member(&mut row, "estimated_users", users.max(MIN_USERS).into());
        rows.push(row);
    }
    let mut output = paginate_rows(ctx, params, rows)?;
    let (language, country) = asked.split_once('-').unwrap_or((asked, ""));
    let locale = json!({ "countryCode": country, "languageCode": language });
    output.echo_params.insert("locale".to_owned(), locale);
    Ok(output)
}

/// The number of active users an option reaches.
fn estimate_reach(ctx: &mut AccountContext<'_, '_>, kind: &str, choice: &CatalogOption) -> Result<u64, Error> {
    let audience = TargetedAudience {
        criteria: vec![TargetingCriterion {
            kind: kind.to_owned(),
            value: choice.value.clone(),
            operator: CriterionOperator::Eq,
        }],
        ..TargetedAudience::default()
    };
    let evaluator = Evaluator::from_context(ctx)?;
    Ok(evaluator.estimate(ctx.tx, &audience)?.count)
}

fn list_events(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let kinds = params.texts("event_types");
    let countries = params.texts("country_codes");
    let since = params.int("start_time").map_or(ctx.now(), Time::from_ms);
    let until = params.int("end_time").map(Time::from_ms);
    let mut rows = Vec::new();
    for choice in option_catalog::list_by_type(ctx.tx, "EVENT")? {
        let text = |name: &str| {
            let text = choice.details.get(name).and_then(Value::as_str);
            text.unwrap_or_default()
        };
        let time = |name: &str| ads_engine::field_kind::parse_time(text(name));
        let (begins, ends) = (time("start_time"), time("end_time"));
        let code = text("country_code");
        let matches =
            countries.is_empty() || code.is_empty() || countries.iter().any(|one| one.eq_ignore_ascii_case(code));
        let fits = kinds.iter().any(|kind| kind == text("event_type"))
            && matches
            && ends.is_none_or(|ends| ends >= since)
            && until.is_none_or(|until| begins.is_none_or(|begins| begins < until));
        if !fits {
            continue;
        }
        let total = estimate_reach(ctx, "EVENT", &choice)?;
        let moment = |at: Option<Time>| at.map_or(Value::Null, |at| format_time(at).into());
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
            "top_hashtags": choice.detail_texts("hashtags"),
            "gender_breakdown_percentage": {},
            "device_breakdown_percentage": {},
            "country_breakdown_percentage": {},
        }));
    }
    let mut output = paginate_rows(ctx, params, rows)?;
    output.data_type = "events";
    Ok(output)
}
