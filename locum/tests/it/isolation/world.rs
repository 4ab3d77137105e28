//! A world with an author in each situation, who has published something in each place of the site.

use std::fmt::Display;

use serde_json::{Value, json};

use super::situations::{SITUATIONS, Situation};
use crate::harness::{TestRequest, TestResponse, TestServer, TestUser};
use crate::media::{at_once, samples};
use crate::pages::browser::Browser;

pub(super) const PASSWORD: &str = "a long secret";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Post(String),
    /// The name and description of an author.
    User(String),
    Message(String),
    List(String),
}

/// Something with a word in it that is nowhere else.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) marker: String,
    pub(super) what: &'static str,
    /// The place of the author in `World::authors`.
    pub(super) author: usize,
    pub(super) subject: Subject,
}

pub(super) struct Author<'s> {
    pub(super) situation: &'static Situation,
    pub(super) user: TestUser<'s>,
    place: usize,
    pub(super) name_marker: String,
    /// The first is the one that others repost, like and so on, the second the one that they quote and reply to.
    pub(super) posts: Vec<String>,
    pub(super) lists: Vec<String>,
    pub(super) conversation: String,
    /// The viewer's draft of a quote.
    pub(super) draft: String,
}

pub(super) struct World<'s> {
    pub(super) server: &'s TestServer,
    /// Follows, or is blocked by, and so on.
    pub(super) viewer: TestUser<'s>,
    /// A member without a relation to anyone.
    pub(super) outsider: TestUser<'s>,
    /// Whom everyone may see, and who shares posts of the authors.
    pub(super) hub: TestUser<'s>,
    pub(super) community: String,
    viewer_post: String,
    hub_post: String,
    /// Reposts and quotes of the authors' posts and replies to them.
    hub_shares: Vec<String>,
    viewer_shares: Vec<String>,
    /// The viewer's private list and the hub's public one, of all authors.
    pub(super) lists_of_authors: Vec<String>,
    /// The viewer's, with all of their bookmarks.
    pub(super) bookmark_folder: String,
    pub(super) authors: Vec<Author<'s>>,
    pub(super) contents: Vec<Content>,
}

fn create_bookmark_folder(user: &TestUser<'_>) -> String {
    let path = format!("/2/users/{}/bookmarks/folders", user.id);
    id_of(&user.post(path, &json!({ "name": hostile("Of all authors") })).assert_accepted())
}

fn marker(number: usize) -> String {
    format!("zq{number:04}z")
}

fn hostile(text: impl Display) -> String {
    format!("\"><script>{text}")
}

/// The words in a text that contents may have.
pub(super) fn find_markers(text: &str) -> Vec<&str> {
    let places = text.match_indices("zq").map(|(start, _)| text.get(start..start + 7));
    let markers =
        places.flatten().filter(|word| word.ends_with('z') && word.as_bytes()[2..6].iter().all(u8::is_ascii_digit));
    markers.collect()
}

fn id_of(created: &Value) -> String {
    created["data"]["id"].as_str().unwrap_or_else(|| panic!("no id: {created}")).to_owned()
}

impl Author<'_> {
    #[track_caller]
    pub(super) fn relate(&self, relation: &str, other: &str) {
        let path = format!("/2/users/{}/{relation}", self.user.id);
        self.user.post(path, &json!({ "target_user_id": other })).assert_accepted();
    }

    #[track_caller]
    pub(super) fn end_block(&self, other: &str) {
        self.user.delete(format!("/2/users/{}/blocking/{other}", self.user.id)).assert_accepted();
    }

    /// The first post, the mention and the newest version of it.
    pub(super) fn edited_posts(&self) -> impl Iterator<Item = &String> {
        self.posts.iter().take(2).chain(self.posts.last())
    }

    pub(super) fn reply_to_hub(&self) -> &str {
        &self.posts[3]
    }
}

impl<'s> World<'s> {
    pub(super) fn build(server: &'s TestServer) -> Self {
        server.run_cli(&["site", "set", "indexing", "allowed"]).assert_success();
        let [viewer, outsider, hub] = ["viewer", "outsider", "hub"].map(|name| server.new_user(name));
        server.run_cli(&["message", "open", &viewer.id]).assert_success();
        server.run_cli(&["user", "protect", &outsider.id]).assert_success();
        let community = ["community", "create", &hostile("Behind doors"), "--owner", &hub.id, "--access", "Closed"];
        let community = server.run_cli(&community).json()["id"].as_str().unwrap().to_owned();
        let list = |owner: &TestUser<'_>, private: bool| {
            id_of(&owner.post("/2/lists", &json!({ "name": hostile("Authors"), "private": private })).assert_accepted())
        };
        let mut world = Self {
            viewer_post: viewer.publish_text("The viewer asks"),
            hub_post: hub.publish_text("The hub asks"),
            lists_of_authors: vec![list(&viewer, true), list(&hub, false)],
            bookmark_folder: create_bookmark_folder(&viewer),
            hub_shares: Vec::new(),
            viewer_shares: Vec::new(),
            server,
            viewer,
            outsider,
            hub,
            community,
            authors: Vec::new(),
            contents: Vec::new(),
        };
        world.relate_user("following", &world.hub.id);
        for situation in SITUATIONS {
            let author = world.create_author(situation);
            world.authors.push(author);
        }
        let mut authors = std::mem::take(&mut world.authors);
        world.save_drafts(&mut authors);
        for author in &mut authors {
            (author.situation.settle)(&world, author);
        }
        // Posts that were edited have one version more.
        for author in &authors {
            world.add_edited_version(author);
        }
        world.authors = authors;
        world
    }

    pub(super) fn viewer_id(&self) -> &str {
        &self.viewer.id
    }

    /// Posts that everyone sees, and which others quote, answer and share: the author's name and the id.
    pub(super) fn shared_posts(&self) -> impl Iterator<Item = (&str, &str)> {
        let roots = [(&self.hub, &self.hub_post), (&self.viewer, &self.viewer_post)].into_iter();
        let replies = [(&self.hub, &self.hub_shares), (&self.viewer, &self.viewer_shares)].into_iter();
        let shares = replies.flat_map(|(user, ids)| ids.iter().map(move |id| (user, id)));
        roots.chain(shares).map(|(user, id)| (user.username.as_str(), id.as_str()))
    }

    /// The message of an author to the viewer.
    pub(super) fn message_of(&self, author: &Author<'_>) -> Option<&str> {
        self.contents.iter().find_map(|content| match &content.subject {
            Subject::Message(id) if content.author == author.place => Some(id.as_str()),
            _ => None,
        })
    }

    /// Has the running server carry out a command.
    #[track_caller]
    pub(super) fn execute_command(&self, arguments: &[&str]) -> Value {
        self.server.execute_command(arguments).unwrap_or_else(|why| panic!("{arguments:?}: {why}"))
    }

    #[track_caller]
    fn relate_user(&self, relation: &str, other: &str) {
        let path = format!("/2/users/{}/{relation}", self.viewer.id);
        self.viewer.post(path, &json!({ "target_user_id": other })).assert_accepted();
    }

    #[track_caller]
    pub(super) fn relate(&self, relation: &str, author: &Author<'_>) {
        self.relate_user(relation, &author.user.id);
    }

    pub(super) fn follow(&self, author: &Author<'_>) {
        self.relate("following", author);
    }

    fn add_content(&mut self, author: usize, what: &'static str, subject: Subject) {
        let marker = marker(self.contents.len());
        self.contents.push(Content { marker, what, author, subject });
    }

    /// The marker of the content that is added next, where every page must escape it.
    fn next_marker(&self) -> String {
        hostile(marker(self.contents.len()))
    }

    fn create_author(&mut self, situation: &'static Situation) -> Author<'s> {
        let place = self.authors.len();
        let (username, name_marker) = (format!("author{place}of"), marker(self.contents.len()));
        let [name, about] = ["name", "description"].map(|field| format!("--{field}={}", self.next_marker()));
        let create = ["user", "create", &username, &name, &about, "--password", PASSWORD];
        let id = self.execute_command(&create)["id"].as_str().unwrap().to_owned();
        self.add_content(place, "name", Subject::User(id.clone()));
        let app = self.server.default_app();
        let minted = self.execute_command(&["token", "mint", "--app", &app.id, "--user", &id]);
        let user = TestUser::with_token(self.server, app, (id, username), minted["token"].as_str().unwrap());
        let (posts, lists) = (Vec::new(), Vec::new());
        let mut author = Author {
            situation,
            user,
            place,
            name_marker,
            posts,
            lists,
            conversation: String::new(),
            draft: String::new(),
        };
        if situation.is_followed {
            self.follow(&author);
        }
        author.relate("following", &self.viewer.id);
        author.relate("following", &self.outsider.id);
        self.publish_posts(&mut author);
        self.react_to_posts(&author);
        self.write_message(&mut author);
        self.create_lists(&mut author);
        author
    }

    fn publish_posts(&mut self, author: &mut Author<'_>) {
        let viewer = self.viewer.username.clone();
        let options = (author.situation.post_options)(self);
        self.publish(author, "post", json!({}), "Hello");
        self.publish(author, "mention", json!({}), &format!("Hello @{viewer}"));
        if options.is_some() {
            return;
        }
        let reply = |to: &str| json!({ "reply": { "in_reply_to_post_id": to } });
        let quote = |post: &str| json!({ "quote_tweet_id": post });
        let (own, hub) = (self.viewer_post.clone(), self.hub_post.clone());
        self.publish(author, "reply to the viewer", reply(&own), "An answer");
        self.publish(author, "reply to the hub", reply(&hub), "An answer");
        self.publish(author, "quote of the viewer", quote(&own), "Look");
        self.publish(author, "quote of the hub", quote(&hub), "Look");
        let choice = self.next_marker();
        let poll = json!({ "text": format!("Which, {}?", author.place), "poll": { "options": [choice, "none"], "duration_minutes": 60 } });
        self.publish(author, "poll", poll, "");
        let photo = at_once(&author.user, "tweet_image", &samples::png(9, 6)).assert_accepted()["data"]["id"].clone();
        let text = format!("A square, {}", self.next_marker());
        let metadata = json!({ "id": photo, "metadata": { "alt_text": { "text": text } } });
        author.user.post("/2/media/metadata", &metadata).assert_accepted();
        let photo = json!({ "text": format!("A photo, {}", author.place), "media": { "media_ids": [photo] } });
        self.publish(author, "photo", photo, "");
    }

    #[track_caller]
    fn publish(&mut self, author: &mut Author<'_>, what: &'static str, mut body: Value, text: &str) {
        if body.get("text").is_none() {
            body["text"] = format!("{text} {}", self.next_marker()).into();
        }
        for (name, value) in
            (author.situation.post_options)(self).as_ref().and_then(Value::as_object).into_iter().flatten()
        {
            body[name] = value.clone();
        }
        self.admit_hub(author);
        let id = id_of(&author.user.create_post(&body).assert_accepted());
        self.add_content(author.place, what, Subject::Post(id.clone()));
        author.posts.push(id);
    }

    /// Lets the hub see what the viewer may not.
    fn admit_hub(&self, author: &Author<'_>) {
        let (hub, id) = (&self.hub.id, &author.user.id);
        match author.situation.name {
            "for subscribers" => {
                self.execute_command(&["user", "subscribe", hub, id]);
            }
            "in a closed community" => {
                self.server.run_cli(&["community", "join", &self.community, id]);
            }
            _ => {}
        }
    }

    /// The hub and the viewer repost the first post, and quote and answer the second; the viewer likes and bookmarks
    /// the first. What the viewer may not do is refused.
    fn react_to_posts(&mut self, author: &Author<'_>) {
        let (post, mention, place) = (&author.posts[0], &author.posts[1], author.place);
        let is_public = (author.situation.post_options)(self).is_none();
        let expect = |response: TestResponse| {
            assert!(!is_public || response.status < 300, "{}: {}", author.situation.name, response.text());
            response.json()["data"]["id"].as_str().map(str::to_owned)
        };
        let by = |user: &TestUser<'_>, path: &str, post: &str| {
            expect(user.post(format!("/2/users/{}/{path}", user.id), &json!({ "post_id": post })))
        };
        let share = |user: &TestUser<'_>| {
            let quote = json!({ "text": format!("Quoted {place}"), "quote_tweet_id": mention });
            let reply = json!({ "text": format!("Answered {place}"), "reply": { "in_reply_to_post_id": mention } });
            let posts = [user.create_post(&quote), user.create_post(&reply)].map(expect);
            by(user, "reposts", post);
            posts.into_iter().flatten().collect::<Vec<_>>()
        };
        let shares = [share(&self.hub), share(&self.viewer)];
        by(&self.viewer, "likes", post);
        let bookmark = json!({ "post_id": post, "folder_id": self.bookmark_folder });
        expect(self.viewer.post(format!("/2/users/{}/bookmarks", self.viewer.id), &bookmark));
        by(&author.user, "likes", &self.viewer_post);
        by(&author.user, "reposts", &self.viewer_post);
        let [hub, viewer] = shares;
        self.hub_shares.extend(hub);
        self.viewer_shares.extend(viewer);
    }

    fn write_message(&mut self, author: &mut Author<'_>) {
        let text = format!("Between us {}", self.next_marker());
        let path = format!("/2/dm_conversations/with/{}/messages", self.viewer.id);
        let sent = author.user.post(path, &json!({ "text": text })).assert_accepted();
        let part = |name: &str| sent["data"][name].as_str().unwrap().to_owned();
        author.conversation = part("dm_conversation_id");
        self.add_content(author.place, "message", Subject::Message(part("dm_event_id")));
    }

    /// An open list, a private one, and one that became private after the viewer had followed it.
    fn create_lists(&mut self, author: &mut Author<'_>) {
        for (what, private) in [("open list", false), ("private list", true), ("list made private", false)] {
            let new = json!({ "name": format!("List {}", self.next_marker()), "private": private });
            let id = id_of(&author.user.post("/2/lists", &new).assert_accepted());
            self.add_content(author.place, what, Subject::List(id.clone()));
            if !private {
                let path = format!("/2/users/{}/followed_lists", self.viewer.id);
                self.viewer.post(path, &json!({ "list_id": id })).assert_accepted();
            }
            if what == "list made private" {
                let hide = TestRequest::new("PUT", format!("/2/lists/{id}")).json(&json!({ "private": true }));
                author.user.send(hide).assert_accepted();
            }
            author.lists.push(id);
        }
        for (owner, list) in [&self.viewer, &self.hub].into_iter().zip(&self.lists_of_authors) {
            let member = json!({ "user_id": author.user.id });
            owner.post(format!("/2/lists/{list}/members"), &member).assert_accepted();
        }
    }

    /// The viewer begins to quote each author.
    fn save_drafts(&self, authors: &mut [Author<'s>]) {
        let mut browser = Browser::new(self.server);
        browser.sign_in(&self.viewer.username, PASSWORD, "/home");
        for author in authors.iter_mut().filter(|author| (author.situation.post_options)(self).is_none()) {
            let page = browser.get(format!("/compose?quote={}", author.posts[0]));
            let text = hostile(author.place);
            let saved = browser.submit(&page, "/compose", &[("text", &*text), ("act", "draft")]);
            assert_eq!(saved.status, 303, "{}", saved.text());
            saved.header("location").rsplit("#d").next().unwrap().clone_into(&mut author.draft);
        }
    }

    /// The new version is the last of the author's posts.
    pub(super) fn edit_mention(&self, author: &mut Author<'_>) {
        self.execute_command(&["user", "premium", &author.user.id]);
        let word = marker(9000 + author.place);
        let edit = json!({ "text": hostile(word), "edit_options": { "previous_post_id": author.posts[1] } });
        author.posts.push(id_of(&author.user.create_post(&edit).assert_accepted()));
    }

    fn add_edited_version(&mut self, author: &Author<'_>) {
        if author.situation.name.starts_with("post edited") {
            let id = author.posts.last().unwrap().clone();
            let marker = marker(9000 + author.place);
            let subject = Subject::Post(id);
            self.contents.push(Content { marker, what: "edited version", author: author.place, subject });
        }
    }
}
