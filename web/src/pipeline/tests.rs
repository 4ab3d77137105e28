//! The whole way, against a store, with operations of our own.

use std::sync::Arc;

use base::encryption::{Keyring, MasterKey};
use base::{Clock, Error, Refusal, Rng, Scope, Scopes, Secret, UserId, VocabularyWord};
use edge::{Body, Handler, Peer, Shutdown};
use http::{HeaderMap, Method, Request, Response};
use identity::apps::{AccessLevel, AppCredentials, AppProfile, AuthConfig, Authenticator};
use network::users::NewUser;
use serde_json::{Value, json};
use store::{DatabaseLocation, Store, StoreOptions};
use tempfile::TempDir;

use super::{ApiServer, ServerConfig};
use crate::endpoint::{
    BodySpec as Shape, Endpoint, ErrorFormat, Kind, Parameter, RateWindow, SharedWindow, per_day, per_quarter_hour,
};
use crate::limits::RateLimitMode;
use crate::metrics::ServerMetrics;
use crate::request_context::{HttpReply, RequestContext};

const READ: Scopes = Scopes::from_slice(&[Scope::TweetRead, Scope::UsersRead]);
const POST_ID: VocabularyWord = VocabularyWord::new("post_id", "tweet_id");

const ID: Parameter = Parameter::path_id("id", "");
static TWO: SharedWindow = SharedWindow { name: "what is published", window: RateWindow { calls: 2, seconds: 10_800 } };
static TABLE: &[&[Endpoint]] = &[&[
    Endpoint::get("findPost", "/2/<posts>/{id}", &echo)
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(2)], &[per_quarter_hour(900)])
        .params(&[&[ID, Parameter::query("expand", Kind::BOOL, "")]]),
    Endpoint::post("like", "/2/users/{id}/likes", &like)
        .permit("12", READ.with_scope(Scope::LikeWrite))
        .limits(&[], &[per_quarter_hour(50), RateWindow { calls: 1_000, seconds: 86_400 }])
        .params(&[&[ID]])
        .body(Shape::Json(&[Parameter::member_named(POST_ID, Kind::ID).as_required()])),
    Endpoint::post("message", "/2/dm", &panics).permit("12", Scopes::from_slice(&[Scope::DmWrite])),
    Endpoint::get("fails", "/2/fails", &fails).permit("A", Scopes::NONE),
    Endpoint::get("panics", "/2/panics", &panics).permit("A", Scopes::NONE),
    Endpoint::get("panics_within", "/2/panics_within", &panics_in_transaction).permit("A", Scopes::NONE),
    Endpoint::post("publish", "/2/publish", &echo)
        .permit("12", READ)
        .limits(&[], &[per_quarter_hour(50)])
        .share_limit(&TWO),
    Endpoint::post("pass_on", "/2/pass_on", &echo)
        .permit("12", READ)
        .limits(&[], &[per_quarter_hour(50)])
        .share_limit(&TWO),
    Endpoint::get("rules", "/2/rules", &echo).permit("A", Scopes::NONE).limits(&[], &[]).share_limit(&TWO),
    Endpoint::post("add_rules", "/2/rules", &echo).permit("A", Scopes::NONE).limits(&[], &[]).share_limit(&TWO),
    Endpoint::post("announce", "/2/announce", &echo).permit("12", READ).limits(&[per_day(2)], &[per_quarter_hour(50)]),
    Endpoint::post("recite", "/2/recite", &echo)
        .permit("12", READ)
        .limits(&[per_quarter_hour(2), per_day(100)], &[per_quarter_hour(50)]),
    Endpoint::new("unbuilt", "GET", "/2/unbuilt").permit("A", Scopes::NONE),
    Endpoint { permit: base::Permit::OPEN, ..Endpoint::new("open", "GET", "/1.1/open") }
        .error_format(ErrorFormat::Legacy)
        .limits(&[per_quarter_hour(2)], &[])
        .handler(&echo),
    Endpoint::get("token", "/1.1/token", &verify)
        .verify_app()
        .limits(&[per_quarter_hour(2)], &[])
        .params(&[&[Parameter::query("app", Kind::ID, ""), Parameter::query("public", Kind::BOOL, "")]])
        .error_format(ErrorFormat::Legacy),
]];

async fn verify(call: RequestContext) -> Result<HttpReply, Error> {
    let app = call.query_id("app").ok_or(Refusal::AppOnlyTokenRefused)?;
    if call.query_flag("public") {
        call.charge_public_client(app).await?;
    } else {
        call.charge_app(app).await?;
    }
    Ok(HttpReply::empty(204))
}

async fn echo(call: RequestContext) -> Result<HttpReply, Error> {
    let resolved = call.answer_vocabulary();
    let name = format!("{:?} {}", resolved.vocabulary, resolved.both_metric_names);
    call.respond_data(json!({ "id": call.path_id::<()>("id").ok().map(base::Id::get), "speech": name,
        "user": call.viewer().user.map(UserId::get), "more": "x".repeat(2_000) }))
}

async fn like(call: RequestContext) -> Result<HttpReply, Error> {
    let user = call.require_own_user("id")?;
    let post = call.body().required_id::<()>(POST_ID)?.get();
    let name = call.write(move |tx| Ok(store::users::find_by_id(tx, user)?)).await?;
    let name = name.map(|user| user.username);
    call.respond_data(
        json!({ "liked": post, "by": name, "speech": format!("{:?}", call.answer_vocabulary().vocabulary) }),
    )
}

async fn fails(_: RequestContext) -> Result<HttpReply, Error> {
    Err(base::Fault::new("the disk is on fire").into())
}

async fn panics(_: RequestContext) -> Result<HttpReply, Error> {
    panic!("a secret of the code")
}

async fn panics_in_transaction(call: RequestContext) -> Result<HttpReply, Error> {
    call.read(|_| -> Result<(), Error> { panic!("a secret of the code") }).await?;
    call.respond_data(json!({}))
}

struct World {
    server: ApiServer,
    metrics: Arc<ServerMetrics>,
    keys: AppCredentials,
    user: UserId,
    store: Arc<Store>,
    app: base::AppId,
    _folder: TempDir,
}

impl World {
    async fn open(change: impl FnOnce(&mut ServerConfig)) -> Self {
        let folder = TempDir::new().unwrap();
        let options = StoreOptions {
            location: DatabaseLocation::File(folder.path().join("locum.db")),
            data_dir: folder.path().to_owned(),
            connections: 2,
            node: 0,
            purpose: store::NodePurpose::Server(store::NodeRoles::ALL),
            migrate: true,
            clock: Clock::System,
            rng: Rng::Os,
            keyring: Keyring::new(MasterKey::generate(&Rng::from_seed(1)).unwrap(), Vec::new()),
        };
        let store = Arc::new(Store::open(options).await.unwrap());
        let new = NewUser { username: "ada".to_owned(), ..NewUser::default() };
        let user = store.write(move |tx| network::users::create(tx, &new)).await.unwrap().id;
        let work = move |tx: &mut store::Tx<'_>| {
            identity::apps::create(tx, user, AccessLevel::SelfServe, &AppProfile::new("One"))
        };
        let (app, keys) = store.write(work).await.unwrap();
        let auth =
            AuthConfig { data_dir: folder.path().to_owned(), public_origins: Vec::new(), timestamp_skew_ms: 300_000 };
        let auth = Arc::new(Authenticator::new(Arc::clone(&store), &auth).unwrap());
        let metrics = Arc::new(ServerMetrics::default());
        let mut config = ServerConfig::default();
        change(&mut config);
        let server = ApiServer::new(TABLE, Arc::clone(&store), auth, Arc::clone(&metrics), Shutdown::new(), config);
        let server = server.unwrap();
        Self { server, metrics, keys, user, store, app: app.id, _folder: folder }
    }

    async fn token(&self, scopes: Scopes) -> Secret {
        self.token_of(self.user, scopes).await
    }

    async fn token_of(&self, user: UserId, scopes: Scopes) -> Secret {
        let app = self.app;
        let work = move |tx: &mut store::Tx<'_>| identity::tokens::mint_oauth2(tx, app, user, scopes, Some(7_200_000));
        self.store.write(work).await.unwrap()
    }

    async fn send(&self, method: &str, path: &str, token: &str, more: &[(&str, &str)], body: &str) -> Got {
        let mut request = Request::new(Body::full(body.to_owned()));
        *request.method_mut() = Method::from_bytes(method.as_bytes()).unwrap();
        *request.uri_mut() = path.parse().unwrap();
        if !token.is_empty() {
            let value = format!("Bearer {token}").parse().unwrap();
            request.headers_mut().insert("authorization", value);
        }
        for (name, value) in more {
            let name: http::HeaderName = name.parse().unwrap();
            request.headers_mut().append(name, value.parse().unwrap());
        }
        request.extensions_mut().insert(Peer::direct(([127, 0, 0, 1], 9).into()));
        Got::of(self.server.call(request).await)
    }

    async fn get(&self, path: &str) -> Got {
        self.send("GET", path, self.keys.bearer.expose_secret(), &[], "").await
    }

    async fn post(&self, path: &str, token: &Secret, body: &str) -> Got {
        let json = [("content-type", "application/json")];
        self.send("POST", path, token.expose_secret(), &json, body).await
    }
}

#[derive(Debug)]
struct Got {
    status: u16,
    headers: HeaderMap,
    bytes: Vec<u8>,
}

impl Got {
    fn of(response: Response<Body>) -> Self {
        let bytes = response.body().as_bytes().unwrap().to_vec();
        Self { status: response.status().as_u16(), headers: response.headers().clone(), bytes }
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap()
    }

    fn detail(&self) -> (u16, String) {
        let json = self.json();
        let first = &json["errors"][0];
        let text = first["message"].as_str().or(json["detail"].as_str()).unwrap_or_default();
        (self.status, text.to_owned())
    }
}

fn runs<F: Future<Output = ()>>(story: F) {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(story);
}

#[test]
fn an_answer_has_its_headers() {
    runs(async {
        let world = World::open(|_| {}).await;
        let got = world.get("/2/tweets/20").await;
        assert_eq!(got.status, 200, "{got:?}");
        assert_eq!(got.header("content-type"), "application/json; charset=utf-8");
        assert_eq!(got.header("cache-control"), "no-cache, no-store, max-age=0");
        assert_eq!(got.header("api-version"), "2.167");
        assert_eq!(got.header("x-transaction-id").len(), 16);
        assert_eq!(got.header("x-rate-limit-limit"), "2");
        assert_eq!(got.header("x-rate-limit-remaining"), "1");
        assert!(got.header("x-rate-limit-reset").parse::<u64>().unwrap() > 1_700_000_000);
        assert!(!got.headers.contains_key("access-control-allow-origin"));
        assert_eq!(got.json()["data"]["speech"], "Tweet true");
        let bearer = world.keys.bearer.expose_secret().to_owned();
        let more = [("accept-encoding", "gzip"), ("x-request-id", "mine-1")];
        let got = world.send("HEAD", "/2/posts/20", &bearer, &more, "").await;
        assert_eq!((got.status, got.bytes.len()), (200, 0));
        assert_eq!(got.header("content-encoding"), "gzip");
        assert_eq!(got.header("x-request-id"), "mine-1");
        assert!(got.header("content-length").parse::<u32>().unwrap() > 20);
    });
}

#[test]
fn a_call_goes_through_its_checks_in_order() {
    runs(async {
        let world = World::open(|_| {}).await;
        let user = world.user;
        let path = format!("/2/users/{user}/likes");
        let full = world.token(READ.with_scope(Scope::LikeWrite)).await;
        let narrow = world.token(READ).await;
        let none = Secret::new("");
        let refused = async |token: &Secret, path: &str, body: &str| world.post(path, token, body).await.detail();
        let say = |status: u16, text: &str| (status, text.to_owned());
        assert_eq!(refused(&none, &path, "{").await, say(401, "Unauthorized"));
        let dead = Secret::new("dead");
        assert_eq!(refused(&dead, &path, "{").await, say(401, "Invalid or expired token."));
        let (status, text) = refused(&world.keys.bearer, &path, "{").await;
        assert_eq!(status, 403);
        assert!(text.contains("endpoint.  Supported authentication types are [OAuth 1.0a"), "{text}");
        assert_eq!(refused(&narrow, &path, "{").await, say(403, "Forbidden"));
        let (status, text) = refused(&full, &path, "{").await;
        assert!(status == 400 && text.starts_with("Request body is not valid JSON"), "{text}");
        let body = r#"{"post_id":"7"}"#;
        let other = format!("The `id` query parameter value [1] must be the same as the authenticating user [{user}]");
        assert_eq!(refused(&full, "/2/users/1/likes", body).await, say(400, &other));
        let got = world.post(&path, &full, body).await;
        assert_eq!(got.json()["data"], json!({ "liked": 7, "by": "ada", "speech": "Post" }));
        assert_eq!(got.header("x-user-limit-24hour-limit"), "1000");
        // The two calls that reached the counter and failed later were counted.
        assert_eq!(got.header("x-user-limit-24hour-remaining"), "997");
        let got = world.post(&path, &full, r#"{"tweet_id":"7"}"#).await;
        assert_eq!(got.json()["data"]["speech"], "Tweet");
        // A call that is refused before it is counted shows what is left.
        let got = world.post(&path, &narrow, "{").await;
        assert_eq!((got.status, got.header("x-rate-limit-remaining")), (403, "46"));
        assert_eq!(got.header("x-user-limit-24hour-remaining"), "996");
    });
}

#[test]
fn operations_that_share_a_window_are_counted_together() {
    runs(async {
        let world = World::open(|_| {}).await;
        let token = world.token(READ).await;
        let call = async |path| world.send("POST", path, token.expose_secret(), &[], "").await;
        for (path, left) in [("/2/publish", "49"), ("/2/pass_on", "49")] {
            let got = call(path).await;
            assert_eq!(got.status, 200);
            assert_eq!(got.header("x-rate-limit-limit"), "50");
            assert_eq!(got.header("x-rate-limit-remaining"), left);
        }
        let later = base::clock::wall_time().ms() / 1000 + 10_000;
        for path in ["/2/publish", "/2/pass_on"] {
            let got = call(path).await;
            assert_eq!(got.status, 429);
            assert_eq!(got.header("x-rate-limit-limit"), "2");
            assert_eq!(got.header("x-rate-limit-remaining"), "0");
            let reset: i64 = got.header("x-rate-limit-reset").parse().unwrap();
            assert!(reset > later, "{reset}");
        }
        // The calls of the app itself are counted apart.
        let bearer = world.keys.bearer.expose_secret();
        for (method, status, left) in [("GET", 200, "1"), ("POST", 200, "0"), ("GET", 429, "0")] {
            let got = world.send(method, "/2/rules", bearer, &[], "").await;
            assert_eq!((got.status, got.header("x-rate-limit-remaining")), (status, left));
        }
    });
}

#[test]
fn day_limit_of_an_app_counts_all_its_users() {
    runs(async {
        let world = World::open(|_| {}).await;
        let new = NewUser { username: "bob".to_owned(), ..NewUser::default() };
        let bob = world.store.write(move |tx| network::users::create(tx, &new)).await.unwrap().id;
        let (ada, bob) = (world.token(READ).await, world.token_of(bob, READ).await);
        for (token, left) in [(&ada, "1"), (&bob, "0")] {
            let got = world.send("POST", "/2/announce", token.expose_secret(), &[], "").await;
            assert_eq!((got.status, got.header("x-rate-limit-remaining")), (200, "49"));
            assert_eq!(got.header("x-app-limit-24hour-limit"), "2");
            assert_eq!(got.header("x-app-limit-24hour-remaining"), left);
        }
        let got = world.send("POST", "/2/announce", ada.expose_secret(), &[], "").await;
        assert_eq!((got.status, got.header("x-rate-limit-limit")), (429, "2"));
        let reset: i64 = got.header("x-rate-limit-reset").parse().unwrap();
        assert!(reset > base::clock::wall_time().ms() / 1000 + 80_000, "{reset}");
        // With the shorter limits beside it.
        for (token, status, limit) in [(&ada, 200, "50"), (&bob, 200, "50"), (&ada, 429, "2")] {
            let got = world.send("POST", "/2/recite", token.expose_secret(), &[], "").await;
            assert_eq!((got.status, got.header("x-rate-limit-limit")), (status, limit));
        }
    });
}

#[test]
fn the_limit_holds_and_says_when_it_ends() {
    runs(async {
        let world = World::open(|_| {}).await;
        assert_eq!(world.get("/2/posts/x").await.status, 400);
        assert_eq!(world.get("/2/tweets/20").await.status, 200);
        let got = world.get("/2/posts/20").await;
        assert_eq!(got.status, 429);
        assert_eq!(got.header("x-rate-limit-remaining"), "0");
        assert_eq!(got.json()["errors"][0]["code"], 88);
        assert_eq!(got.json()["title"], "Too Many Requests");
        let full = world.token(READ).await;
        let got = world.send("GET", "/2/posts/20", full.expose_secret(), &[], "").await;
        assert_eq!((got.status, got.header("x-rate-limit-limit")), (200, "900"));
        for status in [200, 200, 429] {
            assert_eq!(world.send("GET", "/1.1/open", "", &[], "").await.status, status);
        }
        for (query, statuses) in [
            ("?app=1", [204, 204, 429]),
            ("?app=2", [204, 204, 429]),
            ("", [403, 403, 429]),
            ("?app=3", [204, 204, 429]),
            ("?app=4&public=true", [204, 204, 429]),
        ] {
            for (status, left) in statuses.into_iter().zip(["1", "0", "0"]) {
                let got = world.send("GET", &format!("/1.1/token{query}"), "", &[], "").await;
                assert_eq!((got.status, got.header("x-rate-limit-remaining")), (status, left), "{query}");
            }
        }
        // A tester may have exhausted the window of an app that anyone can pretend to be.
        let got = world.send("GET", "/1.1/token?app=3&public=true", "", &[], "").await;
        assert_eq!((got.status, got.header("x-rate-limit-remaining")), (429, "0"));
        let free = World::open(|config| config.rate_limits = RateLimitMode::Off).await;
        for _ in 0..5 {
            let got = free.get("/2/posts/20").await;
            assert_eq!((got.status, got.header("x-rate-limit-remaining")), (200, "2"));
        }
    });
}

#[test]
fn what_is_not_there_and_what_is_not_built() {
    runs(async {
        let world = World::open(|_| {}).await;
        let got = world.get("/2/nothing").await;
        assert_eq!((got.status, got.json()["type"].as_str()), (404, Some("about:blank")));
        assert_eq!(got.header("content-type"), "application/problem+json; charset=utf-8");
        let got = world.get("/1.1/nothing").await;
        assert_eq!(
            got.json(),
            json!({ "errors": [
            { "code": 34, "message": "Sorry, that page does not exist." }] })
        );
        let got = world.send("OPTIONS", "/2/posts/20", "", &[("origin", "https://a.example")], "").await;
        assert_eq!((got.status, got.header("allow")), (405, "GET, HEAD"));
        let got = world.get("/2/unbuilt").await;
        assert_eq!((got.status, got.json()["title"].as_str()), (501, Some("Not Implemented")));
        assert_eq!(got.json()["detail"], "GET /2/unbuilt is declared, but not built yet.");
        let got = world.send("GET", "/livez", "", &[], "").await;
        assert_eq!(got.bytes, b"ok\n");
        assert_eq!(got.header("api-version"), "", "health tells no version");
        assert_eq!(world.send("GET", "/readyz", "", &[], "").await.status, 200);
    });
}

#[test]
fn failures_of_ours_tell_nothing_and_are_counted() {
    runs(async {
        let world = World::open(|_| {}).await;
        for path in ["/2/fails", "/2/panics", "/2/panics_within"] {
            let got = world.get(path).await;
            assert_eq!((got.status, got.detail().1.as_str()), (500, "Internal Server Error"));
            assert_eq!(got.header("x-transaction-id").len(), 16);
            let text = String::from_utf8(got.bytes).unwrap();
            assert!(!text.contains("fire") && !text.contains("secret"), "{text}");
        }
        let text = world.metrics.render_text().unwrap();
        assert!(text.contains("locum_panics_total 2") && text.contains("locum_faults_total 3"));
        assert!(text.contains("locum_requests_in_flight 0"));
        assert_eq!(world.get("/2/posts/20").await.status, 200, "the process lives");
    });
}

#[test]
fn bodies_are_bounded_and_plain() {
    runs(async {
        let world = World::open(|config| config.body_limit = 100).await;
        let (path, full) = (format!("/2/users/{}/likes", world.user), READ.with_scope(Scope::LikeWrite));
        let full = world.token(full).await;
        assert_eq!(world.post(&path, &full, &" ".repeat(101)).await.status, 413);
        let send = async |more: &[(&str, &str)]| {
            world.send("POST", &path, full.expose_secret(), more, r#"{"post_id":"1"}"#).await.status
        };
        let json = ("content-type", "Application/JSON; charset=utf-8");
        assert_eq!(send(&[json]).await, 200);
        assert_eq!(send(&[json, ("content-encoding", "identity")]).await, 200);
        assert_eq!(send(&[json, ("content-encoding", "gzip")]).await, 415);
        assert_eq!(send(&[("content-type", "text/plain")]).await, 415);
        assert_eq!(send(&[]).await, 200, "a type may be left out");
    });
}

#[test]
fn named_origins_may_ask_first() {
    runs(async {
        let origin = "https://a.example";
        let world = World::open(|config| config.cors_origins = vec![origin.to_owned()]).await;
        let got = world.send("OPTIONS", "/2/posts/20", "", &[("origin", origin)], "").await;
        assert_eq!((got.status, got.header("access-control-allow-origin")), (204, origin));
        assert_eq!(got.header("access-control-allow-methods"), "GET, HEAD");
        assert!(got.header("access-control-allow-headers").contains("user-agent"));
    });
}

#[test]
fn request_for_a_total_is_recognized_however_it_is_encoded() {
    for (query, expected) in [
        ("with_total_count=true", true),
        ("count=1&with%5Ftotal_count=true", true),
        ("with_total_count=%54rue", true),
        ("with_total_count=1", true),
        ("with_total_count=false", false),
        ("total=true", false),
    ] {
        assert_eq!(super::steps::requests_total_count(query), expected, "{query}");
    }
}
