use std::path::Path;
use std::sync::Arc;

use base::{Error, Refusal};
use post_search::{IndexCopy, PostSearch};
use store::DatabaseLocation;

use test_stores::{World, each_engine};

#[each_engine]
async fn search_is_unavailable_until_earlier_writes_are_indexed(world: World) {
    let folder = tempfile::TempDir::new().unwrap();
    let search = PostSearch::open(folder.path()).unwrap();
    search.drain_log(&world.store).await.unwrap();
    search.catch_up(&world.store).await.unwrap();
    let author = world.user("author").await;
    world.say(author, "not indexed yet").await;
    let refused = search.catch_up(&world.store).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::Unavailable))), "{refused:?}");
    world.store.wait_for_log_end(std::time::Duration::from_secs(10)).await.unwrap();
    search.drain_log(&world.store).await.unwrap();
    search.catch_up(&world.store).await.unwrap();
}

/// Indexes everything.
async fn indexed(world: &World, folder: &Path) -> Arc<PostSearch> {
    let search = PostSearch::open(folder).unwrap();
    world.store.wait_for_log_end(std::time::Duration::from_secs(10)).await.unwrap();
    search.drain_log(&world.store).await.unwrap();
    search
}

async fn assert_complete(search: &PostSearch, world: &World, posts: u64) {
    world.store.wait_for_log_end(std::time::Duration::from_secs(10)).await.unwrap();
    search.drain_log(&world.store).await.unwrap();
    assert_eq!(search.snapshot().len(), posts);
}

fn copy_index(search: &PostSearch, folder: &Path) -> IndexCopy {
    std::fs::create_dir(folder).unwrap();
    search.link_index_files(folder).unwrap().unwrap()
}

/// Another database: what one becomes after it was restored to its beginning.
async fn other_world() -> World {
    let folder = tempfile::TempDir::new().unwrap();
    let other = World::open(DatabaseLocation::File(folder.path().join("other.db")), folder).await;
    other.pass(1);
    other
}

#[each_engine]
async fn copy_of_an_index_is_used_only_with_the_log_that_it_has_followed(world: World) {
    let folder = tempfile::TempDir::new().unwrap();
    let author = world.user("author").await;
    for text in ["one", "two"] {
        world.say(author, text).await;
    }
    let search = indexed(&world, &folder.path().join("index")).await;
    let copy = copy_index(&search, &folder.path().join("copy"));
    let problem = |world: &World| {
        let (store, checkpoint) = (Arc::clone(&world.store), copy.files.checkpoint.clone());
        async move { PostSearch::find_copy_problem(&store, &checkpoint).await.unwrap() }
    };
    assert_eq!(problem(&world).await, None);
    let post = world.say(author, "three").await;
    world.write(move |tx| network::posts::delete(tx, author, post.id)).await;
    world.say(author, "four").await;
    assert_eq!(problem(&world).await, None);

    let other = other_world().await;
    assert_eq!(problem(&other).await, Some("it is ahead of the database"));
    let stranger = other.user("author").await;
    for text in ["one", "two", "another three"] {
        other.say(stranger, text).await;
    }
    assert_eq!(problem(&other).await, Some("the database was restored to an earlier state"));
    let outdated = PostSearch::open(&folder.path().join("index"));
    drop(search);
    assert!(outdated.unwrap().needs_build(&other.store).await.unwrap());

    let copied = copy_index(&PostSearch::open(&folder.path().join("index")).unwrap(), &folder.path().join("copy-2"));
    assert_eq!(copied.seq, copy.seq);
    let refusing = PostSearch::open(&folder.path().join("other")).unwrap();
    assert!(refusing.replace_index(&other.store, folder.path().join("copy-2")).await.is_err());
    assert!(refusing.needs_build(&other.store).await.unwrap());
    assert_complete(&refusing, &other, 3).await;

    let started = PostSearch::open(&folder.path().join("started")).unwrap();
    assert!(started.needs_build(&world.store).await.unwrap());
    assert_eq!(started.replace_index(&world.store, folder.path().join("copy")).await.unwrap(), 2);
    assert!(!started.needs_build(&world.store).await.unwrap());
    assert!(!started.is_built(), "it lacks what happened since");
    assert_complete(&started, &world, 3).await;
    assert!(started.is_built());
}
