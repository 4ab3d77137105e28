//! Place fields.

use store::places::Place;

use crate::field_schema::{FieldDefinition, FieldWriter, JsonFieldType, JsonMember};
use crate::json_writer::JsonWriter;

pub(crate) fn write(out: &mut JsonWriter, place: &Place, mask: u64) {
    out.write_fields(FIELDS, mask, |out, write| {
        if let FieldWriter::Place(write) = write {
            write(out, place);
        }
    });
}

const PLACE_TYPES: &[&str] = &["poi", "neighborhood", "city", "admin", "country", "unknown"];

pub(crate) const FIELDS: &[FieldDefinition] = &[
    FieldDefinition::default_field("id", JsonFieldType::Text, "Id of the place.")
        .place_writer(|out, place| out.write_nonempty_text(&network::places::format_place_id(place.id))),
    FieldDefinition::default_field("full_name", JsonFieldType::Text, "Its name and what it lies in.")
        .place_writer(|out, place| out.write_nonempty_text(&place.full_name)),
    FieldDefinition::requested_field("name", JsonFieldType::Text, "Its name.")
        .place_writer(|out, place| out.write_nonempty_text(&place.name)),
    FieldDefinition::requested_field("country", JsonFieldType::Text, "Its country.")
        .place_writer(|out, place| out.write_nonempty_text(&place.country)),
    FieldDefinition::requested_field("country_code", JsonFieldType::Text, "Its country, ISO 3166-1 alpha-2.")
        .place_writer(|out, place| out.write_nonempty_text(&place.country_code)),
    FieldDefinition::requested_field("place_type", JsonFieldType::OneOf(PLACE_TYPES), "The kind of place.")
        .place_writer(|out, place| out.write_nonempty_text(&place.kind)),
    FieldDefinition::requested_field(
        "geo",
        JsonFieldType::Object(&[
            JsonMember::new("type", JsonFieldType::OneOf(&["Feature"])),
            JsonMember::new("bbox", JsonFieldType::List(&JsonFieldType::Real)),
            JsonMember::new("properties", JsonFieldType::Any),
        ]),
        "Its bounds: west, south, east, north.",
    )
    .place_writer(write_geo),
    FieldDefinition::requested_field(
        "contained_within",
        JsonFieldType::List(&JsonFieldType::Text),
        "The places that it lies in.",
    )
    .place_writer(write_contained_within),
];

fn write_geo(out: &mut JsonWriter, place: &Place) {
    if place.bbox.is_empty() {
        return;
    }
    out.write_object(|out| {
        out.write_plain_member("type", |out| out.write_nonempty_text("Feature"));
        out.write_plain_member("bbox", |out| out.write_raw(&place.bbox));
        // Always present and always empty.
        out.write_plain_member("properties", |out| out.write_object(|_| {}));
    });
}

fn write_contained_within(out: &mut JsonWriter, place: &Place) {
    if !place.contained_within.is_empty() {
        out.write_array(place.contained_within.split(','), JsonWriter::write_text);
    }
}
