//! What holds for any text.

use std::time::Duration;

use query::{AccessTier, QueryDialect, QueryProduct, parse};

/// A sequence of numbers as good as chance, always the same.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % bound
    }

    pub(crate) fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        let place = self.below(list.len());
        list.get(place).unwrap_or_else(|| panic!("an empty list"))
    }
}

const PIECES: [&str; 60] = [
    " ",
    " ",
    " ",
    "(",
    ")",
    "-",
    "\"",
    "OR",
    " OR ",
    "AND",
    "~3",
    "~",
    ":",
    "[",
    "]",
    "#",
    "@",
    "$",
    "cat",
    "Dog",
    "the",
    "or",
    "from:",
    "ana",
    "has:",
    "links",
    "is:",
    "reply",
    "-is:nullcast",
    "lang:",
    "en",
    "point_radius:",
    "[1 2 3km]",
    "bounding_box:[1 2 1.1 2.1]",
    "sample:5",
    "context:1.*",
    "followers_count:1..2",
    "url:",
    "\\",
    "\\\"",
    "é",
    "ς",
    "İ",
    "東京",
    "😀",
    "\u{301}",
    "\u{200d}",
    "\u{fe0f}",
    "\u{37e}",
    "K",
    "\u{0}",
    "\n",
    ".",
    "'",
    "_",
    "1",
    "999999999999999999999",
    "..",
    "*",
    "&",
];

#[test]
fn no_text_is_too_odd_and_what_is_taken_comes_back() {
    let mut dice = Dice(0x5eed);
    let mut taken = 0;
    for round in 0..100_000 {
        let text: String = (0..=dice.below(14)).map(|_| *dice.of(&PIECES)).collect();
        let product = QueryProduct::ALL[round % QueryProduct::ALL.len()];
        let dialect = QueryDialect::new(product, AccessTier::Enterprise);
        let Ok(query) = parse(&text, dialect) else {
            continue;
        };
        taken += 1;
        let print = query.to_string();
        match parse(&print, QueryDialect { engagement_operators: true, ..dialect }) {
            Ok(again) => assert_eq!(again, query, "{text:?} {print:?}"),
            Err(problems) => panic!("{text:?} prints as {print:?}: {problems}"),
        }
    }
    assert!(taken > 2_000, "{taken}");
}

/// A letter of any kind: of the language's own signs, of ASCII, or of all there are.
fn letter(dice: &mut Dice) -> char {
    let signs = ['(', ')', '-', '"', ':', '[', ']', '~', '#', '@', '$', ' ', '\\', 'O', 'R'];
    match dice.below(4) {
        0 => *dice.of(&signs),
        1 | 2 => char::from(u8::try_from(dice.below(128)).unwrap_or(0)),
        _ => {
            let number = u32::try_from(dice.below(0x11_0000)).unwrap_or(0);
            char::from_u32(number).unwrap_or('\u{fffd}')
        }
    }
}

#[test]
fn any_text_is_read_or_refused_in_bounded_time() {
    let mut dice = Dice(0xcafe);
    let mut longest = Duration::ZERO;
    for round in 0..100_000 {
        let length = if round % 500 == 0 { 4_096 } else { 40 };
        let text: String = (0..dice.below(length)).map(|_| letter(&mut dice)).collect();
        let product = QueryProduct::ALL[round % QueryProduct::ALL.len()];
        let before = thread_time();
        let answer = parse(&text, QueryDialect::new(product, AccessTier::Enterprise));
        longest = longest.max(thread_time().saturating_sub(before));
        if let Err(problems) = answer {
            assert!(!problems.to_string().is_empty() && !problems.details().is_empty());
        }
    }
    assert!(longest < Duration::from_millis(50), "{longest:?}");
}

#[test]
fn hostile_queries_are_answered_at_once() {
    let dialect = QueryDialect::new(QueryProduct::Powerstream, AccessTier::SelfServe);
    let hostile = [
        "(".repeat(2_048),
        "-(".repeat(1_024),
        "\"".repeat(2_047),
        "a OR -".repeat(341),
        "-(a OR ".repeat(120) + "b" + &")".repeat(120),
        "(a -(b OR ".repeat(60) + "c" + &"))".repeat(60),
        "x:".repeat(1_024),
        "#".repeat(2_048),
        "(a) ".repeat(512),
        "\u{301}".repeat(2_048),
        "has:x ".repeat(341),
        "a OR ".repeat(409) + "b",
        "(a OR b) ".repeat(227),
        "-(a b) -(c d) ".repeat(146) + "x",
        "\"a b\"~6 ".repeat(227),
        "point_radius:[1 2 3km] ".repeat(89),
        "from:".to_owned() + &"1".repeat(2_043),
        "contains:".to_owned() + &"é".repeat(2_039),
    ];
    for text in &hostile {
        let before = thread_time();
        let answer = parse(text, dialect).map(|query| query.to_string());
        let spent = thread_time().saturating_sub(before);
        // Five milliseconds in a release build; debug builds run some ten times as long.
        assert!(spent < Duration::from_millis(50), "{spent:?} for {text:.20} {answer:.40?}");
    }
    let deep = |depth: usize| "(".repeat(depth) + "cat" + &")".repeat(depth);
    assert_eq!(parse(&deep(128), dialect).unwrap().to_string(), "cat");
    assert_eq!(
        parse(&deep(129), dialect).unwrap_err().details(),
        ["no viable alternative at character '(' (at position 129)"]
    );
}

/// What this thread has used of a core; other tests run beside it.
pub(crate) fn thread_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}
