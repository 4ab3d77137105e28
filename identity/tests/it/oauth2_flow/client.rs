//! Who speaks at the token endpoint.

use base::Secret;
use identity::apps::{self, AppProfile, OAuthClientKind};
use identity::oauth2_flow::{self as flow, ClientCredentials};

use super::{Party, party, said};
use crate::sign_in::{assert_same_time, medians, timing_samples};
use test_stores::{World, each_engine};

const MISSING: &str = "unauthorized_client: Missing valid authorization header";
const UNKNOWN: &str = "invalid_client: Value passed for the client id was invalid.";
const NO_ID: &str = "invalid_request: Missing required parameter [client_id].";

async fn judge(world: &World, credentials: ClientCredentials) -> String {
    let work = move |tx: &mut store::Tx<'_>| flow::authenticate_client(tx, &credentials);
    match world.store.write(work).await {
        Ok(client) => client.app().name.clone(),
        Err(stop) => said(stop),
    }
}

/// Id and secret of a Basic header, then of the body; empty stands for none.
fn came(basic: (&str, &str), id: &str, secret: &str) -> ClientCredentials {
    let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    ClientCredentials {
        basic: given(basic.0).map(|id| (id, Secret::new(basic.1))),
        id: given(id),
        secret: given(secret).map(Secret::new),
        address: String::new(),
    }
}

#[each_engine]
async fn confidential_client_needs_its_secret_and_public_client_has_none(world: World) {
    let web = party(&world, "web", OAuthClientKind::Web).await;
    let native = party(&world, "native", OAuthClientKind::SinglePage).await;
    let (id, public) = (web.app.client_id.as_str(), native.app.client_id.as_str());
    let secret = web.credentials.secret.clone().unwrap();
    let secret = secret.expose_secret();
    let none = ("", "");
    for (credentials, expected) in [
        (came((id, secret), "", ""), "web"),
        (came(none, id, secret), "web"),
        (came((id, secret), id, ""), "web"),
        (came((id, secret), id, secret), "web"),
        (came((id, ""), id, secret), "web"),
        (came((id, secret), public, ""), MISSING),
        (came((id, secret), id, "other"), MISSING),
        (came((id, "other"), id, secret), MISSING),
        (came((id, "other"), "", ""), MISSING),
        (came((id, ""), "", ""), MISSING),
        (came(none, id, ""), MISSING),
        (came(none, id, "other"), MISSING),
        (came(none, public, ""), "native"),
        (came((public, ""), "", ""), "native"),
        (came((public, ""), public, ""), "native"),
        (came(none, public, secret), MISSING),
        (came((public, secret), "", ""), MISSING),
        (came(("unknown", secret), "", ""), MISSING),
        (came(none, "unknown", "other"), MISSING),
        (came(none, "unknown", ""), UNKNOWN),
        (came(none, "", ""), NO_ID),
        (came(none, "", secret), NO_ID),
    ] {
        let shown = format!("{credentials:?}");
        assert_eq!(judge(&world, credentials).await, expected, "{shown}");
    }
}

#[each_engine]
async fn suspended_client_is_disclosed_only_after_authentication(world: World) {
    let Party { app, credentials } = party(&world, "web", OAuthClientKind::Web).await;
    let mut suspended = app.clone();
    suspended.state = apps::AppStatus::Suspended;
    world.write(move |tx| Ok(store::apps::update(tx, &suspended)?)).await;
    let message = judge(&world, credentials.clone()).await;
    assert_eq!(message, "unauthorized_client: Invalid / suspended application.");
    let wrong = ClientCredentials { secret: Some(Secret::new("other")), ..credentials.clone() };
    assert_eq!(judge(&world, wrong).await, MISSING);
    let mut deleted = app.clone();
    deleted.state = apps::AppStatus::Deleted;
    world.write(move |tx| Ok(store::apps::update(tx, &deleted)?)).await;
    assert_eq!(judge(&world, credentials.clone()).await, MISSING);
    // A public client that turned confidential has no secret until it is given one.
    let confidential = AppProfile::of(&app);
    let public = AppProfile { kind: OAuthClientKind::Native, ..confidential.clone() };
    world
        .write(move |tx| {
            let app = apps::update(tx, app.clone(), &public)?;
            apps::update(tx, app, &confidential)
        })
        .await;
    for secret in [credentials.secret.clone(), Some(Secret::new("")), None] {
        let credentials = ClientCredentials { secret, ..credentials.clone() };
        assert_eq!(judge(&world, credentials).await, MISSING);
    }
}

/// An unknown client, a wrong secret, a public client that presents one: the same answer, and none of
/// them sooner than the others by a factor that could be told apart over a network.
#[each_engine]
async fn unknown_client_takes_as_long_as_a_wrong_secret(world: World) {
    let known = party(&world, "web", OAuthClientKind::Web).await;
    let public = party(&world, "phone", OAuthClientKind::Native).await;
    let wrong = |id: &str| came((id, "wrong"), "", "");
    let known = wrong(&known.app.client_id);
    let samples = timing_samples(400);
    for (what, other) in [("unknown", wrong("nobody")), ("public", wrong(&public.app.client_id))] {
        let (world, all) = (&world, &[known.clone(), other]);
        let both = medians(samples, async |turn| {
            let message = judge(world, all[turn].clone()).await;
            assert_eq!(message, MISSING);
        });
        assert_same_time(samples, both.await, 200, what);
    }
}
