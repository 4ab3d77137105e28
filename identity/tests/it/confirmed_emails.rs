//! A confirmed email address belongs to one account.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use base::{Error, UserId};
use identity::account_deletion::{self, ErasureTime};
use identity::email_links;
use network::audit::AuditActor;
use store::Tx;
use tokio::task::JoinSet;

use crate::emails::site;
use crate::registration::{confirmation_secret, user};
use test_stores::{World, each_engine};

const SHARED: &str = "new@example.org";
/// For how long the first transaction waits for the other before it commits.
const WAIT: Duration = Duration::from_millis(300);

/// A user who has requested an address; the secret of the link that confirms it.
async fn applicant(world: &World, name: &'static str, email: &'static str) -> (UserId, String) {
    let id = world.user(name).await;
    let by = AuditActor::user(id, "192.0.2.1");
    world.write(move |tx| email_links::request_email_change(tx, &site(), &by, email)).await;
    (id, confirmation_secret(world).await)
}

fn confirm(tx: &mut Tx<'_>, secret: &str) -> Result<(), Error> {
    email_links::confirm_email(tx, &site(), secret, "192.0.2.1").map(drop)
}

#[each_engine]
async fn address_that_two_accounts_confirm_at_once_belongs_to_one(world: World) {
    let (ada, first) = applicant(&world, "ada", SHARED).await;
    let (bob, second) = applicant(&world, "bob", "NEW@example.org").await;
    let confirmed = Arc::new((Mutex::new(0), Condvar::new()));
    let mut both = JoinSet::new();
    for secret in [first, second] {
        let (store, confirmed) = (Arc::clone(&world.store), Arc::clone(&confirmed));
        let work = move |tx: &mut Tx<'_>| {
            confirm(tx, &secret)?;
            let (count, changed) = &*confirmed;
            let mut count = count.lock().unwrap();
            *count += 1;
            changed.notify_all();
            drop(changed.wait_timeout_while(count, WAIT, |count| *count < 2).unwrap());
            Ok::<_, Error>(())
        };
        both.spawn(async move { store.write(work).await });
    }
    let answers = both.join_all().await;
    let refused: Vec<String> =
        answers.into_iter().filter_map(|answer| answer.err().map(|error| format!("{error:?}"))).collect();
    assert!(refused.len() == 1 && refused[0].contains("no longer works"), "{refused:?}");
    let owners = [user(&world, ada).await, user(&world, bob).await];
    let owners = owners.iter().filter(|user| user.email_confirmed && user.email.eq_ignore_ascii_case(SHARED));
    assert_eq!(owners.count(), 1);
}

#[each_engine]
async fn restored_account_loses_an_address_that_another_has_confirmed_since(world: World) {
    let (ada, secret) = applicant(&world, "ada", SHARED).await;
    world.write(move |tx| confirm(tx, &secret)).await;
    world.write(move |tx| account_deletion::order(tx, None, ada, ErasureTime::Later)).await;
    let (bob, secret) = applicant(&world, "bob", SHARED).await;
    world.write(move |tx| confirm(tx, &secret)).await;
    world.write(move |tx| identity::account_states::restore(tx, ada)).await;
    assert!(user(&world, bob).await.email_confirmed);
    assert!(!user(&world, ada).await.email_confirmed);
}
