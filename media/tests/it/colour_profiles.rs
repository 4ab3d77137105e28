//! Pictures whose colours are not sRGB.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::{ImageDecoder, ImageEncoder, ImageFormat, ImageReader, RgbImage};
use media::{CropPosition, crop_image, measure_image};

fn profile_of(bytes: &[u8]) -> Option<Vec<u8>> {
    ImageReader::with_format(Cursor::new(bytes), ImageFormat::Jpeg).into_decoder().unwrap().icc_profile().unwrap()
}

#[test]
fn smaller_and_cropped_pictures_keep_the_colour_profile() {
    for (space, is_kept) in [(b"RGB ", true), (b"CMYK", false)] {
        let mut profile = vec![0; 200];
        profile[16..20].copy_from_slice(space);
        let mut file = Vec::new();
        let mut encoder = JpegEncoder::new(&mut file);
        encoder.set_icc_profile(profile.clone()).unwrap();
        RgbImage::new(1600, 400).write_with_encoder(encoder).unwrap();
        let measured = measure_image(&file).unwrap();
        let cropped = crop_image(&file, (1, 1), CropPosition::Centre).unwrap().unwrap();
        for bytes in measured.sizes.iter().map(|size| &size.bytes).chain([&cropped]) {
            assert_eq!(profile_of(bytes), is_kept.then(|| profile.clone()));
        }
        assert_eq!(measured.sizes.len(), 2);
    }
}
