//! Pagination cursors: a position in an order, signed for the list that issued it.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use store::records::{self, OrderValue};

const TAG_LEN: usize = 12;

/// A sort key and a record id.
pub type CursorPosition = (OrderValue, i64);

/// Encodes a position for the list described by `scope`.
pub fn encode(key: &[u8; 32], scope: &str, (at, id): &CursorPosition) -> String {
    encode_multi(key, scope, std::slice::from_ref(at), *id)
}

pub fn encode_multi(key: &[u8; 32], scope: &str, at: &[OrderValue], id: i64) -> String {
    let mut place = id.to_be_bytes().to_vec();
    for at in at {
        match at {
            OrderValue::Number(number) => {
                place.push(0);
                place.extend(number.to_be_bytes());
            }
            OrderValue::Name(name) => {
                place.push(1);
                place.extend(u64::try_from(name.len()).unwrap_or(0).to_be_bytes());
                place.extend(name);
            }
        }
    }
    let mut bytes = sign_position(key, scope, &place);
    bytes.extend(place);
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// Decodes a cursor; `None` unless it was issued for the same scope.
pub fn decode(key: &[u8; 32], scope: &str, text: &str) -> Option<CursorPosition> {
    let (at, id) = decode_multi(key, scope, text)?;
    let [at] = <[OrderValue; 1]>::try_from(at).ok()?;
    Some((at, id))
}

pub fn decode_multi(key: &[u8; 32], scope: &str, text: &str) -> Option<records::RecordCursor> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
    let (tag, place) = bytes.split_at_checked(TAG_LEN)?;
    if !constant_time_eq(&sign_position(key, scope, place), tag) {
        return None;
    }
    let (id, mut rest) = place.split_first_chunk::<8>()?;
    let id = i64::from_be_bytes(*id);
    let mut all = Vec::new();
    while let Some((kind, more)) = rest.split_first() {
        let (number, more) = more.split_first_chunk::<8>()?;
        if *kind == 0 {
            all.push(OrderValue::Number(i64::from_be_bytes(*number)));
            rest = more;
        } else {
            let length = usize::try_from(u64::from_be_bytes(*number)).ok()?;
            let (name, more) = more.split_at_checked(length)?;
            all.push(OrderValue::Name(name.to_vec()));
            rest = more;
        }
    }
    Some((all, id))
}

fn sign_position(key: &[u8; 32], scope: &str, place: &[u8]) -> Vec<u8> {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        // HMAC accepts keys of any length.
        return Vec::new();
    };
    mac.update(b"ads cursor");
    mac.update(scope.as_bytes());
    mac.update(&[0]);
    mac.update(place);
    let tag = mac.finalize().into_bytes();
    tag.iter().copied().take(TAG_LEN).collect()
}

fn constant_time_eq(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |all, (one, other)| all | (one ^ other)) == 0
}

#[cfg(test)]
mod tests {
    use store::records::OrderValue;

    use super::{decode, decode_multi, encode, encode_multi};

    #[test]
    fn a_cursor_leads_back_to_its_own_walk_only() {
        let key = [7; 32];
        for place in [
            (OrderValue::Number(-5), 3),
            (OrderValue::Name("é".into()), i64::MAX),
            (OrderValue::Name(Vec::new()), 0),
        ] {
            let text = encode(&key, "campaigns", &place);
            assert_eq!(decode(&key, "campaigns", &text), Some(place));
            assert_eq!(decode(&key, "line_items", &text), None);
            assert_eq!(decode(&[8; 32], "campaigns", &text), None);
            assert_eq!(
                decode(&key, "campaigns", &text.replacen(char::is_alphanumeric, "-", 1)),
                None
            );
        }
        let several = [
            OrderValue::Name("é".into()),
            OrderValue::Number(-1),
            OrderValue::Name(Vec::new()),
        ];
        let text = encode_multi(&key, "campaigns", &several, 4);
        assert_eq!(decode_multi(&key, "campaigns", &text), Some((several.to_vec(), 4)));
        assert_eq!(decode(&key, "campaigns", &text), None);
        for text in ["", "x", "AAAA", "é"] {
            assert_eq!(decode(&key, "campaigns", text), None);
        }
    }
}
