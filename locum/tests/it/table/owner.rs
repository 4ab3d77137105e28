//! Somebody with one of everything.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Deed, Thing, Things};
use crate::harness::{TestApp, TestRequest, TestResponse, TestServer, TestUser, WebhookReceiver, unique_number};
use crate::media::{at_once, samples};

/// `secret` stands in all that is for their eyes alone, or for those of whom they let in.
pub(super) struct Owner<'s> {
    pub(super) person: TestUser<'s>,
    pub(super) things: Things,
}

fn id(response: &Value) -> String {
    response["data"]["id"].as_str().unwrap().to_owned()
}

impl<'s> Owner<'s> {
    pub(super) fn settle(server: &'s TestServer, name: &str, secret: &str, friend: &TestUser<'_>) -> Self {
        let app = server.new_app("enterprise");
        let created = server.new_user(name);
        let person = TestUser::with_new_token(server, &app, &created.id, &created.username);
        let things = Things::from([
            (Thing::Own, person.id.clone()),
            (Thing::User, person.id.clone()),
            (Thing::Username, person.username.clone()),
            (Thing::Place, "1".to_owned()),
            (Thing::Words, secret.to_owned()),
        ]);
        let mut owner = Self { person, things };
        owner.write(secret);
        owner.collect(secret, friend);
        owner.meet(server);
        owner.talk(secret, friend);
        owner.note(secret, friend);
        owner.rule(&app, secret);
        owner.subscribe(&app, secret);
        owner
    }

    fn own(&self, rest: &str) -> String {
        format!("/2/users/{}/{rest}", self.person.id)
    }

    fn has(&mut self, thing: Thing, id: impl Into<String>) {
        self.things.insert(thing, id.into());
    }

    /// A post, a reply, and an upload.
    fn write(&mut self, secret: &str) {
        let text = |text: &str| json!({ "text": format!("{secret} {text}") });
        let post = id(&self.person.create_post(&text("post")).assert_status(201));
        let mut reply = text("reply");
        reply["reply"] = json!({ "in_reply_to_post_id": post });
        let reply = id(&self.person.create_post(&reply).assert_status(201));
        self.has(Thing::Post, reply);
        let upload = json!({ "media_type": "image/png", "total_bytes": 1_000, "media_category": "tweet_image" });
        let upload = self.person.post("/2/media/upload/initialize", &upload);
        self.has(Thing::Upload, id(&upload.assert_status(200)));
    }

    /// A list, a folder, and what else is kept of others and their posts.
    fn collect(&mut self, secret: &str, friend: &TestUser<'_>) {
        let user = &self.person;
        let list = json!({ "name": secret, "private": true });
        let list = id(&user.post("/2/lists", &list).assert_status(201));
        let folder = json!({ "name": secret });
        let folder = id(&user.post(self.own("bookmarks/folders"), &folder).assert_status(201));
        let reply = &self.things[&Thing::Post];
        let post = json!({ "post_id": reply });
        let target = json!({ "target_user_id": friend.id });
        for (path, body) in [
            (format!("/2/lists/{list}/members"), json!({ "user_id": user.id })),
            (format!("/2/lists/{list}/members"), json!({ "user_id": friend.id })),
            (self.own("pinned_lists"), json!({ "list_id": list })),
            (self.own("bookmarks"), json!({ "post_id": reply, "folder_id": folder })),
            (self.own("following"), target.clone()),
            (self.own("muting"), target),
            (self.own("likes"), post.clone()),
            (self.own("reposts"), post),
        ] {
            user.post(path, &body).assert_status(200);
        }
        self.has(Thing::List, list);
        self.has(Thing::Folder, folder);
    }

    /// Where others come too.
    fn meet(&mut self, server: &TestServer) {
        let owner = self.person.id.clone();
        let created = |args: &[&str]| server.run_cli(args).json()["id"].as_str().unwrap().to_owned();
        let create = ["community", "create", "Behind doors", "--owner", &owner];
        let community = created(&[&create[..], &["--access", "Closed"]].concat());
        self.has(Thing::Community, community);
        let space = created(&["space", "create", &owner, "--title", "Open to all"]);
        self.has(Thing::Space, space);
        let story = created(&["news", "create", "What happened"]);
        self.has(Thing::Story, story);
    }

    /// A group with a friend and a guest, and a message in it that carries a picture. Only those
    /// whom they follow write to them.
    fn talk(&mut self, secret: &str, friend: &TestUser<'_>) {
        let user = &self.person;
        user.server.run_cli(&["message", "close", &user.id]).assert_success();
        let guest = user.server.new_user("guest").id;
        let picture = at_once(user, "dm_image", &samples::png(8, 8)).assert_status(200)["data"].clone();
        let response = json!({ "id": picture["id"], "metadata": { "alt_text": { "text": secret } } });
        user.post("/2/media/metadata", &response).assert_status(200);
        let group = json!({
            "conversation_type": "Group",
            "participant_ids": [friend.id, guest],
            "message": { "text": secret, "attachments": [{ "media_id": picture["id"] }] },
        });
        let begun = user.post("/2/dm_conversations", &group).assert_status(201)["data"].clone();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let event = text(&begun["dm_event_id"]);
        let shown = user.get(format!("/2/dm_events/{event}?expansions=attachments.media_keys&media.fields=url"));
        let media = shown.assert_status(200)["includes"]["media"][0].clone();
        let file = text(&media["url"]);
        let file = file.rsplit('/').next().unwrap();
        self.has(Thing::File, file);
        self.has(Thing::Peer, &*friend.id);
        self.has(Thing::Guest, guest);
        self.has(Thing::Conversation, text(&begun["dm_conversation_id"]));
        self.has(Thing::Message, event);
        self.has(Thing::Carried, text(&picture["id"]));
        self.has(Thing::MediaKey, text(&media["media_key"]));
    }

    /// A note in the test pool.
    fn note(&mut self, secret: &str, friend: &TestUser<'_>) {
        let user = &self.person;
        let on = ["user", "note-writer", "on", &user.id];
        user.server.run_cli(&on).assert_success();
        let note = json!({
            "post_id": friend.publish_text(&format!("Worth a note, {}", unique_number())),
            "test_mode": true,
            "info": {
                "text": format!("{secret} https://example.com/source"),
                "classification": "misinformed_or_potentially_misleading",
                "misleading_tags": ["missing_important_context"],
                "trustworthy_sources": true,
            },
        });
        let note = id(&user.post("/2/notes", &note).assert_status(201));
        self.has(Thing::Note, note);
    }

    /// What the app makes for itself.
    fn of_app(&self, app: &TestApp, path: &str, body: &Value) -> TestResponse {
        let request = TestRequest::post(path).bearer(&app.bearer);
        self.person.server.send(request.json(body))
    }

    /// A rule of the app's powerstream, and one of its filtered stream.
    fn rule(&mut self, app: &TestApp, secret: &str) {
        let rule = json!({ "value": secret, "tag": secret });
        let own = json!({ "rules": [rule] });
        let created = self.of_app(app, "/2/powerstream/rules", &own).assert_status(201);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        self.has(Thing::Rule, text(&created["data"]["rules"][0]["id"]));
        let own = json!({ "add": [rule] });
        let created = self.of_app(app, "/2/tweets/search/stream/rules", &own);
        self.has(Thing::StreamRule, text(&created.assert_status(201)["data"][0]["id"]));
    }

    /// A subscription of the app's to what its owner writes about themselves, and a compliance
    /// job. Its webhook is nobody's.
    fn subscribe(&mut self, app: &TestApp, secret: &str) {
        let requested = json!({
            "event_type": "profile.update.bio",
            "filter": { "user_id": self.person.id },
            "tag": secret,
        });
        let created = self.of_app(app, "/2/activity/subscriptions", &requested).assert_status(200);
        let created = created["data"]["subscription_id"].as_str().unwrap();
        self.has(Thing::Subscription, created);
        let receiver = WebhookReceiver::open(&app.secret);
        let url = receiver.url("/hook");
        let created = self.of_app(app, "/2/webhooks", &json!({ "url": url })).assert_status(200);
        self.has(Thing::Webhook, id(&created));
        let job = json!({ "type": "users", "name": secret });
        let job = self.of_app(app, "/2/compliance/jobs", &job).assert_status(200);
        self.has(Thing::Job, id(&job));
    }

    /// Sends what they may, as themselves, or as their app where that must be.
    pub(super) fn send(&self, deed: &Deed, request: TestRequest) -> TestResponse {
        if deed.for_users {
            return self.person.send(request);
        }
        let app = &self.person.app;
        self.person.server.send(request.bearer(&app.bearer))
    }

    /// All that they see of their own.
    pub(super) fn state(&self, deeds: &[Deed]) -> BTreeMap<String, String> {
        let reads = deeds.iter().filter(|deed| !deed.writes() && !deed.is_of_all());
        let seen = reads.map(|deed| {
            let query = deed.query(&self.things);
            let mut request = deed.ask(&deed.filled(&self.things), &query, None);
            if deed.id == "getUsersMe" {
                request.target.push_str("?user.fields=public_metrics,protected,description");
            }
            let response = self.send(deed, request);
            let text = match serde_json::from_slice(&response.body) {
                Ok(value) => without_ages(value).to_string(),
                Err(_) => format!("{} {} bytes", response.status, response.body.len()),
            };
            (deed.id.clone(), text)
        });
        seen.collect()
    }
}

/// What grows older by itself.
fn without_ages(mut value: Value) -> Value {
    if let Some(data) = value["data"].as_object_mut() {
        data.retain(|name, _| name != "expires_after_secs");
    }
    if let Some(meta) = value["meta"].as_object_mut() {
        meta.retain(|name, _| name != "sent");
    }
    value
}
