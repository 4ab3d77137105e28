//! Several campaigns at once, drafts, reports, and targeting by name.

use std::collections::HashMap;

use serde_json::json;

use base::clock::wall_time;

use super::{Manager, csrf};
use crate::harness::{TestRequest, percent_encode, shared_server};
use crate::media::{at_once, samples};
use crate::pages::browser::hidden;

impl Manager {
    fn campaign_with(&self, name: &str, status: &str) -> String {
        let params = [
            ("funding_instrument_id", self.ads.instrument.as_str()),
            ("name", name),
            ("daily_budget_amount_local_micro", "20000000"),
            ("entity_status", status),
        ];
        self.ads.make("/campaigns", &params)
    }

    fn field(&self, path: &str, name: &str) -> serde_json::Value {
        self.ads.get(path, &[("with_draft", "true")])["data"][name].clone()
    }
}

#[test]
fn several_campaigns_are_changed_together_or_not_at_all_and_a_pause_is_undone() {
    let mut manager = Manager::new();
    let campaigns = ["Autumn", "Winter", "Zoo"].map(|name| manager.campaign_with(name, "ACTIVE"));
    let [one, two, paused] = campaigns.each_ref().map(String::as_str);
    manager.ads.send("PUT", &format!("/campaigns/{paused}"), &[("entity_status", "PAUSED")]).assert_status(200);
    let status = |manager: &Manager, id: &str| manager.field(&format!("/campaigns/{id}"), "entity_status");
    let list = manager.shown("");
    assert!(list.contains(&format!("name=\"select-{one}\"")), "{list}");
    let none = manager.browser.get(format!("{}/campaigns/selected", manager.home));
    assert!(none.text().contains("Select at least one row"), "{}", none.text());
    let ticked = manager.shown(&format!("/campaigns/selected?select-{one}=on&select-{two}=on&select-{paused}=on"));
    assert!(ticked.contains("Edit 3 campaigns") && ticked.contains("Winter"), "{ticked}");
    let form = format!("/campaigns/selected?ids={one},{two},{paused}");
    let daily = "daily_budget_amount_local_micro";
    // Nothing is changed by a form without changes or with a wrong one.
    let response = manager.send(&form, &[]);
    assert_eq!(response.status, 400, "{}", response.text());
    let total = [("total_budget_amount_local_micro", "10"), ("entity_status", "PAUSED")];
    assert_eq!(manager.send(&form, &total).status, 400);
    assert_eq!(status(&manager, one), "ACTIVE");
    let response = manager.send(&form, &[("entity_status", "PAUSED"), (daily, "30")]);
    assert_eq!(response.status, 303, "{}", response.text());
    for id in [one, two, paused] {
        assert_eq!(status(&manager, id), "PAUSED");
        assert_eq!(manager.field(&format!("/campaigns/{id}"), daily), 30_000_000);
    }
    // Only those are resumed that the form has paused.
    let shown = manager.browser.get(response.header("location").to_owned()).text();
    let ids = [one, two].map(str::to_owned);
    let undo = [ids.join(","), ids.iter().rev().cloned().collect::<Vec<_>>().join(",")]
        .map(|ids| format!("{}/campaigns/selected?ids={ids}", manager.home));
    let undo = undo.into_iter().find(|undo| shown.contains(undo.as_str())).expect(&shown);
    let fields = hidden(&shown, &undo);
    assert_eq!(fields["next"], manager.home);
    let response = manager.browser.send(crate::pages::browser::posted(&undo, &fields));
    assert_eq!(response.status, 303, "{}", response.text());
    assert_eq!(
        [one, two, paused].map(|id| status(&manager, id)),
        ["ACTIVE", "ACTIVE", "PAUSED"].map(|word| json!(word))
    );
    // One that was paused with its own button too.
    let pause = format!("{}/campaigns/{one}/pause", manager.home);
    let token = csrf(&mut manager.browser);
    let response = manager.browser.send(TestRequest::post(pause).form(format!("csrf={}", percent_encode(&token))));
    let to = response.header("location").to_owned();
    assert!(to.ends_with(&format!("done=paused&undo=campaigns:{one}")), "{to}");
    assert!(manager.browser.get(to).text().contains("Undo pause"));
    // A link cannot make the page offer anything else.
    let odd = manager.shown("?done=paused&undo=campaigns:%3Cb%3E");
    assert!(!odd.contains("Undo pause"), "{odd}");
}

#[test]
fn campaigns_are_found_by_the_beginning_of_their_name() {
    let mut manager = Manager::new();
    for name in ["Spring sale", "Spring tour", "Winter"] {
        manager.campaign_with(name, "ACTIVE");
    }
    let found = manager.shown("?q=spring");
    assert!(found.contains("Spring sale") && found.contains("Spring tour") && !found.contains("Winter"), "{found}");
    for number in 0..20 {
        manager.campaign_with(&format!("More {number}"), "ACTIVE");
    }
    let first = manager.shown("");
    let next = first.split("rel=\"next\" href=\"").nth(1).unwrap().split('"').next().unwrap();
    let older = manager.browser.get(next.replace("&#38;", "&")).text();
    let all = older.split("&#38;select=all").next().unwrap().rsplit('"').next().unwrap();
    let ticked = manager.browser.get(format!("{}&select=all", all.replace("&#38;", "&"))).text();
    assert!(ticked.contains("Spring sale") && ticked.contains(" checked"), "{ticked}");
    let none = manager.shown("?q=autumn");
    assert!(none.contains("No campaign found") && none.contains("Show all campaigns"), "{none}");
}

#[test]
fn posts_and_cards_of_later_pages_are_reached() {
    let mut manager = Manager::new();
    for number in 0..51 {
        manager.ads.make("/draft_posts", &[("text", &format!("Draft {number:02} of many"))]);
        let poll = [
            ("name", &*format!("Poll {number:02} of many")),
            ("first_choice", "East"),
            ("second_choice", "West"),
            ("duration_in_minutes", "1440"),
        ];
        manager.ads.make("/cards/poll", &poll);
    }
    for (path, what) in [("/posts", "Draft"), ("/cards", "Poll")] {
        let named = |page: &str| (0..51).filter(|number| page.contains(&format!("{what} {number:02} of many"))).count();
        let first = manager.shown(path);
        assert_eq!(named(&first), 50, "{first}");
        let next = first.split("rel=\"next\" href=\"").nth(1).unwrap().split('"').next().unwrap();
        let older = manager.browser.get(next.replace("&#38;", "&")).text();
        assert_eq!(named(&older), 1, "{older}");
    }
}

#[test]
fn line_items_of_later_pages_are_reached_and_selected() {
    let mut manager = Manager::new();
    let campaign = manager.campaign_with("Many", "ACTIVE");
    let params = [("campaign_id", &*campaign), ("objective", "ENGAGEMENTS"), ("placements", "ALL_ON_TWITTER")];
    let more = [("product_type", "PROMOTED_TWEETS"), ("bid_amount_local_micro", "150000"), ("entity_status", "PAUSED")];
    for number in 0..41 {
        let own = [("name", &*format!("Item {number:02} of many")), ("start_time", "2026-01-01T00:00:00Z")];
        manager.ads.make("/line_items", &[&params[..], &more[..], &own[..]].concat());
    }
    let named = |page: &str| (0..41).filter(|number| page.contains(&format!("Item {number:02} of many"))).count();
    let link = |page: &str, rel: &str| {
        let link = page.split(&format!("rel=\"{rel}\" href=\"")).nth(1).unwrap().split('"').next().unwrap();
        link.replace("&#38;", "&")
    };
    let first = manager.shown(&format!("/campaigns/{campaign}?days=28"));
    assert_eq!(named(&first), 40, "{first}");
    let older = manager.browser.get(link(&first, "next")).text();
    assert_eq!(named(&older), 1, "{older}");
    assert!(older.contains("last 28 days"), "{older}");
    assert_eq!(named(&manager.browser.get(link(&older, "prev")).text()), 40);
    let all = older.split("&#38;select=all").next().unwrap().rsplit('"').next().unwrap();
    let ticked = manager.browser.get(format!("{}&select=all", all.replace("&#38;", "&"))).text();
    assert_eq!((named(&ticked), ticked.contains(" checked")), (1, true), "{ticked}");
}

#[test]
fn post_form_offers_cards_that_are_older_than_many_others() {
    let mut manager = Manager::new();
    for number in 0..201 {
        let poll = [
            ("name", &*format!("Poll {number:03} of many")),
            ("first_choice", "East"),
            ("second_choice", "West"),
            ("duration_in_minutes", "1440"),
        ];
        manager.ads.make("/cards/poll", &poll);
    }
    let form = manager.shown("/posts/new");
    assert!(form.contains("Poll 200 of many") && form.contains("Poll 000 of many"), "{form}");
}

#[test]
fn forms_offer_media_of_their_kind_that_are_older_than_many_others() {
    let mut manager = Manager::new();
    let add = |manager: &Manager, category: &str, file: &[u8]| {
        let uploaded = at_once(&manager.ads.person, category, file).assert_status(200);
        let key = uploaded["data"]["media_key"].as_str().unwrap().to_owned();
        manager.ads.send("POST", "/media_library", &[("media_key", &key)]).assert_status(200);
        key
    };
    let moving = add(&manager, "tweet_gif", &samples::gif(2));
    for _ in 0..51 {
        add(&manager, "tweet_image", &samples::png(8, 8));
    }
    for form in ["/cards/new/video", "/drafts/new"] {
        let page = manager.shown(form);
        assert!(page.contains(&format!("<option value=\"{moving}\"")), "{form}: {page}");
    }
}

#[test]
fn drafts_are_reviewed_and_published_with_their_line_items() {
    let mut manager = Manager::new();
    let none = manager.shown("/campaigns/drafts");
    assert!(none.contains("No drafts"), "{none}");
    let drafts = ["One", "Two"].map(|name| manager.campaign_with(name, "DRAFT"));
    let item = [
        ("campaign_id", drafts[0].as_str()),
        ("objective", "ENGAGEMENTS"),
        ("product_type", "PROMOTED_TWEETS"),
        ("placements", "ALL_ON_TWITTER"),
        ("bid_amount_local_micro", "150000"),
        ("entity_status", "DRAFT"),
    ];
    let item = manager.ads.make("/line_items", &item);
    let running = manager.campaign_with("Runs", "ACTIVE");
    assert!(manager.shown("").contains("Review drafts"));
    let list = manager.shown("/campaigns/drafts");
    assert!(list.contains("One") && list.contains("Two") && !list.contains("Runs"), "{list}");
    let publish = format!("/campaigns/publish?ids={},{},{running}", drafts[0], drafts[1]);
    let review = manager.shown(&publish);
    assert!(review.contains("Publish 2 campaigns?") && review.contains("Incomplete"), "{review}");
    let path = format!("{}{publish}", manager.home);
    let form = manager.browser.get(path.clone());
    for _ in 0..2 {
        let response = manager.browser.submit(&form, &path, &[]);
        assert_eq!(response.header("location"), format!("{}?done=published", manager.home), "{}", response.text());
    }
    for campaign in &drafts {
        assert_eq!(manager.field(&format!("/campaigns/{campaign}"), "entity_status"), "ACTIVE");
    }
    assert_eq!(manager.field(&format!("/line_items/{item}"), "entity_status"), "ACTIVE");
    // They are drafts no more, and others' campaigns are not there.
    for path in [publish, "/campaigns/selected?ids=zzzzz".to_owned()] {
        let refused = manager.browser.get(format!("{}{path}", manager.home));
        assert!((400..500).contains(&refused.status) && refused.text().contains("selected"), "{}", refused.text());
    }
}

#[test]
fn all_draft_line_items_of_the_published_campaigns_are_published() {
    let mut manager = Manager::new();
    let drafts: Vec<String> = (0..3).map(|number| manager.campaign_with(&format!("D{number}"), "DRAFT")).collect();
    for campaign in &drafts {
        for count in [40, 40, 20] {
            let item = json!({ "operation_type": "Create", "params": {
                "campaign_id": campaign,
                "objective": "ENGAGEMENTS",
                "product_type": "PROMOTED_POSTS",
                "placements": ["ALL_ON_TWITTER"],
                "bid_amount_local_micro": 150_000,
                "entity_status": "DRAFT",
            } });
            manager.ads.batch("line_items", &vec![item; count].into()).assert_status(200);
        }
    }
    let response = manager.send(&format!("/campaigns/publish?ids={}", drafts.join(",")), &[]);
    assert_eq!(response.status, 303, "{}", response.text());
    let active = manager.ads.get("/line_items", &[("count", "1"), ("with_total_count", "true")]);
    assert_eq!(active["total_count"], 300, "drafts are not listed");
}

#[test]
fn report_has_the_columns_that_are_chosen_and_the_figures_of_the_campaign() {
    let mut manager = Manager::new();
    assert!(manager.shown("/reports").contains("No data for this period"));
    let campaign = manager.campaign();
    let item = manager.item(&campaign);
    let post = manager.ads.person.publish_text("Reported");
    manager.make(&format!("/line-items/{item}/promote"), &[("pick", &post)]);
    shared_server().run_cli(&["ads", "simulate", &manager.ads.account, "--hours", "30"]).assert_success();
    let csv = |manager: &mut Manager, query: &str| -> Vec<HashMap<String, String>> {
        let response = manager.browser.get(format!("{}/reports/figures.csv?{query}", manager.home));
        assert_eq!(response.status, 200, "{}", response.text());
        let text = response.text();
        let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
        let heads = lines.next().unwrap();
        lines.map(|cells| heads.iter().cloned().zip(cells).collect()).collect()
    };
    let number = |row: &HashMap<String, String>, name: &str| row[name].parse::<f64>().unwrap();
    let all = csv(&mut manager, "spend=on&impressions=on&click-rate=on&clicks=on");
    assert_eq!(all.len(), 1);
    let (impressions, clicks) = (number(&all[0], "Impressions"), number(&all[0], "Clicks"));
    assert!(impressions > 0.0 && number(&all[0], "Spend") > 0.0, "{all:?}");
    assert!((number(&all[0], "Click rate") - clicks * 100.0 / impressions).abs() < 0.01);
    assert!(!all[0].contains_key("Engagements"), "{all:?}");
    // The goal is engagement, so results are engagements however they were paid.
    let results = csv(&mut manager, "results=on&cost-per-result=on&engagements=on&spend=on");
    assert_eq!(results[0]["Results"], results[0]["Engagements"], "{results:?}");
    let each = number(&results[0], "Spend") / number(&results[0], "Results");
    assert!((number(&results[0], "Cost per result") - each).abs() < 0.001, "{results:?}");
    let page = manager.shown("/reports?impressions=on");
    assert!(page.contains("These figures include simulated events."), "{page}");
    assert_eq!(all[0]["Simulated"], "yes");
    let before = manager.shown("/reports?from=2026-01-01&to=2026-01-07");
    assert!(!before.contains("simulated"), "{before}");
    // One date is enough.
    let since =
        csv(&mut manager, &format!("from={}&impressions=on", wall_time().plus_ms(-20 * 86_400_000).to_date_string()));
    assert_eq!(since, csv(&mut manager, "impressions=on"));
    let until = manager.shown("/reports?to=2026-01-07");
    assert!(until.contains("value=\"2026-01-01\"") && until.contains("value=\"2026-01-07\""), "{until}");
    assert!(page.contains("Impressions") && page.contains("Spring") && page.contains("figures.csv"), "{page}");
    // Parts of it add up to the whole.
    for (level, by) in
        [("campaigns", "day"), ("line-items", ""), ("line-items", "platform"), ("posts", "day"), ("campaigns", "age")]
    {
        let parts = csv(&mut manager, &format!("level={level}&by={by}&impressions=on&compare=previous"));
        let sum: f64 = parts.iter().map(|row| number(row, "Impressions")).sum();
        assert!((sum - impressions).abs() < 0.5, "{level} by {by}: {parts:?}");
        assert!(parts.iter().all(|row| row["Impressions (days before)"] == "0"), "{parts:?}");
    }
    let other = shared_server().new_user("partner");
    manager.works(&other.username, "PARTNER_AUDIENCE_MANAGER");
    assert_eq!(super::browser(&other.username).get(format!("{}/reports", manager.home)).status, 403);
}

#[test]
fn targeting_values_are_found_by_name_and_included_or_excluded() {
    let mut manager = Manager::new();
    let campaign = manager.campaign();
    let item = manager.item(&campaign);
    let page = format!("/line-items/{item}/target");
    let person = shared_server().new_user("findable");
    let own = manager.ads.person.username.clone();
    for (kind, name, label) in [
        ("LOCATION", "lisbon", "Lisbon, Portugal"),
        ("LANGUAGE", "portug", "Portuguese"),
        ("AGE", "18 to 34", "18 to 34"),
        ("GENDER", "women", "Women"),
        ("PLATFORM", "android", "Android"),
        ("SIMILAR_TO_FOLLOWERS_OF_USER", person.username.as_str(), person.username.as_str()),
        ("FOLLOWERS_OF_USER", own.as_str(), own.as_str()),
    ] {
        let shown = manager.shown(&format!("{page}?type={kind}&find={}", percent_encode(name)));
        assert!(shown.contains(label), "{kind}: {shown}");
        let fields = hidden(&shown, &format!("{}{page}", manager.home));
        assert_eq!(fields["targeting_type"], kind);
        let response = manager.browser.send(crate::pages::browser::posted(&format!("{}{page}", manager.home), &fields));
        assert_eq!(response.status, 303, "{kind}: {}", response.text());
        assert!(response.header("location").contains(&format!("type={kind}")), "the search goes on");
    }
    let made = manager.ads.get("/targeting_criteria", &[("line_item_ids", &item)]);
    assert_eq!(made["data"].as_array().unwrap().len(), 7, "{made}");
    assert!(manager.shown(&format!("{page}?type=LOCATION&find=zzzz")).contains("Nothing found"));
    // Only what the type allows is offered.
    let audience = manager.ads.make("/custom_audiences", &[("name", "Riders")]);
    let apps = manager.ads.make("/app_lists", &[("name", "Rivals"), ("app_store_identifiers", "333903271")]);
    for (kind, name, value, offered) in [
        ("LOCATION", "lisbon", "", ["Include"].as_slice()),
        ("CUSTOM_AUDIENCE", "riders", audience.as_str(), &["Include", "Exclude"]),
        ("APP_LIST", "rivals", apps.as_str(), &["Exclude"]),
    ] {
        let shown = manager.shown(&format!("{page}?type={kind}&find={name}"));
        assert!(shown.contains(value), "{kind}: {shown}");
        for button in ["Include", "Exclude"] {
            assert_eq!(shown.contains(&format!(">{button}<")), offered.contains(&button), "{kind} {button}: {shown}");
        }
    }
}

#[test]
fn people_who_engaged_with_the_account_are_targeted_by_name() {
    let mut manager = Manager::new();
    let feature = ["ads", "account", "feature", &manager.ads.account, "--add", "ENGAGER_RETARGETING"];
    shared_server().run_cli(&feature).assert_success();
    let campaign = manager.campaign();
    let item = manager.item(&campaign);
    let page = format!("/line-items/{item}/target");
    let own = manager.ads.person.username.clone();
    for (kind, name) in [("ENGAGEMENT_TYPE", "impression"), ("USER_ENGAGEMENT", own.as_str())] {
        let shown = manager.shown(&format!("{page}?type={kind}&find={}", percent_encode(name)));
        let action = format!("{}{page}", manager.home);
        let fields = hidden(&shown, &action);
        let response = manager.browser.send(crate::pages::browser::posted(&action, &fields));
        assert_eq!(response.status, 303, "{kind}: {}", response.text());
    }
    let made = manager.ads.get("/targeting_criteria", &[("line_item_ids", &item)]);
    assert_eq!(made["data"].as_array().unwrap().len(), 2, "{made}");
}

#[test]
fn audiences_are_combined_and_a_do_not_reach_list_is_kept_on_pages() {
    let mut manager = Manager::new();
    let audiences = ["Riders", "Buyers"].map(|name| manager.ads.make("/custom_audiences", &[("name", name)]));
    let response = manager.send("/audiences/combine", &[("name", "Both")]);
    assert_eq!(super::error_of(&response, "audience_1"), "This field is required.");
    let fields = [
        ("name", "Riders who have not bought"),
        ("boolean_operator", "OR"),
        ("audience_1", audiences[0].as_str()),
        ("lookback_window", "30"),
        ("excluded_1", audiences[1].as_str()),
    ];
    let response = manager.send("/audiences/combine", &fields);
    assert_eq!(response.status, 303, "{}", response.text());
    let made = manager.ads.get("/custom_audiences", &[("q", "Riders who")])["data"][0].clone();
    assert_eq!(made["audience_type"], "FLEXIBLE");
    let page = manager.shown(&format!("/audiences/{}", made["id"].as_str().unwrap()));
    assert!(page.contains("/delete\"") && !page.contains("/edit\""), "{page}");
    assert!(manager.shown("/audiences").contains("No do-not-reach list"));
    manager.make("/do-not-reach/new", &[("description", "Asked us to stop")]);
    let list = manager.ads.get("/do_not_reach_lists", &[])["data"][0]["id"].as_str().unwrap().to_owned();
    let page = manager.shown("/audiences");
    assert!(page.contains("Asked us to stop") && !page.contains("Create do-not-reach list"), "{page}");
    let people = format!("/do-not-reach/{list}/people");
    let texts = [("operation_type", "Update"), ("identifier", "email"), ("text", "ada@example.com")];
    let response = manager.sends(&people, &texts, None);
    assert_eq!(response.status, 303, "{}", response.text());
    let response =
        manager.sends(&people, &[("operation_type", "Update"), ("identifier", "handle"), ("text", "ada")], None);
    assert_eq!(super::error_of(&response, "identifier"), "Choose an identifier type.");
    assert_eq!(manager.send(&format!("/do-not-reach/{list}/delete"), &[]).status, 303);
    assert_eq!(manager.ads.get("/do_not_reach_lists", &[])["data"], json!([]));
}

#[test]
fn a_conversion_tag_is_made_on_a_page_which_shows_its_code() {
    let mut manager = Manager::new();
    assert!(manager.shown("/conversions").contains("No conversion tags yet"));
    let fields = [
        ("name", "Checkout"),
        ("type", "PURCHASE"),
        ("click_window", "30"),
        ("view_through_window", "1"),
        ("retargeting_enabled", "true"),
    ];
    let tag = manager.make("/conversions/new", &fields);
    let made = manager.ads.get(&format!("/web_event_tags/{tag}"), &[])["data"].clone();
    assert_eq!((&made["type"], &made["retargeting_enabled"]), (&json!("PURCHASE"), &json!(true)));
    let page = manager.shown(&format!("/conversions/{tag}"));
    assert!(page.contains("Unverified") && page.contains("&#60;script") && page.contains("30 days"), "{page}");
    let fields = [&[("name", "Paid")], &fields[1..]].concat();
    manager.make(&format!("/conversions/{tag}/edit"), &fields);
    assert!(manager.shown("/conversions").contains("Paid"));
    assert_eq!(manager.send(&format!("/conversions/{tag}/delete"), &[]).status, 303);
    assert!(manager.shown("/conversions").contains("No conversion tags yet"));
}
