use super::{HOSTILE, days_ago, hostile_app, hostile_frame, minutes_ago, sample_app, signed_in_frame};
use pages::QueryErrorMessage;
use pages::{
    ConsoleProduct, FormField, LiveStreamPage, OperatorHelp, Pager, ParsedQuerySummary, PostCountChart, PostMatch,
    QueryTreeStep, SearchConsolePage, StreamRuleItem, StreamRulesPage,
};

fn term_step(text: &str, about: &str, met: Option<bool>) -> QueryTreeStep {
    QueryTreeStep::Term { text: text.to_owned(), description: about.to_owned(), matched: met }
}

pub(super) fn query_steps(met: Option<[bool; 4]>) -> Vec<QueryTreeStep> {
    let at = |place: usize| met.and_then(|met| met.get(place).copied());
    vec![
        QueryTreeStep::Open { any: false, matched: at(0) },
        QueryTreeStep::Open { any: true, matched: at(1) },
        term_step("coffee", "a word of the text", at(1)),
        term_step("\"flat white\"", "consecutive words of the text", at(2)),
        QueryTreeStep::Close,
        term_step("lang:en", "the language", at(1)),
        term_step("-is:retweet", "reposts", at(3)),
        QueryTreeStep::Close,
    ]
}

pub(super) fn matching_post(met: bool) -> PostMatch {
    PostMatch {
        id: "1789440129884192768".to_owned(),
        username: "nkechi".to_owned(),
        text: "Good coffee at the harbour, and better company. ☕".to_owned(),
        created_at: minutes_ago(90),
        matched: met,
        steps: query_steps(Some([met, true, false, met])),
    }
}

fn hostile_post() -> PostMatch {
    PostMatch {
        id: HOSTILE.to_owned(),
        username: HOSTILE.to_owned(),
        text: HOSTILE.to_owned(),
        created_at: minutes_ago(1),
        matched: false,
        steps: vec![term_step(HOSTILE, HOSTILE, Some(false))],
    }
}

#[expect(clippy::too_many_lines, reason = "a list")]
pub(crate) fn search_console_states() -> Vec<(&'static str, SearchConsolePage)> {
    let text = "(coffee OR \"flat white\") lang:en -is:retweet";
    let operators = || {
        let line = |written: &str, about, alone| OperatorHelp {
            syntax: written.to_owned(),
            description: about,
            standalone: alone,
        };
        vec![line("from:", "the author", true), line("has:media, has:media_link", "a picture or a film", false)]
    };
    let of = |frame, query| SearchConsolePage {
        frame,
        action: "/developer/search".to_owned(),
        query: FormField::new(query),
        product: ConsoleProduct::Recent,
        post: FormField::default(),
        query_errors: Vec::new(),
        parsed: None,
        checked_post: None,
        chart: None,
        matching_posts: None,
        search_scope: "Searched the newest 1,000 public posts.".to_owned(),
        operators: operators(),
    };
    let read =
        || ParsedQuerySummary { canonical: text.to_owned(), length: 44, max_length: 4_096, steps: query_steps(None) };
    let hours = (0..168).rev().map(|hour: i64| {
        let count = if hour % 24 < 9 { 0 } else { hour * 37 % 90 };
        (minutes_ago(60 * hour), count.unsigned_abs())
    });
    let chart = PostCountChart { bars: hours.collect(), bucket_unit: "hour" };
    let found = SearchConsolePage {
        parsed: Some(read()),
        checked_post: Some(matching_post(true)),
        chart: Some(chart),
        matching_posts: Some(vec![matching_post(true), matching_post(true)]),
        post: FormField::new("1789440129884192768"),
        ..of(signed_in_frame(), text)
    };
    let nothing = SearchConsolePage {
        parsed: Some(read()),
        checked_post: Some(matching_post(false)),
        chart: Some(PostCountChart { bars: vec![(minutes_ago(60), 0)], bucket_unit: "hour" }),
        matching_posts: Some(Vec::new()),
        ..of(signed_in_frame(), text)
    };
    let wrong = "no viable alternative at character ',' (at position 7)";
    let faulty = SearchConsolePage {
        query: FormField::invalid("coffee, tea", "The query is invalid."),
        post: FormField::invalid("x", "No post visible to you has this ID."),
        product: ConsoleProduct::Powerstream,
        query_errors: vec![QueryErrorMessage { text: wrong.to_owned(), position: Some(7) }],
        ..of(signed_in_frame(), "")
    };
    let bad = SearchConsolePage {
        query: FormField::invalid(HOSTILE, HOSTILE),
        query_errors: vec![QueryErrorMessage { text: HOSTILE.to_owned(), position: Some(2) }],
        parsed: Some(ParsedQuerySummary {
            canonical: HOSTILE.to_owned(),
            steps: vec![term_step(HOSTILE, HOSTILE, None)],
            ..ParsedQuerySummary::default()
        }),
        checked_post: Some(hostile_post()),
        matching_posts: Some(vec![hostile_post()]),
        ..of(hostile_frame(), "")
    };
    vec![
        ("blank", of(signed_in_frame(), "")),
        ("found", found),
        ("nothing", nothing),
        ("faulty", faulty),
        ("hostile", bad),
    ]
}

#[expect(clippy::too_many_lines, reason = "a list")]
pub(crate) fn stream_rules_states() -> Vec<(&'static str, StreamRulesPage)> {
    let of = |frame, app: pages::AppRef| StreamRulesPage {
        frame,
        action: format!("{}/stream", app.path),
        delete: format!("{}/stream/delete", app.path),
        live: format!("{}/stream/live", app.path),
        form_id: "f0rm".to_owned(),
        app,
        value: FormField::default(),
        tag: FormField::default(),
        query_errors: Vec::new(),
        tried_posts: None,
        search_scope: "Searched the newest 1,000 public posts.".to_owned(),
        rules: Vec::new(),
        count: (0, 1_000),
        pager: Pager::default(),
    };
    let rule = |value: &str, tag: &str| StreamRuleItem {
        id: "1789440129884192768".to_owned(),
        value: value.to_owned(),
        tag: tag.to_owned(),
        added: days_ago(2),
    };
    let some = StreamRulesPage {
        rules: vec![rule("(coffee OR \"flat white\") lang:en -is:retweet", "drinks"), rule("from:nkechi", "")],
        count: (2, 1_000),
        ..of(signed_in_frame(), sample_app())
    };
    let tried = StreamRulesPage {
        value: FormField::new("coffee"),
        tag: FormField::new("drinks"),
        tried_posts: Some(vec![matching_post(true)]),
        ..of(signed_in_frame(), sample_app())
    };
    let nothing = StreamRulesPage {
        value: FormField::new("tea"),
        tried_posts: Some(Vec::new()),
        ..of(signed_in_frame(), sample_app())
    };
    let faulty = StreamRulesPage {
        value: FormField::invalid("coffee, tea", "The rule is invalid."),
        query_errors: vec![QueryErrorMessage {
            text: "no viable alternative at character ',' (at position 7)".to_owned(),
            position: Some(7),
        }],
        ..of(signed_in_frame(), sample_app())
    };
    let bad = StreamRulesPage {
        value: FormField::invalid(HOSTILE, HOSTILE),
        tag: FormField::invalid(HOSTILE, HOSTILE),
        tried_posts: Some(vec![hostile_post()]),
        rules: vec![rule(HOSTILE, HOSTILE)],
        count: (1, 1),
        ..of(hostile_frame(), hostile_app())
    };
    vec![
        ("none", of(signed_in_frame(), sample_app())),
        ("some", some),
        ("tried", tried),
        ("nothing", nothing),
        ("faulty", faulty),
        ("hostile", bad),
    ]
}

pub(crate) fn live_stream_states() -> Vec<(&'static str, LiveStreamPage)> {
    let of = |frame, app: pages::AppRef| LiveStreamPage {
        frame,
        events: format!("{}/stream/events", app.path),
        app,
        rules: 2,
    };
    vec![("open", of(signed_in_frame(), sample_app())), ("hostile", of(hostile_frame(), hostile_app()))]
}
