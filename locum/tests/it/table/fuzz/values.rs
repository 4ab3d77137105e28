//! Values that a parameter of some kind may just have, may just not have, or that no program expects.

use std::collections::BTreeMap;

use ads_engine::{Kind, Parameter, ValueKind};
use serde_json::{Value, json};
use web::endpoint::{BodySpec, Endpoint};

use crate::harness::TestRng;

/// As they are sent in a path, a query or a form.
const HOSTILE: &[&str] = &[
    "",
    ",",
    "%2C",
    "%2C%2C",
    "%20",
    "+",
    "%00",
    "a%00b",
    "%ff",
    "%zz",
    "%",
    "%ED%A0%80",
    "%0d%0aX-Evil:%201",
    "%22%3E%3Cscript%3E",
    "'%20OR%201=1--",
    "%25_%5C",
    "..%2F..",
    "%2F",
    ".",
    "..",
    "-1",
    "0",
    "-0",
    "1.5",
    "1e9",
    "NaN",
    "null",
    "true",
    "[]",
    "{}",
    "a,b",
    "20,,21",
    ",20",
    "x:y",
    "0x10",
    "%D9%A1%D9%A2",
    "2147483648",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551616",
    "99999999999999999999999999",
    "%F0%9F%92%A5",
    "%E2%80%AE",
    "%EF%BB%BF",
    "e%CC%81",
    "%F0%9F%91%A8%E2%80%8D%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7",
    "1970-01-01T00:00:00Z",
    "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "9999-12-31T23:59:60Z",
    "2026-02-30T00:00:00Z",
    "2026-01-01",
    "2026-01-01T00:00:00%2B14:00",
    "-2026-01-01T00:00:00Z",
    "99999-01-01T00:00:00Z",
    "http://",
    "https://[::1]:99999/",
    "javascript:alert(1)",
    "https://a.example/%23",
    "card://1",
    "3_1",
    "3_9223372036854775807",
    "1-2",
    "zzzzzzzzzzzz",
    "zzz",
    "desc",
    "*",
    "(a",
    "a%20OR",
    "from:",
    "-",
    "%22",
    "lang:",
    "%23",
    "%40",
    "%24a",
];

const LENGTHS: &[usize] = &[1, 16, 65, 129, 256, 257, 513, 1_001, 2_049, 4_097, 10_001, 30_000];

/// Every kind that is declared for a name, anywhere.
pub(super) type KindsByName = BTreeMap<&'static str, Vec<Kind>>;

pub(super) fn kinds_by_name<'e>(endpoints: impl Iterator<Item = &'e Endpoint>) -> KindsByName {
    let mut all = KindsByName::new();
    for endpoint in endpoints {
        endpoint.parameters().for_each(|param| add_kinds(&mut all, param));
        if let BodySpec::Json(members) | BodySpec::Form(members) | BodySpec::Multipart(members) = endpoint.body {
            for member in members {
                add_kinds(&mut all, member);
            }
        }
        for param in endpoint.ads.map_or(&[][..], |ads| ads.params) {
            add_kinds(&mut all, param);
        }
    }
    all
}

fn add_kinds(all: &mut KindsByName, param: &Parameter) {
    for name in param.names() {
        all.entry(name).or_default().push(param.kind);
    }
    if let ValueKind::Object(members) = param.kind.value {
        for member in members {
            add_kinds(all, member);
        }
    }
}

/// Makes values; `known` are ids and names of things that exist, whoever owns them.
pub(super) struct ValueSource<'a> {
    pub(super) rng: TestRng,
    pub(super) kinds: &'a KindsByName,
    pub(super) known: &'a [String],
}

impl ValueSource<'_> {
    pub(super) fn below(&mut self, sides: usize) -> usize {
        self.rng.below(sides)
    }

    /// A value as it is sent in a path, a query or a form.
    pub(super) fn text(&mut self, name: &str) -> String {
        match self.below(10) {
            0..=3 => self.boundary(name),
            4 => self.rng.pick(self.known).clone(),
            5 => {
                let letter = *self.rng.pick(&["x", "9", "%C3%A9", "%F0%9F%92%A5", ",", "1,", "%20", "(", "a%20OR%20"]);
                let length = *self.rng.pick(LENGTHS);
                // The server refuses longer targets than 8 KiB.
                letter.repeat(length.min(7_000 / letter.len()))
            }
            6 => {
                let (first, second) = (self.rng.pick(HOSTILE), self.rng.pick(HOSTILE));
                format!("{first},{second}")
            }
            _ => (*self.rng.pick(HOSTILE)).to_owned(),
        }
    }

    /// A value at a bound of one of the kinds that are declared for this name.
    fn boundary(&mut self, name: &str) -> String {
        let kinds = self.kinds;
        let Some(kinds) = kinds.get(name) else { return (*self.rng.pick(HOSTILE)).to_owned() };
        let kind = *self.rng.pick(kinds);
        let one = self.value_at_bound(kind.value);
        match kind.list {
            Some((_, max)) if self.below(4) == 0 => {
                let count = max.saturating_add(1).min(2_000);
                vec![one; count].join(",").chars().take(50_000).collect()
            }
            Some(_) if self.below(2) == 0 => {
                let other = self.value_at_bound(kind.value);
                format!("{one},{other}")
            }
            _ => one,
        }
    }

    fn value_at_bound(&mut self, kind: ValueKind) -> String {
        match kind {
            ValueKind::Int(min, max) => {
                let all = [min, max, min.saturating_sub(1), max.saturating_add(1), min.midpoint(max)];
                self.rng.pick(&all).to_string()
            }
            ValueKind::Text(min, max) => {
                let lengths = [min.saturating_sub(1), min, max.min(30_000), max.saturating_add(1).min(30_000)];
                "x".repeat(*self.rng.pick(&lengths))
            }
            ValueKind::OneOf(words) if !words.is_empty() => (*self.rng.pick(words)).to_owned(),
            ValueKind::Word(words) if !words.is_empty() => self.rng.pick(words).post.to_owned(),
            ValueKind::Bool => (*self.rng.pick(&["true", "false", "1", "TRUE"])).to_owned(),
            ValueKind::Money => (*self.rng.pick(&["0", "1", "9223372036854775807", "9223372036854775808"])).to_owned(),
            ValueKind::Id | ValueKind::Long | ValueKind::Custom(_) => self.rng.pick(self.known).clone(),
            ValueKind::Url => (*self.rng.pick(&["https://a.example/", "http://127.0.0.1:1/", "https://"])).to_owned(),
            _ => (*self.rng.pick(HOSTILE)).to_owned(),
        }
    }

    /// A member of a JSON body.
    pub(super) fn json(&mut self, name: &str, present: &Value) -> Value {
        match self.below(14) {
            0 => Value::Null,
            1 => json!(self.below(2) == 0),
            2 => self.number(),
            3 => json!([]),
            4 => json!({}),
            5 => json!([present, present]),
            6 => json!({ name: present }),
            7 => {
                let most = 200_000 / present.to_string().len().max(1);
                Value::Array(vec![present.clone(); self.below(1_500).min(most)])
            }
            8 => nested(self.below(80)),
            9 => json!(["", null, 1, { "a": [] }, present]),
            _ => {
                let sent = self.text(name);
                json!(base::percent::decode(&sent).unwrap_or_else(|_| sent.clone().into()))
            }
        }
    }

    fn number(&mut self) -> Value {
        let all = [
            json!(0),
            json!(-1),
            json!(1),
            json!(1.5),
            json!(-0.0),
            json!(1e308),
            json!(i64::MAX),
            json!(i64::MIN),
            json!(u64::MAX),
            json!(i64::from(i32::MAX) + 1),
        ];
        self.rng.pick(&all).clone()
    }
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, level| if level % 2 == 0 { json!([inner]) } else { json!({ "a": inner }) })
}
