use super::{HOSTILE, ada, app, days, hostile, hostile_app, minutes};
use crate::console::Fault;
use crate::{
    Chart, Field, Judged, Live, OperatorLine, Pager, QueryFor, ReadQuery, RuleLine, SearchConsole,
    Step, StreamRules,
};

fn term(text: &str, about: &str, met: Option<bool>) -> Step {
    Step::Term {
        text: text.to_owned(),
        about: about.to_owned(),
        met,
    }
}

pub(super) fn steps(met: Option<[bool; 4]>) -> Vec<Step> {
    let at = |place: usize| met.and_then(|met| met.get(place).copied());
    vec![
        Step::Open {
            any: false,
            met: at(0),
        },
        Step::Open {
            any: true,
            met: at(1),
        },
        term("coffee", "a word of the text", at(1)),
        term("\"flat white\"", "consecutive words of the text", at(2)),
        Step::Close,
        term("lang:en", "the language", at(1)),
        term("-is:retweet", "reposts", at(3)),
        Step::Close,
    ]
}

pub(super) fn judged(met: bool) -> Judged {
    Judged {
        id: "1789440129884192768".to_owned(),
        username: "nkechi".to_owned(),
        text: "Good coffee at the harbour, and better company. ☕".to_owned(),
        at: minutes(90),
        met,
        steps: steps(Some([met, true, false, met])),
    }
}

fn hostile_post() -> Judged {
    Judged {
        id: HOSTILE.to_owned(),
        username: HOSTILE.to_owned(),
        text: HOSTILE.to_owned(),
        at: minutes(1),
        met: false,
        steps: vec![term(HOSTILE, HOSTILE, Some(false))],
    }
}

#[expect(clippy::too_many_lines, reason = "a list")]
pub(crate) fn search() -> Vec<(&'static str, SearchConsole)> {
    let text = "(coffee OR \"flat white\") lang:en -is:retweet";
    let operators = || {
        let line = |written: &str, about, alone| OperatorLine {
            written: written.to_owned(),
            about,
            alone,
        };
        vec![
            line("from:", "the author", true),
            line("has:media, has:media_link", "a picture or a film", false),
        ]
    };
    let of = |frame, query| SearchConsole {
        frame,
        action: "/developer/search".to_owned(),
        query: Field::of(query),
        product: QueryFor::Recent,
        post: Field::default(),
        faults: Vec::new(),
        read: None,
        judged: None,
        chart: None,
        found: None,
        looked_through: "Of the newest 1,000 posts.".to_owned(),
        operators: operators(),
    };
    let read = || ReadQuery {
        canonical: text.to_owned(),
        length: 44,
        longest: 4_096,
        steps: steps(None),
    };
    let hours = (0..168).rev().map(|hour: i64| {
        let count = if hour % 24 < 9 { 0 } else { hour * 37 % 90 };
        (minutes(60 * hour), count.unsigned_abs())
    });
    let chart = Chart {
        bars: hours.collect(),
        each: "hour",
    };
    let found = SearchConsole {
        read: Some(read()),
        judged: Some(judged(true)),
        chart: Some(chart),
        found: Some(vec![judged(true), judged(true)]),
        post: Field::of("1789440129884192768"),
        ..of(ada(), text)
    };
    let nothing = SearchConsole {
        read: Some(read()),
        judged: Some(judged(false)),
        chart: Some(Chart {
            bars: vec![(minutes(60), 0)],
            each: "hour",
        }),
        found: Some(Vec::new()),
        ..of(ada(), text)
    };
    let wrong = "no viable alternative at character ',' (at position 7)";
    let faulty = SearchConsole {
        query: Field::refused("coffee, tea", "The query cannot be read."),
        post: Field::refused("x", "No post has this ID."),
        product: QueryFor::Powerstream,
        faults: vec![Fault {
            text: wrong.to_owned(),
            at: Some(7),
        }],
        ..of(ada(), "")
    };
    let bad = SearchConsole {
        query: Field::refused(HOSTILE, HOSTILE),
        faults: vec![Fault {
            text: HOSTILE.to_owned(),
            at: Some(2),
        }],
        read: Some(ReadQuery {
            canonical: HOSTILE.to_owned(),
            steps: vec![term(HOSTILE, HOSTILE, None)],
            ..ReadQuery::default()
        }),
        judged: Some(hostile_post()),
        found: Some(vec![hostile_post()]),
        ..of(hostile(), "")
    };
    vec![
        ("blank", of(ada(), "")),
        ("found", found),
        ("nothing", nothing),
        ("faulty", faulty),
        ("hostile", bad),
    ]
}

#[expect(clippy::too_many_lines, reason = "a list")]
pub(crate) fn stream() -> Vec<(&'static str, StreamRules)> {
    let of = |frame, app: crate::App| StreamRules {
        frame,
        action: format!("{}/stream", app.path),
        delete: format!("{}/stream/delete", app.path),
        live: format!("{}/stream/live", app.path),
        app,
        value: Field::default(),
        tag: Field::default(),
        faults: Vec::new(),
        tried: None,
        looked_through: "Of the newest 1,000 posts.".to_owned(),
        rules: Vec::new(),
        count: (0, 1_000),
        pager: Pager::default(),
    };
    let rule = |value: &str, tag: &str| RuleLine {
        id: "1789440129884192768".to_owned(),
        value: value.to_owned(),
        tag: tag.to_owned(),
        added: days(2),
    };
    let some = StreamRules {
        rules: vec![
            rule("(coffee OR \"flat white\") lang:en -is:retweet", "drinks"),
            rule("from:nkechi", ""),
        ],
        count: (2, 1_000),
        ..of(ada(), app())
    };
    let tried = StreamRules {
        value: Field::of("coffee"),
        tag: Field::of("drinks"),
        tried: Some(vec![judged(true)]),
        ..of(ada(), app())
    };
    let nothing = StreamRules {
        value: Field::of("tea"),
        tried: Some(Vec::new()),
        ..of(ada(), app())
    };
    let faulty = StreamRules {
        value: Field::refused("coffee, tea", "The rule cannot be read."),
        faults: vec![Fault {
            text: "no viable alternative at character ',' (at position 7)".to_owned(),
            at: Some(7),
        }],
        ..of(ada(), app())
    };
    let bad = StreamRules {
        value: Field::refused(HOSTILE, HOSTILE),
        tag: Field::refused(HOSTILE, HOSTILE),
        tried: Some(vec![hostile_post()]),
        rules: vec![rule(HOSTILE, HOSTILE)],
        count: (1, 1),
        ..of(hostile(), hostile_app())
    };
    vec![
        ("none", of(ada(), app())),
        ("some", some),
        ("tried", tried),
        ("nothing", nothing),
        ("faulty", faulty),
        ("hostile", bad),
    ]
}

pub(crate) fn live() -> Vec<(&'static str, Live)> {
    let of = |frame, app: crate::App| Live {
        frame,
        events: format!("{}/stream/events", app.path),
        app,
        rules: 2,
    };
    vec![
        ("open", of(ada(), app())),
        ("hostile", of(hostile(), hostile_app())),
    ]
}
