use std::sync::Arc;

use base::{AppId, Error, PostId, Secret, Time, UserId};
use identity::passwords::PasswordPool;
use identity::sign_in::{SignInOutcome, SignInService};
use network::audit::{self, AuditAction, AuditActor};
use network::emails::{self, EmailMessage};
use network::retention::{RetentionPeriods, prune_expired};
use serde_json::Value;
use store::authorization_codes::{self, AuthorizationCode};
use store::interactions::{self, Interaction, InteractionKind};
use store::ledger::{AnalyticsJob, AnalyticsJobState};
use store::{Tx, usage};

use crate::emails::site;
use crate::oauth1_flow::{CALLBACK, app, ask};
use crate::sign_in::{PASSWORD, account, attempt};
use test_stores::{World, each_engine};

const DAY: i64 = 24 * 3600 * 1000;

/// One row at least of everything that ends.
async fn fill(world: &World) -> UserId {
    let ada = account(world, "ada", PASSWORD).await;
    let app = app(world, "demo", &[CALLBACK]).await;
    ask(world, &app, CALLBACK, None).await;
    let gate = SignInService::new(Arc::clone(&world.store), PasswordPool::new(2));
    // In this order, because a success leaves an empty bucket, which is forgotten at once.
    let wrong = gate.sign_in(&attempt("ada", "wrong", "192.0.2.1")).await;
    assert!(matches!(wrong.unwrap(), SignInOutcome::Wrong));
    let signed_in = gate.sign_in(&attempt("ada", PASSWORD, "192.0.2.1")).await;
    assert!(matches!(signed_in.unwrap(), SignInOutcome::Accepted { .. }));
    let id = app.id;
    world.write(move |tx| rows(tx, ada, id)).await;
    world
        .write(move |tx| {
            let scopes = identity::tokens::all_scopes();
            identity::tokens::mint_oauth2(tx, id, ada, scopes, Some(1000))?;
            let endless = identity::tokens::mint_oauth2(tx, id, ada, scopes, None)?;
            identity::tokens::revoke(tx, endless.expose_secret())?;
            let level = identity::apps::Permission::Write;
            let (token, _) = identity::tokens::mint_oauth1(tx, id, ada, level)?;
            identity::tokens::revoke(tx, token.expose_secret())
        })
        .await;
    ada
}

fn rows(tx: &mut Tx<'_>, user: UserId, app: AppId) -> Result<(), Error> {
    let email = EmailMessage {
        id: String::new(),
        to: "ada@example.org".to_owned(),
        subject: "Hello".to_owned(),
        text: Secret::new("the text"),
        expires_at: None,
    };
    emails::enqueue(tx, &email)?;
    identity::email_links::create_invitation(tx, &site(), &AuditActor::operator(), "")?;
    store::notifications::insert(tx, user, "Something happened", "/settings/account")?;
    interactions::insert(
        tx,
        &Interaction {
            seq: 1,
            user_id: user,
            at: tx.now(),
            kind: InteractionKind::Follow,
            actor_id: user,
            post_id: None,
        },
    )?;
    network::muted_words::mute_word(tx, user, "finale", Some(DAY))?;
    usage::add_calls(tx, app, "getMe", base::clock::wall_time(), 1)?;
    let code = AuthorizationCode {
        family: 1,
        app_id: app,
        user_id: user,
        redirect_uri: CALLBACK.to_owned(),
        scopes: String::new(),
        challenge: String::new(),
        expires_at: tx.now(),
        used_at: None,
    };
    authorization_codes::insert(tx, &code, &[7; 32])?;
    // It is counted by the hour, as views are.
    let now = tx.now();
    store::short_links::record_click(tx, PostId::new(7), user.get(), now)?;
    store::ledger::record_conversion_key(tx, 7, 7)?;
    let job = AnalyticsJob {
        id: tx.next_id::<()>().get(),
        account_id: 7,
        state: AnalyticsJobState::Failed,
        request: String::new(),
        token: "token".to_owned(),
        created_at: now,
        updated_at: now,
        expires_at: None,
    };
    store::ledger::insert_job(tx, &job)?;
    Ok(audit::append(tx, &AuditActor::operator(), AuditAction::USER_CREATE, None, &Value::Null)?)
}

async fn swept(world: &World, wall: Time) -> Vec<(&'static str, u64)> {
    let stored =
        RetentionPeriods { session_ttl_ms: 30 * DAY, log_ms: 7 * DAY, deliveries_ms: 5 * DAY, audit_ms: 400 * DAY };
    prune_expired(&world.store, stored, wall).await.unwrap()
}

#[each_engine]
async fn expired_data_is_deleted_after_its_retention_period(world: World) {
    let ada = fill(&world).await;
    let now = base::clock::wall_time();
    for (what, rows) in swept(&world, now).await {
        assert_eq!(rows, 0, "{what} is forgotten at once");
    }
    // Only entries that have a number are deleted.
    world.store.wait_for_log_end(std::time::Duration::from_secs(10)).await.unwrap();
    world.pass(401 * DAY);
    let later = now.plus_ms(401 * DAY);
    for (what, rows) in swept(&world, later).await {
        // On SQLite nonces are kept in a journal of their own, what other nodes must know in memory, and rows in no
        // partitions; the rest nobody made here.
        let none = [
            "partitions",
            "nonces",
            "rate limits",
            "credential changes",
            "topics",
            "posts read",
            "changes of counters",
            "connections",
            "compliance jobs",
            "deliveries",
            "members of audiences",
            "files of figures",
            "auctions",
            "reports",
            "applications",
            "deleted product catalogs",
        ];
        assert!(rows > 0 || none.contains(&what), "{what} is kept for ever");
    }
    for (what, rows) in swept(&world, later).await {
        assert_eq!(rows, 0, "{what}");
    }
    let find = move |tx: &mut Tx<'_>| network::users::find_active(tx, ada);
    world.store.read(find).await.unwrap();
}
