//! Auctions among currencies: compared by the operator's rates, or not at all.

use serde_json::{Value, json};

use super::{Network, metric};
use crate::ads::Advertiser;
use crate::harness::{TestServer, keep_for_test};

/// Who pays in a currency, and a line item of theirs that bids.
fn bidder(server: &'static TestServer, currency: &str, bid: &str) -> (Advertiser, String) {
    let ads = Advertiser::on(server);
    let fund = ["ads", "account", "funding", &ads.account, "--amount", "50"];
    let more = ["--currency", currency, "--start", "2020-01-01T00:00:00Z"];
    let instrument = server.run_cli(&[&fund[..], &more].concat()).json();
    let ads = Advertiser { instrument: instrument["id"].as_str().unwrap().to_owned(), ..ads };
    let item = ads.quick_item(&ads.quick_campaign("2000000000"), bid);
    ads.promoted(&item, false);
    (ads, item)
}

fn items(shown: &[Value]) -> Vec<&str> {
    let items = shown.iter();
    items.map(|one| one["line_item_id"].as_str().unwrap()).collect()
}

/// What one click on what is shown costs its advertiser, in all.
fn clicked(network: &Network, ads: &Advertiser, item: &str, shown: &Value) -> i64 {
    let token = shown["impression_token"].as_str().unwrap();
    network.report(&[(token, "impression"), (token, "url_click")]).assert_status(200);
    let stats = ads.stats("LINE_ITEM", item, &[]);
    metric(&stats, "billed_charge_local_micro")
}

#[test]
fn currencies_without_exchange_rates_do_not_compete() {
    let server: &'static TestServer = keep_for_test(TestServer::start(&[]));
    let network = Network::on(server);
    let (dollars, cheap) = bidder(server, "USD", "20000");
    let (yen, dear) = bidder(server, "JPY", "90000000");
    let key = |number: usize| json!({ "key": format!("device-{number}") });
    // Whichever is first is left to chance: neither amount is the higher one.
    let mut seen = Vec::new();
    for number in 0..40 {
        let shown = network.request(&key(number), 1);
        seen.push(items(&shown)[0].to_owned());
    }
    assert!(seen.contains(&cheap) && seen.contains(&dear), "{seen:?}");
    // Where there is room for both, both are shown, and nobody bids against either.
    let shown = network.request(&key(0), 5);
    let (first, second) = (&shown[0], &shown[1]);
    assert_eq!(shown.len(), 2);
    let of = |item: &str| {
        if items(&shown)[0] == item { first } else { second }
    };
    assert_eq!(clicked(&network, &dollars, &cheap, of(&cheap)), 10_000);
    assert_eq!(clicked(&network, &yen, &dear, of(&dear)), 1_000_000);
}

#[test]
fn currencies_with_exchange_rates_compete_and_pay_in_their_own() {
    let rates = "ads.exchange_rates=USD=1000000,EUR=2000000";
    let server: &'static TestServer = keep_for_test(TestServer::start(&["--set", rates]));
    let network = Network::on(server);
    let (_, dollars) = bidder(server, "USD", "150000");
    let (euros, best) = bidder(server, "EUR", "100000");
    for number in 0..10 {
        let shown = network.request(&json!({ "key": format!("device-{number}") }), 1);
        assert_eq!(items(&shown), [best.as_str()]);
    }
    let shown = network.request(&json!({ "key": "device" }), 2);
    assert_eq!(items(&shown), [best.as_str(), dollars.as_str()]);
    // 150,000 dollars are 75,000 euros: the step below it, and one more.
    assert_eq!(clicked(&network, &euros, &best, &shown[0]), 80_000);
    for wrong in ["USD", "USD=1.5", "XXY=1", "USD=0"] {
        let set = format!("ads.exchange_rates={wrong}");
        let refused = server.run_cli(&["fsck", "--set", &set]);
        refused.assert_exit_code(2);
    }
}
