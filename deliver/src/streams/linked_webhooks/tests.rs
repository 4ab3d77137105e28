//! Batches that are rerun after a conflict with another transaction.

use std::sync::Arc;

use base::{Error, Fault};
use parking_lot::Mutex;
use store::rules::StreamProduct;
use store::webhooks::{self, Webhook};
use store::{Tx, event_log};

use super::super::StreamSettings;
use super::super::posts::tests::{add_rule, publish, streams};
use super::super::tests::site;
use super::{LinkedRules, READER};

#[tokio::test]
async fn batch_that_is_run_again_queues_and_counts_each_post_once() {
    let site = site(StreamSettings::default()).await;
    let (streams, [app, _]) = (streams(&site), site.apps);
    let rules: Arc<Mutex<LinkedRules>> = Arc::default();
    let rule = add_rule(&site, app, "lighthouse").await;
    let link = move |tx: &mut Tx<'_>| {
        let now = tx.now();
        let webhook = Webhook {
            id: 1,
            app_id: app,
            url: "https://receiver.example/".to_owned(),
            valid: true,
            created_at: now,
            checked_at: now,
            check_due_at: now,
            failing_since: None,
            problem: String::new(),
            deleted_at: None,
        };
        webhooks::insert(tx, &webhook)?;
        Ok(webhooks::link_stream(tx, 1, app, "")?)
    };
    site.store.write(link).await.unwrap();
    // The first call starts at the end of the log, the second loads the rules.
    while streams.queue_new_posts(&rules).await.unwrap() {}
    let other = move |tx: &mut Tx<'_>| publish(tx, app, "a harbour");
    site.store.write(other).await.unwrap();
    while streams.queue_new_posts(&rules).await.unwrap() {}
    assert!(rules.lock().log_position.is_some());

    let change = move |tx: &mut Tx<'_>| {
        let post = publish(tx, app, "a lighthouse")?;
        network::rules::remove(tx, app, StreamProduct::Stream, &[rule])?;
        Ok(post)
    };
    let post = site.store.write(change).await.unwrap();
    let position = rules.lock().log_position;
    let (shared, index) = (Arc::clone(&streams.0), Arc::clone(&rules));
    let undone = site.store.write(move |tx: &mut Tx<'_>| {
        let batch = shared.queue_batch(tx, &mut index.lock())?;
        assert_eq!(batch.queued, [(app, post)]);
        Err::<(), Error>(Fault::new("a conflict").into())
    });
    undone.await.unwrap_err();
    assert_eq!(rules.lock().log_position, position, "nothing was committed");
    streams.0.reads.flush(&site.store).await.unwrap();
    let reads = move |tx: &mut Tx<'_>| Ok(store::reads::daily_counts(tx, app, 0)?);
    assert_eq!(site.store.read(reads).await.unwrap(), []);

    while streams.queue_new_posts(&rules).await.unwrap() {}
    let queued = site.store.read(|tx| Ok(store::deliveries::list_pending(tx, 1, 0, 10)?));
    assert_eq!(queued.await.unwrap().len(), 1);
    let at_end = |tx: &mut Tx<'_>| Ok((READER.find_cursor(tx)?, event_log::end_cursor(tx)?));
    let (cursor, end) = site.store.read(at_end).await.unwrap();
    assert_eq!(cursor, Some(end));
}
