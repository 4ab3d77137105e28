use base::oauth1::{OAuth1Request, OAuth1Signer, RequestOrigin};
use base::{Credential, Error, Scope, Scopes, Secret};
use identity::apps::{
    self, AccessLevel, AppCredentialKind, AppProfile, AuthConfig, AuthRequest, Authenticator, Permission,
};
use identity::tokens;

use test_stores::{World, each_engine};

fn authenticator(world: &World) -> Authenticator {
    let config = AuthConfig {
        data_dir: world.folder.path().to_owned(),
        public_origins: vec!["https://api.x.com".to_owned()],
        timestamp_skew_ms: 300_000,
    };
    Authenticator::new(world.store.clone(), &config).unwrap()
}

async fn app(world: &World) -> (apps::App, apps::AppCredentials) {
    let owner_id = world.user("owner").await;
    let profile = AppProfile::new("demo");
    world.write(move |tx| apps::create(tx, owner_id, AccessLevel::Enterprise, &profile)).await
}

fn with_bearer(token: &str) -> AuthRequest {
    AuthRequest {
        method: "GET".to_owned(),
        path_and_query: "/2/users/me".to_owned(),
        authorization: Some(format!("Bearer {token}")),
        scheme: "http",
        host: Some("127.0.0.1:8080".to_owned()),
        ..AuthRequest::default()
    }
}

fn signed(keys: &apps::AppCredentials, token: Option<(&Secret, &Secret)>, origin: &str, nonce: &str) -> AuthRequest {
    let request = OAuth1Request { method: "GET", path: "/2/users/me", query: "a=1", ..OAuth1Request::default() };
    let signer = OAuth1Signer {
        consumer_key: &keys.api_key,
        consumer_secret: &keys.api_secret,
        token: token.map(|(token, secret)| (token.expose_secret(), secret)),
        nonce,
        timestamp: base::clock::wall_time().seconds(),
        extra_parameters: &[],
    };
    let header = signer.sign(&request, &RequestOrigin::parse(origin).unwrap()).unwrap();
    AuthRequest { path_and_query: "/2/users/me?a=1".to_owned(), authorization: Some(header), ..with_bearer("") }
}

fn refusal(stop: Error) -> String {
    match stop {
        Error::Refused(refusal) => format!("{refusal:?}"),
        Error::Failed(fault) => panic!("{fault}"),
    }
}

#[each_engine]
async fn credential_authenticates_its_caller_until_revoked(world: World) {
    let (app, keys) = app(&world).await;
    let ada = world.user("ada").await;
    let auth = authenticator(&world);
    let id = app.id;
    let caller = auth.authenticate(&with_bearer(keys.bearer.expose_secret())).await.unwrap().unwrap();
    assert_eq!((caller.app_id, caller.user, caller.credential), (id, None, Credential::App));
    let decoded = keys.bearer.expose_secret().replace("%2F", "/").replace("%3D", "=");
    assert!(auth.authenticate(&with_bearer(&decoded)).await.unwrap().is_some());

    let scopes = Scopes::from_slice(&[Scope::TweetRead, Scope::UsersRead]);
    let token = world.write(move |tx| tokens::mint_oauth2(tx, id, ada, scopes, Some(1000))).await;
    let request = with_bearer(token.expose_secret());
    let caller = auth.authenticate(&request).await.unwrap().unwrap();
    assert_eq!((caller.user, caller.scopes), (Some(ada), scopes));
    world.pass(1001);
    assert!(refusal(auth.authenticate(&request).await.unwrap_err()).contains("Token"));

    let forever = world.write(move |tx| tokens::mint_oauth2(tx, id, ada, scopes, None)).await;
    let request = with_bearer(forever.expose_secret());
    assert!(auth.authenticate(&request).await.unwrap().is_some());
    world.write(move |tx| tokens::revoke(tx, forever.expose_secret())).await;
    assert!(refusal(auth.authenticate(&request).await.unwrap_err()).contains("Token"));

    let bearer = with_bearer(keys.bearer.expose_secret());
    world.write(move |tx| apps::rotate_credential(tx, id, AppCredentialKind::Bearer)).await;
    assert!(refusal(auth.authenticate(&bearer).await.unwrap_err()).contains("Token"));
    assert!(auth.authenticate(&AuthRequest { authorization: None, ..bearer }).await.unwrap().is_none());
}

#[each_engine]
async fn signature_is_accepted_once_for_the_public_address(world: World) {
    let (app, keys) = app(&world).await;
    let ada = world.user("ada").await;
    let id = app.id;
    let (token, secret) = world.write(move |tx| tokens::mint_oauth1(tx, id, ada, Permission::Write)).await;
    assert!(token.expose_secret().starts_with(&format!("{ada}-")));
    let again = world.write(move |tx| tokens::mint_oauth1(tx, id, ada, Permission::Write)).await;
    assert_eq!(again.0, token);
    let auth = authenticator(&world);
    let both = Some((&token, &secret));
    for (origin, holds) in
        [("http://127.0.0.1:8080", true), ("https://api.x.com", true), ("https://api.example.com", false)]
    {
        let request = signed(&keys, both, origin, origin);
        let response = auth.authenticate(&request).await;
        assert_eq!(response.is_ok(), holds, "{origin}");
        if holds {
            assert_eq!(response.unwrap().unwrap().user, Some(ada));
            let replayed = refusal(auth.authenticate(&request).await.unwrap_err());
            assert!(replayed.contains("Signature"), "{replayed}");
            let fresh = authenticator(&world);
            assert!(fresh.authenticate(&request).await.is_err(), "after a restart");
        }
    }
    let wrong = Some((&token, &keys.api_secret));
    assert!(auth.authenticate(&signed(&keys, wrong, "https://api.x.com", "w")).await.is_err());
    let consumer_only = signed(&keys, None, "https://api.x.com", "c");
    assert!(auth.authenticate(&consumer_only).await.is_err());
    world.write(move |tx| identity::account_states::suspend(tx, ada)).await;
    let suspended = signed(&keys, both, "https://api.x.com", "s");
    assert!(refusal(auth.authenticate(&suspended).await.unwrap_err()).contains("suspended"));
    world.write(move |tx| apps::delete(tx, id)).await;
    let deleted = signed(&keys, both, "https://api.x.com", "d");
    assert!(auth.authenticate(&deleted).await.is_err());
}
