//! Unpadded lowercase base32hex (RFC 4648), which needs no escaping in URLs.

const ALPHABET: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";

pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 8 / 5 + 1);
    let (mut buffer, mut bits) = (0_u32, 0_u32);
    let mut push = |five: u32| {
        let index = usize::try_from(five & 31).unwrap_or(0);
        text.extend(ALPHABET.get(index).map(|character| char::from(*character)));
    };
    for byte in bytes {
        buffer = (buffer << 8 | u32::from(*byte)) & 0xfff;
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            push(buffer >> bits);
        }
    }
    if bits > 0 {
        push(buffer << (5 - bits));
    }
    text
}

/// Accepts only what [`encode`] writes: spare bits must be zero.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 5 / 8);
    let (mut buffer, mut bits) = (0_u32, 0_u32);
    for character in text.bytes() {
        let five = match character {
            b'0'..=b'9' => character - b'0',
            b'a'..=b'v' => character - b'a' + 10,
            _ => return None,
        };
        buffer = (buffer << 5 | u32::from(five)) & 0xfff;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(buffer >> bits & 0xff).ok()?);
        }
    }
    let spare = buffer & ((1 << bits) - 1);
    (bits < 5 && spare == 0).then_some(bytes)
}
