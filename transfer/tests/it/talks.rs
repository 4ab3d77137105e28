//! Direct messages of archives.

use base::{Error, UserId};
use network::messages::{MessageSender, NewMessage};
use store::Tx;
use store::messages::{MessageEvent, MessageEventKind};
use store::posts::PageRange;
use transfer::{ImportOptions, ImportReport};

use crate::sample::{Files, at, folder, parts, text};
use crate::world::{Engine, World, each_engine};

/// Ada's: two messages with Grace, one of them with a short link, and a group.
fn ada() -> Files {
    let talk = format!(
        r#"window.YTD.direct_messages.part0 = [ {{"dmConversation":{{"conversationId":"12-77","messages":[
        {{"messageCreate":{{"id":"{}","senderId":"77","recipientId":"12","text":"fine &amp; you? https://t.co/abc","createdAt":"2023-02-18T12:33:31.000Z","urls":[{{"url":"https://t.co/abc","expanded":"https://example.com/x","display":"example.com/x"}}],"mediaUrls":[],"reactions":[]}}}},
        {{"messageCreate":{{"id":"{}","senderId":"12","recipientId":"77","text":"how are you?","createdAt":"2023-02-18T12:33:21.000Z"}}}} ]}}}},
        {{"dmConversation":{{"conversationId":"5-6","messages":[ {{"messageCreate":{{"id":"{}","senderId":"5","recipientId":"6","text":"not hers"}}}} ]}}}} ]"#,
        at(20),
        at(10),
        at(30)
    );
    let group = format!(
        r#"window.YTD.direct_messages_group.part0 = [ {{"dmConversation":{{"conversationId":"{}","messages":[
        {{"participantsLeave":{{"userIds":["8"],"createdAt":"2023-02-18T12:35:00.000Z"}}}},
        {{"messageCreate":{{"id":"{}","senderId":"77","text":"hello all","createdAt":"2023-02-18T12:34:30.000Z"}}}},
        {{"conversationNameUpdate":{{"initiatingUserId":"77","name":"us","createdAt":"2023-02-18T12:34:20.000Z"}}}},
        {{"joinConversation":{{"initiatingUserId":"77","participantsSnapshot":["77","12","8"],"createdAt":"2023-02-18T12:34:10.000Z"}}}} ]}}}} ]"#,
        at(60),
        at(70)
    );
    let mut files = parts("12", "ada", "Ada");
    files.extend([text("data/direct-messages.js", &talk), text("data/direct-messages-group.js", &group)]);
    files
}

async fn take(world: &World, files: &Files) -> ImportReport {
    let options = ImportOptions { messages: true, ..world.options() };
    let report = world.try_import(folder(files).source(), options).await.unwrap();
    world.recount().await;
    report
}

/// What a user has, newest first.
async fn inbox(world: &World, user: i64) -> Vec<MessageEvent> {
    let read = move |tx: &mut Tx<'_>| {
        let ids =
            store::messages::inbox_page(tx, UserId::new(user), None, &MessageEventKind::ALL, &PageRange::newest(50))?;
        let mut found = store::messages::find_events(tx, &ids)?;
        found.sort_by_key(|event| std::cmp::Reverse(event.id));
        Ok(found)
    };
    world.store.read(read).await.unwrap()
}

#[each_engine]
async fn messages_are_taken_when_they_are_asked_for_and_by_their_owner_alone(engine: Engine) {
    let world = World::new(engine).await;
    let report = world.import(folder(&ada()).source()).await;
    assert_eq!(report.taken.get("message"), None);
    assert!(inbox(&world, 12).await.is_empty());

    let report = take(&world, &ada()).await;
    assert_eq!(report.taken["message"], 5);
    let skipped: Vec<_> = report.skipped.iter().map(|skip| skip.example.as_str()).collect();
    assert_eq!(skipped, ["5-6"], "she has no part in it");
    let found = inbox(&world, 12).await;
    let told: Vec<(&str, String, i64)> =
        found.iter().map(|event| (event.kind.name(), event.text.clone(), event.sender_id.get())).collect();
    assert_eq!(
        told,
        [
            ("ParticipantsLeave", String::new(), 8),
            ("MessageCreate", "hello all".to_owned(), 77),
            ("ParticipantsJoin", String::new(), 77),
            ("MessageCreate", "fine & you? https://example.com/x".to_owned(), 77),
            ("MessageCreate", "how are you?".to_owned(), 12),
        ]
    );
    assert_eq!(found[3].id, at(20));
    assert!(found[3].entities.contains("example.com"), "{}", found[3].entities);
    assert_eq!(found[3].conversation.to_string(), "12-77");
    assert_eq!(found[1].conversation.to_string(), at(60).to_string());
    assert!(inbox(&world, 77).await.is_empty(), "hers are hers alone");
    let group = at(60);
    let read = move |tx: &mut Tx<'_>| {
        let mut all = Vec::new();
        for user in [8, 12, 77] {
            all.push(store::messages::is_participant(tx, group, UserId::new(user))?);
        }
        Ok(all)
    };
    assert_eq!(world.store.read(read).await.unwrap(), [false, true, true]);

    let again = take(&world, &ada()).await;
    assert_eq!(again.taken.get("message"), None);
    assert_eq!(again.known["message"], 5);

    // The other's archive brings the other's own copy of the same messages.
    let mut grace = ada();
    grace.retain(|(name, _)| !name.ends_with("account.js"));
    grace.extend(parts("77", "Grace_H", "Grace"));
    take(&world, &grace).await;
    assert_eq!(inbox(&world, 77).await.len(), 5);
    let ids = |events: Vec<MessageEvent>| events.into_iter().map(|event| event.id).collect::<Vec<_>>();
    assert_eq!(ids(inbox(&world, 77).await), ids(found));

    // And they go on talking.
    let send = |tx: &mut Tx<'_>| {
        let sender = MessageSender { user_id: UserId::new(77), app_id: None };
        let new = NewMessage { text: "still here".to_owned(), media: None };
        let event = network::messages::send_to_user(tx, &sender, UserId::new(12), &new)?;
        Ok::<_, Error>(event.conversation.to_string())
    };
    assert_eq!(world.store.write(send).await.unwrap(), "12-77");
    assert_eq!(inbox(&world, 12).await.len(), 6);
}
