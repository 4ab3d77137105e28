use std::collections::BTreeMap;

use base::{Id, Time, UserId};
use identity::account_deletion::{self, ErasureTime};
use identity::apps::{AccessLevel, AppProfile};
use identity::developer_apps;
use network::audit::AuditActor;
use network::messages::{self, MessageSender, NewMessage};
use store::Tx;
use store::ledger::{
    self, AdEntity, AdEvent, AdEventKind, AdEventOrigin, Placement, ReportFilter, ReportRow, ReportSegment,
    ViewerTraits,
};
use store::posts::PageRange;

use test_stores::new_media_post;
use test_stores::{World, each_engine};

#[each_engine]
async fn erasure_that_failed_does_not_hold_up_others(world: World) {
    let (first, second) = (world.user("first").await, world.user("second").await);
    world.write(move |tx| account_deletion::order(tx, None, first, ErasureTime::Now)).await;
    world.pass(1);
    world.write(move |tx| account_deletion::order(tx, None, second, ErasureTime::Now)).await;
    let due = async || world.write(|tx| Ok(account_deletion::find_due(tx)?)).await;
    assert_eq!(due().await, Some(first));
    world.write(move |tx| Ok(account_deletion::postpone(tx, first)?)).await;
    assert_eq!(due().await, Some(second));
    world.pass(3_600_000);
    world.write(move |tx| Ok(account_deletion::postpone(tx, second)?)).await;
    assert_eq!(due().await, Some(first), "it goes on after an hour");
}

async fn erase(world: &World, user: UserId) {
    world.write(move |tx| account_deletion::order(tx, None, user, ErasureTime::Now)).await;
    finish_erasure(world, user).await;
}

async fn finish_erasure(world: &World, user: UserId) {
    while world.write(|tx| Ok(account_deletion::find_due(tx)?)).await.is_some() {
        world.write(move |tx| account_deletion::erase_part(tx, user)).await;
    }
}

#[each_engine]
async fn files_of_an_erased_account_that_nobody_uses_expire(world: World) {
    let (gone, stays) = (world.user("gone").await, world.user("stays").await);
    for (owner, id) in [(gone, 7), (gone, 8), (stays, 9)] {
        new_media_post(&world, owner, id, 3, "photo").await;
    }
    world.write(|tx| Ok(store::media::add_message_use(tx, Id::new(8))?)).await;
    erase(&world, gone).await;
    let expired = world.write(|tx| Ok(store::media::list_expired(tx, 10)?)).await;
    assert_eq!(expired.iter().map(|media| media.id.get()).collect::<Vec<_>>(), [7]);
}

#[each_engine]
async fn apps_of_an_erased_account_keep_nothing_but_the_names_that_label_posts(world: World) {
    let gone = world.user("gone").await;
    let create = move |tx: &mut Tx<'_>| {
        let mut profile = AppProfile::new("Gone's app");
        "By Gone, of Nowhere".clone_into(&mut profile.description);
        "https://gone.example".clone_into(&mut profile.website_url);
        developer_apps::create(tx, &AuditActor::user(gone, ""), &profile, AccessLevel::SelfServe, "Locum")
    };
    let id = world.write(create).await.0.id;
    erase(&world, gone).await;
    let app = world.write(move |tx| Ok(store::apps::find_by_id(tx, id)?)).await.unwrap();
    assert_eq!((app.name.as_str(), app.description.as_str(), app.website_url.as_str()), ("Gone's app", "", ""));
}

/// Lines 7 and 8 were shown to `viewer`, who clicked one of the ads and liked a promoted post without an impression. The ids
/// follow `first`.
fn ad_events(viewer: UserId, first: i64) -> Vec<AdEvent> {
    let event = |number: i64, kind, line_item_id, impression_id| AdEvent {
        id: first + number,
        at: Time::from_ms(1_000 + number),
        kind,
        account_id: 1,
        funding_id: 2,
        campaign_id: 3,
        line_item_id,
        creative: AdEntity::PromotedPost,
        creative_id: 5,
        subject_id: 6,
        viewer_id: viewer.get(),
        placement: Placement::Timeline,
        price_micro: 10,
        billed: 1,
        charge_micro: 10,
        origin: if impression_id < 0 { AdEventOrigin::Attributed } else { AdEventOrigin::Served },
        impression_id,
        weight: 1,
        viewer_traits: ViewerTraits { age: Some(25), gender: Some(2), ..ViewerTraits::default() },
        hour_offset_ms: 0,
    };
    vec![
        event(0, AdEventKind::Impression, 7, first),
        event(1, AdEventKind::UrlClick, 7, first),
        event(2, AdEventKind::Impression, 8, first + 2),
        event(3, AdEventKind::Like, 7, -first),
    ]
}

/// What reports are made of: people with their impressions over both line items, and events by age.
async fn ad_figures(world: &World) -> (Vec<i64>, Vec<ReportRow>) {
    let read = |tx: &mut Tx<'_>| {
        let period = (Time::from_ms(0), Time::from_ms(10_000));
        let mut people: BTreeMap<i64, i64> = BTreeMap::new();
        for seen in ledger::count_viewer_impressions(tx, &[7, 8], period)? {
            *people.entry(seen.viewer).or_default() += seen.impressions;
        }
        let filter = ReportFilter {
            from: period.0,
            to: period.1,
            interval_ms: 10_000,
            group: Placement::AllOn,
            segment: ReportSegment::Age,
            country: "",
            platform: None,
        };
        let mut rows = ledger::load_report(tx, &[7, 8], &filter)?;
        rows.sort_by_key(|row| (row.line_item_id, row.kind));
        Ok((people.into_values().collect(), rows))
    };
    world.store.read(read).await.unwrap()
}

#[each_engine]
async fn ad_events_of_an_erased_account_count_on_for_nobody(world: World) {
    let (gone, stays) = (world.user("gone").await, world.user("stays").await);
    let events = [ad_events(gone, 100), ad_events(stays, 200)].concat();
    world.write(move |tx| Ok(ledger::insert_events(tx, &events)?)).await;
    let before = ad_figures(&world).await;
    assert_eq!((before.0.as_slice(), before.1.len()), (&[2, 2][..], 4));

    erase(&world, gone).await;
    assert_eq!(ad_figures(&world).await, before);
    let left = world
        .write(move |tx| {
            let kinds = [AdEventKind::Impression, AdEventKind::UrlClick, AdEventKind::Like];
            let viewers = ledger::list_viewers(tx, &[7, 8], &kinds, Time::from_ms(0))?;
            let impressions = ledger::list_impressions_of_viewer(tx, gone.get(), (Time::from_ms(0), tx.now()))?;
            Ok((viewers, impressions, ledger::event_kinds_by_impressions(tx, &[-100, -200])?))
        })
        .await;
    assert_eq!(left, (vec![stays], Vec::new(), vec![(-200, AdEventKind::Like)]));
}

#[each_engine]
async fn group_messages_during_an_erasure_leave_no_copies(world: World) {
    let (ada, gone, bob) = (world.user("ada").await, world.user("gone").await, world.user("bob").await);
    let sender = MessageSender { user_id: ada, app_id: None };
    let new = |text: &str| NewMessage { text: text.to_owned(), media: None };
    let group = world.write(move |tx| messages::create_group(tx, &sender, &[gone, bob], &new("Before"))).await;
    world.write(move |tx| account_deletion::order(tx, None, gone, ErasureTime::Now)).await;
    let copies = async || {
        let list = move |tx: &mut Tx<'_>| {
            Ok(store::messages::inbox_with_conversations(tx, gone, &PageRange::newest(10))?.len())
        };
        world.write(list).await
    };
    while copies().await > 0 {
        world.write(move |tx| account_deletion::erase_part(tx, gone)).await;
    }
    // The step is over, and others follow.
    world.write(move |tx| account_deletion::erase_part(tx, gone)).await;
    world.write(move |tx| account_deletion::erase_part(tx, gone)).await;
    let name = group.conversation.to_string();
    world.write(move |tx| messages::send_to_conversation(tx, &sender, &name, &new("Meanwhile"))).await;
    assert_eq!(copies().await, 1);
    finish_erasure(&world, gone).await;
    assert_eq!(copies().await, 0);
}
