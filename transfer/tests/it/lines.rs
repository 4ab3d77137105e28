//! Lines: out, and in again.

use network::posts::{NewPost, PostAuthor};
use network::users::NewUser;
use store::Tx;
use store::posts::PostState;

use crate::sample::{ada, folder, grace, lines};
use crate::world::{Engine, World, each_engine};

#[each_engine]
async fn what_was_exported_comes_back_the_same(engine: Engine) {
    let world = World::new(engine).await;
    world.import(folder(&ada()).source()).await;
    world.import(folder(&grace()).source()).await;
    let author = PostAuthor { user_id: base::UserId::new(77), app_id: None, self_serve: false };
    let work = move |tx: &mut Tx<'_>| {
        for (text, nullcast) in [("for promotion @ada", true), ("see https://locum.example", false)] {
            let new = NewPost {
                text: text.to_owned(),
                nullcast,
                reply_settings: "following".to_owned(),
                ..NewPost::default()
            };
            network::posts::create(tx, &author, &new)?;
        }
        let person = |name: &str, protected| NewUser { username: name.to_owned(), protected, ..NewUser::default() };
        let shy = network::users::create(tx, &person("shy", true))?;
        let asker = network::users::create(tx, &person("asker", false))?;
        network::follows::follow(tx, asker.id, shy.id)?;
        network::blocks::block_messages(tx, shy.id, asker.id)
    };
    world.store.write(work).await.unwrap();
    let exported = world.lines().await;
    for kind in ["follow_request", "dm_block"] {
        let kind = format!("\"kind\":\"{kind}\"");
        let of_kind = exported.iter().filter(|line| line.contains(&kind));
        assert_eq!(of_kind.count(), 1, "{kind}");
    }
    assert!(!exported.concat().contains("example.org"), "an address is in the lines");

    let (_folder, source) = lines("export.jsonl", &exported);
    let copy = World::new(engine).await;
    let report = copy.import(source.clone()).await;
    assert_eq!(report.skipped, []);
    // The film is in the other folder, and so is not found.
    let back = copy.lines().await;
    let plain = |lines: &[String]| lines.iter().map(|line| line.replace("\"7_99.mp4\"", "")).collect::<Vec<_>>();
    assert_eq!(plain(&back), plain(&exported));
    assert_eq!(copy.count_tables_without_statistics().await, 0);
    copy.import(source).await;
    assert_eq!(copy.lines().await, back);
}

#[each_engine]
async fn lines_of_the_old_interface_are_taken(engine: Engine) {
    let world = World::new(engine).await;
    let user = |id: u32, handle: &str| {
        format!(
            r#"{{"id_str":"{id}","screen_name":"{handle}","name":"N","description":"d","verified":true,"followers_count":9}}"#
        )
    };
    let source = format!(
        r#"{{"id_str":"50","full_text":"the source","created_at":"Thu Jan 01 00:00:01 +0000 2009","favorite_count":7,"retweet_count":3,"user":{}}}"#,
        user(3, "carl")
    );
    let shared = format!(
        r#"{{"id_str":"51","full_text":"RT @carl: the source","created_at":"Thu Jan 01 00:00:02 +0000 2009","retweeted_status":{source},"user":{}}}"#,
        user(4, "dora")
    );
    let same = shared.replace("\"51\"", "\"52\"");
    let orphan = r#"{"id_str":"53","full_text":"whose?","created_at":"Thu Jan 01 00:00:02 +0000 2009"}"#;
    let tie = r#"{"kind":"follow","to":"3"}"#;
    let (_folder, source) = lines("old.jsonl", &[shared, same, orphan.to_owned(), tie.to_owned(), "{".to_owned()]);
    let report = world.import(source).await;
    let source = world.post(50).await.unwrap();
    assert_eq!((source.like_count, source.repost_count, source.state), (7, 3, PostState::Live));
    assert_eq!(world.post(51).await.unwrap().repost_of_id, Some(source.id));
    assert!(world.post(52).await.is_none());
    assert_eq!(world.post(53).await.unwrap().state, PostState::Placeholder);
    assert!(world.user(3).await.unwrap().verified);
    let why: Vec<_> = report.skipped.iter().map(|skip| skip.why.as_str()).collect();
    assert_eq!(
        why,
        [
            "its author reposted the same post already",
            "its author is unknown: its text is kept in a placeholder",
            "the owner of the archive is unknown",
            "it cannot be read",
        ]
    );
}
