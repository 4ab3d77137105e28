use std::sync::Arc;
use std::time::Duration;

use base::{Clock, UserId};
use network::home_timelines::{HomeTimelines, TimelineSource};
use network::lists::{self, NewList};
use network::muted_words::MutedWordFilter;
use network::posts::{self, NewPost};
use network::timelines;
use store::posts::PageRange;
use store::{QueryLimits, Store, StoreOptions, Tx};
use tempfile::TempDir;

use test_stores::{START, World, by, create_database, each_engine, options};

async fn home(world: &World, homes: &Arc<HomeTimelines>, reader: UserId, span: PageRange) -> (Vec<String>, bool) {
    let homes = homes.clone();
    let page = world.store.read(move |tx| {
        let reader = store::users::find_by_id(tx, reader)?.unwrap();
        Ok(timelines::load_home_page(tx, &homes, &reader, &span, &MutedWordFilter::default())?)
    });
    let page = page.await.unwrap();
    (page.posts.into_iter().map(|post| post.text).collect(), page.more)
}

#[each_engine]
async fn home_timeline_follows_posts_deletions_and_follows(world: World) {
    let (ada, bob, eve) = (world.user("ada").await, world.user("bob").await, world.user("eve").await);
    let homes = Arc::new(HomeTimelines::default());
    world.write(move |tx| network::follows::follow(tx, ada, bob)).await;
    world.say(bob, "b1").await;
    world.say(eve, "e1").await;
    let deleted = world.say(bob, "b2").await.id;
    world.say(ada, "a1").await;
    let all = PageRange::newest(10);
    assert_eq!(home(&world, &homes, ada, all).await.0, ["a1", "b2", "b1"]);
    world.write(move |tx| posts::delete(tx, bob, deleted)).await;
    world.say(bob, "b3").await;
    assert_eq!(home(&world, &homes, ada, all).await.0, ["b3", "a1", "b1"]);
    world.write(move |tx| network::follows::follow(tx, ada, eve)).await;
    assert_eq!(home(&world, &homes, ada, all).await.0, ["b3", "a1", "e1", "b1"]);
    world.write(move |tx| Ok(network::follows::unfollow(tx, ada, bob)?)).await;
    assert_eq!(home(&world, &homes, ada, all).await.0, ["a1", "e1"]);
}

#[each_engine]
async fn timeline_pages_go_both_ways_without_repeat_or_gap(world: World) {
    let (ada, bob) = (world.user("ada").await, world.user("bob").await);
    let homes = Arc::new(HomeTimelines::default());
    world.write(move |tx| network::follows::follow(tx, ada, bob)).await;
    let mut ids = Vec::new();
    for number in 0..25 {
        world.pass(1000);
        let author = if number % 3 == 0 { ada } else { bob };
        ids.push(world.say(author, &format!("p{number}")).await.id.get());
    }
    let mut span = PageRange::newest(10);
    let mut walked = Vec::new();
    loop {
        let (page, more) = home(&world, &homes, ada, span).await;
        walked.extend(page);
        // Whatever comes in between does not disturb the walk.
        world.say(bob, &format!("late {}", walked.len())).await;
        if !more {
            break;
        }
        let last: usize = walked.last().unwrap().strip_prefix('p').unwrap().parse().unwrap();
        span.below = ids[last];
    }
    let expected: Vec<_> = (0..25).rev().map(|number| format!("p{number}")).collect();
    assert_eq!(walked, expected);
    let back = PageRange { above: ids[4], below: i64::MAX, ascending: true, limit: 3, ..span };
    assert_eq!(home(&world, &homes, ada, back).await, (vec!["p7".into(), "p6".into(), "p5".into()], true));
}

#[each_engine]
async fn page_before_an_old_one_follows_it_also_in_a_fresh_memory(world: World) {
    let (ada, bob) = (world.user("ada").await, world.user("bob").await);
    world.write(move |tx| network::follows::follow(tx, ada, bob)).await;
    say_many(&world, bob, "p", 500).await;
    let all = world.store.read(move |tx| Ok(store::posts::list_ids_by_author(tx, bob, i64::MAX, 500)?));
    let above = all.await.unwrap()[489].get();
    let homes = Arc::new(HomeTimelines::default());
    let back = PageRange { above, below: i64::MAX, ascending: true, limit: 2, ..PageRange::newest(2) };
    assert_eq!(home(&world, &homes, ada, back).await, (vec!["p12".into(), "p11".into()], true));
}

#[each_engine]
async fn home_timeline_is_merged_further_as_it_is_read(world: World) {
    let (ada, bob) = (world.user("ada").await, world.user("bob").await);
    let homes = Arc::new(HomeTimelines::default());
    world.write(move |tx| network::follows::follow(tx, ada, bob)).await;
    let id = Some(world.write(|tx| Ok(tx.next_id())).await);
    say_many(&world, bob, "p", 900).await;
    assert_eq!(home(&world, &homes, ada, PageRange::newest(1)).await.0, ["p899"]);
    // Below everything that was merged.
    world.post(ada, NewPost { text: "late".to_owned(), id, ..NewPost::default() }).await;
    let mut span = PageRange::newest(100);
    let mut walked = 0;
    loop {
        let (page, more) = home(&world, &homes, ada, span).await;
        walked += page.len();
        if !more {
            assert_eq!(page, ["late"]);
            break;
        }
        assert_eq!(page.last(), Some(&format!("p{}", 900 - walked)));
        let found = world.store.read(move |tx| Ok(store::posts::list_ids_by_author(tx, bob, span.below, 100)?));
        span.below = found.await.unwrap().last().unwrap().get();
    }
    assert_eq!(walked, 901);
}

#[tokio::test(flavor = "multi_thread")]
async fn post_from_a_node_with_a_fast_clock_hides_no_later_post() {
    let Ok(server) = std::env::var("LOCUM_TEST_POSTGRES") else {
        return;
    };
    let location = tokio::task::spawn_blocking(move || create_database(&server)).await.unwrap();
    let world = World::open(location.clone(), TempDir::new().unwrap()).await;
    let folder = TempDir::new().unwrap();
    let fast_clock = Clock::frozen_at(START.plus_ms(300_000));
    let options = StoreOptions { node: 1, ..options(location, folder.path(), &fast_clock) };
    let fast = World { store: Arc::new(Store::open(options).await.unwrap()), clock: fast_clock, folder };
    let (ada, bob) = (world.user("ada").await, world.user("bob").await);
    let homes = Arc::new(HomeTimelines::default());
    world.write(move |tx| network::follows::follow(tx, ada, bob)).await;
    world.say(bob, "first").await;
    assert_eq!(home(&world, &homes, ada, PageRange::newest(10)).await.0, ["first"]);
    fast.say(bob, "fast").await;
    assert_eq!(home(&world, &homes, ada, PageRange::newest(10)).await.0, ["fast", "first"]);
    for number in 0..3 {
        world.pass(1000);
        world.say(bob, &format!("p{number}")).await;
        assert_eq!(home(&world, &homes, ada, PageRange::newest(10)).await.0.len(), 3 + number);
    }
    assert_eq!(home(&world, &homes, ada, PageRange::newest(10)).await.0, ["fast", "p2", "p1", "p0", "first"]);
    // A timeline that is merged anew begins with the post of the fast node.
    let merged = Arc::new(HomeTimelines::default());
    home(&world, &merged, ada, PageRange::newest(10)).await;
    world.say(bob, "last").await;
    assert_eq!(home(&world, &merged, ada, PageRange::newest(2)).await.0, ["fast", "last"]);
}

/// Of any statement that reads a warm timeline.
const MAX_ROWS: usize = 40;

#[each_engine]
async fn home_and_list_timelines_read_no_more_rows_when_others_post_more(world: World) {
    let (ada, bob, eve) = (world.user("ada").await, world.user("bob").await, world.user("eve").await);
    let homes = Arc::new(HomeTimelines::default());
    let list = world
        .write(move |tx| {
            network::follows::follow(tx, ada, bob)?;
            let list = lists::create(tx, ada, &NewList { name: "all".to_owned(), ..NewList::default() })?.id;
            lists::add_member(tx, ada, list, bob)?;
            Ok(list)
        })
        .await;
    world.say(bob, "first").await;
    assert_eq!(home(&world, &homes, ada, PageRange::newest(10)).await.0, ["first"]);
    assert_eq!(list_timeline(&world, &homes, list).await, ["first"]);
    for round in 0..2 {
        say_many(&world, eve, &format!("e{round}-"), 200).await;
        read_log(&world, &homes).await;
        let limits = QueryLimits { max_rows: MAX_ROWS, ..QueryLimits::default() };
        let read = home(&world, &homes, ada, PageRange::newest(10));
        assert_eq!(store::limit_queries(limits, read).await.0, ["first"]);
        assert_eq!(store::limit_queries(limits, list_timeline(&world, &homes, list)).await, ["first"]);
    }
}

/// As servers do in the background.
async fn read_log(world: &World, homes: &HomeTimelines) {
    world.store.wait_for_log_end(Duration::from_mins(1)).await.unwrap();
    homes.read_log(&world.store).await.unwrap();
}

async fn list_timeline(world: &World, homes: &Arc<HomeTimelines>, list: i64) -> Vec<String> {
    let homes = homes.clone();
    let page = world.store.read(move |tx| {
        let list = store::lists::find_by_id(tx, list)?.unwrap();
        Ok(timelines::load_list_page(tx, &homes, &list, &PageRange::newest(10))?)
    });
    page.await.unwrap().posts.into_iter().map(|post| post.text).collect()
}

/// In one transaction.
async fn say_many(world: &World, author: UserId, prefix: &str, count: usize) {
    let prefix = prefix.to_owned();
    let say = move |tx: &mut Tx<'_>| {
        for number in 0..count {
            let text = format!("{prefix}{number}");
            posts::create(tx, &by(author), &NewPost { text, ..NewPost::default() })?;
        }
        Ok(())
    };
    world.write(say).await;
}

/// As on PostgreSQL, where transactions are not committed in the order of their ids.
#[each_engine]
async fn post_that_is_committed_after_later_ones_is_in_the_home_timeline_once(world: World) {
    let (ada, bob, eve) = (world.user("ada").await, world.user("bob").await, world.user("eve").await);
    for followed in [bob, eve] {
        world.write(move |tx| network::follows::follow(tx, ada, followed)).await;
    }
    let homes = Arc::new(HomeTimelines::default());
    let id = Some(world.write(|tx| Ok(tx.next_id())).await);
    say_many(&world, bob, "b", 3).await;
    assert_eq!(home(&world, &homes, ada, PageRange::newest(10)).await.0, ["b2", "b1", "b0"]);
    world.post(eve, NewPost { text: "late".to_owned(), id, ..NewPost::default() }).await;
    for _ in 0..2 {
        assert_eq!(home(&world, &homes, ada, PageRange::newest(10)).await.0, ["b2", "b1", "b0", "late"]);
        read_log(&world, &homes).await;
    }
}

#[each_engine]
async fn promoted_only_post_is_not_in_the_home_timeline(world: World) {
    let (ada, bob) = (world.user("ada").await, world.user("bob").await);
    let homes = Arc::new(HomeTimelines::default());
    world.write(move |tx| network::follows::follow(tx, ada, bob)).await;
    world.say(bob, "first").await;
    assert_eq!(home(&world, &homes, ada, PageRange::newest(10)).await.0, ["first"]);
    let promoted = NewPost { text: "promoted".to_owned(), nullcast: true, ..NewPost::default() };
    let promoted = world.post(bob, promoted).await.id;
    let repost = move |tx: &mut Tx<'_>| network::reposts::repost_for_promotion(tx, bob, None, promoted);
    world.write(repost).await;
    world.say(bob, "second").await;
    assert_eq!(home(&world, &homes, ada, PageRange::newest(10)).await.0, ["second", "first"]);
}

/// Of any page; statements are prepared meanwhile.
const MAX_ROUND_TRIPS: u64 = 20;

#[each_engine]
async fn home_timeline_of_many_authors_is_merged_in_few_round_trips(world: World) {
    let ada = world.user("ada").await;
    let mut expected = Vec::new();
    let mut authors = Vec::new();
    for number in 0..60 {
        let author = world.user(&format!("a{number}")).await;
        world.write(move |tx| network::follows::follow(tx, ada, author)).await;
        authors.push(author);
    }
    // The first authors write far more than the last ones.
    for round in 0..30 {
        for (number, author) in authors.iter().enumerate().take(60 / (round + 1)) {
            let count = if number == 0 { 20 } else { 1 };
            say_many(&world, *author, &format!("{number}-{round}-"), count).await;
            expected.extend((0..count).map(|post| format!("{number}-{round}-{post}")));
        }
    }
    expected.reverse();
    assert!(expected.len() > 800, "{}", expected.len());
    let homes = Arc::new(HomeTimelines::default());
    let mut range = PageRange::newest(100);
    let mut walked = Vec::new();
    loop {
        let homes = homes.clone();
        let read = async {
            let page = world.store.read(move |tx| {
                let reader = store::users::find_by_id(tx, ada)?.unwrap();
                Ok(homes.page(tx, TimelineSource::Reader(&reader), &range)?)
            });
            (page.await.unwrap(), store::count_round_trips())
        };
        let ((page, more), round_trips) = store::limit_queries(QueryLimits::default(), read).await;
        assert!(round_trips <= MAX_ROUND_TRIPS, "{round_trips} after {}", walked.len());
        range.below = page.last().unwrap().get();
        walked.extend(page);
        if !more {
            break;
        }
    }
    let found = world.store.read(move |tx| Ok(store::posts::find_by_ids(tx, &walked)?)).await.unwrap();
    let mut found: Vec<_> = found.into_iter().map(|post| (post.id, post.text)).collect();
    found.sort_by_key(|(id, _)| std::cmp::Reverse(*id));
    assert!(found.into_iter().map(|(_, text)| text).eq(expected));
}
