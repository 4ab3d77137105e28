use std::sync::Arc;

use base::Clock;
use base::{Error, Fault, Refusal, Secret};
use network::emails::{self, EmailMessage, EmailSendError, EmailSite, Mailer};
use parking_lot::Mutex;
use store::Tx;

use test_stores::{World, each_engine};

pub(crate) fn site() -> EmailSite {
    EmailSite::new("Locum", "https://locum.example/").unwrap()
}

/// What the newest email says, and the secret of the link in it.
pub(crate) async fn newest(world: &World) -> (String, Option<Secret>) {
    let list = |tx: &mut Tx<'_>| Ok(emails::list(tx, None, 1)?);
    let email = world.store.read(list).await.unwrap().remove(0);
    let text = email.text.unwrap();
    let secret = text.expose_secret().split("?token=").nth(1);
    let secret = secret.map(|rest| Secret::new(rest.lines().next().unwrap()));
    (format!("{}: {}", email.recipient, text.expose_secret()), secret)
}

pub(crate) async fn count(world: &World) -> usize {
    let list = |tx: &mut Tx<'_>| Ok(emails::list(tx, None, 100)?);
    world.store.read(list).await.unwrap().len()
}

#[derive(Default)]
struct RecordingMailer {
    sent: Mutex<Vec<String>>,
    fails: bool,
}

impl Mailer for RecordingMailer {
    fn send(&self, email: &EmailMessage) -> Result<(), EmailSendError> {
        if self.fails {
            return Err(Fault::new("out of order").into());
        }
        if email.to.starts_with("nobody@") {
            return Err(EmailSendError { fault: Fault::new("nobody of that name"), is_permanent: true });
        }
        self.sent.lock().push(format!("{} {}", email.to, email.text.expose_secret()));
        Ok(())
    }
}

fn recording_mailer(fails: bool) -> (Arc<RecordingMailer>, Arc<dyn Mailer>) {
    let recorder = Arc::new(RecordingMailer { fails, ..RecordingMailer::default() });
    let mailer: Arc<dyn Mailer> = recorder.clone();
    (recorder, mailer)
}

fn email() -> EmailMessage {
    EmailMessage {
        id: String::new(),
        to: "ada@example.org".to_owned(),
        subject: "Hello\r\nBcc: eve@example.org".to_owned(),
        text: Secret::new("the text"),
        expires_at: None,
    }
}

#[each_engine]
async fn email_is_retried_until_it_is_sent(world: World) {
    let queue = |tx: &mut Tx<'_>| -> Result<(), Error> { Ok(emails::enqueue(tx, &email())?) };
    let undone = move |tx: &mut Tx<'_>| -> Result<(), Error> {
        queue(tx)?;
        Err(Refusal::RateLimited.into())
    };
    world.refused(undone).await;
    assert_eq!(count(&world).await, 0, "no email about what did not happen");
    world.write(queue).await;
    world.write(queue).await;

    let mut now = world.clock.now().plus_ms(1000);
    let (failing, (recorder, mailer)) = (recording_mailer(true).1, recording_mailer(false));
    let round = emails::send_due_emails(&world.store, &failing, now).await.unwrap();
    assert_eq!((round.sent, round.deferred), (0, 2));
    let round = emails::send_due_emails(&world.store, &mailer, now).await.unwrap();
    assert_eq!(round, emails::EmailBatchResult::default(), "not again at once");
    now = now.plus_ms(10_000);
    let both =
        (emails::send_due_emails(&world.store, &mailer, now), emails::send_due_emails(&world.store, &mailer, now));
    let (one, other) = tokio::join!(both.0, both.1);
    assert_eq!(one.unwrap().sent + other.unwrap().sent, 2, "each by one sender");
    assert_eq!(*recorder.sent.lock(), ["ada@example.org the text"; 2]);
    let list = |tx: &mut Tx<'_>| Ok(emails::list(tx, None, 1)?);
    let stored = world.store.read(list).await.unwrap().remove(0);
    assert!(stored.text.is_none() && stored.sent_at.is_some(), "its text is forgotten");
    assert!(!stored.subject.contains('\n'));
}

/// Takes six minutes for each email, and fails.
struct SlowMailer(Clock);

impl Mailer for SlowMailer {
    fn send(&self, _: &EmailMessage) -> Result<(), EmailSendError> {
        self.0.set(self.0.now().plus_ms(360_000));
        Err(Fault::new("out of order").into())
    }
}

#[each_engine]
async fn retries_are_timed_from_each_attempt_of_a_slow_batch(world: World) {
    for _ in 0..2 {
        world.write(|tx| Ok(emails::enqueue(tx, &email())?)).await;
    }
    let start = world.clock.now();
    let mailer: Arc<dyn Mailer> = Arc::new(SlowMailer(world.clock.clone()));
    assert_eq!(emails::send_due_emails(&world.store, &mailer, start).await.unwrap().deferred, 2);
    let listed = world.store.read(|tx: &mut Tx<'_>| Ok(emails::list(tx, None, 9)?)).await.unwrap();
    let mut due: Vec<i64> = listed.iter().map(|stored| stored.due_at.unwrap().ms() - start.ms()).collect();
    due.sort_unstable();
    assert_eq!(due, [370_000, 730_000]);
}

/// Says that it began and takes half a second.
struct LateMailer(tokio::sync::mpsc::UnboundedSender<()>);

impl Mailer for LateMailer {
    fn send(&self, _: &EmailMessage) -> Result<(), EmailSendError> {
        self.0.send(()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(500));
        Ok(())
    }
}

#[each_engine]
async fn stopping_sender_records_the_email_that_it_is_sending(world: World) {
    for _ in 0..2 {
        world.write(|tx| Ok(emails::enqueue(tx, &email())?)).await;
    }
    let (began, mut begins) = tokio::sync::mpsc::unbounded_channel();
    let stop = Box::pin(async move { begins.recv().await.unwrap() });
    emails::run_sender(Arc::clone(&world.store), Arc::new(LateMailer(began)), stop).await;
    let listed = world.store.read(|tx: &mut Tx<'_>| Ok(emails::list(tx, None, 9)?)).await.unwrap();
    assert_eq!(listed.iter().filter(|stored| stored.sent_at.is_some()).count(), 1);
    assert!(listed.iter().any(|stored| stored.sent_at.is_none() && stored.tries == 0));
}

/// Says that it began, and waits until its sender has stopped.
struct SilentMailer(tokio::sync::mpsc::UnboundedSender<()>, Mutex<std::sync::mpsc::Receiver<()>>);

impl Mailer for SilentMailer {
    fn send(&self, _: &EmailMessage) -> Result<(), EmailSendError> {
        self.0.send(()).unwrap();
        let _stopped = self.1.lock().recv();
        Ok(())
    }
}

#[each_engine]
async fn stopping_sender_leaves_an_email_to_a_silent_server_in_the_queue(world: World) {
    world.write(|tx| Ok(emails::enqueue(tx, &email())?)).await;
    let (began, mut begins) = tokio::sync::mpsc::unbounded_channel();
    let (release, released) = std::sync::mpsc::channel();
    let stop = Box::pin(async move { begins.recv().await.unwrap() });
    let mailer = Arc::new(SilentMailer(began, Mutex::new(released)));
    let running = emails::run_sender(Arc::clone(&world.store), mailer, stop);
    let stopped = tokio::time::timeout(std::time::Duration::from_secs(3), running).await;
    drop(release);
    stopped.expect("the sender stops");
    let listed = world.store.read(|tx: &mut Tx<'_>| Ok(emails::list(tx, None, 9)?)).await.unwrap();
    assert!(listed[0].sent_at.is_none() && listed[0].due_at.is_some());
}

#[each_engine]
async fn undeliverable_email_is_abandoned(world: World) {
    world.write(|tx| Ok(emails::enqueue(tx, &email())?)).await;
    let mut now = world.clock.now().plus_ms(1000);
    let (failing, mailer) = (recording_mailer(true).1, recording_mailer(false).1);
    let mut given_up = 0;
    for _ in 0..9 {
        let round = emails::send_due_emails(&world.store, &failing, now).await.unwrap();
        assert_eq!(round.deferred + round.abandoned, 1);
        given_up += round.abandoned;
        now = now.plus_ms(7_200_000);
    }
    assert_eq!(given_up, 1);
    let round = emails::send_due_emails(&world.store, &mailer, now).await.unwrap();
    assert_eq!(round, emails::EmailBatchResult::default());
}

#[each_engine]
async fn permanently_refused_or_expired_email_is_not_retried(world: World) {
    let misled = EmailMessage { to: "nobody@example.org".to_owned(), ..email() };
    world.write(move |tx| Ok(emails::enqueue(tx, &misled)?)).await;
    let until = world.clock.now().plus_ms(60_000);
    let linked = EmailMessage { expires_at: Some(until), ..email() };
    let queue = move |tx: &mut Tx<'_>| -> Result<(), Error> { Ok(emails::enqueue(tx, &linked)?) };
    world.write(queue.clone()).await;
    let now = base::clock::wall_time().plus_ms(1000);
    let (_, mailer) = recording_mailer(false);
    let round = emails::send_due_emails(&world.store, &mailer, now).await.unwrap();
    assert_eq!((round.sent, round.abandoned, round.expired), (1, 1, 0));
    world.write(queue).await;
    world.pass(60_000);
    let round = emails::send_due_emails(&world.store, &mailer, now.plus_ms(10_000_000)).await;
    assert_eq!(round.unwrap().expired, 1);
    let list = |tx: &mut Tx<'_>| Ok(emails::list(tx, None, 9)?);
    for stored in world.store.read(list).await.unwrap() {
        assert!(stored.text.is_none() && stored.due_at.is_none());
    }
}

#[test]
fn site_of_an_email_comes_from_the_configuration() {
    for good in ["https://a.org", "http://127.0.0.1:8080/", "https://a.org/social"] {
        assert!(EmailSite::new("A", good).is_ok(), "{good}");
    }
    for bad in ["", "a.org", "javascript:x", "https://", "https://a.org/?x", "https://b@a.org"] {
        assert!(EmailSite::new("A", bad).is_err(), "{bad}");
    }
}
