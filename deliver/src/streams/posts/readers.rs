//! The connections of a node's post streams, by what they receive.

use std::collections::HashMap;

use base::Fault;
use network::connections;
use store::Tx;
use tokio::sync::oneshot;

use super::LogPoll;
use crate::streams::format::StreamFormat;
use crate::streams::rule_index::{RuleIndex, RuleOwner};
use crate::streams::{DisconnectReason, StreamSession};

#[derive(Default)]
pub(in crate::streams) struct PostStreamsState {
    /// All entries up to here were dispatched; `None` while nobody is connected.
    pub(super) cursor: Option<i64>,
    /// Connections to streams with rules, by rule owner.
    pub(super) rule_readers: HashMap<RuleOwner, Vec<StreamReader>>,
    /// Connections to samples and firehoses.
    pub(super) sample_readers: Vec<StreamReader>,
    pub(super) like_readers: Vec<StreamReader>,
    pub(super) compliance_readers: Vec<StreamReader>,
    pub(super) waiting: Vec<PendingReader>,
    pub(in crate::streams) rule_index: RuleIndex,
}

pub(in crate::streams) struct StreamReader {
    pub(in crate::streams) session: StreamSession,
    pub(in crate::streams) format: StreamFormat,
    /// Entries after this offset are for the reader.
    pub(in crate::streams) after: i64,
}

pub(super) struct PendingReader {
    pub(super) session: StreamSession,
    pub(super) format: StreamFormat,
    pub(super) after: Option<i64>,
    pub(super) started: oneshot::Sender<()>,
}

impl PostStreamsState {
    /// Resets the state once nobody is connected.
    pub(super) fn reset(&mut self) {
        *self = Self { rule_index: self.rule_index.empty_copy(), ..Self::default() };
    }

    pub(super) fn readers(&self) -> impl Iterator<Item = &StreamReader> {
        let by_rules = self.rule_readers.values().flatten();
        let others = self.sample_readers.iter().chain(&self.like_readers).chain(&self.compliance_readers);
        by_rules.chain(others)
    }

    pub(super) fn readers_mut(&mut self) -> impl Iterator<Item = &mut StreamReader> {
        let by_rules = self.rule_readers.values_mut().flatten();
        let others = self.sample_readers.iter_mut().chain(&mut self.like_readers);
        by_rules.chain(others).chain(&mut self.compliance_readers)
    }

    pub(super) fn needs_posts(&self) -> bool {
        !self.rule_readers.is_empty() || !self.sample_readers.is_empty()
    }

    pub(in crate::streams) fn add_reader(&mut self, reader: StreamReader) {
        if let Some(owner) = rule_owner(&reader.session) {
            self.rule_readers.entry(owner).or_default().push(reader);
        } else if reader.session.endpoint().carries_likes() {
            self.like_readers.push(reader);
        } else if reader.session.endpoint().compliance_partitions().is_some() {
            self.compliance_readers.push(reader);
        } else {
            self.sample_readers.push(reader);
        }
    }

    /// Removes ended connections, and the rules of apps without others.
    pub(super) fn remove_ended(&mut self) {
        let Self { rule_readers, sample_readers, like_readers, compliance_readers, waiting, rule_index, .. } = self;
        for readers in [sample_readers, like_readers, compliance_readers] {
            readers.retain(|reader| !reader.session.has_ended());
        }
        let mut left = Vec::new();
        waiting.retain(|pending| {
            let stays = !pending.session.has_ended();
            left.extend(rule_owner(&pending.session).filter(|_| !stays));
            stays
        });
        rule_readers.retain(|app, readers| {
            readers.retain(|reader| !reader.session.has_ended());
            left.extend(readers.is_empty().then_some(*app));
            !readers.is_empty()
        });
        for app in left {
            let waits = |pending: &PendingReader| rule_owner(&pending.session) == Some(app);
            if !rule_readers.contains_key(&app) && !waiting.iter().any(waits) {
                rule_index.remove_owner(app);
            }
        }
    }

    /// Loads some of the rules that waiting sessions need; sessions whose rules are complete can start.
    pub(super) fn load_pending_rules(&mut self, tx: &mut Tx<'_>, poll: &mut LogPoll) -> Result<(), Fault> {
        for one in &self.waiting {
            let session = &one.session;
            let read = match rule_owner(session) {
                Some(owner) => self.rule_index.load_rules(tx, owner)?,
                None => true,
            };
            if read {
                poll.ready.push(session.id());
                // A revocation during the start may have been dispatched already.
                if !is_token_current(session, connections::find_token_digest(tx, session.app())?) {
                    poll.ended.push((session.clone(), DisconnectReason::Revoked));
                }
            }
        }
        Ok(())
    }
}

/// The owner of the rules that filter a session's stream, if rules do.
pub(in crate::streams) fn rule_owner(session: &StreamSession) -> Option<RuleOwner> {
    let product = session.endpoint().rule_product()?;
    Some((session.app(), product))
}

/// Whether a session's token is still valid for its app.
pub(super) fn is_token_current(session: &StreamSession, token: Option<[u8; 32]>) -> bool {
    session.start_info().map(|started| started.token_digest) == token
}
