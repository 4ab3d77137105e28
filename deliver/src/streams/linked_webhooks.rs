//! Sends filtered streams to linked webhooks. Reads the event log from a durable cursor, so that no post is
//! missed during downtime.

use std::sync::Arc;
use std::time::Duration;

use base::{AppId, Error, Fault, PostId, Vocabulary, sorted_distinct};
use futures_util::future::BoxFuture;
use network::post_facts::{self, StoredPostFacts};
use network::visibility::Visibility;
use parking_lot::Mutex;
use store::deliveries::{NewDelivery, enqueue};
use store::event_log::{LogEvent, LogReader};
use store::rules::StreamProduct;
use store::webhooks::{self, StreamLink};
use store::{Tx, event_log};
use view::{FieldSelection, ObjectKind, RenderOptions};

use super::format::{self, StreamFormat};
use super::posts::{PostStreams, PostStreamsInner};
use super::rule_index::RuleIndex;

pub(crate) const LINK_READER: LogReader = LogReader::from_end("stream links");
/// Log entries read at a time.
const BATCH_SIZE: i64 = 500;
/// From this many log entries on that another node has read, the rules are loaded again.
const MAX_CATCH_UP: i64 = 10_000;
/// The delay between reads under load.
const COALESCE_DELAY: Duration = Duration::from_millis(10);
/// Wakeups replace polling; this is a fallback.
const FALLBACK_INTERVAL: Duration = Duration::from_secs(30);

/// The rules of apps with links, as of a log offset.
#[derive(Default)]
struct LinkedRules {
    rule_index: RuleIndex,
    log_position: Option<i64>,
    apps: Vec<AppId>,
}

/// The result of a batch, applied once it is committed.
struct LinkedBatch {
    more: bool,
    log_position: Option<i64>,
    /// Reads to count.
    queued: Vec<(AppId, PostId)>,
}

impl PostStreams {
    /// Enqueues posts for linked webhooks, for as long as the future is polled. Each log entry is handled by
    /// one node.
    pub fn follow_links(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut wake = self.0.store.subscribe_events();
            let rules: Arc<Mutex<LinkedRules>> = Arc::default();
            loop {
                wake.mark_unchanged();
                let delay = match self.queue_new_posts(&rules).await {
                    Ok(true) => continue,
                    Ok(false) => FALLBACK_INTERVAL,
                    Err(error) => {
                        tracing::warn!(%error, "failed to enqueue posts for linked webhooks; will retry");
                        Duration::from_secs(1)
                    }
                };
                let _early = tokio::time::timeout(delay, wake.changed()).await;
                tokio::time::sleep(COALESCE_DELAY).await;
            }
        })
    }

    /// Enqueues new posts; returns whether there may be more.
    async fn queue_new_posts(&self, rules: &Arc<Mutex<LinkedRules>>) -> Result<bool, Error> {
        if !self.0.store.read(|tx| Ok(LINK_READER.has_unread(tx)?)).await? {
            return Ok(false);
        }
        let (shared, index) = (Arc::clone(&self.0), Arc::clone(rules));
        let work = move |tx: &mut Tx<'_>| Ok(shared.queue_batch(tx, &mut index.lock())?);
        let batch = self.0.store.write(work).await?;
        Ok(self.0.apply_batch(batch, &mut rules.lock()))
    }
}

impl PostStreamsInner {
    /// The store may rerun this: changes to `rules` are idempotent.
    fn queue_batch(&self, tx: &mut Tx<'_>, rules: &mut LinkedRules) -> Result<LinkedBatch, Fault> {
        let from = LINK_READER.claim_cursor(tx)?;
        let mut events = event_log::list_after(tx, from, BATCH_SIZE)?;
        let mut batch = LinkedBatch {
            more: i64::try_from(events.len()).unwrap_or(BATCH_SIZE) >= BATCH_SIZE,
            log_position: rules.log_position,
            queued: Vec::new(),
        };
        if events.is_empty() {
            return Ok(batch);
        }
        let links = webhooks::all_stream_links(tx)?;
        if links.is_empty() {
            rules.remove_rules();
        } else {
            rules.load_linked_rules(tx, &links, from)?;
            batch.more |= rules.rule_index.truncate_after_rule_changes(&mut events, from);
            batch.queued = self.queue_events(tx, rules, &links, &events)?;
            let (_more, _old) = rules.rule_index.rebuild_step(tx)?;
        }
        let last = events.last().map_or(from, |event| event.seq);
        LINK_READER.set_cursor(tx, last)?;
        batch.log_position = (!links.is_empty()).then_some(last);
        Ok(batch)
    }

    /// Returns whether there may be more entries.
    fn apply_batch(&self, batch: LinkedBatch, rules: &mut LinkedRules) -> bool {
        rules.log_position = batch.log_position;
        for (app, post) in batch.queued {
            self.reads.record(app, &[post]);
        }
        batch.more
    }

    fn queue_events(
        &self,
        tx: &mut Tx<'_>,
        rules: &mut LinkedRules,
        links: &[StreamLink],
        events: &[LogEvent],
    ) -> Result<Vec<(AppId, PostId)>, Fault> {
        let mut queued = Vec::new();
        let new = events.iter().filter(|event| event.kind == "post.create");
        let ids: Vec<PostId> = new.map(|event| PostId::new(event.subject_id)).collect();
        let found = post_facts::load_post_facts(tx, &ids, false)?;
        for event in events {
            match event.kind.as_str() {
                "post.create" => {
                    let post = found.iter().find(|one| one.row.id.get() == event.subject_id);
                    if let Some(post) = post.filter(|post| post.visibility == Visibility::Visible) {
                        queued.extend(self.queue_post(tx, rules, links, event, post)?);
                    }
                }
                "rule.added" | "rule.removed" => rules.rule_index.apply_change(tx, event)?,
                _ => {}
            }
        }
        Ok(queued)
    }

    fn queue_post(
        &self,
        tx: &mut Tx<'_>,
        rules: &mut LinkedRules,
        links: &[StreamLink],
        event: &LogEvent,
        post: &StoredPostFacts,
    ) -> Result<Vec<(AppId, PostId)>, Fault> {
        let mut queued = Vec::new();
        let matches = rules.rule_index.match_post(post);
        for link in links.iter().filter(|link| link.created_at <= event.at) {
            let Some(matching) = matches.get(&(link.app_id, StreamProduct::Stream)) else {
                continue;
            };
            let format = parse_link_format(&link.fields);
            let rendered = format::render_posts(tx, vec![post.row.clone()], &format, &self.render_refusal)?;
            let Some(open) = rendered.get(&post.row.id) else {
                continue;
            };
            let line = format::close_line(open, Some(matching));
            let line = String::from_utf8_lossy(&line);
            let new = NewDelivery {
                webhook_id: link.webhook_id,
                event_id: &post.row.id.to_string(),
                order_key: post.row.author_id.get(),
                post_id: Some(post.row.id),
                at: event.at,
                body: line.trim_end(),
            };
            if enqueue(tx, &new)? {
                queued.push((link.app_id, post.row.id));
            }
        }
        Ok(queued)
    }
}

impl LinkedRules {
    /// Loads the rules of apps with links as of a log offset. Rules removed later appear in the log; rules
    /// added later are loaded early.
    fn load_linked_rules(&mut self, tx: &mut Tx<'_>, links: &[StreamLink], at: i64) -> Result<(), Fault> {
        let apps = sorted_distinct(links.iter().map(|link| link.app_id));
        if self.apps == apps && self.catch_up(tx, at)? {
            return Ok(());
        }
        self.remove_rules();
        self.rule_index.learn_stored_posts(tx)?;
        self.apps.clone_from(&apps);
        for app in apps {
            while !self.rule_index.load_rules(tx, (app, StreamProduct::Stream))? {}
        }
        Ok(())
    }

    /// Applies the rule changes in what another node has read of the log; false if that may be too much.
    fn catch_up(&mut self, tx: &mut Tx<'_>, at: i64) -> Result<bool, Fault> {
        let Some(from) = self.log_position.filter(|from| (at - MAX_CATCH_UP..=at).contains(from)) else {
            return Ok(false);
        };
        if from == at {
            return Ok(true);
        }
        if event_log::may_be_pruned(tx, from)? {
            return Ok(false);
        }
        for event in event_log::list_rule_changes(tx, from, at)? {
            self.rule_index.apply_change(tx, &event)?;
        }
        Ok(true)
    }

    /// Does nothing if no app's rules are loaded: copying the word statistics takes millions of instructions.
    fn remove_rules(&mut self) {
        if !self.apps.is_empty() {
            *self = Self { rule_index: self.rule_index.empty_copy(), ..Self::default() };
        }
    }
}

/// Parses a link's query, which includes its vocabulary.
fn parse_link_format(fields: &str) -> StreamFormat {
    let mut selection = FieldSelection::defaults(ObjectKind::POST);
    let mut options = RenderOptions { vocabulary: Vocabulary::Post, both_metric_names: false, newer_models: false };
    for (name, value) in fields.split('&').filter_map(|pair| pair.split_once('=')) {
        // Validated when stored; parameters removed since are ignored.
        let _read = match name {
            "vocabulary" => {
                options.both_metric_names = value.ends_with("+both");
                if value.starts_with("tweets") {
                    options.vocabulary = Vocabulary::Tweet;
                }
                Ok(())
            }
            "expansions" => selection.add_expansions_param(name, value),
            "media.fields" => selection.add_fields_param(ObjectKind::MEDIA, name, value),
            "poll.fields" => selection.add_fields_param(ObjectKind::POLL, name, value),
            "place.fields" => selection.add_fields_param(ObjectKind::PLACE, name, value),
            "user.fields" => selection.add_fields_param(ObjectKind::USER, name, value),
            _ => selection.add_fields_param(ObjectKind::POST, name, value),
        };
    }
    StreamFormat { selection, options }
}

#[cfg(test)]
mod tests;
