//! What of a request is signed, and in which form: one line a case.

use base::Secret;
use base::oauth1::OAuth1Request;
use base::percent;

use super::{CONSUMER_SECRET, TOKEN_SECRET, holds, origin, read, sign};

/// Origin, path, query, form (`-`: none) → base URL and parameters, protocol parameters left out.
const CASES: &str = "
https://api.x.com / . - → https://api.x.com/ .
https://api.x.com . . - → https://api.x.com/ .
HTTPS://Api.X.Com /2/Posts . - → https://api.x.com/2/Posts .
https://api.x.com:443 /a . - → https://api.x.com/a .
https://api.x.com:8443 /a . - → https://api.x.com:8443/a .
http://localhost:80 /a . - → http://localhost/a .
http://localhost:443 /a . - → http://localhost:443/a .
http://[::1]:3000 /a . - → http://[::1]:3000/a .
https://api.x.com /a%2Fb/%7Ec . - → https://api.x.com/a%2Fb/%7Ec .
https://api.x.com /a%2fb . - → https://api.x.com/a%2fb .
https://api.x.com //a//b/ . - → https://api.x.com//a//b/ .
https://api.x.com /日本 . - → https://api.x.com/日本 .
https://api.x.com /a a=b%20c - → https://api.x.com/a a=b%20c
https://api.x.com /a a=b+c - → https://api.x.com/a a=b%20c
https://api.x.com /a a=b%2Bc - → https://api.x.com/a a=b%2Bc
https://api.x.com /a a=b%2bc - → https://api.x.com/a a=b%2Bc
https://api.x.com /a a=%7E~ - → https://api.x.com/a a=~~
https://api.x.com /a a=%41-._ - → https://api.x.com/a a=A-._
https://api.x.com /a a=!*'() - → https://api.x.com/a a=%21%2A%27%28%29
https://api.x.com /a a=%E2%98%83 - → https://api.x.com/a a=%E2%98%83
https://api.x.com /a a=☃ - → https://api.x.com/a a=%E2%98%83
https://api.x.com /a a=%F0%9F%91%8D - → https://api.x.com/a a=%F0%9F%91%8D
https://api.x.com /a é=e%CC%81 - → https://api.x.com/a %C3%A9=e%CC%81
https://api.x.com /a a= - → https://api.x.com/a a=
https://api.x.com /a a - → https://api.x.com/a a=
https://api.x.com /a a&b=&&c - → https://api.x.com/a a=&b=&c=
https://api.x.com /a a==b=c - → https://api.x.com/a a=%3Db%3Dc
https://api.x.com /a a=%26%3D%23 - → https://api.x.com/a a=%26%3D%23
https://api.x.com /a a=x,y:z/w?v@u - → https://api.x.com/a a=x%2Cy%3Az%2Fw%3Fv%40u
https://api.x.com /a a=%2520 - → https://api.x.com/a a=%2520
https://api.x.com /a b=1&a=2&B=3&A=4 - → https://api.x.com/a A=4&B=3&a=2&b=1
https://api.x.com /a a=2&a=10&a=1 - → https://api.x.com/a a=1&a=10&a=2
https://api.x.com /a a=b&a - → https://api.x.com/a a=&a=b
https://api.x.com /a a1=x&a=y&a-=z - → https://api.x.com/a a=y&a-=z&a1=x
https://api.x.com /a é=1&z=2&~=3 - → https://api.x.com/a %C3%A9=1&z=2&~=3
https://api.x.com /a tweet.fields=id,text&max_results=5 - → https://api.x.com/a max_results=5&tweet.fields=id%2Ctext
https://api.x.com /a url=https%3A%2F%2Fx.com%2Fa%3Fb - → https://api.x.com/a url=https%3A%2F%2Fx.com%2Fa%3Fb
https://api.x.com /a . status=a+%2B+b → https://api.x.com/a status=a%20%2B%20b
https://api.x.com /a b=query a=form → https://api.x.com/a a=form&b=query
https://api.x.com /a a=query a=form → https://api.x.com/a a=form&a=query
https://api.x.com /a . . → https://api.x.com/a .
https://api.x.com /a . a=%0D%0A%00 → https://api.x.com/a a=%0D%0A%00
https://api.x.com /a xoauth_a=1&oauth=2&OAUTH_b=3 - → https://api.x.com/a OAUTH_b=3&oauth=2&xoauth_a=1
";

fn part(word: &str) -> &str {
    if word == "." { "" } else { word }
}

/// The base string's URL and its parameters without the protocol's.
fn apart(base_string: &str) -> (String, String) {
    let parts: Vec<_> = base_string.split('&').collect();
    let [_, url, parameters] = parts[..] else {
        panic!("not three parts: {base_string}");
    };
    let (url, parameters) = (percent::decode(url).unwrap(), percent::decode(parameters).unwrap());
    let ours = parameters.split('&').filter(|pair| !pair.starts_with("oauth_"));
    (url.into_owned(), ours.collect::<Vec<_>>().join("&"))
}

#[test]
fn what_is_signed() {
    let secrets = (Secret::new(CONSUMER_SECRET), Secret::new(TOKEN_SECRET));
    let mut count = 0;
    for case in CASES.lines().filter(|line| !line.is_empty()) {
        let words: Vec<_> = case.split(' ').collect();
        let [host, path, query, form, _, url, parameters] = words[..] else {
            panic!("not seven words: {case}");
        };
        let mut request = OAuth1Request {
            method: "POST",
            path: part(path),
            query: part(query),
            authorization: None,
            form: (form != "-").then(|| part(form).as_bytes()),
        };
        let origin = origin(host);
        let header = sign(&request, &origin);
        request.authorization = Some(&header);
        assert!(holds(&request, &origin), "{case}");
        let explained = read(&request).explain(&origin, &secrets.0, Some(&secrets.1), None);
        let wanted = (url.to_owned(), part(parameters).to_owned());
        assert_eq!(apart(&explained.base_string), wanted, "{case}");
        count += 1;
    }
    assert_eq!(count, 43);
}

#[test]
fn only_form_bodies_are_signed() {
    let origin = origin("https://api.x.com");
    let unsigned = OAuth1Request { method: "POST", path: "/2/tweets", ..OAuth1Request::default() };
    // A JSON body takes no part: the caller hands no form.
    let header = sign(&unsigned, &origin);
    let json = OAuth1Request { authorization: Some(&header), ..unsigned };
    assert!(holds(&json, &origin));
    let form = OAuth1Request { form: Some(b"text=hello"), ..json };
    assert!(!holds(&form, &origin));
    let header = sign(&form, &origin);
    let signed = OAuth1Request { authorization: Some(&header), ..form };
    assert!(holds(&signed, &origin));
    assert!(!holds(&OAuth1Request { form: None, ..signed }, &origin));
}

#[test]
fn credentials_may_come_in_any_place() {
    let origin = origin("https://api.x.com");
    let unsigned = OAuth1Request { method: "POST", path: "/2/tweets", query: "a=1", ..OAuth1Request::default() };
    let header = sign(&unsigned, &origin);
    let pairs = header.strip_prefix("OAuth ").unwrap().replace('"', "").replace(", ", "&");
    let in_query = format!("{pairs}&a=1");
    let request = OAuth1Request { query: &in_query, ..unsigned };
    assert!(holds(&request, &origin));
    let in_form = OAuth1Request { form: Some(pairs.as_bytes()), ..unsigned };
    assert!(holds(&in_form, &origin));
    // The token again in the query, signed once.
    let token = format!("a=1&oauth_token={}", super::TOKEN);
    let twice = OAuth1Request { authorization: Some(&header), query: &token, ..unsigned };
    assert!(holds(&twice, &origin));
    assert_eq!(read(&twice).duplicate_parameter(), None);
    // Spoken differently, with a realm.
    let realm = header.replace("OAuth ", "oauth realm=\"a, b\",");
    let request = OAuth1Request { authorization: Some(&realm), ..unsigned };
    assert!(holds(&request, &origin));
}

#[test]
fn a_repeated_parameter_is_reported_after_it_is_verified() {
    let origin = origin("https://api.x.com");
    let mut request =
        OAuth1Request { method: "GET", path: "/2/tweets", query: "ids=2&a=b&ids=1", ..OAuth1Request::default() };
    let header = sign(&request, &origin);
    request.authorization = Some(&header);
    assert!(holds(&request, &origin));
    assert_eq!(read(&request).duplicate_parameter(), Some("ids"));
}
