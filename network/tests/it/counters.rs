//! Counters that many transactions change at once, by several nodes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{PostId, UserId};
use network::{bookmarks, follows, likes, reposts};
use store::posts::PageRange;
use store::{DatabaseLocation, Store, StoreOptions, Tx};
use tempfile::TempDir;
use tokio::task::JoinSet;

use test_stores::{World, create_database, each_engine, options};

const CLIENTS: usize = 64;

/// Runs a story on PostgreSQL, where counters are shared, with the address of the database.
fn on_postgres<F: Future<Output = ()>>(story: impl Fn(World, DatabaseLocation) -> F) {
    let Ok(server) = std::env::var("LOCUM_TEST_POSTGRES") else {
        eprintln!("LOCUM_TEST_POSTGRES is not set: not run");
        return;
    };
    let location = create_database(&server);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let world = World::open(location.clone(), TempDir::new().unwrap()).await;
        story(world, location).await;
    });
}

async fn create_users(world: &World, count: usize) -> Vec<UserId> {
    let create = move |tx: &mut Tx<'_>| {
        let names = (0..count).map(|number| format!("fan{number}"));
        let users = names
            .map(|username| network::users::create(tx, &network::users::NewUser { username, ..Default::default() }));
        users.map(|user| Ok(user?.id)).collect()
    };
    world.write(create).await
}

/// Followers, likes and bookmarks according to the counters and according to their rows, in one snapshot.
async fn counts(store: &Store, star: UserId, post: PostId) -> [(i64, i64); 2] {
    let read = move |tx: &mut Tx<'_>| {
        let range = PageRange::newest(1000);
        let user = store::users::find_by_id(tx, star)?.unwrap();
        let followers = store::follows::follower_page(tx, star, &range)?.len();
        let likes = store::likes::page_by_post(tx, post, &range)?.len();
        let post = store::posts::find_by_id(tx, post)?.unwrap();
        let as_count = |rows| i64::try_from(rows).unwrap();
        Ok([(user.followers_count, as_count(followers)), (post.like_count, as_count(likes))])
    };
    store.read(read).await.unwrap()
}

/// Whether there are more changes to add to their counters.
async fn fold(store: &Store) -> bool {
    store.write(|tx| Ok(store::counters::fold_deltas(tx, 20)?)).await.unwrap()
}

#[test]
fn counters_are_exact_while_two_nodes_change_and_fold_them() {
    on_postgres(async |world, location| {
        let star = world.user("star").await;
        let (post, fans) = (world.say(star, "Popular").await.id, create_users(&world, CLIENTS).await);
        let folder = TempDir::new().unwrap();
        let second = StoreOptions { node: 1, ..options(location, folder.path(), &world.clock) };
        let nodes = [world.store.clone(), Arc::new(Store::open(second).await.unwrap())];
        let is_over = Arc::new(AtomicBool::new(false));
        let mut readers = JoinSet::new();
        for node in nodes.clone() {
            let is_over = is_over.clone();
            readers.spawn(async move {
                while !is_over.load(Ordering::Relaxed) {
                    fold(&node).await;
                    let [followers, likes] = counts(&node, star, post).await;
                    assert_eq!((followers.0, likes.0), (followers.1, likes.1));
                    // The star's own writes are not kept waiting by the followers.
                    node.write(move |tx| Ok(store::users::lock(tx, star)?)).await.unwrap();
                }
            });
        }
        let mut clients = JoinSet::new();
        for (number, fan) in fans.into_iter().enumerate() {
            let node = nodes[number % 2].clone();
            clients.spawn(async move {
                node.write(move |tx| follows::follow(tx, fan, star)).await.unwrap();
                node.write(move |tx| likes::like(tx, fan, post)).await.unwrap();
                node.write(move |tx| bookmarks::add(tx, fan, post, None)).await.unwrap();
                if number % 4 == 0 {
                    assert!(node.write(move |tx| Ok(follows::unfollow(tx, fan, star)?)).await.unwrap());
                    assert!(node.write(move |tx| likes::unlike(tx, fan, post)).await.unwrap());
                }
            });
        }
        while let Some(done) = clients.join_next().await {
            done.unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
        while let Some(done) = readers.join_next().await {
            done.unwrap();
        }
        world.recount().await;
        while fold(&world.store).await {}
        assert_eq!(counts(&nodes[1], star, post).await, [(48, 48); 2]);
        world.recount().await;
    });
}

#[test]
fn repost_is_listed_before_it_is_in_the_row_of_its_counter() {
    on_postgres(async |world, _| {
        let (star, fan) = (world.user("star").await, world.user("fan").await);
        let post = world.say(star, "Popular").await.id;
        let listed = async || {
            let read = move |tx: &mut Tx<'_>| Ok(reposts::list_reposted_posts(tx, star, &PageRange::newest(10))?);
            world.store.read(read).await.unwrap().len()
        };
        assert_eq!(listed().await, 0);
        world.write(move |tx| reposts::repost(tx, fan, None, post)).await;
        assert_eq!(listed().await, 1);
        while fold(&world.store).await {}
        assert_eq!(listed().await, 1);
        world.write(move |tx| reposts::undo(tx, fan, post)).await;
        assert_eq!(listed().await, 0);
        world.recount().await;
    });
}

#[test]
fn open_transaction_of_one_follower_delays_no_other_follower() {
    on_postgres(async |world, _| {
        let [star, bob, ada, eve] =
            [world.user("star").await, world.user("bob").await, world.user("ada").await, world.user("eve").await];
        let post = world.say(star, "Popular").await.id;
        world.write(move |tx| follows::follow(tx, eve, bob)).await;
        let (release, released) = std::sync::mpsc::channel::<()>();
        let (open, is_open) = tokio::sync::oneshot::channel();
        let open = std::sync::Mutex::new(Some(open));
        let store = world.store.clone();
        let mut held = JoinSet::new();
        held.spawn(async move {
            let released = std::sync::Mutex::new(released);
            let work = move |tx: &mut Tx<'_>| {
                follows::follow(tx, ada, star)?;
                likes::like(tx, ada, post)?;
                store::users::lock(tx, bob)?;
                // The lock is sent with it.
                store::users::find_by_id(tx, bob)?;
                if let Some(open) = open.lock().unwrap().take() {
                    open.send(()).unwrap();
                }
                released.lock().unwrap().recv().unwrap();
                Ok(())
            };
            store.write(work).await.unwrap();
        });
        is_open.await.unwrap();
        world.write(move |tx| follows::follow(tx, eve, star)).await;
        world.write(move |tx| likes::like(tx, eve, post)).await;
        assert_eq!(counts(&world.store, star, post).await, [(1, 1); 2]);
        // Only the locked row has changes left.
        assert!(fold(&world.store).await);
        assert_eq!(counts(&world.store, star, post).await, [(1, 1); 2]);
        release.send(()).unwrap();
        held.join_next().await.unwrap().unwrap();
        assert_eq!(counts(&world.store, star, post).await, [(2, 2); 2]);
        while fold(&world.store).await {}
        assert_eq!(counts(&world.store, bob, post).await, [(1, 1), (2, 2)]);
        world.recount().await;
    });
}

#[each_engine]
async fn reposted_posts_are_listed_in_order_whether_or_not_their_reposts_are_counted_yet(world: World) {
    let (star, fan) = (world.user("star").await, world.user("fan").await);
    let mut posts = Vec::new();
    for number in 0..6 {
        posts.push(world.say(star, &format!("p{number}")).await.id);
    }
    // The last one of the first two is both: counted, and with a change.
    for (place, is_counted) in [(1, true), (3, true), (0, false), (4, false), (3, false)] {
        let (by, post) = (if is_counted { fan } else { world.user(&format!("u{place}")).await }, posts[place]);
        world.write(move |tx| reposts::repost(tx, by, None, post)).await;
        while is_counted && fold(&world.store).await {}
    }
    let list = async |range: PageRange| {
        let read = move |tx: &mut Tx<'_>| Ok(store::reposts::page_reposted_of_author(tx, star, &range)?);
        let page = world.store.read(read).await.unwrap();
        page.into_iter().map(|(_, id)| posts.iter().position(|post| post.get() == id).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(list(PageRange::newest(10)).await, [4, 3, 1, 0]);
    assert_eq!(list(PageRange::newest(2)).await, [4, 3]);
    assert_eq!(list(PageRange { below: posts[3].get(), ..PageRange::newest(10) }).await, [1, 0]);
    assert_eq!(list(PageRange { ascending: true, ..PageRange::newest(3) }).await, [3, 1, 0]);
}

#[each_engine]
async fn popular_post_is_deleted_in_parts(world: World) {
    let star = world.user("star").await;
    let popular = world.say(star, "Popular").await;
    let post = popular.id;
    let fans = create_users(&world, 2_200).await;
    let last = fans[2_199];
    let act = move |tx: &mut Tx<'_>| {
        for fan in &fans {
            likes::like(tx, *fan, post)?;
            bookmarks::add(tx, *fan, post, None)?;
            reposts::repost(tx, *fan, None, post)?;
        }
        Ok(())
    };
    world.write(act).await;
    let delete = async || {
        world.write(move |tx| network::posts::delete(tx, star, post)).await;
        world.recount().await;
        world.log().await.iter().filter(|event| event.kind == "post.delete").count()
    };
    assert_eq!(delete().await, 1_001);
    world.write(move |tx| reposts::undo(tx, last, post)).await;
    world.recount().await;
    assert!(world.write(move |tx| Ok(store::posts::restore(tx, &popular, &[])?)).await);
    world.recount().await;
    let continues = async || world.write(|tx| Ok(network::posts::continue_removal(tx)?)).await;
    assert!(!continues().await);
    assert_eq!(delete().await, 2_003);
    assert!(continues().await);
    assert!(!continues().await);
    world.recount().await;
    let likes = world.write(move |tx| Ok(store::likes::page_by_post(tx, post, &PageRange::newest(1))?)).await;
    assert_eq!(likes, []);
}
