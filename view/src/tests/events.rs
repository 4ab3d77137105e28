//! Event payloads in both forms: complete objects, so that a change to any member shows.

use base::{AppId, Id, SiteLinks, UserId};
use network::visibility::Viewer;
use serde_json::Value;
use store::media::Media;
use store::messages::{DmConversation, MessageEvent, MessageEventKind};
use store::posts::{NewPostDetails, Post};
use store::{Tx, users};

use super::loading::store;
use super::short_links::{site, written};
use super::{NOW, POSTS, TWEETS, json, media, post, post_id, user};
use crate::{
    EventRenderer, LikeEvent, StatusForm, legacy_message_data_json, legacy_participant_json, legacy_post_json,
    legacy_statuses_json,
};

const SITE: SiteLinks = SiteLinks::without_short_links("https://social.example");

/// Ana and Bob: his post with a picture, her long reply to it, her quote and her repost of it.
fn scene(tx: &mut Tx<'_>) {
    for (number, name) in (1..).zip(["ana", "bob"]) {
        let mut one = user(number, name);
        one.description = "Lives & <learns>".to_owned();
        one.location = "Turin".to_owned();
        one.followers_count = 3;
        users::insert(tx, &one, "").unwrap();
    }
    let mut picture = media(700, "photo", 2);
    picture.path = "ab/700.jpg".to_owned();
    (picture.width, picture.height) = (640, 480);
    picture.uses = Some(0);
    store::media::insert(tx, &picture).unwrap();
    store::media::add_post_uses(tx, &[Id::new(700)]).unwrap();
    let his = Post {
        media_keys: "3_700".to_owned(),
        entities: r#"{"hashtags":[{"start":6,"end":10,"tag":"cat"}]}"#.to_owned(),
        ..post(post_id(9), 2, "A & B #cat")
    };
    let text = format!("@bob {} #end", "word ".repeat(40).trim());
    let tag = text.chars().count();
    let entities = format!(
        r#"{{"hashtags":[{{"start":{},"end":{tag},"tag":"end"}}],"mentions":[{{"start":0,"end":4,"username":"bob","id":"2"}}]}}"#,
        tag - 4
    );
    let reply = Post {
        in_reply_to_post_id: Some(his.id),
        in_reply_to_user_id: Some(UserId::new(2)),
        conversation_id: his.id,
        display_start: 5,
        entities,
        app_id: Some(AppId::new(99)),
        ..post(post_id(8), 1, &text)
    };
    let quote = Post { quoted_post_id: Some(his.id), ..post(post_id(7), 1, "So he says") };
    let repost = Post { repost_of_id: Some(his.id), ..post(post_id(6), 1, "") };
    for one in [&his, &reply, &quote, &repost] {
        assert!(store::posts::insert(tx, one, &NewPostDetails::default()).unwrap());
    }
}

async fn read_scene<T: Send + 'static>(read: fn(&mut Tx<'_>) -> T) -> T {
    let (store, _folder) = store().await;
    let work = move |tx: &mut Tx<'_>| {
        scene(tx);
        Ok(read(tx))
    };
    store.write(work).await.unwrap()
}

fn older(tx: &mut Tx<'_>, minutes: i64) -> Value {
    older_on(tx, minutes, SITE)
}

fn older_on(tx: &mut Tx<'_>, minutes: i64, site: SiteLinks) -> Value {
    let found = store::posts::find_by_id(tx, post_id(minutes)).unwrap().unwrap();
    legacy_post_json(tx, Viewer::user(UserId::new(1)), found, site).unwrap().unwrap()
}

/// In the form of the Ads API.
fn full_status(tx: &mut Tx<'_>, minutes: i64) -> Value {
    let found = store::posts::find_by_id(tx, post_id(minutes)).unwrap().unwrap();
    let form = StatusForm { extended: true, trim_user: true };
    let mut statuses = legacy_statuses_json(tx, Viewer::user(UserId::new(1)), vec![found], form, SITE).unwrap();
    statuses.pop().unwrap().1
}

#[tokio::test]
async fn posts_of_account_activity() {
    let shown = read_scene(|tx| [9, 8, 7, 6].map(|minutes| older(tx, minutes))).await;
    let [picture, reply, quote, repost] = shown;
    insta::assert_json_snapshot!("older_picture", picture);
    insta::assert_json_snapshot!("older_reply", reply);
    assert_eq!(quote["quoted_status"]["id"], picture["id"]);
    assert_eq!(quote["is_quote_status"], true);
    assert_eq!(repost["retweeted_status"], picture);
    assert_eq!(repost["text"], "RT @bob: A &amp; B #cat");
    assert_eq!(repost["entities"]["user_mentions"][0]["screen_name"], "bob");
}

fn film() -> Media {
    Media {
        path: "ab/701.mp4".to_owned(),
        width: 1280,
        height: 720,
        duration_ms: 5_000,
        bit_rate: 3_000_000,
        content_type: "video/mp4".to_owned(),
        sizes: "small.jpg".to_owned(),
        variant_files: "320p.mp4:600000".to_owned(),
        ..media(701, "video", 2)
    }
}

#[tokio::test]
async fn older_media_entity_of_a_video_names_its_files() {
    let shown = read_scene(|tx| {
        store::media::insert(tx, &film()).unwrap();
        let his = Post { media_keys: "7_701".to_owned(), ..post(post_id(5), 2, "Film") };
        assert!(store::posts::insert(tx, &his, &NewPostDetails::default()).unwrap());
        older(tx, 5)
    });
    let shown = shown.await["extended_entities"]["media"][0].clone();
    assert_eq!(shown["media_url_https"], "https://social.example/media/701.small.jpg");
    let expected = r#"{"aspect_ratio":[16,9],"duration_millis":5000,"variants":[
        {"bitrate":600000,"content_type":"video/mp4","url":"https://social.example/media/701.320p.mp4"},
        {"bitrate":3000000,"content_type":"video/mp4","url":"https://social.example/media/701.mp4"}]}"#;
    assert_eq!(shown["video_info"], json(expected));
}

#[tokio::test]
async fn only_own_characters_make_an_older_post_long() {
    let shown = read_scene(|tx| {
        // A link has 23 characters on the public service.
        [(5, 92), (4, 93)].map(|(minutes, letters)| {
            let text = format!("{} https://a.com/b https://b.com/c", "x".repeat(letters));
            let his = Post { media_keys: "3_700".to_owned(), ..written(post_id(minutes), &text) };
            assert!(store::posts::insert(tx, &his, &NewPostDetails::default()).unwrap());
            older_on(tx, minutes, site())
        })
    });
    let [short, long] = shown.await;
    let media = |whole: &Value| whole["extended_entities"]["media"][0]["id"].clone();
    assert_eq!(short["truncated"], false, "{short}");
    assert!(short.get("extended_tweet").is_none());
    assert!(short["text"].as_str().unwrap().ends_with(" https://social.com/media/700.jpg"), "{short}");
    assert_eq!(short["entities"]["urls"][1]["expanded_url"], "https://b.com/c");
    assert_eq!(short["entities"]["media"][0]["id"], 700);
    assert_eq!(media(&short), 700);
    assert_eq!(long["truncated"], true, "{long}");
    assert!(long["text"].as_str().unwrap().chars().count() <= 140, "{long}");
    assert_eq!((media(&long), media(&long["extended_tweet"])), (Value::Null, 700.into()));
}

#[tokio::test]
async fn older_range_leaves_out_the_media_link_and_leading_mentions() {
    let shown = read_scene(|tx| {
        let picture = |post| Post { media_keys: "3_700".to_owned(), ..post };
        let reply = picture(Post { display_start: 5, ..post(post_id(5), 1, "@bob R&D <3") });
        let long = picture(Post { display_start: 5, ..post(post_id(4), 1, &format!("@bob {}", "& ".repeat(70))) });
        let quote = Post { quoted_post_id: Some(reply.id), ..post(post_id(3), 2, "So she says") };
        let repost = Post { repost_of_id: Some(reply.id), ..post(post_id(2), 2, "") };
        for one in [&reply, &long, &quote, &repost] {
            assert!(store::posts::insert(tx, one, &NewPostDetails::default()).unwrap());
        }
        let [reply, long, quote, repost] = [5, 4, 3, 2].map(|minutes| full_status(tx, minutes));
        [
            reply,
            quote["quoted_status"].clone(),
            repost["retweeted_status"].clone(),
            long,
            older(tx, 4)["extended_tweet"].clone(),
        ]
    });
    let [reply, quoted, reposted, long, whole] = shown.await;
    let text = "@bob R&amp;D &lt;3";
    for status in [reply, quoted, reposted] {
        assert_eq!(status["full_text"], format!("{text} https://social.example/media/700.jpg"));
        assert_eq!(status["display_text_range"], serde_json::json!([5, text.len()]), "{status}");
    }
    for status in [long, whole] {
        assert_eq!(status["display_text_range"], serde_json::json!([5, 5 + 70 * "&amp; ".len()]), "{status}");
    }
}

#[tokio::test]
async fn older_message_names_the_files_of_its_media() {
    let shown = read_scene(|tx| {
        let film = Media { uses: Some(0), ..film() };
        store::media::insert(tx, &film).unwrap();
        let message = MessageEvent {
            id: 40,
            conversation: DmConversation { id: 3, pair: Some((UserId::new(1), UserId::new(2))) },
            kind: MessageEventKind::Message,
            sender_id: UserId::new(2),
            app_id: None,
            text: "Film".to_owned(),
            entities: String::new(),
            media_id: Some(film.id),
            media_key: film.media_key,
            post_ids: Vec::new(),
            participant_ids: Vec::new(),
        };
        legacy_message_data_json(tx, &message, SITE).unwrap()
    });
    let attached = shown.await["attachment"].clone();
    let (media, still) = (&attached["media"], "https://social.example/2/dm_conversations/media/40/701/701.small.jpg");
    assert_eq!((&attached["type"], &media["type"]), (&json(r#""media""#), &json(r#""video""#)));
    assert_eq!((&media["id"], &media["id_str"]), (&701.into(), &"701".into()));
    for member in ["media_url", "media_url_https", "url", "display_url", "expanded_url"] {
        assert_eq!(media[member], still, "{media}");
    }
    assert!(media["sizes"].is_object() && media["indices"].is_array(), "{media}");
    let file = "https://social.example/2/dm_conversations/media/40/701/701.320p.mp4";
    assert_eq!(media["video_info"]["variants"][0]["url"], file);
}

#[tokio::test]
async fn people_of_account_activity() {
    let ana = read_scene(|tx| users::find_by_id(tx, UserId::new(1)).unwrap().unwrap()).await;
    insta::assert_json_snapshot!("older_person", legacy_participant_json(&ana));
}

fn parts(told: &crate::activity::EventPayload) -> (Value, Value) {
    let includes = match &*told.includes {
        "" => "{}",
        some => some,
    };
    (json(&told.payload), json(includes))
}

#[tokio::test]
async fn events_speak_the_words_of_their_app() {
    let both = read_scene(|tx| {
        [POSTS, TWEETS].map(|options| {
            let shared = EventRenderer { options, site: SITE };
            let like = LikeEvent { id: 5, user: UserId::new(1), post: post_id(9), author: UserId::new(2), at: NOW };
            let like = shared.render_like(tx, like).unwrap().unwrap();
            let reply = shared.render_post(tx, post_id(8)).unwrap().unwrap();
            let tie = shared.render_relation(tx, UserId::new(1), UserId::new(2)).unwrap().unwrap();
            let gone = shared.render_post(tx, post_id(1)).unwrap();
            assert_eq!(gone, None);
            [like, reply, tie].map(|told| parts(&told))
        })
    })
    .await;
    let [[like, reply, tie], [older_like, older_reply, older_tie]] = both;
    assert_eq!(like.0["liked_tweet_author_id"], "2");
    assert_eq!(older_like.0["liked_tweet_author_id"], "2");
    assert_eq!(like.1["posts"][0]["id"], like.0["liked_tweet_id"]);
    assert_eq!(older_like.1["tweets"][0]["text"], like.1["posts"][0]["text"]);
    assert_eq!(reply.0["in_reply_to_tweet_id"], older_reply.0["in_reply_to_tweet_id"]);
    assert!(reply.0["note_post"].is_object() == older_reply.0["note_tweet"].is_object());
    assert_eq!(tie.0["source"]["id"], older_tie.0["source"]["data"]["id"]);
    insta::assert_json_snapshot!("event_reply", reply.0);
    insta::assert_json_snapshot!("event_tie", tie.0);
}
