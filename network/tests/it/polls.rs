use base::{Error, PostId, UserId};
use network::polls::{self, NewPoll};
use network::posts::{self, NewPost};
use store::Tx;

use test_stores::{World, each_engine};

const MINUTE: i64 = 60_000;

fn poll(options: &[&str], duration_minutes: i64) -> NewPost {
    NewPost {
        text: "Which?".to_owned(),
        poll: Some(NewPoll { options: options.iter().map(ToString::to_string).collect(), duration_minutes }),
        ..NewPost::default()
    }
}

fn vote(
    user: UserId,
    post: PostId,
    choice: i64,
) -> impl Fn(&mut Tx<'_>) -> Result<store::polls::Poll, Error> + Send + 'static {
    move |tx| polls::vote(tx, user, post, choice)
}

async fn told(world: &World) -> Vec<(i64, i64)> {
    let events = world.log().await.into_iter();
    let closed = events.filter(|event| event.kind == "poll.close");
    closed.map(|event| (event.actor_id, event.subject_id)).collect()
}

#[each_engine]
async fn poll_accepts_one_vote_per_user_until_it_ends(world: World) {
    let [ada, bob, eve] = [world.user("ada").await, world.user("bob").await, world.user("eve").await];
    let post = world.post(ada, poll(&["red", "blue"], 5)).await;
    let id = post.id;
    let end = id.created_at().plus_ms(5 * MINUTE);
    let after = world.write(vote(bob, id, 2)).await;
    assert_eq!(after.options[1].votes, 1);
    let again = world.refused(vote(bob, id, 1)).await;
    assert!(again.contains("already voted"), "{again}");
    for choice in [0, 3, -1, i64::MAX] {
        let refused = world.refused(vote(eve, id, choice)).await;
        assert!(refused.contains("options 1 to 2"), "{refused}");
    }
    let (one, other) = tokio::join!(world.store.write(vote(eve, id, 1)), world.store.write(vote(eve, id, 2)));
    assert_ne!(one.is_ok(), other.is_ok(), "one of two at once");
    world.recount().await;
    let close = |tx: &mut Tx<'_>| Ok(polls::close_ended_polls(tx, 10)?);
    world.clock.set(end.plus_ms(-1));
    assert_eq!(world.write(close).await, 0);
    world.write(vote(ada, id, 1)).await;
    world.clock.set(end);
    let late = world.user("late").await;
    let refused = world.refused(vote(late, id, 1)).await;
    assert!(refused.contains("closed"), "{refused}");
    let (one, other) = tokio::join!(world.store.write(close), world.store.write(close));
    one.unwrap();
    other.unwrap();
    assert_eq!(told(&world).await, [(ada.get(), id.get())]);
    world.pass(MINUTE);
    assert_eq!(world.write(close).await, 0);
    world.recount().await;
    world.write(move |tx| posts::delete(tx, ada, id)).await;
    world.recount().await;
    let poll = post.poll_id.unwrap();
    let read = world.store.read(move |tx| Ok(store::polls::find_by_id(tx, poll)?));
    assert!(read.await.unwrap().is_none());
}

#[each_engine]
async fn card_poll_ends_once_for_each_post_with_the_card(world: World) {
    let [ada, bob] = [world.user("ada").await, world.user("bob").await];
    let created = world
        .write(|tx| {
            let id = tx.next_id::<base::id::marker::PollMarker>().get();
            let choice =
                |choice, label: &str| store::polls::PollChoice { number: choice, label: label.to_owned(), votes: 0 };
            let poll = store::polls::Poll {
                id,
                post_id: PostId::new(id),
                duration_minutes: 5,
                ends_at: tx.now().plus_ms(5 * MINUTE),
                options: vec![choice(1, "red"), choice(2, "blue")],
            };
            store::polls::insert_standalone(tx, &poll)?;
            Ok(poll)
        })
        .await;
    let with = |text: &str| NewPost {
        text: text.to_owned(),
        card_uri: format!("card://{}", created.id),
        ..NewPost::default()
    };
    let one = world.post(ada, with("Which?")).await;
    let other = world.post(bob, with("And which?")).await;
    let deleted = world.post(bob, with("Which not?")).await.id;
    world.write(move |tx| posts::delete(tx, bob, deleted)).await;
    assert_eq!(one.poll_id, Some(created.id));
    world.write(vote(ada, one.id, 1)).await;
    let after = world.write(vote(bob, other.id, 1)).await;
    assert_eq!(after.options[0].votes, 2, "one tally");
    let close = |tx: &mut Tx<'_>| Ok(polls::close_ended_polls(tx, 10)?);
    world.clock.set(created.ends_at.plus_ms(-1));
    assert_eq!(world.write(close).await, 0);
    world.clock.set(created.ends_at);
    let (first, second) = tokio::join!(world.store.write(close), world.store.write(close));
    first.unwrap();
    second.unwrap();
    let both = [(ada.get(), one.id.get()), (bob.get(), other.id.get())];
    assert_eq!(told(&world).await, both);
    world.pass(MINUTE);
    assert_eq!(world.write(close).await, 0);
    world.recount().await;
}
