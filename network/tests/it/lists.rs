use std::sync::Arc;

use base::UserId;
use network::home_timelines::HomeTimelines;
use network::lists::{self, ListChanges, MAX_LISTS, MAX_MEMBERS, NewList};
use network::posts::{self, NewPost};
use network::timelines;
use store::Tx;
use store::posts::PageRange;
use store::users::{User, UserState};

use test_stores::{World, by, each_engine};

fn named(name: &str) -> NewList {
    NewList { name: name.to_owned(), ..NewList::default() }
}

async fn list(world: &World, owner: UserId) -> i64 {
    world.write(move |tx| lists::create(tx, owner, &named("list"))).await.id
}

#[each_engine]
async fn lists_per_user_and_members_per_list_are_limited(world: World) {
    let (ada, bob) = (world.user("ada").await, world.user("bob").await);
    let newest = world.write(move |tx| {
        let created = (0..MAX_LISTS).map(|number| {
            let name = format!("list {number}");
            lists::create(tx, ada, &named(&name)).map(|list| list.id)
        });
        Ok(created.collect::<Result<Vec<_>, _>>()?.pop().unwrap())
    });
    let newest = newest.await;
    let more = move |tx: &mut Tx<'_>| lists::create(tx, ada, &named("one more"));
    assert!(world.refused(more).await.contains("1000 lists"));
    // Another's do not count, nor do deleted ones.
    list(&world, bob).await;
    world.write(move |tx| lists::delete(tx, ada, newest)).await;
    let id = list(&world, ada).await;

    world
        .write(move |tx| {
            let list = store::lists::find_by_id(tx, id)?.unwrap();
            for number in 0..MAX_MEMBERS {
                let user = User::new(UserId::new(1_000 + number), &format!("m{number}"), tx.now());
                store::users::insert(tx, &user, "")?;
                store::lists::add_member(tx, &list, user.id)?;
            }
            Ok(())
        })
        .await;
    let more = move |tx: &mut Tx<'_>| lists::add_member(tx, ada, id, bob);
    assert!(world.refused(more).await.contains("5000 members"));
    // Who is on it already stays on it.
    let again = move |tx: &mut Tx<'_>| lists::add_member(tx, ada, id, UserId::new(1_000));
    assert!(!world.write(again).await);
    let change = ListChanges { private: Some(true), ..ListChanges::default() };
    world.write(move |tx| lists::update(tx, ada, id, &change).map(drop)).await;
    world.recount().await;
    world.write(move |tx| lists::delete(tx, ada, id)).await;
    world.recount().await;
}

#[each_engine]
async fn list_timeline_reaches_back_eight_hundred_posts(world: World) {
    let (ada, bob) = (world.user("ada").await, world.user("bob").await);
    let id = list(&world, ada).await;
    world
        .write(move |tx| {
            lists::add_member(tx, ada, id, bob)?;
            for number in 0..830 {
                let new = NewPost { text: format!("p{number}"), ..NewPost::default() };
                posts::create(tx, &by(bob), &new)?;
            }
            Ok(())
        })
        .await;
    let homes = Arc::new(HomeTimelines::default());
    let (mut span, mut walked) = (PageRange::newest(90), Vec::new());
    loop {
        let homes = Arc::clone(&homes);
        let page = world.store.read(move |tx| {
            let list = store::lists::find_by_id(tx, id)?.unwrap();
            Ok(timelines::load_list_page(tx, &homes, &list, &span)?)
        });
        let page = page.await.unwrap();
        walked.extend(page.posts.iter().map(|post| post.text.clone()));
        if !page.more {
            break;
        }
        span.below = page.scanned_range.unwrap().1.get();
    }
    let expected: Vec<_> = (30..830).rev().map(|number| format!("p{number}")).collect();
    assert_eq!(walked, expected);
}

#[each_engine]
async fn pinned_lists_that_are_not_shown_leave_their_place_to_others(world: World) {
    let (ada, bob, cid) = (world.user("ada").await, world.user("bob").await, world.user("cid").await);
    let hidden = list(&world, bob).await;
    world.write(move |tx| lists::pin(tx, ada, hidden)).await;
    for _ in 0..4 {
        let id = list(&world, cid).await;
        world.write(move |tx| lists::pin(tx, ada, id)).await;
    }
    let sixth = list(&world, cid).await;
    assert!(world.refused(move |tx| lists::pin(tx, ada, sixth)).await.contains("at most 5"));
    let suspend = move |tx: &mut Tx<'_>| {
        let user = store::users::find_by_id(tx, bob)?.unwrap();
        Ok(store::users::update(tx, &User { state: UserState::Suspended, ..user })?)
    };
    world.write(suspend).await;
    assert!(world.write(move |tx| lists::pin(tx, ada, sixth)).await);
}
