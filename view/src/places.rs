//! Places: their fields.

use base::VocabularyWord;
use store::places::Place;

use crate::out::Out;
use crate::shown::{Json, Member, Shown, Write};

/// Writes a place with the fields of a mask.
pub(crate) fn write(out: &mut Out, place: &Place, mask: u64) {
    out.record(FIELDS, mask, |out, write| {
        if let Write::Place(write) = write {
            write(out, place);
        }
    });
}

const KINDS: &[&str] = &["poi", "neighborhood", "city", "admin", "country", "unknown"];

pub(crate) const FIELDS: &[Shown] = &[
    Shown::always("id", Json::Text, "Id of the place.")
        .place(|out, place| out.text(&network::places::format_place_id(place.id))),
    Shown::always("full_name", Json::Text, "Its name and what it lies in.")
        .place(|out, place| out.text(&place.full_name)),
    Shown::asked("name", Json::Text, "Its name.").place(|out, place| out.text(&place.name)),
    Shown::asked("country", Json::Text, "Its country.")
        .place(|out, place| out.text(&place.country)),
    Shown::asked(
        "country_code",
        Json::Text,
        "Its country, ISO 3166-1 alpha-2.",
    )
    .place(|out, place| out.text(&place.country_code)),
    Shown::asked("place_type", Json::OneOf(KINDS), "The kind of place.")
        .place(|out, place| out.text(&place.kind)),
    Shown::asked(
        "geo",
        Json::Object(&[
            Member::new("type", Json::OneOf(&["Feature"])),
            Member::new("bbox", Json::List(&Json::Real)),
            Member::new("properties", Json::Any),
        ]),
        "Its bounds: west, south, east, north.",
    )
    .place(geo),
    Shown::asked(
        "contained_within",
        Json::List(&Json::Text),
        "The places that it lies in.",
    )
    .place(within),
];

fn geo(out: &mut Out, place: &Place) {
    if place.bbox.is_empty() {
        return;
    }
    out.object(|out| {
        out.member(VocabularyWord::same_in_both("type"), |out| {
            out.text("Feature")
        });
        out.member(VocabularyWord::same_in_both("bbox"), |out| {
            out.raw(&place.bbox)
        });
        // Always there, and nothing in it.
        out.member(VocabularyWord::same_in_both("properties"), |out| {
            out.object(|_| {})
        });
    });
}

fn within(out: &mut Out, place: &Place) {
    if !place.contained_within.is_empty() {
        out.array(place.contained_within.split(','), Out::quoted);
    }
}
