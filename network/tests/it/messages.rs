//! Direct messages as the log tells of them.

use base::UserId;
use network::messages::{self, MessageSender, NewMessage, indicate_typing, mark_read};
use serde_json::{Value, json};

use test_stores::{World, each_engine};

async fn told(world: &World) -> Vec<(String, i64, i64, String)> {
    let all = world.log().await;
    let about = all.into_iter().filter(|event| event.kind.starts_with("dm."));
    about.map(|event| (event.kind, event.actor_id, event.subject_id, event.body)).collect()
}

fn text(text: &str) -> NewMessage {
    NewMessage { text: text.to_owned(), media: None }
}

fn by(user: UserId) -> MessageSender {
    MessageSender { user_id: user, app_id: None }
}

#[each_engine]
async fn message_events_name_their_recipients_and_omit_the_text(world: World) {
    let ada = world.user("ada").await;
    let bob = world.user("bob").await;
    let cid = world.user("cid").await;
    let (two, group) = world
        .write(move |tx| {
            let two = messages::send_to_user(tx, &by(ada), bob, &text("canary"))?;
            let group = messages::create_group(tx, &by(ada), &[bob, cid], &text("canary"))?;
            network::blocks::block_messages(tx, cid, ada)?;
            messages::send_to_conversation(tx, &by(ada), &group.conversation.to_string(), &text("canary"))?;
            mark_read(tx, &two.conversation, bob, None)?;
            indicate_typing(tx, &two.conversation, bob)?;
            messages::leave_group(tx, &group.conversation, bob)?;
            messages::delete_event(tx, bob, two.id)?;
            Ok((two, group))
        })
        .await;
    let response = told(&world).await;
    assert!(response.iter().all(|(_, _, _, body)| !body.contains("canary")));
    let of = |kind: &str| -> Vec<(i64, i64, Value)> {
        let those = response.iter().filter(|(known, ..)| known == kind);
        those
            .map(|(_, actor, subject, body)| (*actor, *subject, serde_json::from_str(body).unwrap_or_default()))
            .collect()
    };
    let to = |name: &str, users: &[UserId]| {
        let users: Vec<String> = users.iter().map(UserId::to_string).collect();
        json!({ "conversation_id": name, "recipient_ids": users })
    };
    let (pair, many) = (two.conversation.to_string(), group.conversation.to_string());
    let sent = of("dm.sent");
    assert_eq!(sent.len(), 3);
    assert_eq!(sent[0], (ada.get(), two.id, to(&pair, &[bob])));
    assert_eq!(sent[1], (ada.get(), group.id, to(&many, &[bob, cid])));
    let received = of("dm.received");
    assert_eq!(received[0], (ada.get(), two.id, to(&pair, &[bob])));
    assert_eq!(received[2].2, to(&many, &[bob]), "not to whom takes none");
    assert_eq!(of("dm.read"), [(bob.get(), two.id, to(&pair, &[ada]))]);
    let typed = of("dm.indicate_typing");
    assert_eq!(typed, [(bob.get(), two.conversation.id, to(&pair, &[ada]))]);
    assert_eq!(of("dm.join").len(), 3);
    let left = &of("dm.leave")[0];
    assert_eq!((left.0, &left.2), (bob.get(), &to(&many, &[ada, cid])));
    assert_eq!(of("dm.delete")[0].1, two.id);
    world.recount().await;
}

#[each_engine]
async fn conversation_behind_two_thousand_messages_is_on_the_next_page(world: World) {
    let (ada, bob, cid) = (world.user("ada").await, world.user("bob").await, world.user("cid").await);
    let first = world.write(move |tx| messages::send_to_user(tx, &by(cid), ada, &text("first"))).await;
    for _ in 0..5 {
        let many = world.write(move |tx| {
            (0..500).try_for_each(|_| messages::send_to_user(tx, &by(bob), ada, &text("many")).map(drop))
        });
        many.await;
    }
    let last = world.write(move |tx| messages::send_to_user(tx, &by(bob), ada, &text("last"))).await;
    let page = async |below: i64, limit: usize| {
        let read = world.store.read(move |tx| Ok(messages::list_conversations(tx, ada, below, limit)?));
        let found = read.await.unwrap();
        (found.newest_events.into_iter().map(|event| event.id).collect::<Vec<_>>(), found.next)
    };
    let (newest, next) = page(i64::MAX, 20).await;
    assert_eq!(newest, [last.id]);
    assert_eq!(page(next.unwrap(), 20).await, (vec![first.id], None));
    let again = world.write(move |tx| messages::send_to_user(tx, &by(cid), ada, &text("again"))).await;
    assert_eq!(page(i64::MAX, 1).await, (vec![again.id], Some(again.id)));
    assert_eq!(page(again.id, 1).await.0, [last.id]);
}

#[each_engine]
async fn someone_who_is_blocked_does_not_learn_what_is_read(world: World) {
    let (ada, bob) = (world.user("ada").await, world.user("bob").await);
    let sent = world.write(move |tx| messages::send_to_user(tx, &by(ada), bob, &text("Hello"))).await;
    world.write(move |tx| network::blocks::block(tx, bob, ada)).await;
    assert!(world.write(move |tx| mark_read(tx, &sent.conversation, bob, None)).await.1);
    let events = told(&world).await;
    let (.., body) = events.iter().find(|(kind, ..)| kind == "dm.read").unwrap();
    assert_eq!(serde_json::from_str::<Value>(body).unwrap()["recipient_ids"], json!([]));
}
