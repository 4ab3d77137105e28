//! Places that posts can be tagged with.

use base::{Fault, Refusal, Stop};
use store::Tx;
use store::places::{self, Place};

use crate::users::one_of;

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
pub fn spoken(id: i64) -> String {
    format!("{id:016x}")
}

/// The number that sixteen hexadecimal digits are.
pub fn number(text: &str) -> Option<i64> {
    let plain = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u64::from_str_radix(text, 16).ok().filter(|_| plain)?;
    Some(i64::from_be_bytes(number.to_be_bytes()))
}

/// The place with an id, as it is spoken.
pub fn by_name(tx: &mut Tx<'_>, text: &str) -> Result<Option<Place>, Fault> {
    match number(text) {
        Some(id) => places::find_by_id(tx, id),
        None => Ok(None),
    }
}

/// The place that a post is tagged with, as it is spoken.
pub(crate) fn to_tag(tx: &mut Tx<'_>, text: &str) -> Result<String, Stop> {
    let place = by_name(tx, text)?;
    let message = "Your place ID is invalid.";
    let refuse = || Refusal::invalid("geo.place_id", text, message);
    Ok(spoken(place.ok_or_else(refuse)?.id))
}

/// Adds a place.
pub fn create(tx: &mut Tx<'_>, new: &NewPlace) -> Result<Place, Stop> {
    let name = new.name.trim();
    if name.is_empty() {
        return Err(Refusal::missing("name").into());
    }
    let code = &new.country_code;
    let known = code.is_empty() || is_country(code);
    if !known {
        let message = "The `country_code` must be two capital letters (ISO 3166-1 alpha-2)";
        return Err(Refusal::invalid("country_code", code, message).into());
    }
    let mut within = Vec::with_capacity(new.contained_within.len());
    for text in &new.contained_within {
        let place = by_name(tx, text)?;
        let refuse = || Refusal::not_valid("contained_within", text);
        within.push(spoken(place.ok_or_else(refuse)?.id));
    }
    let full_name = if new.full_name.trim().is_empty() {
        name
    } else {
        new.full_name.trim()
    };
    let place = Place {
        id: id(tx, &new.id)?,
        name: name.to_owned(),
        full_name: full_name.to_owned(),
        country: new.country.trim().to_owned(),
        country_code: code.clone(),
        kind: one_of("place_type", &new.kind, KINDS)?,
        bbox: bounds(&new.bbox)?,
        contained_within: within.join(","),
    };
    if !places::insert(tx, &place)? {
        return Err(Refusal::invalid("id", &new.id, "The id is taken").into());
    }
    store::event_log::append(tx, "place.create", 0, place.id, "")?;
    Ok(place)
}

fn id(tx: &Tx<'_>, given: &str) -> Result<i64, Stop> {
    if given.is_empty() {
        return Ok(i64::from_be_bytes(tx.rng().bytes()?));
    }
    let message = "The `id` must be sixteen hexadecimal digits";
    number(given).ok_or_else(|| Refusal::invalid("id", given, message).into())
}

fn bounds(bbox: &[f64]) -> Result<String, Refusal> {
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
        return Err(Refusal::invalid("bbox", shown, "Invalid coordinates."));
    }
    Ok(serde_json::Value::from(bbox.to_vec()).to_string())
}

/// Whether this is written as a country's code is.
pub(crate) fn is_country(code: &str) -> bool {
    code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_uppercase())
}
