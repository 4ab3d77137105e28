//! Who is who when somebody is here already.

use base::UserId;
use store::users::UserState;
use transfer::{ArchiveOwner, ImportOptions, TransferError};

use crate::sample::{ada, array, at, folder, lines, parts, post, text};
use crate::world::{Engine, World, each_engine};

#[each_engine]
async fn an_account_with_the_same_handle_is_completed_and_told(engine: Engine) {
    let world = World::new(engine).await;
    let here = world.join("Ada").await;
    let report = world.import(folder(&ada()).source()).await;
    assert!(report.remarks.iter().any(|remark| remark.contains("@ada (12)")), "{report:?}");
    assert!(world.user(12).await.is_none());
    let user = world.user(here.get()).await.unwrap();
    assert_eq!((user.username.as_str(), user.post_count, user.location.as_str()), ("Ada", 7, "here"));
    assert_eq!(world.post(at(90)).await.unwrap().in_reply_to_user_id, Some(here));
    // Later sources mean the same person by the same id.
    world.import(folder(&crate::sample::grace()).source()).await;
    assert_eq!(world.post(at(6)).await.unwrap().in_reply_to_user_id, Some(here));
    assert_eq!(world.user(here.get()).await.unwrap().followers_count, 3);
    let mut known = world.import(folder(&ada()).source()).await.known;
    assert_eq!(known.remove("post"), Some(8));
}

#[each_engine]
async fn handle_that_was_given_away_names_two_people(engine: Engine) {
    let world = World::new(engine).await;
    world.import(folder(&parts("405", "carla", "Carla")).source()).await;
    let report = world.import(folder(&parts("406", "Carla", "Dora")).source()).await;
    let (carla, dora) = (world.user(405).await.unwrap(), world.user(406).await.unwrap());
    assert_eq!((carla.name.as_str(), carla.username.as_str(), dora.name.as_str()), ("Carla", "carla", "Dora"));
    assert!(report.remarks.iter().any(|remark| remark.contains(&dora.username)), "{report:?}");
    // Who has joined here and imported an archive stands for its account.
    let here = world.join("erin").await;
    world.import(folder(&parts("407", "erin", "Erin")).source()).await;
    world.import(folder(&parts("408", "erin", "Another")).source()).await;
    assert!(world.user(407).await.is_none());
    assert_eq!(world.user(408).await.unwrap().name, "Another");
    assert_ne!(world.user(here.get()).await.unwrap().name, "Another");
}

#[each_engine]
async fn an_archive_can_be_given_to_somebody(engine: Engine) {
    let world = World::new(engine).await;
    // Grace's archive has made a placeholder of Ada first.
    world.import(folder(&crate::sample::grace()).source()).await;
    assert_eq!(world.user(12).await.unwrap().state, UserState::Placeholder);
    let bea = world.join("bea").await;
    let options = ImportOptions { owner: Some(ArchiveOwner::Username("bea".to_owned())), ..world.options() };
    world.try_import(folder(&ada()).source(), options).await.unwrap();
    world.recount().await;
    assert!(world.user(12).await.is_none());
    let user = world.user(bea.get()).await.unwrap();
    assert_eq!((user.post_count, user.followers_count), (7, 3));
    let missing = ImportOptions { owner: Some(ArchiveOwner::Id(UserId::new(4))), ..world.options() };
    let error = world.try_import(folder(&ada()).source(), missing).await.unwrap_err();
    assert!(matches!(error, TransferError::Owner(_)), "{error}");
    let named = ImportOptions { owner: Some(ArchiveOwner::Username("newcomer".to_owned())), ..world.options() };
    let files = parts("500", "somebody", "Somebody");
    world.try_import(folder(&files).source(), named).await.unwrap();
    assert_eq!(world.user(500).await.unwrap().username, "newcomer");
}

#[each_engine]
async fn a_handle_alone_waits_for_its_id(engine: Engine) {
    let world = World::new(engine).await;
    let mut files = parts("12", "ada", "Ada");
    files.push(text("data/tweets.js", &array("tweets", &[post(at(1), "RT @carol: so it is", "")])));
    world.import(folder(&files).source()).await;
    let carol = world.named("carol").await.unwrap();
    let source = world.post(at(1)).await.unwrap().repost_of_id.unwrap();
    assert_eq!(world.post(source.get()).await.unwrap().author_id, carol.id);
    world.import(folder(&parts("33", "Carol", "Carol")).source()).await;
    assert!(world.user(carol.id.get()).await.is_none());
    assert_eq!(world.post(source.get()).await.unwrap().author_id.get(), 33);
    assert_eq!(world.named("carol").await.unwrap().state, UserState::Active);
}

#[each_engine]
async fn a_placeholder_makes_room_for_whoever_has_the_handle(engine: Engine) {
    let world = World::new(engine).await;
    let user = |id: &str, handle: &str| {
        format!(
            r#"{{"kind":"user","id":"{id}","handle":"{handle}","name":"\u202eX","bio":"","location":"","website":"","created_at_ms":5}}"#
        )
    };
    let post = r#"{"kind":"post","id":"40","author":"8","text":"hi @dora and @eve","created_at_ms":6,"mentions":[{"id":"2","handle":"dora","name":"Dora"},{"id":"3","handle":"not a handle","name":""}]}"#;
    let (_folder, source) = lines("a.jsonl", &[post.to_owned()]);
    world.import(source).await;
    assert_eq!(world.user(2).await.unwrap().username, "dora");
    assert_eq!(world.user(3).await.unwrap().username, "u3");
    let (_folder, source) =
        lines("b.jsonl", &[user("4", "dora"), user("5", "Dora"), user("6", "u3"), user("3", "eve")]);
    let report = world.import(source).await;
    let mut names = Vec::new();
    for id in 2..7 {
        names.push(world.user(id).await.unwrap().username);
    }
    assert_eq!(names, ["u2", "eve", "dora", "u5", "u3"]);
    assert_eq!(world.user(4).await.unwrap().name, "X");
    assert_eq!(report.remarks.len(), 1, "{report:?}");
}
