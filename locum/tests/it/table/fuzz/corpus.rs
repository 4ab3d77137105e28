//! Valid requests to every operation, in a world where what they name exists.

use ads_engine::{AdsOperation, OperationAction, ParameterLocation, ValueKind};
use serde_json::{Value, json};
use web::endpoint::{BodySpec, Endpoint};

use super::case::{Caller, Case, CaseBody};
use super::values::{KindsByName, kinds_by_name};
use crate::ads::limits::{Field, item};
use crate::harness::{TestRequest, TestServer, TestUser, percent_encode};
use crate::media::samples::png;
use crate::pages::browser::{Browser, hidden};
use crate::table::owner::Owner;
use crate::table::{Deed, Thing, deeds};

/// What streams would not end, and what ends the credentials that the rest is sent with.
const FATAL: &[&str] = &["invalidateAccessToken", "developerDeleteApp", "deleteAdsAccount"];

pub(super) struct Corpus {
    pub(super) owner: Owner<'static>,
    pub(super) stranger: TestUser<'static>,
    pub(super) cases: Vec<Case>,
    pub(super) kinds: KindsByName,
    pub(super) known: Vec<String>,
    pub(super) advertiser: TestUser<'static>,
    field: Field,
    app: String,
}

pub(in crate::table) fn endpoints() -> impl Iterator<Item = &'static Endpoint> {
    let all = api::ENDPOINTS.iter().copied().chain(portal::ENDPOINTS.iter().copied()).chain([portal::DEVELOPMENT]);
    all.flatten().filter(|endpoint| endpoint.handler.is_some())
}

impl Corpus {
    pub(super) fn new(server: &'static TestServer) -> Self {
        let friend = server.new_user("friend");
        let owner = Owner::settle(server, "owner", "words", &friend);
        let field = Field::on(server);
        let advertiser = field.world.ads.person.clone();
        let create = ["app", "create", "Portal", "--owner", &advertiser.username];
        let app = server.run_cli(&create).json()["id"].as_str().unwrap().to_owned();
        let mut known: Vec<String> = owner.things.values().cloned().collect();
        known.extend(field.world.values.values().chain(field.ids.values()).cloned());
        known.extend([friend.id.clone(), field.world.other.account.clone(), app.clone()]);
        let known = known.iter().map(|text| percent_encode(text)).collect();
        let kinds = kinds_by_name(endpoints());
        let stranger = server.new_user("stranger");
        let mut corpus = Self { owner, stranger, cases: Vec::new(), kinds, known, advertiser, field, app };
        corpus.add_api();
        corpus.add_ads();
        corpus.add_others();
        corpus
    }

    /// The operations of the v2 API, with little and with all that they take, in both vocabularies.
    fn add_api(&mut self) {
        let things = &self.owner.things;
        for deed in deeds() {
            let caller = if deed.for_users { Caller::Owner } else { Caller::App };
            let (path, bodies) = (deed.filled(things), deed.bodies(things));
            for query in [deed.query(things), deed.query_for_all(things), self.full_query(&deed)] {
                for body in bodies.iter().take(3) {
                    let case = Case::new(caller, &deed.ask(&path, &query, body.as_ref()));
                    let tweets = Case { path: case.path.replace("/posts", "/tweets"), ..case.clone() };
                    self.cases.extend([case, tweets]);
                }
            }
        }
    }

    /// Every parameter of an operation with a value that it may have.
    fn full_query(&self, deed: &Deed) -> Vec<(String, String)> {
        let params = deed.params.iter().filter(|param| !param.in_path);
        let value = |thing: Thing| self.owner.things.get(&thing).cloned();
        let pairs = params.filter_map(|param| {
            let known = param.known().filter(|thing| *thing != Thing::Other).and_then(value);
            let word = param.schema["items"]["enum"][0].as_str().map(str::to_owned);
            let example = || crate::table::example(&param.schema);
            let text = known.or(word).unwrap_or_else(example);
            (!param.name.contains("token")).then(|| (param.name.clone(), percent_encode(&text)))
        });
        pairs.collect()
    }

    fn add_ads(&mut self) {
        for operation in ads_delivery::operations().iter().filter(|operation| !FATAL.contains(&operation.id)) {
            let cases: Vec<Case> = match operation.action {
                OperationAction::Batch(of) => {
                    let world = &self.field.world;
                    let parent = match of.name {
                        "line_item" => &world.values["campaign_id"],
                        "custom_audience" => &world.values["tailored_audience_id"],
                        _ => &world.values["line_item_id"],
                    };
                    let items = json!([item(&world.ads, of, parent), item(&world.ads, of, parent)]);
                    vec![self.field.request(operation, &[]).json(&items)]
                }
                _ => [true, false].map(|all| self.ads_request(operation, all)).to_vec(),
            }
            .iter()
            .map(|request| Case::new(Caller::Owner, request))
            .collect();
            self.cases.extend(cases);
        }
    }

    fn ads_request(&self, operation: &AdsOperation, with_all: bool) -> TestRequest {
        let path = operation.path.replace("<posts>", "tweets");
        let about = path.rsplit('/').find(|part| !part.starts_with('{')).unwrap_or_default().to_owned();
        let params = operation.params.iter().filter(|param| param.location == ParameterLocation::Query);
        let params = params.filter(|param| with_all || param.is_required());
        let values: Vec<(&'static str, String)> = params
            .map(|param| {
                let known = self.field.world.value_of(&about, param.name.tweet);
                let value = known.unwrap_or_else(|| match param.kind.value {
                    ValueKind::OneOf(words) => words.first().copied().unwrap_or("1").to_owned(),
                    ValueKind::Time => "2026-01-01T00:00:00Z".to_owned(),
                    _ => "1".to_owned(),
                });
                (param.name.post, value)
            })
            .collect();
        let texts: Vec<(&'static str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let request = self.field.request(operation, &texts);
        if !operation.takes_json() {
            return request;
        }
        let mut body: Value = serde_json::from_slice(&request.body).unwrap();
        for (name, shape) in self.json_shapes() {
            if body.get(name).is_some() {
                body[name] = shape;
            }
        }
        let members = json!([{ "operation_type": "Update", "params": { "users": [{ "email": ["0".repeat(64)] }] } }]);
        request.json(if about == "users" { &members } else { &body })
    }

    /// Members of JSON bodies that are no texts.
    fn json_shapes(&self) -> [(&'static str, Value); 3] {
        let values = &self.field.world.values;
        [
            (
                "components",
                json!([
                    { "type": "MEDIA", "media_key": values["media_key"] },
                    { "type": "DETAILS", "title": "Ride", "destination": { "type": "WEBSITE", "url": "https://a.example/" } },
                ]),
            ),
            ("targeting_criteria", json!([{ "targeting_type": "BROAD_KEYWORD", "targeting_value": "bike" }])),
            (
                "segments",
                json!({ "boolean_operator": "OR", "child_segments": [
                { "custom_audience_id": values["tailored_audience_id"], "frequency": 1, "negate": false,
                  "frequency_comparator": "NUM_GTE", "lookback_window": 30 },
            ] }),
            ),
        ]
    }

    /// What is neither of the v2 API nor of the Ads API: OAuth, v1.1, media files, streams and pages.
    fn add_others(&mut self) {
        let covered: Vec<String> = deeds().into_iter().map(|deed| deed.id).collect();
        let mut cases = Vec::new();
        for endpoint in endpoints().filter(|endpoint| endpoint.ads.is_none() && !FATAL.contains(&endpoint.id)) {
            if !covered.iter().any(|id| id == endpoint.id) {
                cases.extend(self.declared_cases(endpoint));
            }
        }
        self.cases.extend(cases);
    }

    fn declared_cases(&self, endpoint: &Endpoint) -> Vec<Case> {
        let value = |name: &str| self.value_of_name(name);
        let mut path = endpoint.path.replace("<posts>", "posts").replace("<reposts>", "reposts");
        while let Some((head, rest)) = path.split_once('{') {
            let (name, tail) = rest.split_once('}').unwrap();
            let id = if head.starts_with("/developer") { self.app.clone() } else { value(name) };
            path = format!("{head}{id}{tail}");
        }
        let in_query = endpoint.parameters().filter(|param| param.location == ParameterLocation::Query);
        let query = in_query.map(|param| (param.name.post.to_owned(), value(param.name.post))).collect();
        let pairs = |members: &[web::endpoint::Parameter]| -> Vec<(String, String)> {
            members.iter().map(|member| (member.name.post.to_owned(), value(member.name.post))).collect()
        };
        let caller = match endpoint.id {
            _ if endpoint.error_format == web::endpoint::ErrorFormat::Page => Caller::Browser,
            _ if endpoint.path.contains("oauth") => Caller::Client,
            _ if endpoint.path.starts_with("/1.1") => Caller::Signed,
            _ => Caller::App,
        };
        let is_stream = endpoint.method == "GET" && (path.contains("stream") || path.contains("/events"));
        let request = TestRequest::new(endpoint.method, path);
        let case = Case { query, is_stream, ..Case::new(caller, &request) };
        let plain = Case { query: Vec::new(), ..case.clone() };
        let (case, plain) = match endpoint.body {
            BodySpec::Form(members) => {
                let body = || CaseBody::Form(pairs(members));
                (case.with_body(body()), plain.with_body(body()))
            }
            BodySpec::Json(members) => {
                let members = pairs(members).into_iter().map(|(name, value)| (name, Value::from(value)));
                let body: Value = members.collect::<serde_json::Map<_, _>>().into();
                (case.with_body(CaseBody::Json(body.clone())), plain.with_body(CaseBody::Json(body)))
            }
            BodySpec::Multipart(members) => {
                let bytes = |name: &str, text: String| match name {
                    "media" => png(8, 8),
                    _ => text.into_bytes(),
                };
                let parts: Vec<_> =
                    pairs(members).into_iter().map(|(name, text)| (name.clone(), bytes(&name, text))).collect();
                // All of them together are seldom valid.
                let few = parts
                    .iter()
                    .filter(|(name, _)| ["csrf", "media", "name", "media_category"].contains(&name.as_str()));
                let few = few.cloned().collect();
                (case.with_body(CaseBody::Multipart(parts)), plain.with_body(CaseBody::Multipart(few)))
            }
            BodySpec::None | BodySpec::Raw => (case, plain),
        };
        vec![case, plain]
    }

    /// A value of a parameter that no table of values is about.
    fn value_of_name(&self, name: &str) -> String {
        let app = &self.stranger.app;
        let known = match name {
            "csrf" => CSRF,
            "account" => &self.field.world.ads.account,
            "part" => "campaigns",
            "act" => "edit",
            "kind" => "api",
            "id" => &self.field.world.values["campaign_id"],
            "post" | "post_id" => &self.owner.things[&Thing::Post],
            "grant_type" => "client_credentials",
            "client_id" | "oauth_consumer_key" => &app.key,
            "client_secret" => &app.secret,
            "redirect_uri" | "oauth_callback" | "url" | "website" => "https://client.example/cb",
            "access_token" | "token" | "oauth_token" => "token",
            "user_id" => &self.stranger.id,
            "screen_name" | "login" | "username" => &self.stranger.username,
            "media_id" => &self.owner.things[&Thing::Upload],
            "file" => &self.owner.things[&Thing::File],
            "command" => "INIT",
            "media_type" => "image/png",
            "media_category" => "tweet_image",
            "total_bytes" => "1000",
            "email" => "somebody@mail.example",
            "partition" => "1",
            "do" | "decision" => "allow",
            "next" => "/settings/account",
            "product" => "tweets",
            "query" | "value" => "words",
            _ => {
                let known = self.field.world.value_of("", name);
                return percent_encode(&known.unwrap_or_else(|| "1".to_owned()));
            }
        };
        percent_encode(known)
    }
}

/// Stands for the token of the session that sends a form.
pub(super) const CSRF: &str = "csrf-token";

/// A browser with a session, and the token of the session's forms.
pub(super) struct Session {
    pub(super) browser: Browser<'static>,
    pub(super) csrf: String,
}

impl Session {
    pub(super) fn of_user(user: &TestUser<'static>) -> Self {
        let mut browser = Browser::new(user.server);
        let response = browser.sign_in(&user.username, "a long secret", "/settings/account");
        assert_eq!(response.status, 303, "{}", response.text());
        Self::begin(browser, "/settings/account", "/settings/account/password")
    }

    pub(super) fn of_visitor(server: &'static TestServer) -> Self {
        Self::begin(Browser::new(server), "/login", "/login")
    }

    fn begin(mut browser: Browser<'static>, page: &str, form: &str) -> Self {
        let shown = browser.get(page);
        let csrf = hidden(&shown.text(), form)["csrf"].clone();
        Self { browser, csrf }
    }
}
