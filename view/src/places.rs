//! Places: their fields.

use crate::shown::{Json, Member, Shown};

const KINDS: &[&str] = &["poi", "neighborhood", "city", "admin", "country", "unknown"];

pub(crate) const FIELDS: &[Shown] = &[
    Shown::always("id", Json::Text, "Id of the place."),
    Shown::always("full_name", Json::Text, "Its name and what it lies in."),
    Shown::asked("name", Json::Text, "Its name."),
    Shown::asked("country", Json::Text, "Its country."),
    Shown::asked(
        "country_code",
        Json::Text,
        "Its country, ISO 3166-1 alpha-2.",
    ),
    Shown::asked("place_type", Json::OneOf(KINDS), "The kind of place."),
    Shown::asked(
        "geo",
        Json::Object(&[
            Member::new("type", Json::OneOf(&["Feature"])),
            Member::new("bbox", Json::List(&Json::Real)),
            Member::new("properties", Json::Any),
        ]),
        "Its bounds: west, south, east, north.",
    ),
    Shown::asked(
        "contained_within",
        Json::List(&Json::Text),
        "The places that it lies in.",
    ),
];
