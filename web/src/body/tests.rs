use base::{Refusal, Vocabulary, VocabularyWord};
use bytes::Bytes;

use super::{BodyContentType, parse_body};
use crate::endpoint::{BodySpec, Endpoint, Kind, Parameter};

const fn member(name: VocabularyWord, is_required: bool, kind: Kind) -> Parameter {
    let member = Parameter::member_named(name, kind);
    if is_required { member.as_required() } else { member }
}

const POST_ID: VocabularyWord = VocabularyWord::new("post_id", "tweet_id");
const POLL: &[Parameter] = &[
    member(VocabularyWord::same_in_both("options"), true, Kind::text(1, 25).list(2, 4)),
    member(VocabularyWord::same_in_both("duration_minutes"), true, Kind::int(5, 10_080)),
];
static LIKE: Endpoint = Endpoint::new("like", "POST", "/like").body(BodySpec::Json(&[
    member(POST_ID, true, Kind::ID),
    member(VocabularyWord::same_in_both("text"), false, Kind::text(1, 10)),
    member(VocabularyWord::same_in_both("hidden"), false, Kind::BOOL),
    member(VocabularyWord::same_in_both("poll"), false, Kind::object(POLL)),
    member(VocabularyWord::same_in_both("settings"), false, Kind::one_of(&["a", "b"])),
]));
static TOKEN: Endpoint = Endpoint::new("token", "POST", "/token").body(BodySpec::Form(&[
    member(VocabularyWord::same_in_both("grant_type"), true, Kind::text(1, 100)),
    member(VocabularyWord::same_in_both("client_id"), false, Kind::text(1, 20)),
]));
static FREE: Endpoint = Endpoint::new("free", "POST", "/free").body(BodySpec::Json(&[member(
    VocabularyWord::same_in_both("text"),
    false,
    Kind::text(0, 10),
)]));

fn json(text: impl Into<Bytes>) -> Result<super::ParsedBody, Refusal> {
    parse_body(&LIKE, BodyContentType::Json, &text.into(), Vocabulary::Tweet)
}

fn messages(text: impl Into<Bytes>) -> String {
    match json(text).unwrap_err() {
        Refusal::InvalidParameters(wrong) => {
            let line = |wrong: base::refusal::InvalidParameter| {
                format!("[{}] {:?} {}", wrong.parameter, wrong.values, wrong.message)
            };
            wrong.into_iter().map(line).collect::<Vec<_>>().join("\n")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_good_body_is_read_in_either_vocabulary() {
    let body = json(r#"{"tweet_id":"20","text":"é","hidden":true}"#).unwrap();
    assert_eq!(body.members().required_id::<()>(POST_ID).unwrap().get(), 20);
    assert_eq!(body.members().required_text(VocabularyWord::same_in_both("text")).unwrap(), "é");
    assert_eq!(body.members().optional_bool(VocabularyWord::same_in_both("hidden")), Some(true));
    assert_eq!(body.members().name_used(POST_ID), "tweet_id");
    assert_eq!(body.vocabulary_hint, Some(Vocabulary::Tweet));
    let body = json(r#"{"post_id":"21","poll":{"options":["x","y"],"duration_minutes":5}}"#).unwrap();
    assert_eq!(body.vocabulary_hint, Some(Vocabulary::Post));
    let poll = body.members().optional_object(VocabularyWord::same_in_both("poll")).unwrap();
    assert_eq!(poll.text_array(VocabularyWord::same_in_both("options")).collect::<Vec<_>>(), ["x", "y"]);
    assert_eq!(poll.required_int(VocabularyWord::same_in_both("duration_minutes")).unwrap(), 5);
}

#[test]
fn everything_wrong_is_told_at_once() {
    let told = messages(
        r#"{"x":1,"text":"","hidden":"yes","settings":"c",
            "poll":{"options":["","b",3],"duration_minutes":1.5,"more":null}}"#,
    );
    insta::assert_snapshot!(told, @r#"
    [hidden] ["yes"] $.hidden: string found, boolean expected
    [poll.duration_minutes] ["1.5"] $.poll.duration_minutes: number found, integer expected
    [poll.more] ["null"] $.poll.more: is not defined in the schema and the schema does not allow additional properties
    [poll.options[0]] [""] $.poll.options[0]: must have a minimum of 1 characters
    [poll.options[2]] ["3"] $.poll.options[2]: number found, string expected
    [settings] ["c"] $.settings: does not have a value in the enumeration [a, b]
    [text] [""] $.text: must have a minimum of 1 characters
    [x] ["1"] $.x: is not defined in the schema and the schema does not allow additional properties
    [tweet_id] [] $.tweet_id: is missing but it is required
    "#);
}

#[test]
fn ids_are_strings_of_digits() {
    for bad in ["20", "null", "\"\"", "\"x\"", "\"9223372036854775808\"", "[\"20\"]"] {
        let told = messages(format!(r#"{{"post_id":{bad}}}"#));
        assert!(told.contains("$.post_id: "), "{told}");
    }
    assert!(messages(r#"{"post_id":"1","tweet_id":"1"}"#).contains("$.tweet_id: "));
}

#[test]
fn json_is_read_strictly() {
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let cases: &[(Vec<u8>, &str)] = &[
        (b"[]".to_vec(), "Request body must be a JSON object."),
        (b"null".to_vec(), "Request body must be a JSON object."),
        (b"{\"text\":\"a\",\"text\":\"b\"}".to_vec(), "the member `text` stands twice"),
        (b"{\"a\":9223372036854775808}".to_vec(), "larger than 64 bits"),
        (b"{\"a\":-9223372036854775809}".to_vec(), "larger than 64 bits"),
        (b"{\"a\":123456789012345678901234567890}".to_vec(), "larger than 64 bits"),
        (b"{\"a\":1e400}".to_vec(), "not valid JSON"),
        (b"\xef\xbb\xbf{}".to_vec(), "not valid JSON"),
        (b"{} {}".to_vec(), "not valid JSON"),
        (b"{".to_vec(), "not valid JSON"),
        (b"{'a':1}".to_vec(), "not valid JSON"),
        (b"{\"text\":\"\\ud800\"}".to_vec(), "not valid JSON"),
        (b"{\"text\":\"\xff\"}".to_vec(), "not valid JSON"),
        (b"{\"text\":\"\xc0\xaf\"}".to_vec(), "not valid JSON"),
        (b"{\"text\":\"\\u0000\"}".to_vec(), "U+0000"),
        (b"{\"a\":NaN}".to_vec(), "not valid JSON"),
        (format!("{{\"a\":{}}}", deep(64)).into_bytes(), "nested deeper than 64"),
        (deep(100_000).into_bytes(), "nested deeper than 64"),
    ];
    for (text, expected) in cases {
        let told = messages(text.clone());
        assert!(told.contains(expected), "{told}");
    }
    assert!(messages(format!("{{\"a\":{}}}", deep(63))).contains("$.a: is not defined"));
}

#[test]
fn an_empty_body_is_an_empty_object() {
    for kind in [BodyContentType::Absent, BodyContentType::Json, BodyContentType::Form, BodyContentType::Other] {
        assert!(parse_body(&FREE, kind, &Bytes::new(), Vocabulary::Post).is_ok());
    }
    assert_eq!(messages(""), "[tweet_id] [] $.tweet_id: is missing but it is required");
}

#[test]
fn another_content_type_is_not_read() {
    let body = Bytes::from_static(b"{}");
    assert!(parse_body(&FREE, BodyContentType::Absent, &body, Vocabulary::Post).is_ok());
    for kind in [BodyContentType::Form, BodyContentType::Other] {
        let refused = parse_body(&FREE, kind, &body, Vocabulary::Post).unwrap_err();
        assert_eq!(refused, Refusal::UnsupportedMediaType { expected: "application/json" });
    }
}

#[test]
fn a_form_may_hold_more_but_nothing_twice() {
    let form = |text: &'static str| {
        parse_body(&TOKEN, BodyContentType::Form, &Bytes::from_static(text.as_bytes()), Vocabulary::Post)
    };
    let read_form = form("grant_type=client_credentials&more=1").unwrap();
    assert_eq!(
        read_form.members().required_text(VocabularyWord::same_in_both("grant_type")).unwrap(),
        "client_credentials"
    );
    let told = |text| format!("{:?}", form(text).unwrap_err());
    assert!(told("").contains("Missing required parameter [grant_type]."));
    assert!(told("grant_type=").contains("Missing required parameter [grant_type]."));
    assert!(told("grant_type=a&grant_type=a").contains("must not be included twice"));
    let secret = told("grant_type=a&client_id=0123456789abcdefghijkl");
    assert!(!secret.contains("0123456789abc"), "{secret}");
    let body = Bytes::from_static(br#"{"grant_type":"refresh_token","n":5}"#);
    assert!(parse_body(&TOKEN, BodyContentType::Json, &body, Vocabulary::Post).is_ok());
}
