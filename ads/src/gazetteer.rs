//! Resolves free-text locations to countries, regions and cities by name.

use std::collections::HashMap;
use std::sync::LazyLock;

use ads_engine::{AccountContext, CustomKind, ViolationKind};
use base::Error;
use base::refusal::AdsProblem;
use query::MatchMode;
use query::words::hash_text;
use serde_json::Value;

const PLACES: &str = include_str!("../data/places.tsv");

/// Places with fixed ids known to clients.
const WELL_KNOWN_PLACES: [(&str, &str, &str, &str); 3] = [
    ("COUNTRIES", "US", "United States", "96683cc9126741d1"),
    ("CITIES", "US", "San Francisco", "5122804691e5fecc"),
    ("CITIES", "US", "Los Angeles", "3b77caf94bfc81fe"),
];
/// The maximum number of pieces of a text considered.
const MAX_PIECES: usize = 6;
/// The score of a piece that names a country or a place in it, relative to an abbreviation.
const NAME_SCORE: u32 = 30;
const CONTAINED_SCORE: u32 = 20;
const ABBREVIATION_SCORE: u32 = 10;
/// The extra score of a region over a city, since cities share names.
const REGION_BONUS: u32 = 1;

#[derive(Clone, Debug)]
pub struct GeoPlace {
    /// Sixteen hexadecimal digits.
    pub id: String,
    /// `COUNTRIES`, `REGIONS`, `CITIES`, `METROS` or `POSTAL_CODES`.
    pub kind: &'static str,
    /// ISO 3166-1 alpha-2.
    pub country: &'static str,
    pub name: &'static str,
}

/// The built-in places.
#[derive(Debug)]
pub struct Gazetteer {
    places: Vec<GeoPlace>,
    name_index: HashMap<u64, Vec<usize>>,
    /// Case-sensitive: `PT`, and `CA` for California.
    abbreviation_index: HashMap<String, Vec<usize>>,
    id_index: HashMap<String, usize>,
}

/// The code of an existing country (ISO 3166-1 alpha-2), in upper case.
#[derive(Debug)]
pub struct CountryCode;

impl CustomKind for CountryCode {
    fn read_text(&self, text: &str) -> Result<Value, ViolationKind> {
        let code = text.to_ascii_uppercase();
        let known = gazetteer().find_country(&code).map(|place| place.country.into());
        known.ok_or(ViolationKind::Malformed)
    }

    fn describe_expected(&self, limit: Option<usize>) -> String {
        let one = || "a country code of ISO 3166-1 alpha-2".to_owned();
        limit.map_or_else(one, |limit| format!("at most {limit} country codes of ISO 3166-1 alpha-2"))
    }
}

pub fn gazetteer() -> &'static Gazetteer {
    static ALL: LazyLock<Gazetteer> = LazyLock::new(Gazetteer::load);
    &ALL
}

/// Derives the id of a place from its name.
fn place_id(kind: &str, country: &str, name: &str) -> String {
    let known = WELL_KNOWN_PLACES.iter().find(|one| (one.0, one.1, one.2) == (kind, country, name));
    if let Some((.., id)) = known {
        return (*id).to_owned();
    }
    let digest = base::secret::digest(&format!("{kind}:{country}:{name}"));
    let bytes = digest.first_chunk::<8>().copied().unwrap_or_default();
    format!("{:016x}", u64::from_be_bytes(bytes))
}

/// A hash of a name without case and accents.
pub fn name_key(name: &str) -> u64 {
    let edge = |letter: char| !letter.is_alphanumeric();
    hash_text(name.trim_matches(edge), MatchMode::Search)
}

impl Gazetteer {
    fn load() -> Self {
        let mut all = Self {
            places: Vec::new(),
            name_index: HashMap::new(),
            abbreviation_index: HashMap::new(),
            id_index: HashMap::new(),
        };
        for line in PLACES.lines().filter(|line| !line.starts_with('#')) {
            let mut cells = line.split('\t');
            let (Some(kind), Some(country), Some(name)) = (cells.next(), cells.next(), cells.next()) else {
                continue;
            };
            let place = all.places.len();
            let id = place_id(kind, country, name);
            all.id_index.insert(id.clone(), place);
            all.places.push(GeoPlace { id, kind, country, name });
            let others = cells.next().unwrap_or_default().split('|');
            let others: Vec<&str> = others.filter(|other| !other.is_empty()).collect();
            for other in std::iter::once(&name).chain(&others) {
                if is_abbreviation(other) {
                    all.abbreviation_index.entry((*other).to_owned()).or_default().push(place);
                } else {
                    all.name_index.entry(name_key(other)).or_default().push(place);
                }
            }
            if kind == "COUNTRIES" {
                all.abbreviation_index.entry(country.to_owned()).or_default().push(place);
            }
        }
        all
    }

    /// Countries, then regions, cities, metropolitan areas and postal codes.
    pub fn all(&self) -> &[GeoPlace] {
        &self.places
    }

    pub fn find_by_id(&self, id: &str) -> Option<&GeoPlace> {
        self.places.get(*self.id_index.get(&id.to_ascii_lowercase())?)
    }

    pub fn find_country(&self, code: &str) -> Option<&GeoPlace> {
        let mut all = self.places.iter();
        all.find(|place| place.kind == "COUNTRIES" && place.country == code)
    }

    /// The places a text names: a country, and the parts of it that the text names. Empty if nothing is
    /// recognized.
    pub fn resolve_text(&self, text: &str) -> Vec<&GeoPlace> {
        let mut found = self.match_pieces(split_pieces(text));
        if found.is_empty() {
            found = self.match_pieces(split_halves(text));
        }
        let mut votes: HashMap<&'static str, u32> = HashMap::new();
        for (place, weight) in &found {
            *votes.entry(place.country).or_default() += weight;
        }
        let max_votes = votes.values().copied().max().unwrap_or(0);
        let mut first = votes.iter().filter(|(_, votes)| **votes == max_votes);
        let (Some((country, _)), tie) = (first.next(), first.next()) else {
            return Vec::new();
        };
        // Among cities that share a name the first listed wins; abbreviations may mean either.
        let country = match tie {
            None => *country,
            Some(_) if max_votes <= ABBREVIATION_SCORE => return Vec::new(),
            Some(_) => found
                .iter()
                .find(|(place, _)| votes.get(place.country) == Some(&max_votes))
                .map_or(*country, |(place, _)| place.country),
        };
        let mut resolved: Vec<&GeoPlace> = self.find_country(country).into_iter().collect();
        for (place, _) in found {
            let known = resolved.iter().any(|other| other.id == place.id);
            if place.country == country && !known {
                resolved.push(place);
            }
        }
        resolved
    }

    /// The places that pieces of a text name, with scores.
    fn match_pieces<'t>(&self, pieces: impl Iterator<Item = &'t str>) -> Vec<(&GeoPlace, u32)> {
        let mut found = Vec::new();
        for piece in pieces.take(MAX_PIECES) {
            let flag = flag_country_code(piece);
            let letters = flag.as_deref().unwrap_or(piece);
            let short = self.abbreviation_index.get(letters).into_iter().flatten();
            let weight = if flag.is_some() { NAME_SCORE } else { ABBREVIATION_SCORE };
            let short = short.map(|place| (*place, weight));
            let named = self.name_index.get(&name_key(piece)).into_iter().flatten();
            for (place, weight) in named.map(|place| (*place, NAME_SCORE)).chain(short) {
                let Some(spot) = self.places.get(place) else {
                    continue;
                };
                let weight = match spot.kind {
                    _ if weight == ABBREVIATION_SCORE => ABBREVIATION_SCORE,
                    "COUNTRIES" => NAME_SCORE,
                    _ if flag.is_some() => continue,
                    "REGIONS" => CONTAINED_SCORE + REGION_BONUS,
                    _ => CONTAINED_SCORE,
                };
                found.push((spot, weight));
            }
        }
        found
    }
}

/// Whether a text is two or three capital letters.
fn is_abbreviation(text: &str) -> bool {
    (2..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

fn split_pieces(text: &str) -> impl Iterator<Item = &str> {
    let parts =
        |letter: char| matches!(letter, ',' | '/' | '|' | '·' | '•' | '–' | '—' | ';' | '\n' | '(' | ')' | '&' | '→');
    let pieces = text.split(parts).flat_map(|piece| piece.split(" - "));
    pieces.map(str::trim).filter(|piece| !piece.is_empty())
}

/// The parts before and after each space.
fn split_halves(text: &str) -> impl Iterator<Item = &str> {
    let spaces = text.match_indices(' ').take(MAX_PIECES);
    spaces.flat_map(|(at, _)| {
        let (left, right) = text.split_at_checked(at).unwrap_or_default();
        [left.trim(), right.trim()].into_iter()
    })
}

/// The country code of a flag emoji.
fn flag_country_code(text: &str) -> Option<String> {
    const FIRST: u32 = 0x1f1e6;
    let letters = text.chars().map(|letter| {
        let place = u32::from(letter).checked_sub(FIRST)?;
        let byte = u8::try_from(place).ok().filter(|place| *place < 26)?;
        Some(char::from(b'A' + byte))
    });
    let letters: Option<String> = letters.collect();
    letters.filter(|letters| letters.len() == 2)
}

/// The country that a parameter names, by the id of its place.
pub fn find_country(
    ctx: &mut AccountContext<'_, '_>,
    parameter: &'static str,
    id: &str,
) -> Result<&'static GeoPlace, Error> {
    let code = if let Some(place) = gazetteer().find_by_id(id) {
        Some(place.country.to_owned()).filter(|_| place.kind == "COUNTRIES")
    } else {
        let added = network::places::find_by_text_id(ctx.tx, id)?;
        added.filter(|place| place.kind == "country").map(|place| place.country_code)
    };
    code.and_then(|code| gazetteer().find_country(&code)).ok_or_else(|| {
        let message = format!("\"{id}\" is not the id of a country, for {parameter}");
        AdsProblem::invalid_parameter(parameter, id, message).into()
    })
}

#[cfg(test)]
mod tests {
    use super::gazetteer;

    #[test]
    fn ids_are_those_that_clients_know() {
        let all = gazetteer();
        let id = |code: &str| all.find_country(code).unwrap().id.clone();
        assert_eq!(id("PT"), "3c65374ea675483e");
        assert_eq!(id("US"), "96683cc9126741d1");
        assert_eq!(all.find_by_id("5122804691E5FECC").unwrap().name, "San Francisco");
        let mut ids: Vec<&str> = all.all().iter().map(|place| place.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all.all().len());
    }

    #[test]
    fn texts_name_places() {
        for (text, wanted) in [
            ("Lisbon, Portugal", "Portugal Lisbon"),
            ("Lisboa", "Portugal Lisbon"),
            ("  LISBOA/Portugal ", "Portugal Lisbon"),
            ("Lisbon Portugal", "Portugal Lisbon"),
            ("Los Angeles, CA", "United States Los Angeles Los Angeles area California"),
            ("Atlanta, Georgia", "United States Atlanta Atlanta area Georgia"),
            ("Georgia", "Georgia"),
            ("Paris, Texas", "United States Texas"),
            ("Paris", "France Paris"),
            ("München", "Germany Munich"),
            ("münchen", "Germany Munich"),
            ("🇵🇹", "Portugal"),
            ("PT", "Portugal"),
            ("東京", "Japan Tokyo"),
            ("España", "Spain"),
            ("UK", "United Kingdom"),
            ("the moon", ""),
            ("CA", ""),
            ("", ""),
        ] {
            let found: Vec<&str> = gazetteer().resolve_text(text).iter().map(|place| place.name).collect();
            assert_eq!(found.join(" "), wanted, "{text}");
        }
    }
}
