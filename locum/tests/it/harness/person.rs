//! People and apps, as clients have them.

use std::sync::OnceLock;

use serde_json::{Value, json};

use super::ask::Key;
use super::{Answer, Ask, Server};

/// An app and its keys.
#[derive(Clone, Debug)]
pub(crate) struct App {
    pub(crate) id: String,
    pub(crate) owner: String,
    pub(crate) key: String,
    pub(crate) secret: String,
    pub(crate) bearer: String,
}

impl App {
    pub(super) fn read(owner: String, made: &Value) -> Self {
        let text = |name: &str| {
            let value = made[name].as_str();
            value
                .unwrap_or_else(|| panic!("an app without {name}: {made}"))
                .to_owned()
        };
        Self {
            id: text("id"),
            owner,
            key: text("api_key"),
            secret: text("api_secret"),
            bearer: text("bearer_token"),
        }
    }

    /// An app that a command made.
    pub(crate) fn made(owner: &str, made: &Value) -> Self {
        Self::read(owner.to_owned(), made)
    }

    /// What its own requests are signed with.
    pub(crate) fn consumer(&self) -> (&str, &str) {
        (&self.key, &self.secret)
    }
}

/// A person with an account, calling through an app.
#[derive(Clone)]
pub(crate) struct Person<'s> {
    pub(crate) server: &'s Server,
    pub(crate) app: App,
    pub(crate) id: String,
    pub(crate) username: String,
    pub(crate) token: String,
    oauth1: OnceLock<(String, String)>,
}

impl<'s> Person<'s> {
    /// A person who is there, with a new token for an app.
    pub(crate) fn of(server: &'s Server, app: &App, id: &str, username: &str) -> Self {
        let mut person = Self {
            server,
            app: app.clone(),
            id: id.to_owned(),
            username: username.to_owned(),
            token: String::new(),
            oauth1: OnceLock::new(),
        };
        person.token = person.token(&[]);
        person
    }

    /// A person who is there, with a token that is there.
    pub(crate) fn known(
        server: &'s Server,
        app: &App,
        names: (String, String),
        token: &str,
    ) -> Self {
        Self {
            server,
            app: app.clone(),
            id: names.0,
            username: names.1,
            token: token.to_owned(),
            oauth1: OnceLock::new(),
        }
    }

    /// The owner of an app.
    pub(crate) fn owner(server: &'s Server, app: &App) -> Self {
        let user = server.cli(&["user", "show", &app.owner]).json();
        Self::of(server, app, user["id"].as_str().unwrap(), &app.owner)
    }

    /// A new OAuth 2.0 token, made with further arguments of `token mint`.
    pub(crate) fn token(&self, more: &[&str]) -> String {
        self.mint(more)["token"].as_str().unwrap().to_owned()
    }

    /// What `token mint` answers.
    pub(crate) fn mint(&self, more: &[&str]) -> Value {
        let mint = ["token", "mint", "--app", &self.app.id, "--user", &self.id];
        self.server.cli(&[&mint[..], more].concat()).json()
    }

    /// The OAuth 1.0a token and its secret.
    pub(crate) fn oauth1(&self) -> (&str, &str) {
        let (token, secret) = self.oauth1.get_or_init(|| {
            let made = self.mint(&["--oauth1"]);
            let text = |name: &str| made[name].as_str().unwrap().to_owned();
            (text("access_token"), text("access_token_secret"))
        });
        (token, secret)
    }

    /// What requests of this person are signed with.
    pub(crate) fn key(&self) -> Key<'_> {
        Key {
            consumer: self.app.consumer(),
            token: self.oauth1(),
            ..Key::default()
        }
    }

    /// Sends a request that is signed for the address that it goes to.
    pub(crate) fn signed(&self, ask: Ask) -> Answer {
        let header = ask.signature(&self.key(), &self.server.url);
        self.server.send(ask.authorized(header))
    }

    pub(crate) fn send(&self, ask: Ask) -> Answer {
        self.server.send(ask.bearer(&self.token))
    }

    pub(crate) fn get(&self, target: impl Into<String>) -> Answer {
        self.send(Ask::get(target))
    }

    pub(crate) fn delete(&self, target: impl Into<String>) -> Answer {
        self.send(Ask::delete(target))
    }

    pub(crate) fn post(&self, target: impl Into<String>, body: &Value) -> Answer {
        self.send(Ask::post(target).json(body))
    }

    /// Publishes a post as its body has it.
    pub(crate) fn publish(&self, body: &Value) -> Answer {
        self.post("/2/posts", body)
    }

    /// Publishes a text; the post's id.
    #[track_caller]
    pub(crate) fn says(&self, text: &str) -> String {
        let made = self.publish(&json!({ "text": text })).is(201);
        made["data"]["id"].as_str().unwrap().to_owned()
    }

    /// Follows others by way of an import, which asks no protected user for an approval.
    pub(crate) fn follows(&self, others: &[&Person<'_>]) {
        let line =
            |other: &&Person<'_>| json!({ "kind": "follow", "from": self.id, "to": other.id });
        self.server
            .import(&others.iter().map(line).collect::<Vec<_>>())
            .well();
    }

    /// A post as this person sees it, with fields.
    #[track_caller]
    pub(crate) fn sees(&self, id: &str, fields: &str) -> Value {
        let answer = self.get(format!("/2/posts/{id}?post.fields={fields}"));
        answer.is(200)["data"].clone()
    }
}
