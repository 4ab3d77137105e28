//! Names and places of the values of targeting criteria.

use base::Error;
use store::Tx;

use crate::gazetteer::{GeoPlace, gazetteer};
use crate::option_catalog;
use crate::resources::categories::iab_names;

/// Platforms of the users that can be reached.
pub const PLATFORMS: &[(&str, &str)] =
    &[("0", "iOS"), ("1", "Android"), ("2", "BlackBerry"), ("3", "Mobile web and other"), ("4", "Desktop")];
const GENDERS: &[(&str, &str)] = &[("1", "Male"), ("2", "Female")];
/// Languages detected in posts (ISO 639-1).
pub const LANGUAGES: &[(&str, &str)] = &[
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

pub fn location_type(kind: &str) -> Option<&'static str> {
    match kind {
        "country" => Some("COUNTRIES"),
        "admin" => Some("REGIONS"),
        "city" => Some("CITIES"),
        _ => None,
    }
}

/// The name of a place, followed by its country unless it is one.
pub fn place_label(place: &GeoPlace) -> String {
    if place.kind == "COUNTRIES" {
        return place.name.to_owned();
    }
    let country = gazetteer().find_country(place.country);
    format!("{}, {}", place.name, country.map_or("", |one| one.name))
}

/// `18 to 34` for `AGE_18_TO_34`, `21 and over` for `AGE_OVER_21`.
fn age_label(value: &str) -> Option<String> {
    let range = value.strip_prefix("AGE_")?;
    Some(match range.strip_prefix("OVER_") {
        Some(years) => format!("{years} and over"),
        None => range.replace("_TO_", " to "),
    })
}

/// The display name of a criterion's value; `None` if the value is its own name or is not known.
pub fn find_label(tx: &mut Tx<'_>, kind: &str, value: &str) -> Result<Option<String>, Error> {
    let named = |all: &[(&str, &str)]| {
        let mut all = all.iter();
        let found = all.find(|(known, _)| known.eq_ignore_ascii_case(value));
        found.map(|(_, name)| (*name).to_owned())
    };
    Ok(match kind.strip_suffix("_LOOKALIKE").unwrap_or(kind) {
        "AGE" => age_label(value),
        "GENDER" => named(GENDERS),
        "IAB_CATEGORY" => iab_names().find(|(id, _)| *id == value).map(|(_, name)| name.to_owned()),
        "WIFI_ONLY" => Some("Wi-Fi only".to_owned()),
        "LOCATION" => match gazetteer().find_by_id(value) {
            Some(place) => Some(place_label(place)),
            None => network::places::find_by_text_id(tx, value)?.map(|place| place.full_name),
        },
        "LANGUAGE" => named(LANGUAGES),
        "PLATFORM" => named(PLATFORMS),
        "LIVE_TV_EVENT" => option_catalog::find(tx, "EVENT", value)?.map(|one| one.name),
        kind if option_catalog::OPTION_TYPES.contains(&kind) => {
            option_catalog::find(tx, kind, value)?.map(|one| one.name)
        }
        _ => None,
    })
}

/// The country that contains a `LOCATION` value.
pub fn find_country(tx: &mut Tx<'_>, value: &str) -> Result<Option<String>, Error> {
    if let Some(spot) = gazetteer().find_by_id(value) {
        return Ok(Some(spot.country.to_owned()));
    }
    let place = network::places::find_by_text_id(tx, value)?;
    Ok(place.map(|place| place.country_code))
}

pub fn find_location_type(tx: &mut Tx<'_>, value: &str) -> Result<Option<&'static str>, Error> {
    if let Some(spot) = gazetteer().find_by_id(value) {
        return Ok(Some(spot.kind));
    }
    let place = network::places::find_by_text_id(tx, value)?;
    Ok(place.and_then(|place| location_type(&place.kind)))
}
