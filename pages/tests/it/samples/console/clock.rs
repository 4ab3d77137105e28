use crate::samples::{development_frame, signed_in_frame};
use base::Time;
use pages::console::{ClockReportItem, ConsoleClockPage, DueItem};
use pages::{FormField, PageFrame};

pub(crate) fn clock_states() -> Vec<(&'static str, ConsoleClockPage)> {
    let frame = || development_frame(signed_in_frame());
    let at = |seconds: i64| Time::from_seconds(1_800_000_000 + seconds);
    let page = |frame: PageFrame| ConsoleClockPage {
        frame,
        mode: "live",
        description: "live".to_owned(),
        now: at(0),
        machine_time: at(0),
        by: FormField::new("1d"),
        time: FormField::default(),
        factor: FormField::new("60"),
        due: Vec::new(),
        report: None,
    };
    let due = |(what, seconds): (&str, i64)| DueItem { what: what.to_owned(), at: at(seconds) };
    let report = ClockReportItem {
        from: at(-8 * 86_400),
        to: at(0),
        steps: 57,
        events: 21,
        milliseconds: 412,
        jobs: vec![("Polls".to_owned(), 3), ("Scheduled posts".to_owned(), 14), ("Webhook deliveries".to_owned(), 9)],
        notes: vec!["receivers of webhooks did not answer within 2 s: 1 deliveries go on".to_owned()],
    };
    let frozen = ConsoleClockPage {
        mode: "frozen",
        description: "frozen at 2027-01-15T08:00:00.000Z".to_owned(),
        machine_time: at(-8 * 86_400),
        due: [("Scheduled posts", 3_600), ("Polls", 7_200), ("Webhook challenges", 86_400)].map(due).into(),
        report: Some(report),
        ..page(PageFrame { clock: Some("frozen at 2027-01-15T08:00:00.000Z".to_owned()), ..frame() })
    };
    let error = "`tomorrow` is no time: give one such as 2027-01-31T09:00:00Z, or now for the machine's time";
    let refused = ConsoleClockPage { time: FormField::invalid("tomorrow", error), ..page(frame()) };
    let busy = "the clock is being moved at the moment: try again when that has ended".to_owned();
    let busy = page(PageFrame { failure: Some(busy), ..frame() });
    vec![("live", page(frame())), ("frozen", frozen), ("refused", refused), ("busy", busy)]
}
