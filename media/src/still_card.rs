//! A drawn still for videos of which no frame can be decoded: a play symbol and the duration.

use image::codecs::jpeg::JpegEncoder;
use image::{ImageResult, Rgb, RgbImage};

use crate::sizes::SMALL;

const BACKGROUND: Rgb<u8> = Rgb([58, 65, 74]);
const DISC: Rgb<u8> = Rgb([235, 238, 241]);
const LABEL: Rgb<u8> = Rgb([28, 32, 37]);
const QUALITY: u8 = 85;

/// Three columns and five rows of a digit or colon; each number is a row.
const GLYPHS: [[u8; 5]; 11] = [
    [7, 5, 5, 5, 7],
    [2, 6, 2, 2, 7],
    [7, 1, 7, 4, 7],
    [7, 1, 7, 1, 7],
    [5, 5, 7, 1, 1],
    [7, 4, 7, 1, 7],
    [7, 4, 7, 5, 7],
    [7, 1, 2, 2, 2],
    [7, 5, 7, 5, 7],
    [7, 5, 7, 1, 7],
    [0, 2, 0, 2, 0],
];

/// A JPEG of the proportions of a video, at most as large as the smallest size of a photo.
pub fn draw_still_card(width: u32, height: u32, duration_ms: u64) -> ImageResult<Vec<u8>> {
    let longer = width.max(height).max(1);
    let fit = |side: u32| ((side * SMALL.max_side.min(longer) + longer / 2) / longer).max(1);
    let mut picture = RgbImage::from_pixel(fit(width), fit(height), BACKGROUND);
    draw_play_symbol(&mut picture);
    draw_duration(&mut picture, duration_ms);
    let mut bytes = Vec::new();
    picture.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, QUALITY))?;
    Ok(bytes)
}

/// A triangle on a disc in the middle.
fn draw_play_symbol(picture: &mut RgbImage) {
    let (width, height) = picture.dimensions();
    let radius = i64::from(width.min(height)) / 6;
    let (middle_x, middle_y) = (i64::from(width) / 2, i64::from(height) / 2);
    for (x, y, pixel) in picture.enumerate_pixels_mut() {
        let (x, y) = (i64::from(x) - middle_x, i64::from(y) - middle_y);
        let is_in_triangle = x >= -radius / 3 && 2 * y.abs() <= radius * 2 / 3 * 2 - (x + radius / 3);
        if is_in_triangle {
            *pixel = LABEL;
        } else if x * x + y * y <= radius * radius {
            *pixel = DISC;
        }
    }
}

/// Minutes and seconds in the lower right corner, if there is room.
fn draw_duration(picture: &mut RgbImage, duration_ms: u64) {
    let (width, height) = picture.dimensions();
    let seconds = duration_ms.div_ceil(1000);
    let text = format!("{}:{:02}", seconds / 60, seconds % 60);
    let scale = (width.min(height) / 90).max(1);
    let length = u32::try_from(text.len()).unwrap_or(0);
    let (label_width, label_height) = ((length * 4 + 1) * scale, 7 * scale);
    let (Some(left), Some(top)) =
        (width.checked_sub(label_width + 2 * scale), height.checked_sub(label_height + 2 * scale))
    else {
        return;
    };
    fill(picture, (left, top), (label_width, label_height), LABEL);
    for (place, letter) in (0_u32..).zip(text.bytes()) {
        let glyph = GLYPHS.get(usize::from(letter.wrapping_sub(b'0'))).copied().unwrap_or_default();
        for (row, bits) in (0_u32..).zip(glyph) {
            for column in (0..3).filter(|column| bits & (4 >> column) != 0) {
                let at = (left + (place * 4 + 1 + column) * scale, top + (row + 1) * scale);
                fill(picture, at, (scale, scale), DISC);
            }
        }
    }
}

fn fill(picture: &mut RgbImage, (left, top): (u32, u32), (width, height): (u32, u32), color: Rgb<u8>) {
    for y in top..top + height {
        for x in left..left + width {
            if let Some(pixel) = picture.get_pixel_mut_checked(x, y) {
                *pixel = color;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::draw_still_card;

    #[test]
    fn card_has_the_proportions_of_the_video() {
        for (video, card) in
            [((1280, 720), (680, 383)), ((720, 1280), (383, 680)), ((64, 48), (64, 48)), ((32, 32), (32, 32))]
        {
            let bytes = draw_still_card(video.0, video.1, 75_300).unwrap();
            let picture = image::load_from_memory(&bytes).unwrap().into_rgb8();
            assert_eq!(picture.dimensions(), card);
            let middle = picture.get_pixel(card.0 / 2, card.1 / 2);
            assert_ne!(middle, picture.get_pixel(1, 1), "{video:?}");
        }
    }
}
