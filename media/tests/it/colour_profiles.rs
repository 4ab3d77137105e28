//! Pictures whose colours are not sRGB.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::{ImageDecoder, ImageEncoder, ImageReader, RgbImage};
use media::{CropPosition, crop_image, measure_image};

fn profile_of(bytes: &[u8]) -> Option<Vec<u8>> {
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().unwrap();
    reader.into_decoder().unwrap().icc_profile().unwrap()
}

fn write(mut encoder: impl ImageEncoder, profile: &[u8]) {
    encoder.set_icc_profile(profile.to_vec()).unwrap();
    RgbImage::new(1600, 400).write_with_encoder(encoder).unwrap();
}

#[test]
fn smaller_and_cropped_pictures_keep_the_colour_profile() {
    for (space, is_kept) in [(b"RGB ", true), (b"CMYK", false)] {
        let mut profile = vec![0; 200];
        profile[16..20].copy_from_slice(space);
        let (mut jpeg, mut png) = (Vec::new(), Vec::new());
        write(JpegEncoder::new(&mut jpeg), &profile);
        write(PngEncoder::new(&mut png), &profile);
        for file in [jpeg, png] {
            let measured = measure_image(&file).unwrap();
            let cropped = crop_image(&file, (1, 1), CropPosition::Centre).unwrap().unwrap();
            for bytes in measured.sizes.iter().map(|size| &size.bytes).chain([&cropped]) {
                assert_eq!(profile_of(bytes), is_kept.then(|| profile.clone()));
            }
            assert_eq!(measured.sizes.len(), 2);
        }
    }
}
