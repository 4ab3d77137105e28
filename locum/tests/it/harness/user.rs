//! People and apps, as clients have them.

use std::sync::OnceLock;

use serde_json::{Value, json};

use super::request::OAuth1Credentials;
use super::{TestRequest, TestResponse, TestServer};

/// An app and its keys.
#[derive(Clone, Debug)]
pub(crate) struct TestApp {
    pub(crate) id: String,
    pub(crate) owner: String,
    pub(crate) key: String,
    pub(crate) secret: String,
    pub(crate) bearer: String,
}

impl TestApp {
    pub(super) fn from_json(owner: String, created: &Value) -> Self {
        let text = |name: &str| {
            let value = created[name].as_str();
            value.unwrap_or_else(|| panic!("an app without {name}: {created}")).to_owned()
        };
        Self { id: text("id"), owner, key: text("api_key"), secret: text("api_secret"), bearer: text("bearer_token") }
    }

    /// An app that a command made.
    pub(crate) fn from_command_output(owner: &str, created: &Value) -> Self {
        Self::from_json(owner.to_owned(), created)
    }

    /// What its own requests are signed with.
    pub(crate) fn consumer_credentials(&self) -> (&str, &str) {
        (&self.key, &self.secret)
    }
}

/// A person with an account, calling through an app.
#[derive(Clone)]
pub(crate) struct TestUser<'s> {
    pub(crate) server: &'s TestServer,
    pub(crate) app: TestApp,
    pub(crate) id: String,
    pub(crate) username: String,
    pub(crate) token: String,
    oauth1: OnceLock<(String, String)>,
}

impl<'s> TestUser<'s> {
    /// A person who is there, with a new token for an app.
    pub(crate) fn with_new_token(server: &'s TestServer, app: &TestApp, id: &str, username: &str) -> Self {
        let mut user = Self {
            server,
            app: app.clone(),
            id: id.to_owned(),
            username: username.to_owned(),
            token: String::new(),
            oauth1: OnceLock::new(),
        };
        user.token = user.new_token(&[]);
        user
    }

    /// A person who is there, with a token that is there.
    pub(crate) fn with_token(server: &'s TestServer, app: &TestApp, names: (String, String), token: &str) -> Self {
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
    pub(crate) fn app_owner(server: &'s TestServer, app: &TestApp) -> Self {
        let user = server.run_cli(&["user", "show", &app.owner]).json();
        Self::with_new_token(server, app, user["id"].as_str().unwrap(), &app.owner)
    }

    /// A new OAuth 2.0 token, made with further arguments of `token mint`.
    pub(crate) fn new_token(&self, more: &[&str]) -> String {
        self.mint_token(more)["token"].as_str().unwrap().to_owned()
    }

    /// What `token mint` answers.
    pub(crate) fn mint_token(&self, more: &[&str]) -> Value {
        let mint = ["token", "mint", "--app", &self.app.id, "--user", &self.id];
        self.server.run_cli(&[&mint[..], more].concat()).json()
    }

    /// The OAuth 1.0a token and its secret.
    pub(crate) fn oauth1_token(&self) -> (&str, &str) {
        let (token, secret) = self.oauth1.get_or_init(|| {
            let created = self.mint_token(&["--oauth1"]);
            let text = |name: &str| created[name].as_str().unwrap().to_owned();
            (text("access_token"), text("access_token_secret"))
        });
        (token, secret)
    }

    /// What requests of this person are signed with.
    pub(crate) fn oauth1_credentials(&self) -> OAuth1Credentials<'_> {
        OAuth1Credentials {
            consumer: self.app.consumer_credentials(),
            token: self.oauth1_token(),
            ..OAuth1Credentials::default()
        }
    }

    /// Sends a request that is signed for the address that it goes to.
    pub(crate) fn send_signed(&self, request: TestRequest) -> TestResponse {
        let header = request.oauth1_header(&self.oauth1_credentials(), &self.server.url);
        self.server.send(request.authorization(header))
    }

    pub(crate) fn send(&self, request: TestRequest) -> TestResponse {
        self.server.send(request.bearer(&self.token))
    }

    pub(crate) fn get(&self, target: impl Into<String>) -> TestResponse {
        self.send(TestRequest::get(target))
    }

    pub(crate) fn delete(&self, target: impl Into<String>) -> TestResponse {
        self.send(TestRequest::delete(target))
    }

    pub(crate) fn post(&self, target: impl Into<String>, body: &Value) -> TestResponse {
        self.send(TestRequest::post(target).json(body))
    }

    /// Publishes a post as its body has it.
    pub(crate) fn create_post(&self, body: &Value) -> TestResponse {
        self.post("/2/posts", body)
    }

    /// Publishes a text; the post's id.
    #[track_caller]
    pub(crate) fn publish_text(&self, text: &str) -> String {
        let created = self.create_post(&json!({ "text": text })).assert_status(201);
        created["data"]["id"].as_str().unwrap().to_owned()
    }

    /// Follows others by way of an import, which asks no protected user for an approval.
    pub(crate) fn import_follows(&self, others: &[&TestUser<'_>]) {
        let line = |other: &&TestUser<'_>| json!({ "kind": "follow", "from": self.id, "to": other.id });
        self.server.import_lines(&others.iter().map(line).collect::<Vec<_>>()).assert_success();
    }

    /// A post as this person sees it, with fields.
    #[track_caller]
    pub(crate) fn fetch_post(&self, id: &str, fields: &str) -> Value {
        let response = self.get(format!("/2/posts/{id}?post.fields={fields}"));
        response.assert_status(200)["data"].clone()
    }
}
