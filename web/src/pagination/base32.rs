//! Unpadded lowercase base32hex (RFC 4648), which needs no escaping in URLs.

const ALPHABET: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";

pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 8 / 5 + 1);
    let (mut held, mut bits) = (0_u32, 0_u32);
    let mut push = |five: u32| {
        let place = usize::try_from(five & 31).unwrap_or(0);
        text.extend(ALPHABET.get(place).map(|letter| char::from(*letter)));
    };
    for byte in bytes {
        held = (held << 8 | u32::from(*byte)) & 0xfff;
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            push(held >> bits);
        }
    }
    if bits > 0 {
        push(held << (5 - bits));
    }
    text
}

/// Accepts only what [`encode`] writes: spare bits must be zero.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 5 / 8);
    let (mut held, mut bits) = (0_u32, 0_u32);
    for letter in text.bytes() {
        let five = match letter {
            b'0'..=b'9' => letter - b'0',
            b'a'..=b'v' => letter - b'a' + 10,
            _ => return None,
        };
        held = (held << 5 | u32::from(five)) & 0xfff;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(held >> bits & 0xff).ok()?);
        }
    }
    let spare = held & ((1 << bits) - 1);
    (bits < 5 && spare == 0).then_some(bytes)
}
