//! Lower-case hexadecimal encoding.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

pub(crate) fn encode(bytes: &[u8]) -> String {
    let halves = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    halves.filter_map(|half| DIGITS.get(usize::from(half))).map(|digit| char::from(*digit)).collect()
}

pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.chars().map(|digit| u8::try_from(digit.to_digit(16)?).ok());
    let digits: Vec<u8> = digits.collect::<Option<_>>()?;
    let pairs = digits.chunks(2);
    pairs.map(|pair| if let [high, low] = pair { Some(high * 16 + low) } else { None }).collect()
}
