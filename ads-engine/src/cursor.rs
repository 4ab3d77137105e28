//! Page cursors of the Ads API: the sort keys and id of the last record of a page.

use base::Fault;
use base::cursor::CursorCodec;
use store::records::{self, OrderValue};

/// A position in one order: the sort key and the record's id.
pub type CursorPosition = (OrderValue, i64);

/// A cursor that is valid for the list that `scope` describes.
pub fn encode(key: &[u8; 32], scope: &str, (at, id): &CursorPosition) -> Result<String, Fault> {
    encode_multi(key, scope, std::slice::from_ref(at), *id)
}

/// The same for a list with several sort keys.
pub fn encode_multi(key: &[u8; 32], scope: &str, at: &[OrderValue], id: i64) -> Result<String, Fault> {
    let mut position = id.to_be_bytes().to_vec();
    for at in at {
        match at {
            OrderValue::Number(number) => {
                position.push(0);
                position.extend(number.to_be_bytes());
            }
            OrderValue::Name(name) => {
                position.push(1);
                position.extend(u64::try_from(name.len()).unwrap_or(0).to_be_bytes());
                position.extend(name);
            }
        }
    }
    Ok(CursorCodec::new(key)?.encode(scope.as_bytes(), &position))
}

/// The position, if the cursor was issued for the same list.
pub fn decode(key: &[u8; 32], scope: &str, cursor: &str) -> Option<CursorPosition> {
    let (at, id) = decode_multi(key, scope, cursor)?;
    let [at] = <[OrderValue; 1]>::try_from(at).ok()?;
    Some((at, id))
}

/// The same for a list with several sort keys.
pub fn decode_multi(key: &[u8; 32], scope: &str, cursor: &str) -> Option<records::RecordCursor> {
    let position = CursorCodec::new(key).ok()?.decode(scope.as_bytes(), cursor)?;
    let (id, mut rest) = position.split_first_chunk::<8>()?;
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

#[cfg(test)]
mod tests {
    use store::records::OrderValue;

    use super::{decode, decode_multi, encode, encode_multi};

    #[test]
    fn a_cursor_leads_back_to_its_own_walk_only() {
        let key = [7; 32];
        for place in
            [(OrderValue::Number(-5), 3), (OrderValue::Name("é".into()), i64::MAX), (OrderValue::Name(Vec::new()), 0)]
        {
            let text = encode(&key, "campaigns", &place).unwrap();
            assert_eq!(decode(&key, "campaigns", &text), Some(place));
            assert_eq!(decode(&key, "line_items", &text), None);
            assert_eq!(decode(&[8; 32], "campaigns", &text), None);
            assert_eq!(decode(&key, "campaigns", &text.replacen(char::is_alphanumeric, "-", 1)), None);
        }
        let several = [OrderValue::Name("é".into()), OrderValue::Number(-1), OrderValue::Name(Vec::new())];
        let text = encode_multi(&key, "campaigns", &several, 4).unwrap();
        assert_eq!(decode_multi(&key, "campaigns", &text), Some((several.to_vec(), 4)));
        assert_eq!(decode(&key, "campaigns", &text), None);
        for text in ["", "x", "AAAA", "é"] {
            assert_eq!(decode(&key, "campaigns", text), None);
        }
    }
}
