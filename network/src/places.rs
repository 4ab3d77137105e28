//! Places that posts can be tagged with.

use base::refusal::RefusalKind;
use base::{Error, Fault, Refusal};
use store::Tx;
use store::places::{self, Place};

use crate::profile_fields::validate_choice;

const KINDS: &[&str] = &["unknown", "poi", "neighborhood", "city", "admin", "country"];

#[derive(Clone, Debug, Default)]
pub struct NewPlace {
    /// Sixteen hexadecimal digits; empty for a random id.
    pub id: String,
    pub name: String,
    /// The name with the containing place; empty for the name.
    pub full_name: String,
    pub country: String,
    /// ISO 3166-1 alpha-2, or empty.
    pub country_code: String,
    /// `poi`, `neighborhood`, `city`, `admin`, `country`, `unknown` or empty.
    pub kind: String,
    /// West, south, east, north, in degrees; or empty.
    pub bbox: Vec<f64>,
    /// Public ids of the containing places.
    pub contained_within: Vec<String>,
}

/// The public id: sixteen hexadecimal digits.
pub fn format_place_id(id: i64) -> String {
    format!("{id:016x}")
}

pub fn parse_place_id(text: &str) -> Option<i64> {
    let is_hex = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u64::from_str_radix(text, 16).ok().filter(|_| is_hex)?;
    Some(i64::from_be_bytes(number.to_be_bytes()))
}

/// Finds a place by its public id.
pub fn find_by_text_id(tx: &mut Tx<'_>, text: &str) -> Result<Option<Place>, Fault> {
    match parse_place_id(text) {
        Some(id) => places::find_by_id(tx, id),
        None => Ok(None),
    }
}

/// Validates the public id of a post's place.
pub(crate) fn resolve_tagged_place(tx: &mut Tx<'_>, text: &str) -> Result<String, Error> {
    let place = find_by_text_id(tx, text)?;
    let message = "Your place ID is invalid.";
    let invalid_id = || Refusal::invalid_parameter("geo.place_id", text, message);
    Ok(format_place_id(place.ok_or_else(invalid_id)?.id))
}

pub fn create(tx: &mut Tx<'_>, new: &NewPlace) -> Result<Place, Error> {
    let name = new.name.trim();
    if name.is_empty() {
        return Err(Refusal::missing_parameter("name").into());
    }
    let code = &new.country_code;
    let is_valid = code.is_empty() || is_country_code(code);
    if !is_valid {
        let message = "The `country_code` must be two capital letters (ISO 3166-1 alpha-2)";
        return Err(Refusal::invalid_parameter("country_code", code, message).into());
    }
    let mut containing_ids = Vec::with_capacity(new.contained_within.len());
    for text in &new.contained_within {
        let place = find_by_text_id(tx, text)?;
        let invalid_id = || Refusal::invalid_value("contained_within", text);
        containing_ids.push(format_place_id(place.ok_or_else(invalid_id)?.id));
    }
    let full_name = if new.full_name.trim().is_empty() { name } else { new.full_name.trim() };
    let place = Place {
        id: parse_or_generate_id(tx, &new.id)?,
        name: name.to_owned(),
        full_name: full_name.to_owned(),
        country: new.country.trim().to_owned(),
        country_code: code.clone(),
        kind: validate_choice("place_type", &new.kind, KINDS)?,
        bbox: format_bounding_box(&new.bbox)?,
        contained_within: containing_ids.join(","),
    };
    if !places::insert(tx, &place)? {
        return Err(Refusal::named_reason(RefusalKind::Conflict, "id", &new.id, "The id is taken").into());
    }
    store::event_log::append(tx, "place.create", 0, place.id, "")?;
    Ok(place)
}

fn parse_or_generate_id(tx: &Tx<'_>, id: &str) -> Result<i64, Error> {
    if id.is_empty() {
        return Ok(i64::from_be_bytes(tx.rng().random_bytes()?));
    }
    let message = "The `id` must be sixteen hexadecimal digits";
    parse_place_id(id).ok_or_else(|| Refusal::invalid_parameter("id", id, message).into())
}

fn format_bounding_box(bbox: &[f64]) -> Result<String, Refusal> {
    let is_valid = match *bbox {
        [] => return Ok(String::new()),
        [west, south, east, north] => {
            let longitudes_valid = [west, east].iter().all(|degrees| degrees.abs() <= 180.0);
            let latitudes_valid = [south, north].iter().all(|degrees| degrees.abs() <= 90.0);
            longitudes_valid && latitudes_valid && south <= north
        }
        _ => false,
    };
    if !is_valid {
        let shown = format!("{bbox:?}");
        return Err(Refusal::invalid_parameter("bbox", shown, "Invalid coordinates."));
    }
    Ok(serde_json::Value::from(bbox.to_vec()).to_string())
}

/// Whether a text has the form of a country code.
pub(crate) fn is_country_code(code: &str) -> bool {
    code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_uppercase())
}
