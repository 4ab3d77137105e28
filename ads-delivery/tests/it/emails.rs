//! Weekly letters: written once, on Monday, with the figures that the interface tells.

use ads::resources::line_items::LINE_ITEM;
use ads_delivery::ledger::{LedgerEvent, record_events};
use base::Time;
use store::ledger::{AdEntity, AdEventKind, AdEventOrigin, Placement, ViewerTraits};

use crate::shop::Shop;
use crate::world::{World, begin, each_engine, on_each_engine};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
const MAIL: &str = "owner@shop.example";

/// Something was shown and clicked at a moment.
async fn shown(world: &World, item: &str, at: Time, number: i64) {
    let item = LINE_ITEM.id_format.parse(item).unwrap();
    world
        .write(move |tx| {
            let event = |kind: AdEventKind| LedgerEvent {
                kind,
                at,
                line_item_id: item,
                creative: AdEntity::PromotedPost,
                creative_id: 1,
                subject: 1,
                viewer: number,
                placement: Placement::Timeline,
                viewer_traits: ViewerTraits::default(),
                price: 123_456,
                origin: AdEventOrigin::Served,
                id: tx.next_id::<()>().get(),
                impression_id: number,
                weight: 1,
            };
            let events = [event(AdEventKind::Impression), event(AdEventKind::UrlClick)];
            record_events(tx, &events)?;
            Ok(())
        })
        .await;
}

async fn write_due(world: &World) -> usize {
    let mut written = 0;
    while let Some(id) = world.store.read(|tx| Ok(ads_delivery::emails::due_digest(tx)?)).await.unwrap() {
        let site = world.adviser().site;
        world.write(move |tx| ads_delivery::emails::queue_digest(tx, &site, id)).await;
        written += 1;
    }
    written
}

/// Sums of the interface of a campaign in a week.
async fn stats(world: &World, shop: &Shop, campaign: &str, from: &str, to: &str) -> [i64; 4] {
    let params = [
        ("entity", "CAMPAIGN"),
        ("entity_ids", campaign),
        ("start_time", from),
        ("end_time", to),
        ("granularity", "TOTAL"),
        ("metric_groups", "ENGAGEMENT,BILLING"),
        ("placement", "ALL_ON_TWITTER"),
    ];
    let stats = shop.call(world, "GET", "stats/A", &params).await;
    let metrics = &stats["data"][0]["id_data"][0]["metrics"];
    let names = ["impressions", "engagements", "clicks", "billed_charge_local_micro"];
    names.map(|name| metrics[name][0].as_i64().unwrap_or_else(|| panic!("{stats}")))
}

#[each_engine]
async fn weekly_email_is_sent_once_with_the_figures_of_the_api(world: World) {
    let shop = Shop::open(&world, "ana").await;
    let campaign = shop.campaign(&world).await;
    let item = shop.item(&world, &campaign, "150000").await;
    shop.subscribe(&world, MAIL, "ACCOUNT_PERFORMANCE").await;
    // The clock stands at noon (UTC) of Monday, the 1st of June; there, weeks begin at 7.
    let monday = Time::from_ms(world.clock.now().ms() - 5 * HOUR);
    let next = monday.plus_ms(7 * DAY);
    for (number, at) in
        [monday.plus_ms(-1), monday, monday.plus_ms(3 * DAY), next.plus_ms(-1), next].into_iter().enumerate()
    {
        shown(&world, &item, at, i64::try_from(number).unwrap() + 1).await;
    }
    assert_eq!(write_due(&world).await, 0);
    world.clock.set(next.plus_ms(-1));
    assert_eq!(write_due(&world).await, 0, "the week is not over");
    world.clock.set(next);
    // What fails before it is written whole leaves nothing behind.
    let id = world.store.read(|tx| Ok(ads_delivery::emails::due_digest(tx)?)).await;
    let (id, site) = (id.unwrap().unwrap(), world.adviser().site);
    let cut = world.store.write(move |tx| {
        ads_delivery::emails::queue_digest(tx, &site, id)?;
        Err::<(), _>(base::Fault::new("the power is cut").into())
    });
    assert!(cut.await.is_err());
    assert_eq!(world.letters(MAIL).await.len(), 0);
    assert_eq!(write_due(&world).await, 1);
    let site = world.adviser().site;
    world.write(move |tx| ads_delivery::emails::queue_digest(tx, &site, id)).await;
    let letters = world.letters(MAIL).await;
    let [(subject, text)] = letters.as_slice() else {
        panic!("{letters:?}");
    };
    assert_eq!(subject, "Shop of ana on Town: 2026-06-01 to 2026-06-07");
    let (from, to) = ("2026-06-01T07:00:00Z", "2026-06-08T07:00:00Z");
    let figures = stats(&world, &shop, &campaign, from, to).await;
    assert_eq!(figures, [3, 3, 3, 3 * 123_456]);
    for line in ["Impressions: 3\n", "Engagements: 3\n", "Clicks: 3\n", "Spend: 0.370368 USD\n"] {
        assert!(text.contains(line), "{text}");
    }
    let row = format!("- Spring ({campaign}): 3 impressions, 3 engagements, 3 clicks, 0.370368 USD\n");
    assert!(text.contains(&row), "{text}");
    // After three weeks of silence one letter is written, of the last of them.
    world.pass(22 * DAY);
    assert_eq!(write_due(&world).await, 1);
    let letters = world.letters(MAIL).await;
    assert_eq!(letters.len(), 2);
    assert_eq!(letters[0].0, "Shop of ana on Town: 2026-06-22 to 2026-06-28");
    assert!(letters[0].1.contains("No ads were shown.\n"));
}

#[each_engine]
async fn user_without_subscription_or_role_gets_no_weekly_email(world: World) {
    let shop = Shop::open(&world, "ana").await;
    shop.subscribe(&world, MAIL, "ACCOUNT_PERFORMANCE").await;
    shop.subscribe(&world, MAIL, "PERFORMANCE_IMPROVEMENT").await;
    world.pass(8 * DAY);
    assert_eq!(write_due(&world).await, 0);
    shop.subscribe(&world, MAIL, "ACCOUNT_PERFORMANCE").await;
    let (user, account) = (shop.owner, shop.account.id);
    world.write(move |tx| Ok(store::ads::revoke_access(tx, user, account)?)).await;
    world.pass(8 * DAY);
    assert_eq!(write_due(&world).await, 1);
    assert_eq!(world.letters(MAIL).await.len(), 0);
    world.pass(8 * DAY);
    assert_eq!(write_due(&world).await, 0);
}

#[test]
fn settings_that_change_while_the_weekly_email_is_queued_do_not_send_it_again() {
    const OTHER: &str = "other@shop.example";
    on_each_engine(async |world| {
        let shop = Shop::open(&world, "ana").await;
        shop.subscribe(&world, MAIL, "ACCOUNT_PERFORMANCE").await;
        world.pass(8 * DAY);
        let id = world.store.read(|tx| Ok(ads_delivery::emails::due_digest(tx)?)).await.unwrap().unwrap();
        let site = world.adviser().site;
        let queued = begin(&world, move |tx| ads_delivery::emails::queue_digest(tx, &site, id)).await;
        shop.subscribe(&world, OTHER, "ACCOUNT_PERFORMANCE").await;
        queued.await.unwrap();
        assert_eq!(write_due(&world).await, 0);
        assert_eq!((world.letters(MAIL).await.len(), world.letters(OTHER).await.len()), (1, 0));
    });
}
