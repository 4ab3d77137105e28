//! Figures of made events: conversions by what identifies people, filters by viewers, and what is not promoted.

use std::io::Read as _;

use ads::resources::line_items::LINE_ITEM;
use ads_delivery::analytics::jobs;
use ads_delivery::audience_matching;
use ads_engine::AdsRecord;
use ads_engine::field_kind::format_time;
use base::secret::digest;
use base::{PostId, Time, UserId};
use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use store::Tx;
use store::ledger::{self, AdEntity, AdEvent, AdEventKind, AdEventOrigin, Placement, ViewerTraits};
use store::views::{self, PostHourCounts, hour_number};

use crate::shop::Shop;
use crate::world::{World, each_engine};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

/// An impression on Android in Portugal of a post that a line item promotes; it is recorded now.
async fn impression(world: &World, item: &str, (post, viewer): (PostId, i64), at: Time) -> AdEvent {
    let id = LINE_ITEM.id_format.parse(item).unwrap();
    let make = move |tx: &mut Tx<'_>| {
        let item = AdsRecord::find(tx, &LINE_ITEM, id)?.unwrap();
        let number = tx.next_id::<()>().get();
        Ok(AdEvent {
            id: number,
            at,
            kind: AdEventKind::Impression,
            account_id: item.account_id,
            funding_id: item.int("funding_instrument_id").unwrap(),
            campaign_id: item.int("campaign_id").unwrap(),
            line_item_id: id,
            creative: AdEntity::PromotedPost,
            creative_id: id,
            subject_id: post.get(),
            viewer_id: viewer,
            placement: Placement::Timeline,
            price_micro: 0,
            billed: 0,
            charge_micro: 0,
            origin: AdEventOrigin::Served,
            impression_id: number,
            weight: 1,
            viewer_traits: ViewerTraits { platform: Some(1), country: "PT".to_owned(), ..ViewerTraits::default() },
            hour_offset_ms: 0,
        })
    };
    world.write(make).await
}

async fn insert(world: &World, events: Vec<AdEvent>) {
    world.write(move |tx| Ok(ledger::insert_events(tx, &events)?)).await;
}

/// A period of whole hours, in which nothing is but what happened until now.
fn period(world: &World, hours: i64) -> (String, String) {
    let end = Time::from_ms(world.clock.now().ms() / HOUR * HOUR + HOUR);
    (format_time(end.plus_ms(-hours * HOUR)), format_time(end))
}

fn stats_params<'p>(
    (entity, id): (&'p str, &'p str),
    group: &'p str,
    (from, to): &'p (String, String),
) -> Vec<(&'p str, &'p str)> {
    vec![
        ("entity", entity),
        ("entity_ids", id),
        ("start_time", from),
        ("end_time", to),
        ("granularity", "TOTAL"),
        ("metric_groups", group),
        ("placement", "ALL_ON_TWITTER"),
    ]
}

impl Shop {
    /// The metrics of an entity, as the answer to a request.
    async fn metrics(&self, world: &World, params: &[(&str, &str)]) -> Value {
        let answer = self.call(world, "GET", "stats/A", params).await;
        answer["data"][0]["id_data"][0]["metrics"].clone()
    }

    /// What the file of a job has of an entity.
    async fn job(&self, world: &World, params: &[(&str, &str)]) -> Value {
        let made = self.call(world, "POST", "stats/jobs/A", params).await;
        assert_eq!(made["data"]["status"], "QUEUED", "{made}");
        world.pass(1_000);
        let build = |tx: &mut Tx<'_>| {
            let job = jobs::claim_job(tx)?.unwrap();
            let file = jobs::build_job_file(tx, &job)?;
            jobs::finish_job(tx, &job, Some(&file))?;
            Ok(file)
        };
        let file = world.write(build).await;
        let mut text = String::new();
        flate2::read::GzDecoder::new(file.as_slice()).read_to_string(&mut text).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        file["data"][0]["id_data"].clone()
    }

    async fn tag(&self, world: &World) -> Value {
        let params = [
            ("name", "Checkout"),
            ("type", "PURCHASE"),
            ("click_window", "30"),
            ("view_through_window", "1"),
            ("retargeting_enabled", "false"),
        ];
        self.call(world, "POST", "A/web_event_tags", &params).await["data"].clone()
    }

    async fn convert(&self, world: &World, tag: &Value, email: &str, (value, currency): (&str, &str)) {
        let (id, hash) = (tag["id"].as_str().unwrap(), HEXLOWER.encode(&digest(email)));
        let conversion = json!({
            "conversion_time": format_time(world.clock.now()),
            "event_id": id,
            "identifiers": [{ "hashed_email": hash }],
            "value": value,
            "price_currency": currency,
        });
        let path = format!("measurement/conversions/{id}");
        let answer = self.post_json(world, &path, json!({ "conversions": [conversion] })).await;
        assert_eq!(answer["data"]["conversions_processed"], 1, "{answer}");
    }
}

/// The background job that compares users with keys.
async fn match_keys(world: &World) {
    while world.store.read(|tx| Ok(audience_matching::has_unkeyed_users(tx)?)).await.unwrap() {
        world.write(audience_matching::key_user_batch).await;
    }
}

const MAIL: &str = "fan@bikes.example";

async fn fan_with_email(world: &World) -> UserId {
    let fan = world.user("fan".to_owned()).await;
    world.write(move |tx| Ok(store::users::set_email(tx, fan, MAIL, true)?)).await;
    fan
}

#[each_engine]
async fn conversion_by_email_finds_the_ad_among_many_of_others_and_without_any_audience(world: World) {
    let (shop, other) = (Shop::open(&world, "ana").await, Shop::open(&world, "bob").await);
    let fan = fan_with_email(&world).await;
    match_keys(&world).await;
    let (campaign, foreign) = (shop.campaign(&world).await, other.campaign(&world).await);
    let item = shop.item(&world, &campaign, "150000").await;
    let rival = other.item(&world, &foreign, "150000").await;
    let now = world.clock.now();
    let mut shown = vec![impression(&world, &item, (PostId::new(1), fan.get()), now.plus_ms(-3 * HOUR)).await];
    let first = impression(&world, &rival, (PostId::new(2), fan.get()), now.plus_ms(-2 * HOUR)).await;
    shown.extend((0..1_000).map(|number| {
        let id = first.id + number;
        AdEvent { id, impression_id: id, at: first.at.plus_ms(number), ..first.clone() }
    }));
    insert(&world, shown).await;
    let tag = shop.tag(&world).await;
    match_keys(&world).await;
    shop.convert(&world, &tag, MAIL, ("12.5", "USD")).await;
    let hours = period(&world, 24);
    let params = stats_params(("LINE_ITEM", &item), "WEB_CONVERSION", &hours);
    let purchases = shop.metrics(&world, &params).await["conversion_purchases"].clone();
    assert_eq!((&purchases["post_view"], &purchases["sale_amount"]), (&json!([1]), &json!([12_500_000])));
    // There is no rate from this currency.
    shop.convert(&world, &tag, MAIL, ("5", "EUR")).await;
    let by_tag = [&params[..], &[("segmentation_type", "CONVERSION_TAGS")]].concat();
    let by_platform = [&params[..], &[("segmentation_type", "PLATFORMS")]].concat();
    for (metrics, assisted) in [
        (shop.metrics(&world, &params).await, json!([0])),
        (shop.job(&world, &by_tag).await[0]["metrics"].clone(), json!([0])),
        (shop.job(&world, &by_platform).await[0]["metrics"].clone(), Value::Null),
    ] {
        let purchases = &metrics["conversion_purchases"];
        let figures = ["post_view", "assisted", "sale_amount"].map(|name| &purchases[name]);
        assert_eq!(figures, [&json!([2]), &assisted, &Value::Null], "{metrics}");
    }
}

#[each_engine]
async fn line_item_that_assisted_is_listed_as_active_in_the_hour_of_the_report(world: World) {
    let shop = Shop::open(&world, "ana").await;
    let fan = fan_with_email(&world).await;
    let (campaign, tag) = (shop.campaign(&world).await, shop.tag(&world).await);
    let items = [shop.item(&world, &campaign, "150000").await, shop.item(&world, &campaign, "150000").await];
    match_keys(&world).await;
    let now = world.clock.now();
    for (item, minutes) in items.iter().zip([2, 1]) {
        let at = now.plus_ms(-minutes * 60_000);
        let shown = impression(&world, item, (PostId::new(minutes), fan.get()), at).await;
        insert(&world, vec![shown]).await;
    }
    world.pass(5 * HOUR);
    shop.convert(&world, &tag, MAIL, ("1", "USD")).await;
    let (from, to) = period(&world, 1);
    let params = [("entity", "LINE_ITEM"), ("start_time", &from), ("end_time", &to)];
    let active = shop.call(&world, "GET", "stats/A/active_entities", &params).await;
    let mut active: Vec<&str> =
        active["data"].as_array().unwrap().iter().map(|one| one["entity_id"].as_str().unwrap()).collect();
    active.sort_unstable();
    assert_eq!(active, [items[0].as_str(), &items[1]]);
}

#[each_engine]
async fn creatives_of_several_kinds_with_the_same_id_all_assist(world: World) {
    let shop = Shop::open(&world, "ana").await;
    let fan = fan_with_email(&world).await;
    let (campaign, tag) = (shop.campaign(&world).await, shop.tag(&world).await);
    match_keys(&world).await;
    let now = world.clock.now();
    let mut items = Vec::new();
    for (creative, minutes) in
        [(AdEntity::PromotedAccount, 3), (AdEntity::PromotedPost, 2), (AdEntity::MediaCreative, 1)]
    {
        let item = shop.item(&world, &campaign, "150000").await;
        let at = now.plus_ms(-minutes * 60_000);
        let shown = impression(&world, &item, (PostId::new(minutes), fan.get()), at).await;
        insert(&world, vec![AdEvent { creative, creative_id: 1, ..shown }]).await;
        items.push(item);
    }
    shop.convert(&world, &tag, MAIL, ("1", "USD")).await;
    let hours = period(&world, 24);
    for (item, expected) in items.iter().zip([[0, 1], [0, 1], [1, 0]]) {
        let params = stats_params(("LINE_ITEM", item), "WEB_CONVERSION", &hours);
        let purchases = shop.metrics(&world, &params).await["conversion_purchases"].clone();
        let figures = ["post_view", "assisted"].map(|name| purchases[name][0].as_i64().unwrap_or(0));
        assert_eq!(figures, expected, "{purchases}");
    }
}

#[each_engine]
async fn job_counts_what_viewers_of_the_country_and_platform_caused_with_and_without_segments(world: World) {
    let shop = Shop::open(&world, "ana").await;
    let campaign = shop.campaign(&world).await;
    let item = shop.item(&world, &campaign, "150000").await;
    let mut shown = Vec::new();
    for (viewer, country, platform) in [(1, "PT", 1), (2, "PT", 0), (3, "ES", 1)] {
        let mut one = impression(&world, &item, (PostId::new(1), -viewer), world.clock.now()).await;
        one.viewer_traits = ViewerTraits { country: country.to_owned(), platform: Some(platform), ..one.viewer_traits };
        shown.push(one);
    }
    insert(&world, shown).await;
    let hours = period(&world, 24);
    let params = stats_params(("CAMPAIGN", &campaign), "ENGAGEMENT", &hours);
    for (more, expected) in [
        (&[][..], 3),
        (&[("country", "pt")], 2),
        (&[("platform", "1")], 2),
        (&[("country", "PT"), ("platform", "1")], 1),
        (&[("country", "PT"), ("platform", "1"), ("segmentation_type", "PLATFORMS")], 1),
    ] {
        let found = shop.job(&world, &[&params[..], more].concat()).await;
        assert_eq!(found[0]["metrics"]["impressions"], json!([expected]), "{more:?} {found}");
        assert_eq!(found[0]["segment"].is_null(), more.len() < 3, "{found}");
    }
    let post = world.say(shop.owner, "Not promoted").await.to_string();
    let params = stats_params(("ORGANIC_POST", &post), "ENGAGEMENT", &hours);
    let params = [&params[..], &[("platform", "1")]].concat();
    let request = shop.try_call(&world, "POST", "stats/jobs/A", &params).await;
    assert!(request.is_err(), "{request:?}");
}

#[each_engine]
async fn organic_figures_are_those_of_the_post_less_its_promotion_wherever_and_whatever_hours_the_account_has(
    world: World,
) {
    let shop = Shop::open_in(&world, "ana", "Asia/Kolkata").await;
    let campaign = shop.campaign(&world).await;
    let item = shop.item(&world, &campaign, "150000").await;
    // A midnight of the account: half past six in the evening.
    let midnight = Time::parse("2026-05-30T18:30:00Z").unwrap();
    let post = world.say(shop.owner, "Seen").await;
    // Seven views in each hour of four days.
    world
        .write(move |tx| {
            let first = hour_number(midnight.plus_ms(-DAY));
            for hour in first..first + 96 {
                views::add_counts(tx, post, hour, PostHourCounts { impressions: 7, ..PostHourCounts::default() })?;
            }
            Ok(())
        })
        .await;
    let own = impression(&world, &item, (post, -1), midnight.plus_ms(HOUR)).await;
    let own = AdEvent { hour_offset_ms: HOUR / 2, ..own };
    let copy = |number: i64| AdEvent { id: own.id + number, impression_id: own.id + number, ..own.clone() };
    let events = vec![
        AdEvent { placement: Placement::Publishers, ..copy(1) },
        AdEvent { origin: AdEventOrigin::Simulated, weight: 100, ..copy(2) },
        own,
    ];
    // The views that belong to them are not counted again.
    insert(&world, events).await;
    let post_id = post.to_string();
    let seen = async |days: i64, granularity: &str| {
        let span = (format_time(midnight), format_time(midnight.plus_ms(days * DAY)));
        let mut params = stats_params(("ORGANIC_POST", &post_id), "ENGAGEMENT", &span);
        params.retain(|(name, _)| *name != "granularity");
        params.push(("granularity", granularity));
        shop.metrics(&world, &params).await["impressions"].clone()
    };
    assert_eq!(seen(1, "TOTAL").await, json!([24 * 7]));
    assert_eq!(seen(2, "DAY").await, json!([24 * 7, 24 * 7]));
    let hours = seen(2, "HOUR").await;
    assert_eq!(hours.as_array().unwrap().len(), 48);
    assert_eq!(hours.as_array().unwrap().iter().map(|hour| hour.as_i64().unwrap()).sum::<i64>(), 48 * 7);
}

#[each_engine]
async fn budget_that_was_larger_on_earlier_days_was_not_too_small(world: World) {
    let shop = Shop::open(&world, "ana").await;
    let campaign = shop.campaign(&world).await;
    let item = shop.item(&world, &campaign, "150000").await;
    let path = format!("A/campaigns/{campaign}");
    world.pass(7 * DAY);
    let raise = [("daily_budget_amount_local_micro", "40000000")];
    // In the morning where the account is.
    let morning = Time::from_ms(world.clock.now().ms() / DAY * DAY + 16 * HOUR);
    let mut spent = Vec::new();
    for days in 1..6 {
        let one = impression(&world, &item, (PostId::new(1), -1), morning.plus_ms(-days * DAY)).await;
        spent.push(AdEvent { billed: 1, charge_micro: 25_000_000, ..one });
    }
    insert(&world, spent).await;
    let open = async || {
        world.pass(DAY / 24);
        world.advise_on(shop.instrument, false).await;
        let list = shop.call(&world, "GET", "A/recommendations", &[]).await;
        let all = list["data"].as_array().unwrap();
        let Some(id) = all.first().and_then(|one| one["id"].as_str()) else { return false };
        let one = shop.call(&world, "GET", &format!("A/recommendations/{id}"), &[]).await;
        one["data"]["message"].as_str().unwrap().starts_with("Daily budget ran out")
    };
    assert!(open().await);
    shop.call(&world, "PUT", &path, &raise).await;
    assert!(!open().await);
    shop.call(&world, "PUT", &path, &[("daily_budget_amount_local_micro", "20000000")]).await;
    assert!(!open().await, "the days before had another budget, for all that is known");
}
