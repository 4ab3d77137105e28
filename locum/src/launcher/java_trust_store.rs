//! A trust store in Java's own format (JKS), which every version of Java reads.

use sha1::{Digest, Sha1};

pub(super) const PASSWORD: &str = "changeit";

const MAGIC: u32 = 0xfeed_feed;
const VERSION: u32 = 2;
const TRUSTED_CERTIFICATE: u32 = 2;
/// Part of the checksum, as are the bytes of the password.
const WHITENER: &[u8] = b"Mighty Aphrodite";

/// Certificates in DER. The time of creation is 0, so that the same certificates make the same file.
pub(super) fn encode_trust_store<'a>(certificates: impl ExactSizeIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut bytes = Vec::new();
    push_number(&mut bytes, MAGIC);
    push_number(&mut bytes, VERSION);
    push_length(&mut bytes, certificates.len());
    for (number, certificate) in certificates.enumerate() {
        push_number(&mut bytes, TRUSTED_CERTIFICATE);
        push_text(&mut bytes, &format!("certificate-{number}"));
        bytes.extend(0_u64.to_be_bytes());
        push_text(&mut bytes, "X.509");
        push_length(&mut bytes, certificate.len());
        bytes.extend(certificate);
    }
    let password: Vec<u8> = PASSWORD.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let digest = Sha1::new().chain_update(password).chain_update(WHITENER).chain_update(&bytes).finalize();
    bytes.extend(digest);
    bytes
}

fn push_number(bytes: &mut Vec<u8>, number: u32) {
    bytes.extend(number.to_be_bytes());
}

fn push_length(bytes: &mut Vec<u8>, length: usize) {
    push_number(bytes, u32::try_from(length).unwrap_or(u32::MAX));
}

/// Names are short.
fn push_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_be_bytes());
    bytes.extend(text.as_bytes());
}
