//! Places in the legacy format (contract core §10.3).

use serde_json::{Value, json};
use store::places::Place;

pub(crate) fn legacy_place_json(place: &Place) -> Value {
    json!({
        "id": network::places::format_place_id(place.id),
        "place_type": place.kind,
        "name": place.name,
        "full_name": place.full_name,
        "country_code": place.country_code,
        "country": place.country,
        "contained_within": [],
        "bounding_box": bounding_box(&place.bbox),
        "attributes": {},
    })
}

/// The corners from the south-west one anticlockwise.
fn bounding_box(bounds: &str) -> Option<Value> {
    let [west, south, east, north] = serde_json::from_str::<[f64; 4]>(bounds).ok()?;
    let corners = [[west, south], [east, south], [east, north], [west, north]];
    Some(json!({ "type": "Polygon", "coordinates": [corners] }))
}

/// The point of a post: in the order of `coordinates` (longitude, latitude) and in that of `geo`.
pub(crate) fn legacy_points(geo: &str) -> Option<(Value, Value)> {
    let mut point: Value = serde_json::from_str(geo).ok()?;
    let coordinates = point.clone();
    point.get_mut("coordinates")?.as_array_mut()?.reverse();
    Some((coordinates, point))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{bounding_box, legacy_points};

    #[test]
    fn bounds_and_points_have_the_legacy_forms() {
        let corners = json!([[[13.0, 52.0], [14.0, 52.0], [14.0, 53.5], [13.0, 53.5]]]);
        assert_eq!(bounding_box("[13,52,14,53.5]"), Some(json!({ "type": "Polygon", "coordinates": corners })));
        assert_eq!(bounding_box(""), None);
        let (coordinates, geo) = legacy_points(r#"{"type":"Point","coordinates":[13.4,52.5]}"#).unwrap();
        assert_eq!(coordinates, json!({ "type": "Point", "coordinates": [13.4, 52.5] }));
        assert_eq!(geo, json!({ "type": "Point", "coordinates": [52.5, 13.4] }));
        assert!(legacy_points("").is_none());
    }
}
