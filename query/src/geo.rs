//! Geometry on the globe: circles, rectangles and the points inside them.

/// Longitude and latitude, in degrees.
pub(crate) type GeoPoint = (f64, f64);

const EARTH_RADIUS_METRES: f64 = 6_371_008.8;
pub(crate) const METRES_PER_MILE: f64 = 1_609.344;
/// Radii of circles and sides of rectangles are shorter (contract core §8.3).
pub(crate) const MAX_RADIUS_METRES: f64 = 25.0 * METRES_PER_MILE;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeoArea {
    pub west: f64,
    pub south: f64,
    pub east: f64,
    pub north: f64,
}

impl GeoArea {
    /// Whether its corners are on the globe and ordered, and each side is shorter than 25 miles.
    pub(crate) fn is_valid(self) -> bool {
        is_on_globe((self.west, self.south))
            && is_on_globe((self.east, self.north))
            && self.west < self.east
            && self.south < self.north
            && distance_metres((self.west, self.south), (self.west, self.north)) < MAX_RADIUS_METRES
            && distance_metres((self.west, self.south), (self.east, self.south)) < MAX_RADIUS_METRES
            && distance_metres((self.west, self.north), (self.east, self.north)) < MAX_RADIUS_METRES
    }

    pub(crate) fn contains(self, (lon, lat): GeoPoint) -> bool {
        (self.west..=self.east).contains(&lon) && (self.south..=self.north).contains(&lat)
    }

    pub(crate) const fn corners(self) -> [GeoPoint; 4] {
        [(self.west, self.south), (self.west, self.north), (self.east, self.south), (self.east, self.north)]
    }
}

/// The one-degree cell that contains a point; never 0.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "degrees are small, and saturate"
)]
pub(crate) fn grid_cell((lon, lat): GeoPoint) -> u64 {
    (lat + 90.0).floor() as u64 * 512 + (lon + 180.0).floor() as u64 + 1
}

/// The cells that a rectangle touches; `None` if there are more than 16, or for a rectangle past
/// the edge of the map.
pub(crate) fn grid_cells(area: GeoArea) -> Option<Vec<u64>> {
    if !is_on_globe((area.west, area.south)) || !is_on_globe((area.east, area.north)) {
        return None;
    }
    let mut found = Vec::new();
    let mut lat = area.south.floor();
    while lat <= area.north {
        let mut lon = area.west.floor();
        while lon <= area.east {
            if found.len() == 16 {
                return None;
            }
            found.push(grid_cell((lon, lat)));
            lon += 1.0;
        }
        lat += 1.0;
    }
    Some(found)
}

/// A rectangle slightly larger than a circle; `None` near a pole.
pub(crate) fn bounding_area((lon, lat): GeoPoint, metres: f64) -> Option<GeoArea> {
    const DEGREE: f64 = 111_000.0;
    let height = metres / DEGREE * 1.02;
    let cosine = (lat.abs() + height).to_radians().cos();
    if lat.abs() + height > 89.0 {
        return None;
    }
    let width = height / cosine;
    Some(GeoArea { west: lon - width, south: lat - height, east: lon + width, north: lat + height })
}

pub(crate) fn is_on_globe((lon, lat): GeoPoint) -> bool {
    (-180.0..=180.0).contains(&lon) && (-90.0..=90.0).contains(&lat)
}

pub(crate) fn distance_metres(one: GeoPoint, other: GeoPoint) -> f64 {
    let (lat, other_lat) = (one.1.to_radians(), other.1.to_radians());
    let half_lat = ((other_lat - lat) / 2.0).sin();
    let half_lon = ((other.0 - one.0).to_radians() / 2.0).sin();
    let chord = half_lat.mul_add(half_lat, lat.cos() * other_lat.cos() * half_lon * half_lon);
    2.0 * EARTH_RADIUS_METRES * chord.sqrt().min(1.0).asin()
}

#[cfg(test)]
mod tests {
    use super::{GeoArea, METRES_PER_MILE, bounding_area, distance_metres, grid_cell, grid_cells};

    #[test]
    fn a_circle_touches_the_cells_of_its_points() {
        for (lon, lat) in [(-105.01, 39.99), (0.0, 0.0), (12.5, -71.9), (-0.001, 60.0)] {
            let touched = grid_cells(bounding_area((lon, lat), 40_000.0).unwrap()).unwrap();
            for (east, north) in [(0.3, 0.0), (-0.3, 0.0), (0.0, 0.3), (0.0, -0.3), (0.0, 0.0)] {
                let point = (lon + east, lat + north);
                if distance_metres(point, (lon, lat)) <= 40_000.0 {
                    assert!(touched.contains(&grid_cell(point)), "{point:?}");
                }
            }
        }
        assert_eq!(bounding_area((0.0, 88.9), 40_000.0), None);
        let edge = bounding_area((179.9, 0.0), 40_000.0).unwrap();
        assert_eq!(grid_cells(edge), None);
    }

    #[test]
    fn a_degree_of_latitude_is_sixty_nine_miles() {
        let miles = distance_metres((-105.0, 40.0), (-105.0, 41.0)) / METRES_PER_MILE;
        assert!((69.0..69.2).contains(&miles), "{miles}");
        let area = |west, south, east, north| GeoArea { west, south, east, north };
        assert!(area(-105.3, 40.0, -105.1, 40.1).is_valid());
        assert!(!area(-105.3, 40.0, -104.1, 40.1).is_valid());
        assert!(!area(-105.1, 40.0, -105.3, 40.1).is_valid());
        assert!(!area(-181.0, 40.0, -180.9, 40.1).is_valid());
    }
}
