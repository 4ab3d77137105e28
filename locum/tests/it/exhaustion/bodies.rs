//! Request bodies that are too large, or that unpack to far more than they are.

use std::io::Write as _;
use std::time::Duration;

use flate2::write::GzEncoder;
use flate2::{Compress, Compression, FlushCompress};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{ProcessUsage, address_of, connect_from, run_clients};
use crate::harness::{TestRequest, TestServer, suite_setting};
use crate::media::{at_once, samples};

const MIB: usize = 1024 * 1024;
/// In KiB.
const MAX_MEMORY: u64 = 64 * 1024;

/// `LOCUM_BODY_MIB=1024` sends a gigabyte in chunks; it is refused before it is buffered.
#[test]
fn endless_body_is_refused_without_being_buffered() {
    let mib = usize::try_from(suite_setting("LOCUM_BODY_MIB", 64)).unwrap();
    let server = TestServer::start(&["--world", "empty"]);
    let before = ProcessUsage::reset_peak(&server);
    let lengths = ["Transfer-Encoding: chunked".to_owned(), format!("Content-Length: {}", mib * MIB)];
    for (route, kind) in [("/oauth2/token", "application/x-www-form-urlencoded"), ("/2/posts", "application/json")] {
        for length in &lengths {
            let head = format!("POST {route} HTTP/1.1\r\nHost: a\r\nContent-Type: {kind}\r\n{length}\r\n\r\n");
            let (status, sent) = run_clients(send_body(&server, head, mib));
            assert!(matches!(status, Some(401 | 413) | None), "{route}: {status:?}");
            assert!(sent < 16, "{sent} MiB of the body were read");
        }
    }
    let grown = ProcessUsage::of(&server).peak_memory.saturating_sub(before.peak_memory);
    println!("{}", json!({ "body_mib": mib, "memory_kib": grown }));
    assert!(grown < 32 * 1024, "{grown} KiB");
}

/// Sends until the server refuses; the status, and the MiB that it took.
async fn send_body(server: &TestServer, head: String, mib: usize) -> (Option<u16>, usize) {
    let client = connect_from(1, address_of(server)).await.unwrap();
    let (mut from, mut to) = client.into_split();
    to.write_all(head.as_bytes()).await.unwrap();
    let chunk = [format!("{MIB:x}\r\n").into_bytes(), vec![b'x'; MIB], b"\r\n".to_vec()].concat();
    let mut sent = 0;
    while sent < mib
        && tokio::time::timeout(Duration::from_secs(5), to.write_all(&chunk)).await.is_ok_and(|sent| sent.is_ok())
    {
        sent += 1;
    }
    let mut start = [0; 12];
    let _reset = from.read_exact(&mut start).await;
    (std::str::from_utf8(&start).ok().and_then(|text| text.get(9..)?.parse().ok()), sent)
}

/// 10 GiB of zeros in 10 MB.
#[test]
fn compressed_body_is_refused_without_being_decompressed() {
    let server = TestServer::start(&[]);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..64 {
        encoder.write_all(&vec![0; MIB]).unwrap();
    }
    // Members of a gzip file follow each other (RFC 1952): each unpacks to 64 MiB.
    let bomb = encoder.finish().unwrap().repeat(160);
    let before = ProcessUsage::reset_peak(&server);
    for (encoding, body) in
        [("gzip", &bomb[..1_000_000]), ("gzip", &bomb), ("deflate", b"x"), ("br", b"x"), ("zstd", b"x")]
    {
        let request = TestRequest::post("/2/posts").bearer(server.env_value("USER_TOKEN"));
        let request = request.body("application/json", body).header("content-encoding", encoding);
        let status = server.try_send(request).map_or(0, |response| response.status);
        assert!(matches!(status, 0 | 413 | 415), "{encoding}: {status}");
    }
    let after = ProcessUsage::of(&server);
    let grown = after.peak_memory.saturating_sub(before.peak_memory);
    println!("{}", json!({ "compressed_bytes": bomb.len(), "memory_kib": grown }));
    assert!(grown < 32 * 1024, "{grown} KiB");
}

/// A zlib stream of `mib` MiB of zeros, made of copies of one compressed block.
fn zlib_zeros(mib: usize) -> Vec<u8> {
    let mut block = Vec::with_capacity(MIB);
    let mut compress = Compress::new(Compression::best(), false);
    compress.compress_vec(&vec![0; MIB], &mut block, FlushCompress::Full).unwrap();
    let adler32 = u32::try_from(mib * MIB % 65_521).unwrap() << 16 | 1;
    [&b"\x78\xda"[..], &block.repeat(mib), b"\x03\x00", &adler32.to_be_bytes()].concat()
}

/// A PNG with a chunk that unpacks to 2 GiB.
fn png_bomb(kind: [u8; 4], start: &[u8]) -> Vec<u8> {
    let content = [start, &zlib_zeros(2_048)].concat();
    let named = [&kind[..], &content].concat();
    let mut checksum = flate2::Crc::new();
    checksum.update(&named);
    let length = u32::try_from(content.len()).unwrap().to_be_bytes();
    let plain = samples::png(64, 64);
    let (head, rest) = plain.split_at(33);
    [head, &length, &named, &checksum.sum().to_be_bytes(), rest].concat()
}

#[test]
fn two_hostile_uploads_at_once_cost_bounded_memory_and_time() {
    let server = TestServer::start(&[]);
    let author = server.new_user("author");
    at_once(&author, "tweet_image", &samples::png(64, 64)).assert_status(200);
    let profile = png_bomb(*b"iCCP", b"icc\0\0");
    let text = png_bomb(*b"zTXt", b"Comment\0\0");
    for pair in [[&profile, &profile], [&profile, &text]] {
        let before = ProcessUsage::reset_peak(&server);
        std::thread::scope(|scope| {
            for file in pair {
                let author = &author;
                scope.spawn(move || {
                    let response = at_once(author, "tweet_image", file);
                    assert!(matches!(response.status, 200 | 400), "{}", response.text());
                });
            }
        });
        let after = ProcessUsage::of(&server);
        let (grown, cpu) = (after.peak_memory.saturating_sub(before.peak_memory), after.cpu.saturating_sub(before.cpu));
        println!("{}", json!({ "upload_bytes": pair[0].len(), "memory_kib": grown, "cpu_ms": cpu.as_millis() }));
        assert!(grown <= 2 * MAX_MEMORY, "{grown} KiB");
        assert!(cpu <= Duration::from_secs(4), "{cpu:?}");
    }
}
