//! What letters lead to: confirming an address, setting a password, joining by invitation.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::encryption::{Keyring, MasterKey};
use base::percent::encode;
use base::{Clock, Rng};
use edge::{Body, Handler, Peer, Shutdown};
use http::{HeaderMap, Request};
use network::apps::{AuthConfig, Authenticator};
use network::audit::AuditActor;
use network::emails::EmailSite;
use network::registration::RegistrationPolicy;
use store::{DatabaseLocation, Store, StoreOptions};
use tempfile::TempDir;
use web::metrics::ServerMetrics;
use web::{ApiServer, ServerConfig};

use crate::operations::ENDPOINTS;

const OLD: &str = "tr4ms stop here";
const NEW: &str = "tr4ms go there";

/// A server, and one browser in front of it.
struct World {
    server: ApiServer,
    store: Arc<Store>,
    cookies: BTreeMap<String, String>,
    _folder: TempDir,
}

struct Got {
    status: u16,
    headers: HeaderMap,
    text: String,
}

impl Got {
    fn location(&self) -> &str {
        let to = self.headers.get("location");
        to.map_or("", |to| to.to_str().unwrap())
    }

    fn csrf(&self) -> String {
        let token = self.text.split("name=\"csrf\" value=\"").nth(1).unwrap();
        token.split('"').next().unwrap().to_owned()
    }
}

impl World {
    async fn open(registration: RegistrationPolicy) -> Self {
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
        let auth =
            AuthConfig { data_dir: folder.path().to_owned(), public_origins: Vec::new(), timestamp_skew_ms: 300_000 };
        let auth = Arc::new(Authenticator::new(Arc::clone(&store), &auth).unwrap());
        let config = ServerConfig { registration, ..ServerConfig::default() };
        let (held, metrics) = (Arc::clone(&store), Arc::new(ServerMetrics::default()));
        let server = ApiServer::new(ENDPOINTS, held, auth, metrics, Shutdown::new(), config);
        Self { server: server.unwrap(), store, cookies: BTreeMap::new(), _folder: folder }
    }

    async fn send(&mut self, method: &str, path: &str, fields: &[(&str, &str)]) -> Got {
        let pair = |(name, value): (&str, &str)| format!("{name}={}", encode(value));
        let fields: Vec<_> = fields.iter().copied().map(pair).collect();
        let mut request = Request::new(Body::full(fields.join("&")));
        *request.method_mut() = method.parse().unwrap();
        *request.uri_mut() = path.parse().unwrap();
        let cookies = self.cookies.iter();
        let cookies: Vec<_> = cookies.map(|(name, value)| format!("{name}={value}")).collect();
        let headers = request.headers_mut();
        headers.insert("cookie", cookies.join("; ").parse().unwrap());
        if method == "POST" {
            let form = "application/x-www-form-urlencoded";
            headers.insert("content-type", form.parse().unwrap());
        }
        request.extensions_mut().insert(Peer::direct(([127, 0, 0, 1], 9).into()));
        let (parts, body) = self.server.call(request).await.into_parts();
        for line in parts.headers.get_all("set-cookie") {
            let pair = line.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        Got {
            status: parts.status.as_u16(),
            headers: parts.headers,
            text: String::from_utf8_lossy(body.as_bytes().unwrap_or_default()).into_owned(),
        }
    }

    async fn get(&mut self, path: &str) -> Got {
        self.send("GET", path, &[]).await
    }

    /// Looks at a page and sends a form with its token.
    async fn fill(&mut self, page: &str, action: &str, fields: &[(&str, &str)]) -> Got {
        let token = self.get(page).await.csrf();
        let fields = [&[("csrf", token.as_str())], fields].concat();
        self.send("POST", action, &fields).await
    }

    async fn join(&mut self, page: &str) -> Got {
        let fields = [("username", "grace"), ("name", "Grace"), ("email", "grace@example.org"), ("password", OLD)];
        let action = page.replace("/account/join", "/join");
        self.fill(page, &action, &fields).await
    }

    /// The path and the secret of the link in the newest letter.
    async fn link(&self) -> (String, String) {
        let newest = self.store.read(|tx| Ok(network::emails::list(tx, None, 1)?));
        let letter = newest.await.unwrap().remove(0).text.unwrap();
        let path = letter.expose_secret().split("http://localhost").nth(1).unwrap();
        let path = path.split_whitespace().next().unwrap();
        let (_, token) = path.split_once("?token=").unwrap();
        (path.to_owned(), token.to_owned())
    }
}

fn runs<F: Future<Output = ()>>(story: F) {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.enable_all().build().unwrap().block_on(story);
}

#[test]
fn an_address_is_confirmed_by_a_form() {
    runs(async {
        let mut world = World::open(RegistrationPolicy::Open).await;
        let made = world.join("/join").await;
        assert_eq!((made.status, made.location()), (303, "/home"));
        let (path, token) = world.link().await;
        for _ in 0..2 {
            // Looking does not confirm.
            let page = world.get(&path).await;
            assert!(page.text.contains("grace@example.org"), "{}", page.text);
            assert!(page.text.contains("Confirm email"), "{}", page.text);
        }
        let fields = [("token", token.as_str())];
        let done = world.fill(&path, "/account/confirm", &fields).await;
        assert!(done.text.contains("Email address confirmed"), "{}", done.text);
        let again = world.fill("/settings/account", "/account/confirm", &fields).await;
        assert!(again.text.contains("This link no longer works"));
    });
}

#[test]
fn a_forgotten_password_is_set_anew() {
    runs(async {
        let mut world = World::open(RegistrationPolicy::Open).await;
        world.join("/join").await;
        let session = world.cookies.remove("locum").unwrap();
        let fields = [("email", "grace@example.org")];
        let page = "/forgotten-password";
        assert_eq!(world.fill(page, page, &fields).await.status, 200);
        let (path, token) = world.link().await;
        let page = world.get(&path).await;
        assert!(page.text.contains("grace"), "{}", page.text);
        let weak = [("token", token.as_str()), ("password", "short")];
        let answer = world.fill(&path, "/account/reset", &weak).await;
        assert_eq!(answer.status, 400);
        assert!(answer.text.contains("at least 8 characters"));
        let good = [("token", token.as_str()), ("password", NEW)];
        let answer = world.fill(&path, "/account/reset", &good).await;
        assert_eq!((answer.status, answer.location()), (303, "/login?done=reset"));
        assert!(world.get(&path).await.text.contains("This link no longer works"));
        for (password, status) in [(OLD, 400), (NEW, 303)] {
            let fields = [("login", "grace"), ("password", password)];
            assert_eq!(world.fill("/login", "/login", &fields).await.status, status);
        }
        // Every session from before is over.
        world.cookies.insert("locum".to_owned(), session);
        assert_eq!(world.get("/settings/account").await.status, 303);
    });
}

#[test]
fn a_cookie_lasts_as_long_as_its_session() {
    runs(async {
        let mut world = World::open(RegistrationPolicy::Open).await;
        world.join("/join").await;
        let text = "s".repeat(44);
        let digest = base::secret::digest(&text);
        let begun = world.store.write(move |tx| {
            let user = store::users::find_by_username(tx, "grace")?.unwrap().id;
            let new = store::sessions::NewSession {
                digest: &digest,
                user_id: user,
                form_key: &base::Secret::new("k"),
                ttl_ms: 60_000_000,
                address: "",
                user_agent: "",
            };
            let before = base::clock::wall_time().plus_ms(-600_000);
            Ok::<_, base::Error>(store::sessions::insert(tx, &new, before)?)
        });
        begun.await.unwrap();
        world.cookies.insert("locum".to_owned(), text.clone());
        let page = world.get("/settings/account").await;
        let cookie = page.headers.get("set-cookie").unwrap().to_str().unwrap();
        assert!(cookie.starts_with(&format!("locum={text}; ")), "{cookie}");
        assert!(cookie.contains("Max-Age=2592000"), "{cookie}");
        let page = world.get("/settings/account").await;
        assert!(page.headers.get("set-cookie").is_none());
    });
}

#[test]
fn an_address_is_changed_by_whoever_knows_the_password() {
    runs(async {
        let mut world = World::open(RegistrationPolicy::Open).await;
        world.join("/join").await;
        let (page, action) = ("/settings/account", "/settings/account/email");
        for (proof, status) in [("wrong", 400), (OLD, 200)] {
            let fields = [("email", "g@example.org"), ("email_password", proof)];
            assert_eq!(world.fill(page, action, &fields).await.status, status);
        }
        let (path, token) = world.link().await;
        assert!(path.starts_with("/account/confirm"));
        let fields = [("token", token.as_str())];
        world.fill(&path, "/account/confirm", &fields).await;
        assert!(world.get(page).await.text.contains("g@example.org"));
    });
}

#[test]
fn whoever_may_join_is_the_platforms_choice() {
    runs(async {
        let mut closed = World::open(RegistrationPolicy::Closed).await;
        assert!(!closed.get("/join").await.text.contains("name=\"password\""));
        assert_eq!(closed.fill("/login", "/join", &[]).await.status, 400);
        let mut world = World::open(RegistrationPolicy::Invite).await;
        assert!(!world.get("/join").await.text.contains("name=\"password\""));
        let invite = |tx: &mut store::Tx<'_>| {
            let site = EmailSite::new("Locum", "http://localhost")?;
            network::email_links::create_invitation(tx, &site, &AuditActor::anonymous(""), "")
        };
        let link = world.store.write(invite).await.unwrap();
        let path = link.replace("http://localhost", "");
        let made = world.join(&path).await;
        assert_eq!(made.status, 303, "{}", made.text);
    });
}
