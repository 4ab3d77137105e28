//! The filtered stream of apps that have it sent to webhooks: a reader of the log with a cursor of
//! its own in the store, so that no post is missed while nothing runs.

use std::sync::Arc;
use std::time::Duration;

use base::{AppId, Error, Fault, PostId, Vocabulary};
use network::post_facts::{self, StoredPostFacts};
use network::visibility::Visibility;
use parking_lot::Mutex;
use store::deliveries::{NewDelivery, enqueue};
use store::event_log::LogEvent;
use store::rules::StreamProduct;
use store::webhooks::{self, StreamLink};
use store::{Tx, event_log};
use view::{Object, Spoken, Wants};

use super::book::Book;
use super::format::{self, Format};
use super::posts::{PostStreams, Shared};

/// The reader's name in the log.
const READER: &str = "stream links";
/// Entries of the log that are read at once.
const ENTRIES: i64 = 500;
/// The rest between two looks while much is written.
const REST: Duration = Duration::from_millis(10);
/// How often other processes' writes are looked for, and without any, for safety.
const LOOK_EACH: Duration = Duration::from_millis(100);
const SAFETY: Duration = Duration::from_secs(5);

/// The rules of the apps that have links, as they are at a place of the log.
#[derive(Default)]
struct Rules {
    book: Book,
    at: Option<i64>,
    apps: Vec<AppId>,
}

impl PostStreams {
    /// Queues posts for linked webhooks for as long as it is polled. Of several nodes one queues
    /// each part of the log.
    pub async fn follow_links(&self) {
        let mut wake = self.0.store.subscribe_events();
        let rules: Arc<Mutex<Rules>> = Arc::default();
        loop {
            wake.mark_unchanged();
            let patience = match self.queue(&rules).await {
                Ok(true) => continue,
                Ok(false) if self.0.store.is_shared() => LOOK_EACH,
                Ok(false) => SAFETY,
                Err(stop) => {
                    tracing::warn!(?stop, "posts were not queued; it is tried again");
                    Duration::from_secs(1)
                }
            };
            let _early = tokio::time::timeout(patience, wake.changed()).await;
            tokio::time::sleep(REST).await;
        }
    }

    /// Queues what is new; whether there may be more.
    async fn queue(&self, rules: &Arc<Mutex<Rules>>) -> Result<bool, Error> {
        let behind = |tx: &mut Tx<'_>| {
            Ok(match event_log::find_cursor(tx, READER)? {
                Some(from) => !event_log::list_after(tx, from, 1)?.is_empty(),
                None => true,
            })
        };
        if !self.0.store.read(behind).await? {
            return Ok(false);
        }
        let (shared, rules) = (Arc::clone(&self.0), Arc::clone(rules));
        let work = move |tx: &mut Tx<'_>| Ok(shared.queue(tx, &mut rules.lock())?);
        let read = self.0.store.write(work).await?;
        Ok(i64::try_from(read).unwrap_or(ENTRIES) >= ENTRIES)
    }
}

impl Shared {
    fn queue(&self, tx: &mut Tx<'_>, rules: &mut Rules) -> Result<usize, Fault> {
        let from = event_log::claim_cursor(tx, READER)?;
        let events = event_log::list_after(tx, from, ENTRIES)?;
        let Some(last) = events.last().map(|event| event.seq) else {
            return Ok(0);
        };
        let links = webhooks::all_stream_links(tx)?;
        if links.is_empty() {
            *rules = Rules {
                book: rules.book.anew(),
                ..Rules::default()
            };
        } else {
            rules.prepare(tx, &links, from)?;
            self.queue_all(tx, rules, &links, &events)?;
            let (_more, _old) = rules.book.refile(tx)?;
            rules.at = Some(last);
        }
        event_log::set_cursor(tx, READER, last)?;
        Ok(events.len())
    }

    fn queue_all(
        &self,
        tx: &mut Tx<'_>,
        rules: &mut Rules,
        links: &[StreamLink],
        events: &[LogEvent],
    ) -> Result<(), Fault> {
        let new = events.iter().filter(|event| event.kind == "post.create");
        let ids: Vec<PostId> = new.map(|event| PostId::new(event.subject_id)).collect();
        let found = post_facts::load_post_facts(tx, &ids, false)?;
        for event in events {
            match event.kind.as_str() {
                "post.create" => {
                    let post = found
                        .iter()
                        .find(|one| one.row.id.get() == event.subject_id);
                    if let Some(post) = post.filter(|post| post.visibility == Visibility::Visible) {
                        self.queue_one(tx, rules, links, event, post)?;
                    }
                }
                "rule.added" | "rule.removed" => rules.change(tx, event)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn queue_one(
        &self,
        tx: &mut Tx<'_>,
        rules: &mut Rules,
        links: &[StreamLink],
        event: &LogEvent,
        post: &StoredPostFacts,
    ) -> Result<(), Fault> {
        let wanted = rules.book.matching(post);
        for link in links.iter().filter(|link| link.created_at <= event.at) {
            let Some(matching) = wanted.get(&(link.app_id, StreamProduct::Stream)) else {
                continue;
            };
            let format = format_of(&link.fields);
            let Some(open) = format::post(tx, &post.row, &format, &self.voice)? else {
                continue;
            };
            let line = format::line(&open, Some(matching));
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
                self.reads.record(link.app_id, &[post.row.id]);
            }
        }
        Ok(())
    }
}

impl Rules {
    /// Has the rules of the apps that have links, as they are at a place. Rules that were removed
    /// since then are in the log behind it, and those that were added are known already.
    fn prepare(&mut self, tx: &mut Tx<'_>, links: &[StreamLink], at: i64) -> Result<(), Fault> {
        let mut apps: Vec<AppId> = links.iter().map(|link| link.app_id).collect();
        apps.sort_unstable();
        apps.dedup();
        // Another node has read a part of the log: what it says of rules was not seen here.
        if self.at != Some(at) || self.apps != apps {
            self.book = self.book.anew();
            self.book.learn_stored(tx)?;
            for app in &apps {
                while !self.book.load(tx, (*app, StreamProduct::Stream))? {}
            }
            self.apps = apps;
        }
        Ok(())
    }

    fn change(&mut self, tx: &mut Tx<'_>, event: &LogEvent) -> Result<(), Fault> {
        let body: serde_json::Value = serde_json::from_str(&event.body).unwrap_or_default();
        let text = |name| body.get(name).and_then(serde_json::Value::as_str);
        if text("product") != Some(StreamProduct::Stream.name()) {
            return Ok(());
        }
        if event.kind == "rule.removed" {
            self.book.removed(event.subject_id);
            return Ok(());
        }
        let app = text("app_id").and_then(AppId::parse);
        app.map_or(Ok(()), |app| {
            let owner = (app, StreamProduct::Stream);
            self.book.added(tx, owner, event.subject_id)
        })
    }
}

/// What a link asked for: a query, with the vocabulary that it was asked in.
fn format_of(fields: &str) -> Format {
    let mut wants = Wants::defaults(Object::Post);
    let mut spoken = Spoken {
        speech: Vocabulary::Post,
        both_metrics: false,
    };
    for (name, value) in fields.split('&').filter_map(|pair| pair.split_once('=')) {
        // What was read once is read again; what went since is left out.
        let _read = match name {
            "vocabulary" => {
                spoken.both_metrics = value.ends_with("+both");
                if value.starts_with("tweets") {
                    spoken.speech = Vocabulary::Tweet;
                }
                Ok(())
            }
            "expansions" => wants.ask_expansions(name, value),
            "media.fields" => wants.ask_fields(Object::Media, name, value),
            "poll.fields" => wants.ask_fields(Object::Poll, name, value),
            "place.fields" => wants.ask_fields(Object::Place, name, value),
            "user.fields" => wants.ask_fields(Object::User, name, value),
            _ => wants.ask_fields(Object::Post, name, value),
        };
    }
    Format { wants, spoken }
}
