//! Every request of the public collection is answered.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::scheduled_posts::minute;
use super::settings::hour;
use super::{Advertiser, send};
use crate::harness::{TestRequest, TestResponse, TestServer, shared_server};
use crate::media::samples::png;

const COLLECTION: &str = include_str!("../../../../clients/contract/ads_requests.tsv");

/// A request of the collection.
#[derive(Clone, Debug)]
struct Request {
    method: &'static str,
    path: &'static str,
    must: Vec<&'static str>,
    may: Vec<&'static str>,
}

fn collection() -> Vec<Request> {
    let lines = COLLECTION.lines().filter(|line| !line.starts_with('#'));
    let names = |cell: &'static str| cell.split(',').filter(|name| *name != "-").collect();
    let read = |line: &'static str| {
        let cells: Vec<&'static str> = line.split('\t').collect();
        Request { method: cells[0], path: cells[1], must: names(cells[2]), may: names(cells[3]) }
    };
    lines.map(read).collect()
}

impl Request {
    fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// What it is about: the last word of its path.
    fn about(&self) -> &'static str {
        let mut words = self.path.split('/').filter(|word| !word.starts_with(':'));
        words.next_back().unwrap_or_default()
    }

    /// Where all of them are, for one of them.
    fn folder(&self) -> &'static str {
        match self.path.rsplit_once('/') {
            Some((folder, last)) if last.starts_with(':') => folder,
            _ => self.path,
        }
    }

    /// What only the sandbox does, and what is done to that.
    fn is_for_sandbox(&self) -> bool {
        if self.path.starts_with("/stats") {
            return false;
        }
        match self.about() {
            "accounts" => ["POST", "DELETE"].contains(&self.method),
            "features" => self.method != "GET",
            "funding_instruments" => true,
            _ => false,
        }
    }
}

/// What there is before the first request, and what the requests add to it.
pub(crate) struct World {
    pub(crate) ads: Advertiser,
    /// Someone else, to whom nothing of it belongs.
    pub(crate) other: Advertiser,
    /// Ids by the path at which all of a kind are.
    made: BTreeMap<&'static str, String>,
    /// Values that parameters have wherever nothing else is said.
    pub(crate) values: BTreeMap<&'static str, String>,
}

impl World {
    pub(super) fn new() -> Self {
        Self::on(shared_server())
    }

    #[expect(clippy::too_many_lines, reason = "one of each kind of record")]
    pub(super) fn on(server: &'static TestServer) -> Self {
        let ads = Advertiser::on(server);
        let feature = ["ads", "account", "feature", &ads.account];
        let polls = ["--add", "PROMOTED_MEDIA_POLLS"];
        let shares = ["--add", "SHARE_AUDIENCE_OUTSIDE_BUSINESS"];
        server.run_cli(&[&feature[..], &polls, &shares].concat()).assert_success();
        let audience = ads.make("/custom_audiences", &[("name", "Riders")]);
        let campaign = |name| {
            let params = [
                ("funding_instrument_id", ads.instrument.as_str()),
                ("name", name),
                ("budget_optimization", "LINE_ITEM"),
            ];
            ads.make("/campaigns", &params)
        };
        let item = |campaign: &str, objective, product, more: &[(&str, &str)]| {
            let params = [
                ("campaign_id", campaign),
                ("objective", objective),
                ("product_type", product),
                ("placements", "ALL_ON_TWITTER"),
            ];
            ads.make("/line_items", &[&params[..], more].concat())
        };
        let (spring, film) = (campaign("Spring"), campaign("Before films"));
        let bid = [("bid_amount_local_micro", "150000")];
        let posts = item(&spring, "ENGAGEMENTS", "PROMOTED_TWEETS", &bid);
        let users = item(&campaign("Riders"), "FOLLOWERS", "PROMOTED_ACCOUNT", &[]);
        let more = [bid[0], ("categories", "IAB7")];
        let before_films = item(&film, "PREROLL_VIEWS", "MEDIA", &more);
        let (image, clip) = (ads.image(), ads.clip());
        let banner = ads.media("tweet_image", &png(320, 50));
        for key in [&image, &clip, &banner] {
            ads.send("POST", "/media_library", &[("media_key", key), ("name", "Ride")]).assert_status(200);
        }
        let media = |kind| {
            let page = ads.get("/account_media", &[("creative_types", kind)]);
            page["data"][0]["id"].as_str().unwrap().to_owned()
        };
        let poll = [
            ("name", "When"),
            ("first_choice", "Morning"),
            ("second_choice", "Evening"),
            ("duration_in_minutes", "60"),
        ];
        let card = ads.send("POST", "/cards/poll", &poll).assert_status(200)["data"].clone();
        let later = [("as_user_id", ads.person.id.as_str()), ("scheduled_at", &minute(90)), ("text", "Later")];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let user = ads.get("/promotable_users", &[])["data"][0]["id"].clone();
        let values = BTreeMap::from([
            ("funding_instrument_id", ads.instrument.clone()),
            ("campaign_id", spring),
            ("line_item_id", posts),
            ("account_id", ads.account.clone()),
            ("account_ids", ads.account.clone()),
            ("account_media_id", media("PREROLL")),
            ("scheduled_tweet_id", ads.make("/scheduled_tweets", &later)),
            ("tweet_ids", ads.person.publish_text("Promoted")),
            ("user_id", ads.person.id.clone()),
            ("recipient_user_id", ads.person.id.clone()),
            ("as_user_id", ads.person.id.clone()),
            ("advertiser_user_id", ads.person.id.clone()),
            ("media_key", image.clone()),
            ("media_keys", image.clone()),
            ("poster_media_key", image),
            ("unlocked_image_media_key", ads.media("tweet_image", &png(1000, 400))),
            ("unlocked_video_media_key", ads.film()),
            ("granted_account_id", Advertiser::on(server).account),
            ("tailored_audience_id", audience.clone()),
            ("card_uri", text(&card["card_uri"])),
            ("card_uris", text(&card["card_uri"])),
            ("of people", users),
            ("before films", before_films),
            ("campaign before films", film),
            ("film", clip.clone()),
        ]);
        let created = BTreeMap::from([
            ("/accounts/:account_id/media_library", clip),
            ("/accounts/:account_id/tailored_audiences", audience),
            ("/accounts/:account_id/account_media", media("BANNER")),
            ("/accounts/:account_id/promotable_users", text(&user)),
            ("/accounts/:account_id/user_settings", ads.person.id.clone()),
            ("/accounts/:account_id/cards/all", text(&card["id"])),
        ]);
        Self { ads, other: Advertiser::on(server), made: created, values }
    }

    /// A value of a parameter; none where another one that is sent excludes it.
    fn value(&self, request: &Request, name: &str) -> Option<String> {
        if request.path.starts_with("/stats") || request.about() == "auction_insights" {
            let known = match name {
                "entity" => Some("CAMPAIGN".to_owned()),
                // What a figure is asked of excludes the rest.
                "funding_instrument_ids" if request.about() == "active_entities" => None,
                "entity_ids" | "campaign_ids" => self.values.get("campaign_id").cloned(),
                "funding_instrument_ids" => Some(self.ads.instrument.clone()),
                "granularity" if request.about() == "auction_insights" => Some("TOTAL".to_owned()),
                "granularity" => Some("HOUR".to_owned()),
                "line_item_ids" if request.about() == "auction_insights" => self.values.get("line_item_id").cloned(),
                "metric_groups" => Some("ENGAGEMENT".to_owned()),
                "placement" => Some("ALL_ON_TWITTER".to_owned()),
                "start_time" => Some(hour(-2)),
                "end_time" => Some(hour(-1)),
                "count" => Some("10".to_owned()),
                _ => None,
            };
            return known;
        }
        if name == "card_ids" || name == "card_id" {
            return self.made.get(request.folder()).cloned();
        }
        // What another parameter excludes; a tag that is not there is none.
        let is_left_out = matches!(
            (request.about(), name),
            // Everyone is asked about, by no campaign or app.
            (_, "cursor" | "audience_value")
                | ("funding_instruments", "credit_limit_local_micro")
                | ("line_items", "primary_web_event_tag")
                | ("draft_tweets" | "tweet", "card_uri")
                | ("scheduled_tweets", "media_keys")
        );
        let value = || self.value_of(request.about(), name);
        (!is_left_out).then(|| value().unwrap_or_else(|| "1".to_owned()))
    }

    /// A sensible value of a parameter of what is about something, if one is known.
    pub(crate) fn value_of(&self, about: &str, name: &str) -> Option<String> {
        let known = |name: &str| self.values.get(name).cloned();
        let of_kind = match (about, name) {
            ("promoted_accounts", "line_item_id" | "line_item_ids") => known("of people"),
            ("preroll_call_to_actions" | "media_creatives", "line_item_id" | "line_item_ids") => known("before films"),
            ("media_creatives", "campaign_id") => known("campaign before films"),
            ("video_conversation" | "video_website" | "video_app_download" | "video_direct_message", "media_key") => {
                known("unlocked_video_media_key")
            }
            ("ab_tests", "start_time") => Some(hour(24)),
            ("web_event_tags", "type") => Some("SITE_VISIT".into()),
            ("media_library", "media_key") => known("film"),
            ("funding_instruments", "start_time") => Some("2026-01-01T00:00:00Z".to_owned()),
            ("scheduled_tweets", "scheduled_at") => Some(minute(60)),
            ("search", "start_time") => Some(minute(-60)),
            ("search", "end_time") | ("conversion_event" | "conversion_attribution", "conversion_time") => {
                Some(minute(0))
            }
            ("search", "location") => Some("3c65374ea675483e".to_owned()),
            ("image_conversation" | "video_conversation" | "poll", "name") => Some("Card".into()),
            ("tweet_previews" | "tweets", "tweet_type") => Some("PUBLISHED".into()),
            _ => None,
        };
        let defaults = || {
            let defaults = USUAL.iter().find(|(known, _)| *known == name);
            defaults.map(|(_, value)| (*value).to_owned())
        };
        let ids = || {
            let one = name.strip_suffix("_ids")?;
            let created = self.made.iter().find_map(|(folder, id)| {
                let kind = folder.rsplit('/').next()?;
                (kind == format!("{one}s") || kind == one).then_some(id)
            });
            created.cloned().or_else(|| known(&format!("{one}_id")))
        };
        of_kind.or_else(|| known(name)).or_else(defaults).or_else(ids)
    }

    /// Sends a request with these parameters.
    fn send(&self, request: &Request, params: &[(&str, &str)]) -> TestResponse {
        let account = if request.is_for_sandbox() { self.made.get("/accounts") } else { Some(&self.ads.account) };
        let mut path = request.path.to_owned();
        path = path.replace(":account_id", account.map_or("1", String::as_str));
        // What belongs to an audience.
        if let Some((head, tail)) = path.split_once(":tailored_audience_id/") {
            let permission = self.made.get(PERMISSIONS).map_or("1", String::as_str);
            let tail = tail.replace(":tailored_audience_permission_id", permission);
            path = format!("{head}{}/{tail}", self.values["tailored_audience_id"]);
        }
        if let Some((head, rest)) = path.split_once(':') {
            let id = self.made.get(request.folder()).map_or("1", String::as_str);
            // The preview of a draft.
            let id = match rest {
                "draft_tweet_id" => &self.made["/accounts/:account_id/draft_tweets"],
                _ => id,
            };
            let tail = rest.split_once('/').map(|(_, tail)| format!("/{tail}"));
            path = format!("{head}{id}{}", tail.unwrap_or_default());
        }
        let sandbox = if request.is_for_sandbox() { "/ads-sandbox" } else { "" };
        let path = format!("{sandbox}/12{path}");
        if let Some(body) = self.json(request) {
            return self.ads.person.send_signed(TestRequest::post(path).json(&body));
        }
        send(&self.ads.person, request.method, &path, params)
    }

    /// What is sent as JSON.
    fn json(&self, request: &Request) -> Option<Value> {
        let create = |params: Value| Some(json!([{ "operation_type": "Create", "params": params }]));
        match (request.path.starts_with("/batch"), request.about()) {
            (true, "campaigns") => create(json!({
                "funding_instrument_id": self.values["funding_instrument_id"],
                "name": "Of a batch",
                "daily_budget_amount_local_micro": 1_000_000,
            })),
            (true, "line_items") => create(json!({
                "campaign_id": self.values["campaign_id"],
                "objective": "ENGAGEMENTS",
                "product_type": "PROMOTED_TWEETS",
                "placements": ["ALL_ON_TWITTER"],
                "bid_amount_local_micro": 150_000,
            })),
            (true, "targeting_criteria") => create(json!({
                "line_item_id": self.values["line_item_id"],
                "targeting_type": "BROAD_KEYWORD",
                "targeting_value": "bike",
            })),
            (true, "tailored_audiences") => create(json!({
                "name": "Of others",
                "audience_type": "FLEXIBLE",
                "segments": { "boolean_operator": "OR", "child_segments": [{
                    "tailored_audience_id": self.values["tailored_audience_id"],
                    "frequency": 1,
                    "frequency_comparator": "NUM_GTE",
                    "lookback_window": 30,
                    "negate": false,
                }] },
            })),
            (true, _) => create(json!({ "name": "Riders" })),
            (false, "audience_summary") => Some(json!({ "targeting_criteria": [
                { "targeting_type": "BROAD_KEYWORD", "targeting_value": "bike" },
            ] })),
            (false, "users") => Some(json!([{
                "operation_type": "Update",
                "params": { "users": [{ "email": ["0".repeat(64)] }] },
            }])),
            _ => None,
        }
    }

    /// Sends it with all parameters that it names.
    fn full(&self, request: &Request) -> TestResponse {
        let names = request.must.iter().chain(&request.may);
        let all = names.filter_map(|name| Some((*name, self.value(request, name)?)));
        let all: Vec<(&str, String)> = all.collect();
        let all: Vec<(&str, &str)> = all.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.send(request, &all)
    }

    /// Reads with what must be there alone, with the rest empty, and page by page.
    fn otherwise(&self, request: &Request) -> Vec<TestResponse> {
        let must = request.must.iter();
        let must = must.filter_map(|name| Some((*name, self.value(request, name)?)));
        let must: Vec<(&str, String)> = must.collect();
        let with = |more: &[(&'static str, &str)]| {
            let all = must.iter().map(|(name, value)| (*name, value.as_str()));
            let all: Vec<(&str, &str)> = all.chain(more.iter().copied()).collect();
            self.send(request, &all)
        };
        let empty: Vec<(&'static str, &str)> = request.may.iter().map(|name| (*name, "")).collect();
        let mut answers = vec![with(&[]), with(&empty)];
        if request.may.contains(&"cursor") {
            let first = with(&[("count", "1")]);
            if let Some(next) = first.json()["next_cursor"].as_str() {
                answers.push(with(&[("count", "1"), ("cursor", next)]));
            }
            answers.push(first);
        }
        answers
    }

    /// Remembers what a request made.
    fn learn(&mut self, request: &Request, response: &TestResponse) {
        if request.method != "POST" || request.path.contains(":draft") || response.status >= 300 {
            return;
        }
        let body = response.json();
        let created = match &body["data"] {
            Value::Array(all) => all.first().cloned().unwrap_or_default(),
            one => one.clone(),
        };
        if let Some(id) = created["id_str"].as_str().or(created["id"].as_str()) {
            self.made.insert(request.path, id.to_owned());
        }
    }
}

/// Where permissions are made.
const PERMISSIONS: &str = "/accounts/:account_id/tailored_audiences/:tailored_audience_id/permissions";

/// What parameters hold wherever nothing else is said.
const USUAL: &[(&str, &str)] = &[
    ("address_country", "PT"),
    ("address_email", "tax@bikes.example"),
    ("advertiser_domain", "bikes.example"),
    ("audience_expansion", "BROAD"),
    ("bid_amount_local_micro", "150000"),
    ("bill_to", "AGENCY"),
    ("business_relationship", "AGENCY"),
    ("call_to_action", "VISIT_SITE"),
    ("call_to_action_url", "https://bikes.example/"),
    ("categories", "IAB17"),
    ("client_address_country", "PT"),
    ("client_address_email", "client@bikes.example"),
    ("contact_phone", "+351200000000"),
    ("conversation_type", "SPORTS"),
    ("count", "10"),
    ("country_code", "PT"),
    ("country_codes", "PT"),
    ("app_cta", "OPEN"),
    ("app_id", "org.example.bikes"),
    ("app_store_identifier", "org.example.bikes"),
    ("app_store_identifiers", "org.example.bikes,333903271"),
    ("audience_type", "ALL_ON_TWITTER"),
    ("click_window", "30"),
    ("conversion_type", "INSTALL"),
    ("currency", "EUR"),
    ("daily_budget_amount_local_micro", "1000000"),
    ("description", "A ride along the river"),
    ("duration_in_minutes", "60"),
    ("end_time", "2099-01-01T00:00:00Z"),
    ("entity_status", "PAUSED"),
    ("event_types", "SPORTS"),
    ("feature_keys", "AGE_TARGETING"),
    ("file_name", "ride.mp4"),
    ("first_choice", "Morning"),
    ("first_cta", "#Coast"),
    ("first_cta_tweet", "I choose the coast"),
    ("first_cta_welcome_message_id", "7"),
    ("fourth_choice", "Never"),
    ("fourth_cta", "#Home"),
    ("fourth_cta_tweet", "I stay at home"),
    ("funded_amount_local_micro", "5000000"),
    ("googleplay_app_id", "org.example.bikes"),
    ("granularity", "DAY"),
    ("hashed_device_id", "da017b829391311062b1abdbcdd5f4f7b6c24e8074af53f1b0df0f3e91119138"),
    ("industry_type", "RETAIL"),
    ("interaction_type", "ENGAGEMENT"),
    ("invoice_jurisdiction", "NONE"),
    ("keywords", "bike"),
    ("landing_url", "https://bikes.example/"),
    ("lang", "en"),
    ("locale", "en-US"),
    ("location_type", "COUNTRIES"),
    ("media_type", "VIDEO"),
    ("name", "Harbour Bikes"),
    ("notification_email", "ads@bikes.example"),
    ("non_twitter_engagement_time", "2026-01-01T00:00:00Z"),
    ("non_twitter_engagement_type", "CLICK"),
    ("nullcast", "true"),
    ("objective", "ENGAGEMENTS"),
    ("operator_type", "EQ"),
    ("os_type", "IOS"),
    ("paused", "false"),
    ("post_engagement_attribution_window", "14"),
    ("post_view_attribution_window", "1"),
    ("provider_advertiser_id", "harbour-bikes"),
    ("provider_app_event_id", "7"),
    ("provider_app_event_name", "Install"),
    ("placements", "ALL_ON_TWITTER"),
    ("product_type", "PROMOTED_TWEETS"),
    ("q", "ride"),
    ("retargeting_enabled", "true"),
    ("second_choice", "Evening"),
    ("second_cta", "#Hills"),
    ("second_cta_tweet", "I choose the hills"),
    ("sort_by", "created_at-desc"),
    ("standard_delivery", "true"),
    ("start_time", "2098-01-01T00:00:00Z"),
    ("subscribed_email_types", "ACCOUNT_PERFORMANCE"),
    ("suggestion_type", "KEYWORD"),
    ("targeting_type", "PHRASE_KEYWORD"),
    ("targeting_value", "cargo bike"),
    ("targeting_values", "bike"),
    ("tax_category", "BUSINESS_WITH_VAT"),
    ("text", "Spring ride opens"),
    ("thank_you_text", "See you there"),
    ("thank_you_url", "https://bikes.example/"),
    ("third_choice", "At night"),
    ("third_cta", "#Town"),
    ("third_cta_tweet", "I choose the town"),
    ("timeline_type", "ALL"),
    ("title", "Sunday ride"),
    ("total_budget_amount_local_micro", "20000000"),
    ("trim_user", "true"),
    ("tweet_mode", "extended"),
    ("permission_level", "READ_ONLY"),
    ("permission_scope", "OWNER"),
    ("tweet_type", "PUBLISHED"),
    ("type", "PARTNER_MANAGED"),
    ("video_cta", "VISIT_SITE"),
    ("video_cta_value", "https://bikes.example/"),
    ("view_through_window", "1"),
    ("website_title", "Ride more"),
    ("website_url", "https://bikes.example/"),
    ("with_deleted", "true"),
    ("with_draft", "true"),
    ("with_total_count", "true"),
];

#[test]
fn requests_of_the_public_collection_succeed() {
    let mut world = World::new();
    let all = collection();
    assert_eq!(all.len(), 190);
    let mut order: Vec<&Request> = Vec::new();
    for method in ["POST", "GET", "PUT"] {
        order.extend(all.iter().filter(|request| request.method == method));
    }
    // What was made last goes first.
    order.extend(all.iter().rev().filter(|request| request.method == "DELETE"));
    assert_eq!(order.len(), all.len());
    let mut wrong = Vec::new();
    for request in order {
        if request.name() == "DELETE /stats/jobs/accounts/:account_id/:job_id" {
            // One that is not done meanwhile.
            let job = all.iter().find(|job| job.name() == "POST /stats/jobs/accounts/:account_id");
            let response = world.full(job.unwrap());
            world.learn(job.unwrap(), &response);
        }
        let (name, response) = (request.name(), world.full(request));
        if !(200..300).contains(&response.status) {
            wrong.push(format!("{name}: {} {}", response.status, response.text()));
        }
        world.learn(request, &response);
        if request.method == "GET" {
            let others = world.otherwise(request);
            let refused = others.iter().filter(|response| response.status >= 300);
            wrong.extend(refused.map(|response| format!("{name}, otherwise: {}", response.text())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
