use crate::samples::{
    HOSTILE, development_frame, hostile_frame, minutes_ago, sample_time, signed_in_frame, with_failure, with_notice,
};
use pages::console::{ConsoleLimitsPage, ConsoleStreamsPage, CostItem, EndedStreamItem, StreamItem, TrafficItem};
use pages::{FormField, UsageWindow};

pub(crate) fn limits_states() -> Vec<(&'static str, ConsoleLimitsPage)> {
    let page = |mode, windows| ConsoleLimitsPage {
        frame: development_frame(signed_in_frame()),
        mode,
        factor: FormField::default(),
        windows,
        costs: Vec::new(),
        endpoint: FormField::default(),
        app: FormField::default(),
        user: FormField::default(),
    };
    let filled = page(
        "table",
        vec![limit_window(75, "demo, @ada"), limit_window(61, "demo, @bob"), limit_window(3, "demo, app-only")],
    );
    let cost =
        |account: &str, calls, total: &str| CostItem { account: account.to_owned(), calls, total: total.to_owned() };
    let costs = vec![cost("demo, 2026-11-24", 412, "1.245"), cost("Run ci", 96, "0.00")];
    let hostile = UsageWindow { operation: HOSTILE.to_owned(), ..limit_window(1, HOSTILE) };
    let message = "no endpoint matches [GET /2/user/me]: did you mean [GET /2/users/me]?";
    vec![
        ("off", page("off", Vec::new())),
        ("empty", page("table", Vec::new())),
        ("filled", ConsoleLimitsPage { frame: with_notice(filled.frame, "1 window was exhausted."), costs, ..filled }),
        ("refused", {
            let page = page("scale", vec![limit_window(20, "demo, @ada")]);
            ConsoleLimitsPage {
                frame: with_failure(page.frame, message),
                endpoint: FormField::new("GET /2/user/me"),
                factor: FormField::new("10"),
                ..page
            }
        }),
        (
            "hostile",
            ConsoleLimitsPage {
                frame: hostile_frame(),
                endpoint: FormField::new(HOSTILE),
                costs: vec![cost(HOSTILE, 1, "0.005")],
                ..page("table", vec![hostile])
            },
        ),
    ]
}

fn limit_window(used: u64, counted_for: &str) -> UsageWindow {
    UsageWindow {
        operation: "GET /2/users/me".to_owned(),
        counted_for: counted_for.to_owned(),
        seconds: 900,
        used,
        limit: 75,
        resets: minutes_ago(-11),
    }
}

pub(crate) fn streams_states() -> Vec<(&'static str, ConsoleStreamsPage)> {
    let page = |open, ended, traffic| ConsoleStreamsPage {
        frame: development_frame(signed_in_frame()),
        open,
        ended,
        reasons: vec!["force-disconnect", "operational-disconnect", "slow-reader"],
        traffic,
        rate: FormField::new("5"),
        seconds: FormField::new("60"),
        seed: FormField::new("1"),
    };
    let filled = || {
        page(
            vec![stream("7e1c", "demo", "sample_stream", 1), stream("90aa", "Harbour Radio", "firehose_stream", 7)],
            vec![ended_stream("demo", "slow_reader"), ended_stream("demo", "client_disconnect")],
            Some(sample_traffic("running")),
        )
    };
    let refused = page(Vec::new(), vec![ended_stream("demo", "killed")], Some(sample_traffic("finished")));
    let hostile = page(vec![stream("x", HOSTILE, HOSTILE, 1)], vec![ended_stream(HOSTILE, "killed")], None);
    vec![
        ("empty", page(Vec::new(), Vec::new(), None)),
        ("filled", filled()),
        (
            "refused",
            ConsoleStreamsPage {
                frame: with_failure(refused.frame, "`rate` must be a whole number from 1 to 200, not 900"),
                rate: FormField::new("900"),
                ..refused
            },
        ),
        ("hostile", ConsoleStreamsPage { frame: hostile_frame(), rate: FormField::new(HOSTILE), ..hostile }),
    ]
}

fn stream(id: &str, app: &str, endpoint: &str, partition: u8) -> StreamItem {
    StreamItem {
        id: format!("{id}0000-0000-4000-8000-000000000000"),
        app: app.to_owned(),
        endpoint: endpoint.to_owned(),
        partition,
        since: minutes_ago(42),
        sent: 1_204,
        buffered_bytes: 512,
        heartbeat_seconds: 9,
    }
}

fn ended_stream(app: &str, reason: &'static str) -> EndedStreamItem {
    EndedStreamItem {
        app: app.to_owned(),
        endpoint: "sample_stream".to_owned(),
        since: minutes_ago(90),
        ended: sample_time(),
        sent: 17,
        reason,
    }
}

fn sample_traffic(state: &'static str) -> TrafficItem {
    TrafficItem {
        state,
        rate: 5,
        people: 11,
        elapsed_seconds: 95,
        counts: vec![("posts", 150), ("replies", 97), ("quotes", 12), ("reposts", 30), ("likes", 160), ("follows", 4)],
        without_effect: 22,
    }
}
