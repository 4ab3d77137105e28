use base::clock::wall_time;
use base::{Error, Secret, UserId};
use identity::email_links;
use identity::registration::{self, RegistrationApplicant, RegistrationOutcome, RegistrationPolicy};
use identity::sessions;
use identity::sign_in::{PasswordProof, SignInOutcome, SignInService};
use network::emails::{self, EmailSite};
use store::Tx;

use crate::emails::{count, newest, site};
use crate::sessions::from;
use crate::sign_in::{PASSWORD, account, attempt, told, wide};
use test_stores::{World, each_engine};

fn refusal<T: std::fmt::Debug>(outcome: Result<T, Error>) -> String {
    match outcome.unwrap_err() {
        Error::Refused(refusal) => format!("{refusal:?}"),
        Error::Failed(fault) => panic!("{fault}"),
    }
}

fn applicant(username: &str, email: &str) -> RegistrationApplicant {
    RegistrationApplicant {
        username: username.to_owned(),
        name: String::new(),
        email: email.to_owned(),
        password: Secret::new("tr4ms stop here"),
        invite: None,
        client_info: from("192.0.2.1"),
    }
}

pub(crate) async fn user(world: &World, id: UserId) -> store::users::User {
    let find = move |tx: &mut Tx<'_>| network::users::find(tx, id);
    world.store.read(find).await.unwrap()
}

async fn register(gate: &SignInService, site: &EmailSite, applicant: &RegistrationApplicant) -> UserId {
    match registration::register(gate, site, RegistrationPolicy::Open, applicant).await.unwrap() {
        RegistrationOutcome::Joined(user) => user,
        RegistrationOutcome::Waiting => panic!("an application"),
    }
}

#[each_engine]
async fn email_confirmation_works_once(world: World) {
    let (gate, site) = (wide(&world), site());
    let eve = applicant("eve", "eve@example.org");
    let closed = registration::register(&gate, &site, RegistrationPolicy::Closed, &eve).await;
    assert!(refusal(closed).contains("can not be made"));
    let id = register(&gate, &site, &eve).await;
    assert!(!user(&world, id).await.email_confirmed);
    let taken = registration::register(&gate, &site, RegistrationPolicy::Open, &eve).await;
    assert!(refusal(taken).contains("taken"));
    let (text, secret) = newest(&world).await;
    assert!(text.starts_with("eve@example.org: "));
    assert!(text.contains("https://locum.example/account/confirm?token="), "{text}");
    let secret = secret.unwrap();
    assert!(secret.expose_secret().len() >= 43);
    let confirm = {
        let secret = secret.clone();
        move |tx: &mut Tx<'_>| {
            email_links::confirm_email(tx, &crate::emails::site(), secret.expose_secret(), "192.0.2.1")
        }
    };
    let wrong_purpose = move |tx: &mut Tx<'_>| email_links::find_reset_user(tx, secret.expose_secret());
    assert!(world.refused(wrong_purpose).await.contains("no longer works"));
    world.write(confirm.clone()).await;
    assert!(user(&world, id).await.email_confirmed);
    assert!(world.refused(confirm).await.contains("no longer works"));

    // The address is taken; whoever comes with it again is told nothing, its owner is.
    let other = applicant("other", "EVE@example.org");
    let other = register(&gate, &site, &other).await;
    let (text, secret) = newest(&world).await;
    assert!(text.contains("belongs to your account @eve"), "{text}");
    assert!(secret.is_none());
    assert!(!user(&world, other).await.email_confirmed);
}

#[each_engine]
async fn invitation_admits_one_user(world: World) {
    let (gate, site) = (wide(&world), site());
    let by = network::audit::AuditActor::default();
    let link = {
        let site = site.clone();
        move |tx: &mut Tx<'_>| email_links::create_invitation(tx, &site, &by, "")
    };
    let link = world.write(link).await;
    let secret = link.split("?token=").nth(1).unwrap().to_owned();
    let with = |username: &str, invite: Option<&str>| RegistrationApplicant {
        invite: invite.map(Secret::new),
        ..applicant(username, "a@example.org")
    };
    let join = async |applicant: RegistrationApplicant| {
        registration::register(&gate, &site, RegistrationPolicy::Invite, &applicant).await
    };
    assert!(refusal(join(with("one", None)).await).contains("invitation"));
    assert!(refusal(join(with("one", Some("made up"))).await).contains("invit"));
    // A refused name does not use it up.
    assert!(join(with("not a name", Some(&secret))).await.is_err());
    join(with("one", Some(&secret))).await.unwrap();
    assert!(refusal(join(with("two", Some(&secret))).await).contains("no longer valid"));
}

#[each_engine]
async fn change_of_email_is_pending_resent_and_cancelled(world: World) {
    let site = site();
    let ada = account(&world, "ada", PASSWORD).await;
    account(&world, "eve", PASSWORD).await;
    let by = network::audit::AuditActor::user(ada, "192.0.2.1");
    let change = |email: &'static str| {
        let (site, by) = (site.clone(), by.clone());
        world.write(move |tx| email_links::request_email_change(tx, &site, &by, email))
    };
    let pending = async || {
        let find = move |tx: &mut Tx<'_>| Ok(email_links::pending_email(tx, ada)?);
        world.store.read(find).await.unwrap()
    };
    assert_eq!(pending().await, None);
    change("new@example.org").await;
    assert_eq!(pending().await.as_deref(), Some("new@example.org"));
    let again = {
        let (site, by) = (site.clone(), by.clone());
        move |tx: &mut Tx<'_>| email_links::resend_confirmation(tx, &site, &by)
    };
    let sent = world.write(again).await;
    assert_eq!(sent.as_deref(), Some("new@example.org"));
    let secret = newest(&world).await.1.unwrap();
    let cancel = {
        let by = by.clone();
        move |tx: &mut Tx<'_>| email_links::cancel_email_change(tx, &by)
    };
    world.write(cancel).await;
    assert_eq!(pending().await, None);
    let confirm = move |tx: &mut Tx<'_>| {
        email_links::confirm_email(tx, &crate::emails::site(), secret.expose_secret(), "192.0.2.1")
    };
    assert!(world.refused(confirm).await.contains("no longer works"));
    // An address of somebody else waits like any other: nobody learns that it is taken.
    change("eve@example.org").await;
    assert_eq!(pending().await.as_deref(), Some("eve@example.org"));
    assert!(newest(&world).await.1.is_none());
}

#[each_engine]
async fn password_reset_link_works_once_and_expires(world: World) {
    let (gate, site) = (wide(&world), site());
    account(&world, "ada", PASSWORD).await;
    let request = |login: &'static str, address: &'static str| {
        let site = site.clone();
        world.write(move |tx| email_links::request_password_reset(tx, &site, login, address))
    };
    // Nobody of that name: the same answer, and no letter.
    assert_eq!(request("who", "192.0.2.1").await, request("ada", "192.0.2.1").await);
    assert_eq!(count(&world).await, 1);
    let first = newest(&world).await.1.unwrap();
    assert!(request("ada@example.org", "192.0.2.1").await);
    let second = newest(&world).await.1.unwrap();
    let new = Secret::new("tr4ms stop here");
    let reset = async |secret: &Secret, password: &Secret| {
        email_links::reset_password(&gate, &site, secret, password, true, "192.0.2.1").await
    };
    assert!(refusal(reset(&first, &new).await).contains("no longer works"), "an older one");
    assert!(refusal(reset(&second, &Secret::new("short")).await).contains("characters"));
    world.pass(email_links::TTL_MS);
    assert!(refusal(reset(&second, &new).await).contains("no longer works"), "too late");

    assert!(request("ada", "192.0.2.1").await);
    let third = newest(&world).await.1.unwrap();
    world.pass(email_links::TTL_MS - 1);
    let signed_in = gate.sign_in(&attempt("ada", PASSWORD, "192.0.2.1")).await.unwrap();
    let SignInOutcome::Accepted { text, .. } = signed_in else {
        panic!("{signed_in:?}");
    };
    assert!(reset(&third, &new).await.unwrap().is_none(), "nothing to restore");
    assert!(refusal(reset(&third, &new).await).contains("no longer works"), "twice");
    let over = sessions::resume(&world.store, text.expose_secret(), &from("192.0.2.1"), wall_time()).await;
    assert!(over.unwrap().is_none(), "every session ends");
    assert_eq!(told(&gate, "ada", PASSWORD, "192.0.2.1").await, "wrong");
    assert!(told(&gate, "ada", new.expose_secret(), "192.0.2.1").await.contains("accepted"));
    let (text, secret) = newest(&world).await;
    assert!(text.contains("was just changed") && secret.is_none(), "{text}");
    // One address does not send letters without end.
    for _ in 0..5 {
        request("who", "203.0.113.1").await;
    }
    assert!(!request("ada", "203.0.113.1").await);
}

/// The secret of the newest link that confirms an address.
pub(crate) async fn confirmation_secret(world: &World) -> String {
    let all = |tx: &mut Tx<'_>| Ok(emails::list(tx, None, 9)?);
    let all = world.store.read(all).await.unwrap();
    let texts = all.iter().filter_map(|email| email.text.clone());
    let mut secrets = texts.filter_map(|text| {
        let secret = text.expose_secret().split("/account/confirm?token=").nth(1)?;
        Some(secret.lines().next()?.to_owned())
    });
    secrets.next().unwrap()
}

#[each_engine]
async fn new_password_ends_resets_and_a_change_of_email(world: World) {
    let ada = account(&world, "ada", PASSWORD).await;
    let by = network::audit::AuditActor::user(ada, "192.0.2.1");
    let confirm =
        |secret: String| move |tx: &mut Tx<'_>| email_links::confirm_email(tx, &site(), &secret, "192.0.2.1").map(drop);
    let ask = |tx: &mut Tx<'_>| email_links::request_password_reset(tx, &site(), "ada", "192.0.2.1");
    let change = move |tx: &mut Tx<'_>| email_links::request_email_change(tx, &site(), &by, "new@example.org");
    world.write(ask).await;
    let reset = newest(&world).await.1.unwrap();
    world.write(change.clone()).await;
    let secret = confirmation_secret(&world).await;
    world.write(move |tx| identity::account_states::set_password(tx, ada, "another")).await;
    let find = move |tx: &mut Tx<'_>| email_links::find_reset_user(tx, reset.expose_secret()).map(drop);
    assert!(world.refused(find).await.contains("no longer works"));
    assert!(world.refused(confirm(secret)).await.contains("no longer works"));

    // A reset that was sent to an earlier address.
    world.write(ask).await;
    let reset = newest(&world).await.1.unwrap();
    world.write(change).await;
    world.write(confirm(confirmation_secret(&world).await)).await;
    let (text, _) = newest(&world).await;
    assert!(text.starts_with("ada@Example.org: ") && text.contains("was changed"), "{text}");
    let find = move |tx: &mut Tx<'_>| email_links::find_reset_user(tx, reset.expose_secret()).map(drop);
    assert!(world.refused(find).await.contains("no longer works"));
}

#[each_engine]
async fn change_of_password_or_email_needs_the_password(world: World) {
    let (gate, site) = (wide(&world), site());
    let ada = account(&world, "ada", PASSWORD).await;
    let sign_in = async |password: &str| {
        let response = gate.sign_in(&attempt("ada", password, "192.0.2.1")).await.unwrap();
        let SignInOutcome::Accepted { text, session } = response else {
            panic!("{response:?}");
        };
        (text, session)
    };
    let (here, session) = sign_in(PASSWORD).await;
    let (there, _) = sign_in(PASSWORD).await;
    let (old, new) = (Secret::new(PASSWORD), Secret::new("tr4ms stop here"));
    let change = async |password: &Secret| {
        let proof = PasswordProof { password, client_info: &from("192.0.2.1"), device: None };
        email_links::change_password(&gate, &site, &session, &proof, &new, false).await
    };
    assert!(refusal(change(&new).await).contains("wrong"));
    let renewed = change(&old).await.unwrap();
    let open = async |text: &Secret| {
        let facts = from("192.0.2.1");
        sessions::resume(&world.store, text.expose_secret(), &facts, wall_time()).await.unwrap().is_some()
    };
    assert!(open(&renewed).await && !open(&here).await && !open(&there).await);

    let by = network::audit::AuditActor::user(ada, "192.0.2.1");
    let change = {
        let site = site.clone();
        move |tx: &mut Tx<'_>| email_links::request_email_change(tx, &site, &by, "new@example.org")
    };
    world.write(change).await;
    assert_eq!(user(&world, ada).await.email, "ada@Example.org", "until it is confirmed");
    let all = |tx: &mut Tx<'_>| Ok(emails::list(tx, None, 2)?);
    let all = world.store.read(all).await.unwrap();
    assert_eq!(all[0].recipient, "ada@Example.org", "the old one is told");
    let text = all[1].text.clone().unwrap();
    let secret = text.expose_secret().split("?token=").nth(1).unwrap();
    let secret = secret.lines().next().unwrap().to_owned();
    world.write(move |tx| email_links::confirm_email(tx, &crate::emails::site(), &secret, "192.0.2.1")).await;
    let after = user(&world, ada).await;
    assert_eq!((after.email.as_str(), after.email_confirmed), ("new@example.org", true));
}

#[each_engine]
async fn address_gets_few_emails_of_a_kind_in_an_hour(world: World) {
    let (gate, site) = (wide(&world), site());
    account(&world, "ada", PASSWORD).await;
    let sent_to = async |address: &'static str| {
        let all = world.store.read(|tx: &mut Tx<'_>| Ok(emails::list(tx, None, 100)?)).await.unwrap();
        all.into_iter().filter(|email| email.recipient.eq_ignore_ascii_case(address)).count()
    };
    // By both logins and from many addresses; the answer stays the same.
    for host in 0..6 {
        let (site, login) = (site.clone(), ["ada", "ada@example.org"][host % 2]);
        let ask =
            move |tx: &mut Tx<'_>| email_links::request_password_reset(tx, &site, login, &format!("192.0.2.{host}"));
        assert!(world.write(ask).await);
    }
    assert_eq!(sent_to("ada@example.org").await, 4);
    let last = newest(&world).await.1.unwrap();
    let find = move |tx: &mut Tx<'_>| email_links::find_reset_user(tx, last.expose_secret());
    assert_eq!(world.store.read(find).await.unwrap().username, "ada", "the last link works on");

    // Accounts that claim the address of somebody who has none here.
    for host in 0..6 {
        let email = if host % 2 == 0 { "Victim@example.net" } else { "victim+more@example.net" };
        let applicant = RegistrationApplicant {
            client_info: from(&format!("192.0.2.{host}")),
            ..applicant(&format!("claimant{host}"), email)
        };
        let id = register(&gate, &site, &applicant).await;
        let pending = world.store.read(move |tx| Ok(email_links::pending_email(tx, id)?)).await.unwrap();
        assert_eq!(pending.as_deref(), Some(email));
    }
    assert_eq!(sent_to("victim@example.net").await + sent_to("victim+more@example.net").await, 4);
}
