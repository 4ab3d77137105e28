//! Base strings that clients build by mistake.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::Mac as _;

use super::OAuth1Credentials;
use super::base_string::{RequestOrigin, signing_key};
use crate::secret::constant_time_eq;
use crate::{Secret, percent};

impl OAuth1Credentials {
    /// Whether the presented signature is that of this base string.
    pub fn signs_base_string(&self, text: &str, consumer_secret: &Secret, token_secret: Option<&Secret>) -> bool {
        let Some(mut key) = signing_key(consumer_secret, token_secret) else {
            return false;
        };
        key.update(text.as_bytes());
        let signature = BASE64_STANDARD.encode(key.finalize().into_bytes());
        constant_time_eq(signature.as_bytes(), self.signature.as_bytes())
    }

    /// The mistake in the base string that the client signed, in a sentence, with that base string.
    pub fn find_wrong_base_string(
        &self,
        origin: &RequestOrigin,
        consumer_secret: &Secret,
        token_secret: Option<&Secret>,
    ) -> Option<(&'static str, String)> {
        let all = wrong_base_strings(&self.base_string.render_for_origin(origin));
        all.into_iter().find(|(_, text)| self.signs_base_string(text, consumer_secret, token_secret))
    }
}

/// Those that differ from the right one.
fn wrong_base_strings(right: &str) -> Vec<(&'static str, String)> {
    let mut parts = right.splitn(3, '&');
    let (Some(method), Some(url), Some(parameters)) = (parts.next(), parts.next(), parts.next()) else {
        return Vec::new();
    };
    let with_parameters = |parameters: String| format!("{method}&{url}&{parameters}");
    let marks = |ends: [&str; 5]| {
        let codes = ["%2521", "%2527", "%2528", "%2529", "%252A"];
        with_parameters(codes.iter().zip(ends).fold(parameters.to_owned(), |text, (code, end)| text.replace(code, end)))
    };
    let decoded = percent::decode(url).unwrap_or_default();
    let text = percent::decode(parameters).unwrap_or_default();
    let marks_hint =
        "Parameters with ! ' ( ) or * were not encoded: JavaScript's encodeURIComponent leaves them as they are.";
    let case_hint = "Percent-encoding was done with lower-case digits (%3a): OAuth needs upper case (%3A).";
    let all = [
        (
            "Spaces in parameters were encoded as +: OAuth needs %20.",
            with_parameters(parameters.replace("%2520", "%2B")),
        ),
        (marks_hint, marks(["%21", "%27", "%28", "%29", "%2A"])),
        (marks_hint, marks(["!", "'", "(", ")", "*"])),
        ("A ~ in parameters was encoded: OAuth leaves it as it is.", with_parameters(parameters.replace('~', "%257E"))),
        (case_hint, lower_escapes(right, true)),
        (case_hint, lower_escapes(right, false)),
        (
            "Names and values of parameters were not percent-encoded before they were joined.",
            with_parameters(parameters.replace("%25", "%")),
        ),
        ("The joined parameters were not percent-encoded as a whole.", with_parameters(text.to_string())),
        ("The URL in the base string was not percent-encoded.", format!("{method}&{decoded}&{parameters}")),
        ("No part of the base string was percent-encoded.", format!("{method}&{decoded}&{text}")),
        ("The method in the base string was in lower case.", format!("{}&{url}&{parameters}", method.to_lowercase())),
    ];
    all.into_iter().filter(|(_, text)| text != right).collect()
}

/// `%253A` is the escape of `%3A`, which becomes `%3a`, and so do simple escapes if `all`.
fn lower_escapes(text: &str, all: bool) -> String {
    let mut pieces = text.split('%');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |lowered, piece| {
        let length = match piece.starts_with("25") {
            true => 4,
            false if all => 2,
            false => 0,
        };
        let (digits, rest) = piece.split_at_checked(length).unwrap_or((piece, ""));
        format!("{lowered}%{}{rest}", digits.to_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::super::{OAuth1Request, OAuth1Signer};
    use super::*;

    #[test]
    fn each_wrong_base_string_is_recognized() {
        let (consumer, token) = (Secret::new("consumer"), Secret::new("token"));
        let signer = OAuth1Signer {
            consumer_key: "key",
            consumer_secret: &consumer,
            token: Some(("token", &token)),
            nonce: "nonce",
            timestamp: 1,
            extra_parameters: &[],
        };
        let origin = RequestOrigin::parse("https://api.x.com").unwrap();
        let query = "text=it%27s%20a%20%7E%3A%28test%29%21%2A";
        let request = OAuth1Request { method: "POST", path: "/2/tweets", query, ..OAuth1Request::default() };
        let header = signer.sign(&request, &origin).unwrap();
        let request = OAuth1Request { authorization: Some(&header), ..request };
        let right = OAuth1Credentials::from_request(&request).unwrap().unwrap();
        assert_eq!(right.find_wrong_base_string(&origin, &consumer, Some(&token)), None);
        let base_string = right.base_string.render_for_origin(&origin);
        let changed =
            |pairs: &[(&str, &str)]| pairs.iter().fold(base_string.clone(), |text, (from, to)| text.replace(from, to));
        let marks = [("%2521", "!"), ("%2527", "'"), ("%2528", "("), ("%2529", ")"), ("%252A", "*")];
        let cases = [
            (changed(&[("%2520", "%2B")]), "Spaces"),
            (changed(&marks), "encodeURIComponent"),
            (changed(&[("%253A", "%253a"), ("%252A", "%252a")]), "lower-case digits"),
            (changed(&[("~", "%257E")]), "A ~"),
            (changed(&[("POST&", "post&")]), "in lower case"),
            (changed(&[("https%3A%2F%2Fapi.x.com%2F2%2Ftweets", "https://api.x.com/2/tweets")]), "The URL"),
            (changed(&[("%25", "%")]), "before they were joined"),
        ];
        let signature_of = |text: &str| {
            let mut key = signing_key(&consumer, Some(&token)).unwrap();
            key.update(text.as_bytes());
            BASE64_STANDARD.encode(key.finalize().into_bytes())
        };
        for (wrong, words) in cases {
            assert_ne!(wrong, base_string, "{words}");
            let presented = OAuth1Credentials { signature: signature_of(&wrong), ..right.clone() };
            let (hint, found) = presented.find_wrong_base_string(&origin, &consumer, Some(&token)).expect(words);
            assert!(hint.contains(words), "{hint}");
            assert_eq!(found, wrong);
        }
    }
}
