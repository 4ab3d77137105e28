use base::UserId;
use tempfile::TempDir;

use super::*;
use crate::Store;
use crate::ledger::{AdEntity, AdEvent, AdEventKind, AdEventOrigin, Placement, insert_events};
use crate::posts::{self, NewPostDetails, Post};
use crate::test_stores::{locations, options};

const POST: PostId = PostId::new(5 << 22);
const HOUR: i64 = 494_532;

fn view(viewer_id: i64, hour: i64) -> PostView {
    PostView { hour, post_id: POST, viewer_id }
}

fn impression(number: i64, viewer_id: i64) -> AdEvent {
    AdEvent {
        id: number,
        at: Time::from_ms(HOUR * HOUR_MS + number),
        kind: AdEventKind::Impression,
        account_id: 1,
        funding_id: 2,
        campaign_id: 3,
        line_item_id: 4,
        creative: AdEntity::PromotedPost,
        creative_id: 5,
        subject_id: POST.get(),
        viewer_id,
        placement: Placement::Timeline,
        price_micro: 0,
        billed: 0,
        charge_micro: 0,
        origin: AdEventOrigin::Served,
        impression_id: number,
        weight: 1,
        viewer_traits: crate::ledger::ViewerTraits::default(),
        hour_offset_ms: 0,
    }
}

/// In both databases, on the same rows.
fn on_each_database(test: impl Fn(&mut Tx<'_>) + Copy + Send + 'static) {
    let folder = TempDir::new().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for location in locations(&folder) {
        let store = runtime.block_on(Store::open(options(location, &folder))).unwrap();
        let work = move |tx: &mut Tx<'_>| {
            let post =
                Post { state: posts::PostState::Live, ..Post::placeholder(POST, UserId::new(9), Time::from_ms(0)) };
            posts::insert(tx, &post, &NewPostDetails::default())?;
            test(tx);
            Ok(())
        };
        runtime.block_on(store.write(work)).unwrap();
        store.close();
    }
}

/// Of the post, and of its hours.
fn impressions(tx: &mut Tx<'_>) -> (i64, i64) {
    let post = posts::find_by_id(tx, POST).unwrap().unwrap();
    let hours = hourly_counts(tx, POST, (0, i64::MAX)).unwrap();
    (post.impression_count, hours.iter().map(|(counts, _)| counts.impressions).sum())
}

#[test]
fn view_counts_once_per_viewer_and_hour() {
    on_each_database(|tx| {
        assert_eq!(record_views(tx, &[view(1, HOUR), view(2, HOUR)]).unwrap(), 2);
        assert_eq!(record_views(tx, &[view(1, HOUR), view(1, HOUR + 1)]).unwrap(), 1);
        let many: Vec<PostView> = (1..=200).map(|viewer| view(viewer, HOUR)).collect();
        assert_eq!(record_views(tx, &many).unwrap(), 198);
        assert_eq!(impressions(tx), (201, 201));
        assert_eq!(hourly_counts(tx, POST, (HOUR, HOUR + 1)).unwrap()[0].0.impressions, 200);
    });
}

#[test]
fn ad_that_was_also_delivered_counts_once() {
    on_each_database(|tx| {
        // Delivered before the ad reports it, afterwards, and not at all.
        record_views(tx, &[view(1, HOUR)]).unwrap();
        insert_events(tx, &[impression(1, 1), impression(2, 2), impression(3, 3)]).unwrap();
        assert_eq!(record_views(tx, &[view(2, HOUR)]).unwrap(), 0);
        assert_eq!(impressions(tx), (3, 3));
        // Further ads are further impressions.
        insert_events(tx, &[impression(4, 1), impression(5, 1), impression(6, 4), impression(7, 4)]).unwrap();
        assert_eq!(impressions(tx), (7, 7));
    });
}

#[test]
fn old_views_and_counts_are_deleted() {
    on_each_database(|tx| {
        for hour in 0..5 {
            record_views(tx, &[view(1, HOUR + hour), view(2, HOUR + hour)]).unwrap();
        }
        let counts = PostHourCounts { link_clicks: 2, profile_clicks: 3, ..PostHourCounts::default() };
        add_counts(tx, POST, HOUR, counts).unwrap();
        assert_eq!(total_clicks(tx, &[POST]).unwrap(), [(POST, 2, 3)]);
        assert_eq!(prune_views(tx, HOUR + 4, 5).unwrap(), 5);
        assert_eq!(prune_views(tx, HOUR + 4, 5).unwrap(), 3);
        assert_eq!(prune_counts(tx, HOUR + 4, 3).unwrap(), 3);
        assert_eq!(impressions(tx), (10, 4));
        assert_eq!(record_views(tx, &[view(1, HOUR + 4)]).unwrap(), 0);
    });
}
