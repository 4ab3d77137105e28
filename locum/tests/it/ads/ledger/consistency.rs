//! Statistics agree with each other and with the budget, whatever happened.

use std::collections::{BTreeMap, BTreeSet};

use base::clock::wall_time;
use serde_json::{Value, json};

use super::{HOUR, Network, around, file, market, sum, written};
use crate::ads::Advertiser;
use crate::harness::{TestRng, TestServer, TestUser, keep_for_test, suite_setting, wait_until};
use crate::pages::browser::Browser;

/// A campaign with two line items and the events of a simulation.
fn simulated_campaign() -> (Advertiser, String, [String; 2]) {
    let ads = Advertiser::on(market());
    let campaign = ads.quick_campaign("900000");
    let items = [ads.quick_item(&campaign, "150000"), ads.quick_item(&campaign, "100000")];
    for item in &items {
        ads.promoted(item, false);
        ads.promoted(item, true);
    }
    for _ in 0..5 {
        market().new_user("viewer");
    }
    let mut simulated = 0;
    for seed in ["1", "2"] {
        let simulate = ["ads", "simulate", &ads.account, "--hours", "40", "--seed", seed];
        let created = market().run_cli(&simulate).json();
        simulated += created["events"].as_i64().unwrap();
        // The same seed makes the same events, and makes them once.
        let again = market().run_cli(&simulate).json();
        assert!(again["events"].as_i64().unwrap() <= created["events"].as_i64().unwrap() / 10, "{again}");
    }
    // Of both seeds: when the window covers two days only, the first one may leave no budget to the second.
    assert!(simulated > 10, "{simulated}");
    (ads, campaign, items)
}

#[test]
fn simulated_events_have_the_same_totals_in_every_report() {
    let (ads, campaign, items) = simulated_campaign();
    let both = items.join(",");
    let (from, to) = around(48, 1);
    let of = |entity: &'static str, ids: &str, granularity: &'static str| {
        let more = [("granularity", granularity), ("start_time", from.as_str()), ("end_time", to.as_str())];
        ads.stats(entity, ids, &more)
    };
    let by_item = of("LINE_ITEM", &both, "TOTAL");
    let by_hour = of("LINE_ITEM", &both, "HOUR");
    let whole = of("CAMPAIGN", &campaign, "TOTAL");
    let job = |segments: &'static str| {
        let mut params = vec![
            ("entity", "LINE_ITEM"),
            ("entity_ids", both.as_str()),
            ("granularity", "HOUR"),
            ("start_time", from.as_str()),
            ("end_time", to.as_str()),
            ("metric_groups", "ENGAGEMENT,BILLING"),
            ("placement", "ALL_ON_TWITTER"),
        ];
        if !segments.is_empty() {
            params.push(("segmentation_type", segments));
        }
        let created = ads.beside("POST", "jobs/A", &params).assert_status(200);
        assert_eq!(created["data"]["status"], "QUEUED");
        assert!(created["data"]["id"].is_i64());
        file(&ads, &created)
    };
    let late = job("");
    assert_eq!(late["data"], by_hour["data"], "at once and in the background");
    assert_eq!(late["request"]["params"], by_hour["request"]["params"]);
    let segmented: Vec<Value> = ["PLATFORMS", "AGE", "GENDER"].into_iter().map(job).collect();
    for name in ["impressions", "engagements", "likes", "clicks", "billed_engagements", "billed_charge_local_micro"] {
        let mut all = 0;
        for place in 0..2 {
            let total = sum(&by_item["data"][place], name);
            assert_eq!(total, sum(&by_hour["data"][place], name), "{name} by hour");
            // Few people see the ads: they may all be of one age or gender, but use several platforms.
            for (one, least) in segmented.iter().zip([2, 1, 1]) {
                assert_eq!(total, sum(&one["data"][place], name), "{name} by segment");
                let segments = one["data"][place]["id_data"].as_array().unwrap();
                assert!(segments.len() >= least, "{one}");
                assert!(segments[0]["segment"]["segment_name"].is_string());
            }
            all += total;
        }
        assert_eq!(all, sum(&whole["data"][0], name), "{name} of the campaign");
    }
    // Three days at most, and an event each.
    let spent = sum(&whole["data"][0], "billed_charge_local_micro");
    assert!(spent > 0 && spent <= 3 * (900_000 + 150_000), "{spent}");
    let params = [("campaign_ids", campaign.as_str()), ("start_time", &from), ("end_time", &to)];
    let reach = ads.beside("GET", "A/reach/campaigns", &params).assert_status(200);
    let reach = reach["data"][0]["total_audience_reach"].as_i64().unwrap();
    assert!(reach > 0 && reach <= sum(&whole["data"][0], "impressions"));
}

/// Figures that are compared wherever they are told.
const FIGURES: [&str; 6] =
    ["impressions", "engagements", "likes", "clicks", "billed_engagements", "billed_charge_local_micro"];
/// What the first campaign may spend in a day, and the highest of its bids.
const DAILY: i64 = 400_000;
const BID: i64 = 60_000;

/// What a line item came to, as it was seen from outside.
#[derive(Clone, Debug, Default)]
struct Came {
    impressions: i64,
    engagements: i64,
    viewers: BTreeSet<usize>,
    likers: BTreeSet<usize>,
}

/// An account with two campaigns, those who look, and what came of it.
struct History {
    ads: Advertiser,
    network: Network,
    people: Vec<TestUser<'static>>,
    campaigns: [String; 2],
    /// Each with its post and the campaign that it is in.
    items: Vec<(String, String, usize)>,
    came: Vec<Came>,
    /// What was shown: the token, the line item, and who looked.
    shown: Vec<(String, usize, usize)>,
    dice: TestRng,
}

impl History {
    fn begin(seed: u64) -> Self {
        let server: &'static TestServer = keep_for_test(TestServer::start(&[]));
        let ads = Advertiser::on(server);
        let campaigns = [ads.quick_campaign(&DAILY.to_string()), ads.quick_campaign("20000000")];
        let reach = [
            ("campaign_id", campaigns[1].as_str()),
            ("objective", "REACH"),
            ("product_type", "PROMOTED_TWEETS"),
            ("placements", "ALL_ON_TWITTER"),
            ("start_time", "2026-01-01T00:00:00Z"),
        ];
        let items = [
            (ads.quick_item(&campaigns[0], &BID.to_string()), 0),
            (ads.quick_item(&campaigns[0], "50000"), 0),
            (ads.make("/line_items", &reach), 1),
        ];
        let items = items.into_iter().map(|(item, campaign)| {
            let (post, _) = ads.promoted(&item, false);
            (item, post, campaign)
        });
        let items: Vec<(String, String, usize)> = items.collect();
        Self {
            network: Network::on(server),
            people: (0..4).map(|_| server.new_user("viewer")).collect(),
            came: vec![Came::default(); items.len()],
            shown: Vec::new(),
            dice: TestRng(seed),
            ads,
            campaigns,
            items,
        }
    }

    /// The power is cut, and comes back.
    fn crash(&mut self) {
        let server: &'static TestServer = keep_for_test(self.ads.person.server.kill_and_serve_again());
        let again = |user: &TestUser<'static>| {
            let names = (user.id.clone(), user.username.clone());
            TestUser::with_token(server, &user.app, names, &user.token)
        };
        self.people = self.people.iter().map(again).collect();
        self.ads.person = again(&self.ads.person);
        self.network.server = server;
    }

    /// One of the people, or someone who is none.
    fn viewer(&mut self) -> (usize, Value) {
        let number = self.dice.below(self.people.len() + 3);
        let who = match self.people.get(number) {
            Some(person) => json!({ "user_id": person.id }),
            None => json!({ "key": format!("device-{number}") }),
        };
        let mut who = who;
        if self.dice.below(4) > 0 {
            who["platform"] = json!(self.dice.below(5));
            who["age"] = json!(13 + self.dice.below(60));
            who["gender"] = json!(1 + self.dice.below(2));
        }
        (number, who)
    }

    fn act(&mut self) {
        match self.dice.below(12) {
            0..=4 => self.look(),
            5..=8 => self.touch(),
            9 => self.like(),
            10 => self.reply(),
            _ => {
                let campaign = self.campaigns[self.dice.below(2)].clone();
                let status = *self.dice.pick(&["PAUSED", "ACTIVE", "ACTIVE"]);
                let path = format!("/campaigns/{campaign}");
                let params = [("entity_status", status)];
                self.ads.send("PUT", &path, &params).assert_status(200);
            }
        }
    }

    /// Somebody is shown something; now and then that is told twice, or never.
    fn look(&mut self) {
        let (number, viewer) = self.viewer();
        let slots = i64::try_from(self.dice.below(3) + 1).unwrap();
        for one in self.network.request(&viewer, slots) {
            let place = self.items.iter();
            let mut place = place.zip(0..).filter(|((id, ..), _)| one["line_item_id"] == **id);
            let place: usize = place.next().unwrap().1;
            let token = one["impression_token"].as_str().unwrap().to_owned();
            for time in 0..self.dice.below(3) {
                let response = self.network.report(&[(&token, "impression")]).assert_status(200);
                let expected = ["RECORDED", "REPEATED"][time.min(1)];
                assert_eq!(response["data"][0]["status"], expected);
                if time == 0 {
                    self.came[place].impressions += 1;
                    self.came[place].viewers.insert(number);
                    self.shown.push((token.clone(), place, number));
                }
            }
        }
    }

    /// Something is done with what was shown.
    fn touch(&mut self) {
        if self.shown.is_empty() {
            return self.look();
        }
        let (token, place, _) = self.dice.pick(&self.shown).clone();
        let kinds = ["click", "url_click", "card_engagement", "carousel_swipe", "qualified_impression"];
        let kind = *self.dice.pick(&kinds);
        let response = self.network.report(&[(&token, kind)]).assert_status(200);
        let new = response["data"][0]["status"] == "RECORDED";
        if new && kind != "qualified_impression" {
            self.came[place].engagements += 1;
        }
        // What is wrong beside it is taken as a whole, and counts nothing.
        let wrong = self.network.report(&[(&token, "swipe"), (&token, "click")]);
        assert_eq!(wrong.status, 400);
    }

    /// Somebody who was shown a post does something with it on the platform.
    fn like(&mut self) {
        let (user, place) = (self.dice.below(self.people.len()), self.dice.below(self.items.len()));
        let (person, post) = (&self.people[user], &self.items[place].1);
        if !self.came[place].likers.insert(user) {
            return;
        }
        let body = json!({ "tweet_id": post });
        let path = format!("/2/users/{}/likes", person.id);
        person.post(path, &body).assert_status(200);
        self.came[place].engagements += i64::from(self.came[place].viewers.contains(&user));
    }

    fn reply(&mut self) {
        let (user, place) = (self.dice.below(self.people.len()), self.dice.below(self.items.len()));
        let (person, post) = (&self.people[user], &self.items[place].1);
        let text = format!("Nice, number {}", crate::harness::unique_number());
        let body = json!({ "text": text, "reply": { "in_reply_to_tweet_id": post } });
        person.create_post(&body).assert_status(201);
        self.came[place].engagements += i64::from(self.came[place].viewers.contains(&user));
    }

    /// Everything that is told agrees with everything else, and with what was seen from outside.
    fn check(&self) {
        let expected: Vec<i64> = self.came.iter().map(|came| came.engagements).collect();
        wait_until("what was done is counted", || {
            let response = self.items.iter();
            let response: Vec<i64> = response.map(|(item, ..)| self.total("LINE_ITEM", item)[1]).collect();
            assert!(
                response.iter().zip(&expected).all(|(response, most)| response <= most),
                "{response:?}: {expected:?}"
            );
            response == expected
        });
        let items: Vec<[i64; 6]> = self.items.iter().map(|(item, ..)| self.total("LINE_ITEM", item)).collect();
        let mut all = [0; 6];
        for (number, campaign) in self.campaigns.iter().enumerate() {
            let own = || self.items.iter().zip(&items).zip(&self.came).filter(|((item, _), _)| item.2 == number);
            let whole = self.total("CAMPAIGN", campaign);
            let mut sums = [0; 6];
            for ((_, figures), came) in own() {
                assert_eq!(figures[0], came.impressions);
                for (sum, figure) in sums.iter_mut().zip(figures) {
                    *sum += figure;
                }
            }
            assert_eq!(sums, whole, "line items of {campaign}");
            for (sum, figure) in all.iter_mut().zip(whole) {
                *sum += figure;
            }
            let viewers: BTreeSet<usize> = own().flat_map(|(_, came)| came.viewers.clone()).collect();
            self.check_reach(campaign, (viewers.len(), whole[0]));
        }
        // Clicks are told of campaigns and what is below them only, and costs not of accounts.
        let pays = self.total("FUNDING_INSTRUMENT", &self.ads.instrument);
        let account = self.total("ACCOUNT", &self.ads.account);
        assert_eq!((&all[..3], &all[4..]), (&pays[..3], &pays[4..]));
        assert_eq!(all[..3], account[..3]);
        self.check_budgets(all[5]);
        self.check_jobs(&items);
        self.check_pages(&items, all);
    }

    /// Figures of all time. What an entity has not is left out.
    fn total(&self, entity: &str, id: &str) -> [i64; 6] {
        let groups = if entity == "ACCOUNT" { "ENGAGEMENT" } else { "ENGAGEMENT,BILLING" };
        let more = [("entity", entity), ("metric_groups", groups)];
        let stats = self.ads.stats(entity, id, &more);
        FIGURES.map(|name| sum(&stats["data"][0], name))
    }

    fn check_reach(&self, campaign: &str, (viewers, impressions): (usize, i64)) {
        let (from, to) = around(24, 1);
        let params = [("campaign_ids", campaign), ("start_time", &from), ("end_time", &to)];
        let reach = self.ads.beside("GET", "A/reach/campaigns", &params).assert_status(200);
        let response = reach["data"][0]["total_audience_reach"].as_i64().unwrap_or(0);
        assert_eq!(response, i64::try_from(viewers).unwrap(), "{reach}");
        assert!(response <= impressions, "{reach}");
        if response > 0 {
            let exact = |number: i64| f64::from(u32::try_from(number).unwrap());
            let expected = exact(impressions) / exact(response);
            let frequency = reach["data"][0]["average_frequency"].as_f64().unwrap();
            assert!((frequency - expected).abs() < 0.0051, "{reach}: {expected}");
        }
    }

    /// No day costs more than its budget and one event; what is left to pay with is the rest.
    fn check_budgets(&self, spent: i64) {
        let date = |days: i64| written(wall_time().ms() + days * 24 * HOUR)[..10].to_owned();
        let (from, to) = (date(-2), date(2));
        let more = [("granularity", "DAY"), ("start_time", &*from), ("end_time", &*to)];
        let stats = self.ads.stats("CAMPAIGN", &self.campaigns[0], &more);
        let days = &stats["data"][0]["id_data"][0]["metrics"]["billed_charge_local_micro"];
        for day in days.as_array().into_iter().flatten() {
            assert!(day.as_i64().unwrap() < DAILY + BID, "{stats}");
        }
        let path = format!("/funding_instruments/{}", self.ads.instrument);
        let left = &self.ads.get(&path, &[])["data"]["credit_remaining_local_micro"];
        if let Some(left) = left.as_i64() {
            assert_eq!(left, 5_000_000_000 - spent);
        }
    }

    /// What is worked out in the background is what is told at once, as a whole and in segments.
    fn check_jobs(&self, items: &[[i64; 6]]) {
        let ids: Vec<&str> = self.items.iter().map(|(item, ..)| item.as_str()).collect();
        let ids = ids.join(",");
        let (from, to) = around(24, 1);
        let mut created = BTreeMap::new();
        for segments in ["", "PLATFORMS", "AGE", "GENDER"] {
            let mut params = vec![
                ("entity", "LINE_ITEM"),
                ("entity_ids", ids.as_str()),
                ("granularity", "HOUR"),
                ("start_time", from.as_str()),
                ("end_time", to.as_str()),
                ("metric_groups", "ENGAGEMENT,BILLING"),
                ("placement", "ALL_ON_TWITTER"),
            ];
            if !segments.is_empty() {
                params.push(("segmentation_type", segments));
            }
            let job = self.ads.beside("POST", "jobs/A", &params).assert_status(200);
            created.insert(segments, job);
        }
        let hours = [("granularity", "HOUR"), ("start_time", from.as_str()), ("end_time", to.as_str())];
        let at_once = self.ads.stats("LINE_ITEM", &ids, &hours);
        for (segments, job) in created {
            let response = file(&self.ads, &job);
            if segments.is_empty() {
                assert_eq!(response["data"], at_once["data"]);
            }
            for ((id, ..), figures) in self.items.iter().zip(items) {
                let rows = response["data"].as_array().unwrap().iter();
                let row: Vec<&Value> = rows.filter(|row| row["id"] == **id).collect();
                let sums = FIGURES.map(|name| sum(row[0], name));
                assert_eq!(sums, *figures, "{id} by {segments}: {response}");
            }
        }
    }

    /// The Ads Manager shows the same.
    fn check_pages(&self, items: &[[i64; 6]], all: [i64; 6]) {
        let server = self.ads.person.server;
        let name = &self.ads.person.username;
        let set = ["user", "password", name, "--password", "a long secret"];
        server.run_cli(&set).assert_success();
        let mut browser = Browser::new(server);
        browser.sign_in(name, "a long secret", "/ads");
        let home = format!("/ads/{}", self.ads.account);
        let campaigns = self.campaigns.iter().map(|campaign| {
            let path = format!("{home}/campaigns/{campaign}");
            (path, self.total("CAMPAIGN", campaign))
        });
        let items = self.items.iter().zip(items);
        let items = items.map(|((item, ..), figures)| (format!("{home}/line-items/{item}"), *figures));
        for (path, figures) in campaigns.chain(items).chain([(home.clone(), all)]) {
            let shown = browser.get(path.clone());
            assert_eq!(shown.status, 200, "{path}");
            let text = shown.text();
            let coins = (figures[5] + 5_000) / 10_000;
            let money = format!(">{}.{:02} USD<", coins / 100, coins % 100);
            assert!(text.contains(&money), "{path}: {money} in {text}");
            let impressions = format!(">{}<", figures[0]);
            assert!(text.contains(&impressions), "{path}: {impressions} in {text}");
        }
    }
}

/// Whatever is shown, done, repeated, paused and cut off: what is told is what happened.
#[test]
fn figures_agree_after_random_events() {
    let now = u64::try_from(wall_time().ms()).unwrap();
    let seed = suite_setting("LOCUM_RANDOM_SEED", now);
    eprintln!("LOCUM_RANDOM_SEED={seed}");
    let acts = suite_setting("LOCUM_LEDGER_ACTS", 120);
    let mut history = History::begin(seed);
    for act in 0..acts {
        history.act();
        // What was just done on the platform may not have been read from the log yet.
        if act == acts / 3 || act == acts * 2 / 3 {
            history.crash();
        }
        if act == acts / 2 {
            history.check();
        }
    }
    history.check();
    history.crash();
    history.check();
}
