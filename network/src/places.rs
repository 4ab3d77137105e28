//! Places that posts can be tagged with.

use base::{Error, Fault, Refusal};
use store::Tx;
use store::places::{self, Place};

use crate::users::validate_choice;

const KINDS: &[&str] = &["unknown", "poi", "neighborhood", "city", "admin", "country"];

/// A new place.
#[derive(Clone, Debug, Default)]
pub struct NewPlace {
    /// Sixteen hexadecimal digits; empty: made up.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its name and what it lies in; empty: the name.
    pub full_name: String,
    /// Its country.
    pub country: String,
    /// ISO 3166-1 alpha-2, or empty.
    pub country_code: String,
    /// `poi`, `neighborhood`, `city`, `admin`, `country`, `unknown` or empty.
    pub kind: String,
    /// West, south, east, north, in degrees; or empty.
    pub bbox: Vec<f64>,
    /// Ids of the places that it lies in.
    pub contained_within: Vec<String>,
}

/// A place's number as it is spoken.
pub fn format_place_id(id: i64) -> String {
    format!("{id:016x}")
}

/// The number that sixteen hexadecimal digits are.
pub fn parse_place_id(text: &str) -> Option<i64> {
    let plain = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u64::from_str_radix(text, 16).ok().filter(|_| plain)?;
    Some(i64::from_be_bytes(number.to_be_bytes()))
}

/// The place with an id, as it is spoken.
pub fn find_by_text_id(tx: &mut Tx<'_>, text: &str) -> Result<Option<Place>, Fault> {
    match parse_place_id(text) {
        Some(id) => places::find_by_id(tx, id),
        None => Ok(None),
    }
}

/// The place that a post is tagged with, as it is spoken.
pub(crate) fn resolve_tagged_place(tx: &mut Tx<'_>, text: &str) -> Result<String, Error> {
    let place = find_by_text_id(tx, text)?;
    let message = "Your place ID is invalid.";
    let refuse = || Refusal::invalid_parameter("geo.place_id", text, message);
    Ok(format_place_id(place.ok_or_else(refuse)?.id))
}

/// Adds a place.
pub fn create(tx: &mut Tx<'_>, new: &NewPlace) -> Result<Place, Error> {
    let name = new.name.trim();
    if name.is_empty() {
        return Err(Refusal::missing_parameter("name").into());
    }
    let code = &new.country_code;
    let known = code.is_empty() || is_country_code(code);
    if !known {
        let message = "The `country_code` must be two capital letters (ISO 3166-1 alpha-2)";
        return Err(Refusal::invalid_parameter("country_code", code, message).into());
    }
    let mut within = Vec::with_capacity(new.contained_within.len());
    for text in &new.contained_within {
        let place = find_by_text_id(tx, text)?;
        let refuse = || Refusal::invalid_value("contained_within", text);
        within.push(format_place_id(place.ok_or_else(refuse)?.id));
    }
    let full_name = if new.full_name.trim().is_empty() {
        name
    } else {
        new.full_name.trim()
    };
    let place = Place {
        id: parse_or_generate_id(tx, &new.id)?,
        name: name.to_owned(),
        full_name: full_name.to_owned(),
        country: new.country.trim().to_owned(),
        country_code: code.clone(),
        kind: validate_choice("place_type", &new.kind, KINDS)?,
        bbox: format_bounding_box(&new.bbox)?,
        contained_within: within.join(","),
    };
    if !places::insert(tx, &place)? {
        return Err(Refusal::invalid_parameter("id", &new.id, "The id is taken").into());
    }
    store::event_log::append(tx, "place.create", 0, place.id, "")?;
    Ok(place)
}

fn parse_or_generate_id(tx: &Tx<'_>, given: &str) -> Result<i64, Error> {
    if given.is_empty() {
        return Ok(i64::from_be_bytes(tx.rng().random_bytes()?));
    }
    let message = "The `id` must be sixteen hexadecimal digits";
    parse_place_id(given).ok_or_else(|| Refusal::invalid_parameter("id", given, message).into())
}

fn format_bounding_box(bbox: &[f64]) -> Result<String, Refusal> {
    let sound = match *bbox {
        [] => return Ok(String::new()),
        [west, south, east, north] => {
            let round = [west, east].iter().all(|degrees| degrees.abs() <= 180.0);
            let upright = [south, north].iter().all(|degrees| degrees.abs() <= 90.0);
            round && upright && south <= north
        }
        _ => false,
    };
    if !sound {
        let shown = format!("{bbox:?}");
        return Err(Refusal::invalid_parameter("bbox", shown, "Invalid coordinates."));
    }
    Ok(serde_json::Value::from(bbox.to_vec()).to_string())
}

/// Whether this is written as a country's code is.
pub(crate) fn is_country_code(code: &str) -> bool {
    code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_uppercase())
}
