//! What is taken away is gone from every operation that showed it, at once.

use serde_json::{Value, json};

use super::{Deed, Thing, Things, deeds};
use crate::harness::{Person, fresh, shared};
use crate::media::{at_once, samples};

/// A post that says something, and everything that leads a reader to it.
struct Scene {
    author: Person<'static>,
    reader: Person<'static>,
    post: String,
    /// Stands in the post and in what it carries, and nowhere else.
    word: String,
    /// What the reader asks with: about the author, and about themselves.
    asked: [Things; 2],
}

fn id(answer: &Value) -> String {
    answer["data"]["id"].as_str().unwrap().to_owned()
}

impl Scene {
    fn begin() -> Self {
        let [author, reader] = ["author", "reader"].map(|name| shared().person(name));
        let word = format!("word{}", fresh());
        let media = at_once(&author, "tweet_image", &samples::png(9, 9)).is(200)["data"].clone();
        let told = json!({ "id": media["id"], "metadata": { "alt_text": { "text": word } } });
        author.post("/2/media/metadata", &told).is(200);
        let text = format!("{word} for @{}", reader.username);
        let post = json!({ "text": text, "media": { "media_ids": [media["id"]] } });
        let post = id(&author.publish(&post).is(201));
        let things = Things::from([
            (Thing::Own, reader.id.clone()),
            (Thing::User, author.id.clone()),
            (Thing::Username, author.username.clone()),
            (Thing::Post, post.clone()),
            (
                Thing::MediaKey,
                media["media_key"].as_str().unwrap().to_owned(),
            ),
            (Thing::Words, word.clone()),
            (Thing::Place, "1".to_owned()),
        ]);
        let asked = [things.clone(), things];
        let mut scene = Self {
            author,
            reader,
            post,
            word,
            asked,
        };
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
        reader.post(own("following"), &follow).is(200);
        reader.post(own("likes"), &post).is(200);
        reader.post(own("reposts"), &post).is(200);
        let reply = json!({ "text": "Is it?", "reply": { "in_reply_to_post_id": self.post } });
        reader.publish(&reply).is(201);
        let quote = json!({ "text": "Look at this", "quote_tweet_id": self.post });
        reader.publish(&quote).is(201);
    }

    /// The reader's list has the author on it, a folder holds the post.
    fn keep(&mut self) {
        let reader = &self.reader;
        let own = |rest: &str| format!("/2/users/{}/{rest}", reader.id);
        let list = id(&reader.post("/2/lists", &json!({ "name": "Those" })).is(201));
        let member = json!({ "user_id": self.author.id });
        reader
            .post(format!("/2/lists/{list}/members"), &member)
            .is(200);
        let folder = json!({ "name": "Later" });
        let folder = id(&reader.post(own("bookmarks/folders"), &folder).is(201));
        let bookmark = json!({ "post_id": self.post, "folder_id": folder });
        reader.post(own("bookmarks"), &bookmark).is(200);
        self.has(Thing::List, list);
        self.has(Thing::Folder, folder);
    }

    /// The post is shared in a space, linked to in a message, and what news are about.
    fn meet(&mut self) {
        let reader = &self.reader;
        let made = |args: &[&str]| shared().cli(args).json()["id"].as_str().unwrap().to_owned();
        let space = made(&["space", "create", &reader.id]);
        let share = ["space", "share", &space, &reader.id, &self.post];
        shared().cli(&share).well();
        let story = made(&["news", "create", "Somebody says", "--post", &self.post]);
        let friend = shared().person("friend");
        let link = format!("See https://example.org/i/status/{}", self.post);
        let to = format!("/2/dm_conversations/with/{}/messages", reader.id);
        let sent = friend.post(to, &json!({ "text": link })).is(201)["data"].clone();
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
                let ask = deed.ask(&deed.filled(things), &deed.query_for_all(things), None);
                let answer = if deed.for_users {
                    self.reader.send(ask)
                } else {
                    shared().send(ask.bearer(&self.reader.app.bearer))
                };
                assert!(answer.status < 500, "{}: {}", deed.id, answer.text());
                let shows = answer.status == 200 && answer.text().contains(&self.word);
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
        scene
            .author
            .delete(format!("/2/posts/{}", scene.post))
            .is(200);
    }),
    ("the author is suspended", |scene| {
        shared().cli(&["user", "suspend", &scene.author.id]).well();
    }),
    ("the author is deleted", |scene| {
        shared().cli(&["user", "delete", &scene.author.id]).well();
    }),
    ("the author is protected and not followed", |scene| {
        let path = format!("/2/users/{}/following/{}", scene.reader.id, scene.author.id);
        scene.reader.delete(path).is(200);
        shared().cli(&["user", "protect", &scene.author.id]).well();
    }),
    ("the author blocks the reader", |scene| {
        let path = format!("/2/users/{}/blocking", scene.author.id);
        let target = json!({ "target_user_id": scene.reader.id });
        scene.author.post(path, &target).is(200);
    }),
];

#[test]
fn what_is_taken_away_is_gone_from_every_operation_at_once() {
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
        assert!(
            after.is_empty(),
            "{end}, and still there: {after:?}; before: {before:?}"
        );
    }
}
