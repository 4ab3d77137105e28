//! Reports on what an account promotes.

use serde_json::{Value, json};

use super::super::Manager;
use crate::harness::shared_server;

#[test]
fn report_by_platform_has_what_spent_whatever_was_created_since() {
    let mut manager = Manager::new();
    let campaign = manager.campaign();
    let item = manager.item(&campaign);
    let post = manager.ads.person.publish_text("Seen by many");
    manager.make(&format!("/line-items/{item}/promote"), &[("pick", &post)]);
    shared_server().run_cli(&["ads", "simulate", &manager.ads.account, "--hours", "24"]).assert_success();
    let path = format!("{}/reports/figures.csv?level=campaigns&by=platform", manager.home);
    let before = manager.browser.get(path.clone()).text();
    assert!(before.contains(&campaign), "{before}");
    let create = |number: usize| {
        json!({ "operation_type": "Create", "params": {
            "funding_instrument_id": manager.ads.instrument,
            "name": format!("Empty {number}"),
            "daily_budget_amount_local_micro": 1_000_000,
            "entity_status": "PAUSED",
        } })
    };
    let empty: Vec<Value> = (0..25).map(create).collect();
    manager.ads.batch("campaigns", &empty.into()).assert_status(200);
    assert_eq!(manager.browser.get(path).text(), before);
}

#[test]
fn report_with_wrong_dates_keeps_them_and_shows_no_figures() {
    let mut manager = Manager::new();
    for (dates, problem) in [
        (["2026-03-02", "2026-03-01"], "Enter two dates, the earlier one first."),
        (["2026-01-01", "2026-12-31"], "A report covers at most 90 days."),
    ] {
        let [from, to] = dates;
        let wrong = manager.shown(&format!("/reports?from={from}&to={to}"));
        let is_told = wrong.contains(&format!("<a href=\"#from\">{problem}</a>")) && wrong.contains("<title>Error: ");
        assert!(is_told && dates.iter().all(|date| wrong.contains(&format!("value=\"{date}\""))), "{wrong}");
        assert!(!wrong.contains("No data for this period") && !wrong.contains("figures.csv"), "{wrong}");
        let file = manager.browser.get(format!("{}/reports/figures.csv?from={from}&to={to}", manager.home));
        let refused = file.assert_page(400);
        assert!(refused.contains(problem) && refused.contains("“from” and “to”"), "{refused}");
    }
}
