//! Reading headers.

use http::header::{HeaderMap, HeaderName, HeaderValue};

/// The first value of a header that few requests have. Comparing names costs less than the hash of a name that
/// is not a standard one.
pub fn find_rare_header<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    headers.iter().find(|(sent, _)| *sent == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_value_of_a_header_is_found() {
        let name = HeaderName::from_static("x-locum-id");
        let mut headers = HeaderMap::new();
        headers.append("host", HeaderValue::from_static("localhost"));
        assert_eq!(find_rare_header(&headers, &name), None);
        headers.append(&name, HeaderValue::from_static("1"));
        headers.append(&name, HeaderValue::from_static("2"));
        assert_eq!(find_rare_header(&headers, &name), headers.get(&name));
    }
}
