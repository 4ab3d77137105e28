//! Batches that are rerun after a conflict with another transaction.

use std::sync::Arc;

use base::{AppId, Error, Fault};
use parking_lot::Mutex;
use store::rules::StreamProduct;
use store::webhooks::{self, Webhook};
use store::{Tx, event_log};

use super::super::StreamSettings;
use super::super::posts::tests::{add_rule, publish, streams};
use super::super::tests::{Site, site};
use super::{LINK_READER, LinkedRules};

async fn link_webhook(site: &Site, app: AppId) {
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
}

#[tokio::test]
async fn batch_that_is_run_again_queues_and_counts_each_post_once() {
    let site = site(StreamSettings::default()).await;
    let (streams, [app, _]) = (streams(&site), site.apps);
    let rules: Arc<Mutex<LinkedRules>> = Arc::default();
    let rule = add_rule(&site, app, "lighthouse").await;
    link_webhook(&site, app).await;
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
    let at_end = |tx: &mut Tx<'_>| Ok((LINK_READER.find_cursor(tx)?, event_log::end_cursor(tx)?));
    let (cursor, end) = site.store.read(at_end).await.unwrap();
    assert_eq!(cursor, Some(end));
}

#[tokio::test]
async fn rules_are_brought_up_to_date_with_what_another_node_has_read() {
    let site = site(StreamSettings::default()).await;
    let (streams, [app, _]) = (streams(&site), site.apps);
    let nodes: [Arc<Mutex<LinkedRules>>; 2] = Default::default();
    let (removed, gone) = (add_rule(&site, app, "lighthouse").await, add_rule(&site, app, "island").await);
    link_webhook(&site, app).await;
    for (node, text) in [(&nodes[0], "one"), (&nodes[0], "two"), (&nodes[1], "three")] {
        site.store.write(move |tx| publish(tx, app, text)).await.unwrap();
        while streams.queue_new_posts(node).await.unwrap() {}
    }
    add_rule(&site, app, "harbour").await;
    let remove = move |tx: &mut Tx<'_>| network::rules::remove(tx, app, StreamProduct::Stream, &[removed]);
    site.store.write(remove).await.unwrap();
    while streams.queue_new_posts(&nodes[1]).await.unwrap() {}
    // Would be noticed if the rules were loaded again.
    let forget = move |tx: &mut Tx<'_>| Ok(store::rules::delete(tx, app, StreamProduct::Stream, gone)?);
    site.store.write(forget).await.unwrap();
    let mut expected = Vec::new();
    for (text, is_matched) in [("a lighthouse", false), ("a harbour", true), ("an island", true)] {
        let post = site.store.write(move |tx| publish(tx, app, text)).await.unwrap();
        expected.extend(is_matched.then(|| post.to_string()));
    }
    while streams.queue_new_posts(&nodes[0]).await.unwrap() {}
    let queued = site.store.read(|tx| {
        let pending = store::deliveries::list_pending(tx, 1, 0, 10)?;
        let found = pending.iter().map(|one| store::deliveries::find_by_seq(tx, one.seq));
        Ok(found.collect::<Result<Vec<_>, _>>()?)
    });
    let queued: Vec<String> = queued.await.unwrap().into_iter().flatten().map(|one| one.event_id).collect();
    assert_eq!(queued, expected);
}
