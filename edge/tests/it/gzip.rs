use std::io::Read;

use http::HeaderMap;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderValue, VARY};

use super::*;

fn accept_encoding(value: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(value))])
}

fn decompress(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
    plain
}

#[test]
fn gzip_is_used_only_if_the_client_accepts_it() {
    for (value, wanted) in [
        ("gzip", true),
        ("deflate, GZIP;q=0.1", true),
        ("*", true),
        ("gzip;q=0", false),
        ("gzip; q=0.000, *", false),
        ("*;q=0", false),
        ("identity", false),
        ("br", false),
        ("", false),
    ] {
        assert_eq!(edge::gzip::client_accepts_gzip(&accept_encoding(value)), wanted, "{value}");
    }
    assert!(!edge::gzip::client_accepts_gzip(&HeaderMap::new()));
}

#[tokio::test]
async fn large_response_is_compressed_on_request() {
    let answer = |size: usize| {
        let mut response = Response::new(Body::full("ab".repeat(size / 2)));
        response.headers_mut().insert(ETAG, HeaderValue::from_static("\"t\""));
        response
    };
    let packed = edge::gzip::compress_full(&accept_encoding("gzip"), answer(5000));
    assert_eq!(packed.headers().get(CONTENT_ENCODING).unwrap(), "gzip");
    assert_eq!(packed.headers().get(VARY).unwrap(), "accept-encoding");
    assert_eq!(packed.headers().get(ETAG).unwrap(), "W/\"t\"");
    let bytes = packed.into_body().collect_bytes(5000, ms(9)).await.unwrap();
    assert!(bytes.len() < 500 && decompress(&bytes) == "ab".repeat(2500).into_bytes());

    let plain = edge::gzip::compress_full(&accept_encoding("br"), answer(5000));
    assert_eq!(plain.headers().get(VARY).unwrap(), "accept-encoding");
    assert_eq!(plain.body().as_bytes().unwrap().len(), 5000);
    let small = edge::gzip::compress_full(&accept_encoding("gzip"), answer(858));
    assert!(small.headers().get(CONTENT_ENCODING).is_none());
    let packed_twice = edge::gzip::compress_full(
        &accept_encoding("gzip"),
        edge::gzip::compress_full(&accept_encoding("gzip"), answer(5000)),
    );
    assert_eq!(packed_twice.headers().get_all(VARY).iter().count(), 1);
    for media_type in ["application/gzip", "image/jpeg", "video/mp4", "image/svg+xml"] {
        let mut file = answer(5000);
        file.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        let sent = edge::gzip::compress_full(&accept_encoding("gzip"), file);
        assert_eq!(sent.headers().contains_key(CONTENT_ENCODING), media_type == "image/svg+xml", "{media_type}");
    }
}

#[tokio::test]
async fn compressed_stream_is_readable_after_each_chunk() {
    let (sender, body) = body_channel(4);
    let mut response = edge::gzip::compress_stream(&accept_encoding("gzip"), Response::new(body));
    assert_eq!(response.headers().get(CONTENT_ENCODING).unwrap(), "gzip");
    let mut all = Vec::new();
    for line in ["one\r\n", "two\r\n"] {
        sender.send(Ok(line.into())).await.unwrap();
        all.extend(response.body_mut().next_chunk().await.unwrap().unwrap());
        let mut plain = [0; 5];
        let mut reader = flate2::read::GzDecoder::new(all.as_slice());
        if line == "two\r\n" {
            reader.read_exact(&mut plain).unwrap();
        }
        reader.read_exact(&mut plain).unwrap();
        assert_eq!(plain, line.as_bytes());
    }
    drop(sender);
    while let Some(bytes) = response.body_mut().next_chunk().await.unwrap() {
        all.extend(bytes);
    }
    assert_eq!(decompress(&all), b"one\r\ntwo\r\n");
}
