//! What is taken away is gone from every operation that showed it, at once.

use serde_json::{Value, json};

use super::{Deed, Thing, Things, deeds};
use crate::harness::{TestUser, shared_server, unique_number};
use crate::media::{at_once, samples};

/// A post that says something, and everything that leads a reader to it.
struct Scene {
    author: TestUser<'static>,
    reader: TestUser<'static>,
    post: String,
    /// Stands in the post and in what it carries, and nowhere else.
    word: String,
    /// What the reader asks with: about the author, and about themselves.
    asked: [Things; 2],
}

fn id(response: &Value) -> String {
    response["data"]["id"].as_str().unwrap().to_owned()
}

impl Scene {
    fn begin() -> Self {
        let [author, reader] = ["author", "reader"].map(|name| shared_server().new_user(name));
        let word = format!("word{}", unique_number());
        let media = at_once(&author, "tweet_image", &samples::png(9, 9)).assert_status(200)["data"].clone();
        let response = json!({ "id": media["id"], "metadata": { "alt_text": { "text": word } } });
        author.post("/2/media/metadata", &response).assert_status(200);
        let text = format!("{word} for @{}", reader.username);
        let post = json!({ "text": text, "media": { "media_ids": [media["id"]] } });
        let post = id(&author.create_post(&post).assert_status(201));
        let things = Things::from([
            (Thing::Own, reader.id.clone()),
            (Thing::User, author.id.clone()),
            (Thing::Username, author.username.clone()),
            (Thing::Post, post.clone()),
            (Thing::MediaKey, media["media_key"].as_str().unwrap().to_owned()),
            (Thing::Words, word.clone()),
            (Thing::Place, "1".to_owned()),
        ]);
        let asked = [things.clone(), things];
        let mut scene = Self { author, reader, post, word, asked };
        scene.act();
        scene.keep();
        scene.meet();
        scene.asked[1].insert(Thing::User, scene.reader.id.clone());
        scene.asked[1].insert(Thing::Username, scene.reader.username.clone());
        scene
    }

    fn has(&mut self, thing: Thing, id: impl Into<String>) {
        let id = id.into();
        for things in &mut self.asked {
            things.insert(thing, id.clone());
        }
    }

    /// The reader follows, likes, reposts, answers and quotes.
    fn act(&self) {
        let (reader, post) = (&self.reader, json!({ "post_id": self.post }));
        let own = |rest: &str| format!("/2/users/{}/{rest}", reader.id);
        let follow = json!({ "target_user_id": self.author.id });
        reader.post(own("following"), &follow).assert_status(200);
        reader.post(own("likes"), &post).assert_status(200);
        reader.post(own("reposts"), &post).assert_status(200);
        let reply = json!({ "text": "Is it?", "reply": { "in_reply_to_post_id": self.post } });
        reader.create_post(&reply).assert_status(201);
        let quote = json!({ "text": "Look at this", "quote_tweet_id": self.post });
        reader.create_post(&quote).assert_status(201);
    }

    /// The reader's list has the author on it, a folder holds the post.
    fn keep(&mut self) {
        let reader = &self.reader;
        let own = |rest: &str| format!("/2/users/{}/{rest}", reader.id);
        let list = id(&reader.post("/2/lists", &json!({ "name": "Those" })).assert_status(201));
        let member = json!({ "user_id": self.author.id });
        reader.post(format!("/2/lists/{list}/members"), &member).assert_status(200);
        let folder = json!({ "name": "Later" });
        let folder = id(&reader.post(own("bookmarks/folders"), &folder).assert_status(201));
        let bookmark = json!({ "post_id": self.post, "folder_id": folder });
        reader.post(own("bookmarks"), &bookmark).assert_status(200);
        self.has(Thing::List, list);
        self.has(Thing::Folder, folder);
    }

    /// The post is shared in a space, linked to in a message, and what news are about.
    fn meet(&mut self) {
        let reader = &self.reader;
        let created = |args: &[&str]| shared_server().run_cli(args).json()["id"].as_str().unwrap().to_owned();
        let space = created(&["space", "create", &reader.id]);
        let share = ["space", "share", &space, &reader.id, &self.post];
        shared_server().run_cli(&share).assert_success();
        let story = created(&["news", "create", "Somebody says", "--post", &self.post]);
        let friend = shared_server().new_user("friend");
        let link = format!("See https://example.org/i/status/{}", self.post);
        let to = format!("/2/dm_conversations/with/{}/messages", reader.id);
        let sent = friend.post(to, &json!({ "text": link })).assert_status(201)["data"].clone();
        let text = |name: &str| sent[name].as_str().unwrap().to_owned();
        self.has(Thing::Space, space);
        self.has(Thing::Story, story);
        self.has(Thing::Peer, &*friend.id);
        self.has(Thing::Conversation, text("dm_conversation_id"));
        self.has(Thing::Message, text("dm_event_id"));
    }

    /// The operations whose answer has the word.
    fn shown(&self, deeds: &[Deed]) -> Vec<String> {
        let mut found = Vec::new();
        for deed in deeds {
            for things in &self.asked {
                if !deed.needs().iter().all(|thing| things.contains_key(thing)) {
                    continue;
                }
                let request = deed.ask(&deed.filled(things), &deed.query_for_all(things), None);
                let response = if deed.for_users {
                    self.reader.send(request)
                } else {
                    shared_server().send(request.bearer(&self.reader.app.bearer))
                };
                assert!(response.status < 500, "{}: {}", deed.id, response.text());
                let shows = response.status == 200 && response.text().contains(&self.word);
                if shows && !found.contains(&deed.id) {
                    found.push(deed.id.clone());
                }
            }
        }
        found
    }
}

/// A deed in a scene.
type End = fn(&Scene);

/// What becomes of the post or its author, in words and in deed.
const ENDS: &[(&str, End)] = &[
    ("the post is deleted", |scene| {
        scene.author.delete(format!("/2/posts/{}", scene.post)).assert_status(200);
    }),
    ("the author is suspended", |scene| {
        shared_server().run_cli(&["user", "suspend", &scene.author.id]).assert_success();
    }),
    ("the author is deleted", |scene| {
        shared_server().run_cli(&["user", "delete", &scene.author.id]).assert_success();
    }),
    ("the author is protected and not followed", |scene| {
        let path = format!("/2/users/{}/following/{}", scene.reader.id, scene.author.id);
        scene.reader.delete(path).assert_status(200);
        shared_server().run_cli(&["user", "protect", &scene.author.id]).assert_success();
    }),
    ("the author blocks the reader", |scene| {
        let path = format!("/2/users/{}/blocking", scene.author.id);
        let target = json!({ "target_user_id": scene.reader.id });
        scene.author.post(path, &target).assert_status(200);
    }),
];

#[test]
fn deleted_or_hidden_object_disappears_from_every_operation_at_once() {
    let mut deeds = deeds();
    deeds.retain(|deed| !deed.writes());
    for (end, act) in ENDS {
        let scene = Scene::begin();
        let before = scene.shown(&deeds);
        assert!(before.len() >= 20, "{}: {before:?}", before.len());
        act(&scene);
        // To an app by itself a block says nothing.
        let by_block = end.contains("blocks");
        let concerned = deeds.iter().filter(|deed| deed.for_users || !by_block);
        let concerned: Vec<Deed> = concerned.cloned().collect();
        let after = scene.shown(&concerned);
        assert!(after.is_empty(), "{end}, and still there: {after:?}; before: {before:?}");
    }
}
