//! The authorization code flow: what is asked, what is answered, and what comes of it.

mod authorize;
mod client;
mod races;
mod token_lifetime;

use base::pkce::ChallengeMethod;
use base::{Error, Secret, UserId};
use identity::apps::{self, AccessLevel, App, AppCredentials, AppProfile, OAuthClientKind};
use identity::oauth2_flow::{
    self as flow, AuthorizeRequest, CODE_TTL_MS, ClientCredentials, CodeExchangeRequest, GrantOutcome, IssuedTokens,
    OAuth2Config,
};
use identity::tokens::{self, InspectedToken};
use network::audit::AuditActor;
use store::Tx;

use test_stores::{World, each_engine};

const CALLBACK: &str = "https://client.example/cb";
const ADDRESS: &str = "192.0.2.1";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const SCOPES: &str = "tweet.read users.read offline.access";
const CODE: &str = "invalid_request: Value passed for the authorization code was invalid.";
const OTHER_URI: &str = "invalid_request: Value passed for the redirect uri did not match the uri \
    of the authorization code.";
const OTHER_VERIFIER: &str = "invalid_request: Value passed for the code verifier did not match \
    the code challenge.";
const TOKEN: &str = "invalid_request: Value passed for the token was invalid.";

fn rules() -> OAuth2Config {
    OAuth2Config { issuer: Some("https://social.example".to_owned()), ..OAuth2Config::default() }
}

/// An app and how it presents itself.
#[derive(Clone)]
struct Party {
    app: App,
    credentials: ClientCredentials,
}

async fn party(world: &World, name: &'static str, kind: OAuthClientKind) -> Party {
    let profile = AppProfile { kind, callback_urls: vec![CALLBACK.to_owned()], ..AppProfile::new(name) };
    let (app, keys): (App, AppCredentials) =
        world.write(move |tx| apps::create(tx, UserId::new(1), AccessLevel::SelfServe, &profile)).await;
    let credentials = ClientCredentials {
        id: Some(keys.client_id),
        secret: keys.client_secret,
        basic: None,
        address: ADDRESS.to_owned(),
    };
    Party { app, credentials }
}

fn question(party: &Party) -> AuthorizeRequest {
    AuthorizeRequest {
        response_type: Some("code".to_owned()),
        client_id: Some(party.app.client_id.clone()),
        redirect_uri: Some(CALLBACK.to_owned()),
        scope: Some(SCOPES.to_owned()),
        state: Some("a b&c".to_owned()),
        code_challenge: Some(ChallengeMethod::S256.derive_challenge(VERIFIER)),
        code_challenge_method: Some("s256".to_owned()),
    }
}

/// Where the user goes after approving.
async fn approve(world: &World, request: AuthorizeRequest, user: UserId) -> String {
    world
        .write(move |tx| {
            let requested = flow::validate_authorize_request(tx, &rules(), &request)?.unwrap();
            flow::approve(tx, &requested, &AuditActor::user(user, ADDRESS))
        })
        .await
}

async fn code(world: &World, party: &Party, user: UserId) -> String {
    let url = approve(world, question(party), user).await;
    let (_, rest) = url.split_once("&code=").unwrap();
    rest.to_owned()
}

fn said(stop: Error) -> String {
    match stop {
        Error::Refused(base::Refusal::OAuth2 { error, description }) => {
            format!("{error}: {description}")
        }
        Error::Refused(other) => panic!("{other:?}"),
        Error::Failed(fault) => panic!("{fault}"),
    }
}

async fn exchange(
    world: &World,
    rules: &OAuth2Config,
    party: &Party,
    came: CodeExchangeRequest,
) -> Result<IssuedTokens, String> {
    let (rules, party) = (rules.clone(), party.clone());
    let work = move |tx: &mut Tx<'_>| {
        let client = flow::authenticate_client(tx, &party.credentials)?;
        flow::exchange_code(tx, &rules, &client, &came)
    };
    let response = world.store.write(work).await;
    response.and_then(GrantOutcome::into_result).map_err(said)
}

fn with_code(code: &str) -> CodeExchangeRequest {
    CodeExchangeRequest {
        code: Some(code.to_owned()),
        redirect_uri: Some(CALLBACK.to_owned()),
        code_verifier: Some(VERIFIER.to_owned()),
    }
}

async fn granted(world: &World, party: &Party, user: UserId) -> IssuedTokens {
    let code = code(world, party, user).await;
    exchange(world, &rules(), party, with_code(&code)).await.unwrap()
}

async fn refresh(
    world: &World,
    rules: &OAuth2Config,
    party: &Party,
    token: &Secret,
    scope: Option<&'static str>,
) -> Result<IssuedTokens, String> {
    let (rules, party, token) = (rules.clone(), party.clone(), token.clone());
    let work = move |tx: &mut Tx<'_>| {
        let client = flow::authenticate_client(tx, &party.credentials)?;
        flow::refresh_tokens(tx, &rules, &client, Some(token.expose_secret()), scope)
    };
    let response = world.store.write(work).await;
    response.and_then(GrantOutcome::into_result).map_err(said)
}

async fn revoke(world: &World, party: &Party, token: &str) {
    let (party, token) = (party.clone(), token.to_owned());
    world
        .write(move |tx| {
            let client = flow::authenticate_client(tx, &party.credentials)?;
            flow::revoke_token(tx, &client, Some(&token))
        })
        .await;
}

async fn is_live(world: &World, token: &Secret) -> bool {
    let token = token.clone();
    let now = world.clock.now();
    let work = move |tx: &mut Tx<'_>| Ok(tokens::inspect(tx, token.expose_secret())?);
    match world.write(work).await {
        Some(InspectedToken::OAuth2(token)) => token.revoked_at.is_none() && token.expires_at.unwrap() > now,
        other => panic!("{other:?}"),
    }
}

/// How often something is in the log. On PostgreSQL an entry shows once no older transaction is
/// open anywhere on the server, so an entry of our own is waited for.
pub(crate) async fn events(world: &World, kind: &str) -> usize {
    world.log().await.iter().filter(|event| event.kind == kind).count()
}

#[each_engine]
async fn authorization_code_is_exchanged_once(world: World) {
    let ada = world.user("ada").await;
    for (name, kind) in [("web", OAuthClientKind::Web), ("native", OAuthClientKind::Native)] {
        let party = party(&world, name, kind).await;
        let url = approve(&world, question(&party), ada).await;
        let head = format!("{CALLBACK}?state=a%20b%26c&code=");
        let code = url.strip_prefix(&head).unwrap();
        assert!(code.len() >= 22 && code.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        let first = exchange(&world, &rules(), &party, with_code(code)).await.unwrap();
        assert_eq!(first.expires_in, 7200);
        assert_eq!(first.scopes.to_string(), SCOPES);
        let next = first.refresh.clone().unwrap();
        assert!(is_live(&world, &first.access).await && is_live(&world, &next).await);
        let reused = events(&world, "token.reuse").await;
        for _ in 0..2 {
            let again = exchange(&world, &rules(), &party, with_code(code)).await;
            assert_eq!(again.unwrap_err(), CODE);
        }
        assert!(!is_live(&world, &first.access).await && !is_live(&world, &next).await);
        assert_eq!(events(&world, "token.reuse").await, reused + 1);
    }
}

#[each_engine]
async fn authorization_code_is_bound_to_its_request(world: World) {
    let ada = world.user("ada").await;
    let (mine, other) =
        (party(&world, "mine", OAuthClientKind::Web).await, party(&world, "other", OAuthClientKind::Native).await);
    let code = code(&world, &mine, ada).await;
    assert_eq!(exchange(&world, &rules(), &other, with_code(&code)).await.unwrap_err(), CODE);
    let challenge = ChallengeMethod::S256.derive_challenge(VERIFIER);
    let long = "v".repeat(129);
    let (short, wrong) = ("v".repeat(42), "v".repeat(43));
    for (name, value, expected) in [
        ("code", "x", CODE),
        ("redirect_uri", "https://client.example/cb/", OTHER_URI),
        ("code_verifier", short.as_str(), OTHER_VERIFIER),
        ("code_verifier", &wrong, OTHER_VERIFIER),
        ("code_verifier", &long, OTHER_VERIFIER),
        ("code_verifier", &challenge, OTHER_VERIFIER),
        ("code", "", "invalid_request: Missing required parameter [code]."),
        ("redirect_uri", "", "invalid_request: Missing required parameter [redirect_uri]."),
        ("code_verifier", "", "invalid_request: Missing required parameter [code_verifier]."),
    ] {
        let mut came = with_code(&code);
        let place = match name {
            "code" => &mut came.code,
            "redirect_uri" => &mut came.redirect_uri,
            _ => &mut came.code_verifier,
        };
        *place = Some(value.to_owned());
        let message = exchange(&world, &rules(), &mine, came).await.unwrap_err();
        assert_eq!(message, expected);
    }
    // None of that has used it up.
    assert!(exchange(&world, &rules(), &mine, with_code(&code)).await.is_ok());
}

#[each_engine]
async fn authorization_code_expires_after_thirty_seconds(world: World) {
    let ada = world.user("ada").await;
    let mine = party(&world, "mine", OAuthClientKind::Web).await;
    let timely = code(&world, &mine, ada).await;
    world.pass(CODE_TTL_MS - 1);
    assert!(exchange(&world, &rules(), &mine, with_code(&timely)).await.is_ok());
    let late = code(&world, &mine, ada).await;
    world.pass(CODE_TTL_MS);
    let late = with_code(&late);
    assert_eq!(exchange(&world, &rules(), &mine, late.clone()).await.unwrap_err(), CODE);
    let strict = OAuth2Config { invalid_grant: true, ..rules() };
    let message = exchange(&world, &strict, &mine, late).await.unwrap_err();
    assert!(message.starts_with("invalid_grant: "), "{message}");
}

#[each_engine]
async fn plain_challenge_needs_its_verifier(world: World) {
    let ada = world.user("ada").await;
    let party = party(&world, "plain", OAuthClientKind::Native).await;
    for method in [None, Some("plain"), Some("PLAIN")] {
        // Much code sends a short one.
        let pairs = [(VERIFIER, "w", false), (VERIFIER, VERIFIER, true), ("challenge", "challenge", true)];
        for (challenge, verifier, good) in pairs {
            let request = AuthorizeRequest {
                code_challenge: Some(challenge.to_owned()),
                code_challenge_method: method.map(str::to_owned),
                ..question(&party)
            };
            let url = approve(&world, request, ada).await;
            let (_, code) = url.split_once("&code=").unwrap();
            let mut came = with_code(code);
            came.code_verifier = Some(verifier.to_owned());
            let response = exchange(&world, &rules(), &party, came).await;
            assert_eq!(response.is_ok(), good, "{method:?}");
        }
    }
}
