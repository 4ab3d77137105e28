//! Removes what JSON parsers reject: NUL, lone surrogates, invalid UTF-8.

use std::borrow::Cow;

pub(crate) fn sanitize_json(bytes: &[u8]) -> Cow<'_, str> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Cow::Borrowed(text),
        _ => Cow::Owned(strip_invalid_bytes(bytes)),
    };
    if !text.contains("\\u") {
        return text;
    }
    match strip_lone_surrogates(&text) {
        Some(cleaned) => Cow::Owned(cleaned),
        None => text,
    }
}

fn strip_invalid_bytes(bytes: &[u8]) -> String {
    let parts = bytes.utf8_chunks().map(|chunk| chunk.valid());
    parts.collect::<String>().replace('\0', "")
}

/// `None` when nothing has to be removed.
fn strip_lone_surrogates(text: &str) -> Option<String> {
    let mut cleaned = String::new();
    let mut rest = text;
    let mut changed = false;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        cleaned.push_str(before);
        let (length, is_valid) = classify_escape(escape);
        let (escape, after) = escape.split_at_checked(length).unwrap_or((escape, ""));
        if is_valid {
            cleaned.push_str(escape);
        } else {
            changed = true;
        }
        rest = after;
    }
    cleaned.push_str(rest);
    changed.then_some(cleaned)
}

/// The length in bytes of the escape at the start of `text`, and whether it is valid.
fn classify_escape(text: &str) -> (usize, bool) {
    match parse_unicode_escape(text) {
        None => (1 + text.chars().nth(1).map_or(0, char::len_utf8), true),
        Some(0xD800..=0xDBFF) => {
            let low = text.get(6..).and_then(parse_unicode_escape);
            match low {
                Some(0xDC00..=0xDFFF) => (12, true),
                _ => (6, false),
            }
        }
        Some(unit) => (6, unit != 0 && !(0xDC00..=0xDFFF).contains(&unit)),
    }
}

fn parse_unicode_escape(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::sanitize_json;

    #[test]
    fn what_is_no_text_goes_and_the_rest_stays() {
        let table: &[(&[u8], &str)] = &[
            (b"plain", "plain"),
            (b"a\0b", "ab"),
            (br"a\u0000b", "ab"),
            (br"\ud83d\ude00", r"\ud83d\ude00"),
            (br"\ud83dx", "x"),
            (br"\ude00\ud83d", ""),
            (br"\\ud83d", r"\\ud83d"),
            (br"\n\u00e9", r"\n\u00e9"),
            (br"\ud83d\ud83d\ude00", r"\ud83d\ude00"),
            (b"\xed\xa0\x80x\xff", "x"),
            (br"end\", r"end\"),
            ("\\é".as_bytes(), "\\é"),
        ];
        for (given, want) in table {
            assert_eq!(sanitize_json(given), *want, "{}", given.escape_ascii());
        }
    }
}
