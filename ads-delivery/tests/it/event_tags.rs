//! Events of advertisers' apps: the tags that they reach, and the audiences of those who caused them.

use ads::resources::app_event_tags::APP_EVENT_TAG;
use ads::resources::event_audiences;
use ads_engine::AdsRecord;
use base::Time;
use serde_json::{Value, json};
use store::Tx;
use store::ads::audiences::{self, AudienceKeyKind};

use crate::shop::Shop;
use crate::world::{World, each_engine};

const DAY: i64 = 86_400_000;

impl Shop {
    async fn app_event_tag(&self, world: &World) -> String {
        let params = [
            ("app_store_identifier", "com.example.bikes"),
            ("os_type", "ANDROID"),
            ("conversion_type", "INSTALL"),
            ("provider_app_event_id", "1"),
            ("provider_app_event_name", "Installed"),
            ("retargeting_enabled", "true"),
        ];
        self.make(world, "A/app_event_tags", &params).await
    }
}

#[each_engine]
async fn app_event_reaches_its_tag_however_many_others_the_app_has(world: World) {
    let (other, own) = (Shop::open(&world, "bob").await, Shop::open(&world, "ana").await);
    for _ in 0..100 {
        other.app_event_tag(&world).await;
    }
    world.pass(1_000);
    let tag = own.app_event_tag(&world).await;
    let device = "0".repeat(64);
    let time = world.clock.now().to_string();
    let event = [
        ("app_id", "com.example.bikes"),
        ("os_type", "ANDROID"),
        ("conversion_type", "INSTALL"),
        ("conversion_time", time.as_str()),
        ("hashed_device_id", device.as_str()),
    ];
    let response = own.call(&world, "POST", "conversion_event", &event).await;
    assert_eq!(response["data"], json!({ "twitter_attribution": null }), "{response}");
    let tags = own.call(&world, "GET", "A/app_event_tags", &[]).await;
    assert_eq!((&tags["data"][0]["id"], &tags["data"][0]["status"]), (&json!(tag), &json!("TRACKING")));
    let tags = other.call(&world, "GET", "A/app_event_tags", &[]).await;
    assert_eq!(tags["data"][0]["status"], Value::from("UNVERIFIED"));
}

/// When those with a key start and end in the audience of a tag, once an event was reported.
async fn report_event(world: &World, tag: &str, (key, at): (u8, Time)) -> Vec<(Time, Time)> {
    let id = APP_EVENT_TAG.id_format.parse(tag).unwrap();
    let work = move |tx: &mut Tx<'_>| {
        let tag = AdsRecord::find(tx, &APP_EVENT_TAG, id)?.unwrap();
        let keys = [AudienceKeyKind::Device.to_key(&[key; 32])];
        event_audiences::add_member(tx, &tag, &keys, at)?;
        let audience = tag.int("audience_id").unwrap();
        let members = audiences::find_key_members(tx, audience, &keys)?;
        let members: Vec<i64> = members.into_iter().map(|(_, member)| member).collect();
        Ok(audiences::find_member_times(tx, audience, &members)?)
    };
    world.write(work).await
}

#[each_engine]
async fn event_that_is_reported_late_does_not_shorten_a_membership(world: World) {
    let shop = Shop::open(&world, "ana").await;
    let tag = shop.app_event_tag(&world).await;
    let now = world.clock.now();
    let membership = |from: Time| vec![(from, from.plus_ms(30 * DAY))];
    let earlier = now.plus_ms(-10 * DAY);
    assert_eq!(report_event(&world, &tag, (1, earlier)).await, membership(earlier));
    assert_eq!(report_event(&world, &tag, (1, now)).await, membership(now));
    for days in [20, 40] {
        assert_eq!(report_event(&world, &tag, (1, now.plus_ms(-days * DAY))).await, membership(now));
    }
    // Nobody joins who would leave at once.
    assert_eq!(report_event(&world, &tag, (2, now.plus_ms(-30 * DAY))).await, []);
    let last = now.plus_ms(-30 * DAY + 1);
    assert_eq!(report_event(&world, &tag, (2, last)).await, membership(last));
}
