use std::sync::Arc;

use base::{Clock, UserId};
use network::home_timelines::HomeTimelines;
use network::posts::{self, NewPost};
use network::timelines;
use store::posts::PageRange;
use store::{Store, StoreOptions};
use tempfile::TempDir;

use crate::world::{START, World, fresh_database, on_each_engine, options};

async fn home(world: &World, homes: &Arc<HomeTimelines>, reader: UserId, span: PageRange) -> (Vec<String>, bool) {
    let homes = homes.clone();
    let page = world.store.read(move |tx| {
        let reader = store::users::find_by_id(tx, reader)?.unwrap();
        Ok(timelines::load_home_page(tx, &homes, &reader, &span)?)
    });
    let page = page.await.unwrap();
    (page.posts.into_iter().map(|post| post.text).collect(), page.more)
}

#[test]
fn home_timeline_follows_posts_deletions_and_follows() {
    on_each_engine(async |world| {
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
    });
}

#[test]
fn timeline_pages_go_both_ways_without_repeat_or_gap() {
    on_each_engine(async |world| {
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
    });
}

#[test]
fn home_timeline_is_merged_further_as_it_is_read() {
    on_each_engine(async |world| {
        let (ada, bob) = (world.user("ada").await, world.user("bob").await);
        let homes = Arc::new(HomeTimelines::default());
        world.write(move |tx| network::follows::follow(tx, ada, bob)).await;
        world
            .write(move |tx| {
                for number in 0..900 {
                    let text = format!("p{number}");
                    let new = NewPost { text, ..NewPost::default() };
                    posts::create(tx, &crate::world::by(bob), &new)?;
                }
                Ok(())
            })
            .await;
        let mut span = PageRange::newest(100);
        let mut walked = 0;
        loop {
            let (page, more) = home(&world, &homes, ada, span).await;
            walked += page.len();
            let Some(last) = page.last().cloned() else {
                break;
            };
            assert_eq!(last, format!("p{}", 900 - walked));
            if !more {
                break;
            }
            let found = world.store.read(move |tx| Ok(store::posts::list_ids_by_author(tx, bob, span.below, 100)?));
            span.below = found.await.unwrap().last().unwrap().get();
        }
        assert_eq!(walked, 900);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn post_from_a_node_with_a_fast_clock_hides_no_later_post() {
    let Ok(server) = std::env::var("LOCUM_TEST_POSTGRES") else {
        return;
    };
    let location = tokio::task::spawn_blocking(move || fresh_database(&server)).await.unwrap();
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
