//! Place fields.

use base::VocabularyWord;
use store::places::Place;

use crate::field_schema::{JsonFieldType, JsonMember};
use crate::json_writer::JsonWriter;
use crate::object::{IncludedKind, ObjectField, ObjectKind, RenderedObject};

const PLACE_TYPES: &[&str] = &["poi", "neighborhood", "city", "admin", "country", "unknown"];

type PlaceField = ObjectField<Place>;

impl RenderedObject for Place {
    type Context<'a> = &'a Self;

    const NAME: VocabularyWord = VocabularyWord::same_in_both("Place");
    const FIELDS_PARAM: VocabularyWord = VocabularyWord::same_in_both("place.fields");
    const FIELDS: &'static [ObjectField<Self>] = FIELDS;
    const INCLUDED: Option<(IncludedKind, VocabularyWord)> =
        Some((IncludedKind::Place, VocabularyWord::same_in_both("places")));
}

impl ObjectKind {
    pub const PLACE: Self = Place::KIND;
}

const FIELDS: &[PlaceField] = &[
    PlaceField::default_field("id", JsonFieldType::Text, "Id of the place.")
        .writer(|out, place| out.write_nonempty_text(&network::places::format_place_id(place.id))),
    PlaceField::default_field("full_name", JsonFieldType::Text, "Its name and what it lies in.")
        .writer(|out, place| out.write_nonempty_text(&place.full_name)),
    PlaceField::requested_field("name", JsonFieldType::Text, "Its name.")
        .writer(|out, place| out.write_nonempty_text(&place.name)),
    PlaceField::requested_field("country", JsonFieldType::Text, "Its country.")
        .writer(|out, place| out.write_nonempty_text(&place.country)),
    PlaceField::requested_field("country_code", JsonFieldType::Text, "Its country, ISO 3166-1 alpha-2.")
        .writer(|out, place| out.write_nonempty_text(&place.country_code)),
    PlaceField::requested_field("place_type", JsonFieldType::OneOf(PLACE_TYPES), "The kind of place.")
        .writer(|out, place| out.write_nonempty_text(&place.kind)),
    PlaceField::requested_field(
        "geo",
        JsonFieldType::Object(&[
            JsonMember::new("type", JsonFieldType::OneOf(&["Feature"])),
            JsonMember::new("bbox", JsonFieldType::List(&JsonFieldType::Real)),
            JsonMember::new("properties", JsonFieldType::Any),
        ]),
        "Its bounds: west, south, east, north.",
    )
    .writer(write_geo),
    PlaceField::requested_field(
        "contained_within",
        JsonFieldType::List(&JsonFieldType::Text),
        "The places that it lies in.",
    )
    .writer(write_contained_within),
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
