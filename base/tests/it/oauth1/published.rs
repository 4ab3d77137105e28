//! Signatures that others published, or that were computed from published inputs.

use base::Secret;
use base::oauth1::OAuth1Request;

use super::{CONSUMER_KEY, CONSUMER_SECRET, NONCE, TOKEN, TOKEN_SECRET, holds, origin, read, sign};

const UPDATE: &str = "/1.1/statuses/update.json";
const HELLO: &[u8] = b"status=Hello%20Ladies%20%2b%20Gentlemen%2c%20a%20signed%20OAuth%20request%21";

/// A header of the usual parameters and some more.
fn header(pairs: &[(&str, &str)]) -> String {
    let usual = [("oauth_signature_method", "HMAC-SHA1")];
    let pairs = usual.iter().chain(pairs);
    let pairs = pairs.map(|(name, value)| format!("{name}=\"{}\"", base::percent::encode(value)));
    format!("OAuth {}", pairs.collect::<Vec<_>>().join(", "))
}

fn update(signature: &str) -> String {
    header(&[
        ("oauth_consumer_key", CONSUMER_KEY),
        ("oauth_nonce", NONCE),
        ("oauth_signature", signature),
        ("oauth_timestamp", "1318622958"),
        ("oauth_token", TOKEN),
        ("oauth_version", "1.0"),
    ])
}

#[test]
fn the_update_of_the_documentation() {
    for (host, signature) in [
        ("https://api.x.com", "Ls93hJiZbQ3akF3HF3x1Bz8/zU4="),
        ("https://api.twitter.com", "hCtSmYh+iHYCEqBWrE7C7hYmtUk="),
    ] {
        let header = update(signature);
        let request = OAuth1Request {
            method: "post",
            path: UPDATE,
            query: "include_entities=true",
            authorization: Some(&header),
            form: Some(HELLO),
        };
        assert!(holds(&request, &origin(host)), "{host}");
        assert!(!holds(&request, &origin("https://example.com")), "{host}");
        let made = sign(&request, &origin(host));
        assert!(made.contains(&*base::percent::encode(signature)), "{made}");

        // Either public host may have been meant.
        let origins = ["https://api.twitter.com", "https://api.x.com"].map(origin);
        let (consumer, token) = (Secret::new(CONSUMER_SECRET), Secret::new(TOKEN_SECRET));
        let which = read(&request).verify(&origins, &consumer, Some(&token));
        assert_eq!(which.map(|index| origins[index].as_str()), Some(host));
    }
}

#[test]
fn signing_in_of_the_documentation() {
    let consumer_secret = Secret::new("L8qq9PZyRg6ieKGEKhZolGC0vJWLw8iEJ88DRdyOg");
    let consumer = ("oauth_consumer_key", "cChZNFj6T5R0TigYB9yd1w");
    for (host, signature) in [
        ("https://api.twitter.com", "F1Li3tvehgcraF8DMJ7OyxO4w9Y="),
        ("https://api.x.com", "X9xhcB9d+NxXd/ThJ/n51vPhetM="),
    ] {
        let header = header(&[
            consumer,
            ("oauth_callback", "http://localhost/sign-in-with-twitter/"),
            ("oauth_nonce", "ea9ec8429b68d6b77cd5600adbbb0456"),
            ("oauth_signature", signature),
            ("oauth_timestamp", "1318467427"),
            ("oauth_version", "1.0"),
        ]);
        let presented = read(&OAuth1Request {
            method: "POST",
            path: "/oauth/request_token",
            authorization: Some(&header),
            ..OAuth1Request::default()
        });
        assert_eq!(presented.verify(&[origin(host)], &consumer_secret, None), Some(0));
        assert_eq!(presented.token, None);
        assert!(presented.callback.unwrap().starts_with("http://localhost/"));
    }

    let token_secret = Secret::new("veNRnAWe6inFuo8o2u8SLLZLjolYDmDP7SzL0YfYI");
    for (host, signature) in [
        ("https://api.twitter.com", "39cipBtIOHEEnybAR4sATQTpl2I="),
        ("https://api.x.com", "G3DdousFWwxEepaZcmHguKqeBvs="),
    ] {
        let header = header(&[
            consumer,
            ("oauth_nonce", "a9900fe68e2573b27a37f10fbad6a755"),
            ("oauth_signature", signature),
            ("oauth_timestamp", "1318467427"),
            ("oauth_token", "NPcudxy0yU5T3tBzho7iCotZ3cnetKwcTIRlX0iwRl0"),
            ("oauth_version", "1.0"),
        ]);
        let presented = read(&OAuth1Request {
            method: "POST",
            path: "/oauth/access_token",
            authorization: Some(&header),
            form: Some(b"oauth_verifier=uw7NjWHT6OJ1MpJOXsHfNxoAhPKpgI8BlYDhxEjIBY"),
            ..OAuth1Request::default()
        });
        let which = presented.verify(&[origin(host)], &consumer_secret, Some(&token_secret));
        assert_eq!(which, Some(0), "{host}");
        let verifier = presented.verifier.as_deref();
        assert_eq!(verifier, Some("uw7NjWHT6OJ1MpJOXsHfNxoAhPKpgI8BlYDhxEjIBY"));
    }
}

/// RFC 5849 §3.4.1, with the signature of erratum 2550.
#[test]
fn the_base_string_of_the_standard() {
    let header = r#"OAuth realm="Example",
        oauth_consumer_key="9djdj82h48djs9d2",
        oauth_token="kkk9d7dh3k39sjv7",
        oauth_signature_method="HMAC-SHA1",
        oauth_timestamp="137131201",
        oauth_nonce="7d8f3e4a",
        oauth_signature="r6%2FTJjbCOr97%2F%2BUU0NsvSne7s5g%3D""#;
    let presented = read(&OAuth1Request {
        method: "POST",
        path: "/request",
        query: "b5=%3D%253D&a3=a&c%40=&a2=r%20b",
        authorization: Some(header),
        form: Some(b"c2&a3=2+q"),
    });
    let secrets = (Secret::new("j49sk3j29djd"), Secret::new("dh893hdasih9"));
    let origin = origin("http://EXAMPLE.COM:80");
    let explained = presented.explain(&origin, &secrets.0, Some(&secrets.1), None);
    let wanted = "POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da\
        %26b5%3D%253D%25253D%26c%2540%3D%26c2%3D%26oauth_consumer_key%3D9djdj82h48djs9d2\
        %26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1\
        %26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7";
    assert_eq!(explained.base_string, wanted);
    assert!(explained.matches, "{}", explained.signature);
    assert_eq!(presented.duplicate_parameter(), Some("a3"));

    let theirs = wanted.replace("2%2520q", "2%2Bq");
    let explained = presented.explain(&origin, &secrets.0, Some(&secrets.1), Some(&theirs));
    assert_eq!(explained.first_difference, theirs.find("2%2Bq").map(|place| place + 3));
}

/// RFC 5849 §1.2 and OAuth Core 1.0 appendix A.
#[test]
fn the_photos_of_the_standards() {
    for (nonce, timestamp, version, signature) in [
        ("chapoH", "137131202", None, "MdpQcU8iPSUjWoN/UDMsK2sui9I="),
        ("kllo9940pd9333jh", "1191242096", Some("1.0"), "tR3+Ty81lMeYAr/Fid0kMTYa/WM="),
    ] {
        let mut pairs = vec![
            ("oauth_consumer_key", "dpf43f3p2l4k3l03"),
            ("oauth_token", "nnch734d00sl2jdk"),
            ("oauth_nonce", nonce),
            ("oauth_timestamp", timestamp),
            ("oauth_signature", signature),
        ];
        pairs.extend(version.map(|version| ("oauth_version", version)));
        let header = header(&pairs);
        let presented = read(&OAuth1Request {
            method: "GET",
            path: "/photos",
            query: "file=vacation.jpg&size=original",
            authorization: Some(&header),
            form: None,
        });
        let secrets = (Secret::new("kd94hf93k423kf44"), Secret::new("pfkkdhi9sl3r4s00"));
        let origins = [origin("http://photos.example.net")];
        let verified = presented.verify(&origins, &secrets.0, Some(&secrets.1));
        assert_eq!(verified, Some(0), "{nonce}");
    }
}
