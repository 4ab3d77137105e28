//! Faults that a tester has ordered for streams.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::AppId;
use base::clock::monotonic_now;
use emulator::faults::{FaultEffect, FaultOccasion, FaultRules, FaultSubject};
use parking_lot::Mutex;
use store::Store;

use super::{ConnectionRequest, StreamEndpoint, StreamSession};

/// Slots held at once, at most.
const MAX_HELD_SLOTS: usize = 1_000;

/// What happens to a message instead of being sent.
#[derive(Clone, Copy, Debug)]
pub(super) enum MessageFault {
    Drop,
    Duplicate,
    /// It is sent after the next message.
    Postpone,
    Disconnect,
    Pause(Duration),
}

/// The rules, asked for one connection.
pub(super) struct StreamFaults {
    rules: Option<(Arc<FaultRules>, Arc<Store>)>,
    app: AppId,
    endpoint: StreamEndpoint,
}

impl fmt::Debug for StreamFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamFaults").field("app", &self.app).finish_non_exhaustive()
    }
}

impl StreamFaults {
    pub(super) fn new(
        rules: Option<Arc<FaultRules>>,
        store: &Arc<Store>,
        app: AppId,
        endpoint: StreamEndpoint,
    ) -> Self {
        Self { rules: rules.map(|rules| (rules, Arc::clone(store))), app, endpoint }
    }

    fn find_effect(&self, occasion: FaultOccasion) -> Option<FaultEffect> {
        let (rules, store) = self.rules.as_ref().filter(|(rules, _)| !rules.is_empty())?;
        let (app, stream) = (Some(self.app.get()), self.endpoint.name());
        let subject = FaultSubject { app, stream, ..FaultSubject::new(occasion) };
        let fault = rules.find_fault(&subject, store.context().clock.now())?;
        tracing::info!(target: "stream", rule = &*fault.rule_id, effect = fault.effect_name(), stream, "injected fault");
        Some(fault.effect)
    }

    pub(super) fn refuses_connection(&self) -> bool {
        self.find_effect(FaultOccasion::StreamOpen) == Some(FaultEffect::TooManyConnections)
    }

    pub(super) fn skips_keep_alive(&self) -> bool {
        self.find_effect(FaultOccasion::StreamHeartbeat) == Some(FaultEffect::NoHeartbeat)
    }

    /// How long the slot of a connection that its client ended stays in use.
    pub(super) fn slot_hold_time(&self) -> Option<Duration> {
        match self.find_effect(FaultOccasion::StreamEnd)? {
            FaultEffect::HoldSlot(time) => Some(time),
            _ => None,
        }
    }

    pub(super) fn find_message_fault(&self) -> Option<MessageFault> {
        match self.find_effect(FaultOccasion::StreamMessage)? {
            FaultEffect::DropEvents => Some(MessageFault::Drop),
            FaultEffect::DuplicateEvents => Some(MessageFault::Duplicate),
            FaultEffect::ReorderEvents => Some(MessageFault::Postpone),
            FaultEffect::OperationalDisconnect => Some(MessageFault::Disconnect),
            FaultEffect::SlowStream(pause) => Some(MessageFault::Pause(pause)),
            _ => None,
        }
    }
}

/// Slots of connections that have ended.
#[derive(Debug, Default)]
pub(super) struct HeldSlots(Mutex<Vec<HeldSlot>>);

#[derive(Debug)]
struct HeldSlot {
    app: AppId,
    endpoint: StreamEndpoint,
    partition: u8,
    is_replay: bool,
    until: Instant,
}

impl HeldSlots {
    pub(super) fn hold(&self, session: &StreamSession, time: Duration) {
        let mut held = self.0.lock();
        if held.len() < MAX_HELD_SLOTS {
            held.push(HeldSlot {
                app: session.app(),
                endpoint: session.endpoint(),
                partition: session.partition(),
                is_replay: session.is_replay(),
                until: monotonic_now() + time,
            });
        }
    }

    /// Those that count for the limit of this connection.
    pub(super) fn count(&self, request: &ConnectionRequest) -> usize {
        let mut held = self.0.lock();
        if held.is_empty() {
            return 0;
        }
        let now = monotonic_now();
        held.retain(|slot| slot.until > now);
        let counts = |slot: &&HeldSlot| {
            let is_same = slot.app == request.app && slot.endpoint == request.endpoint;
            is_same && slot.is_replay == request.replay && (request.replay || slot.partition == request.partition)
        };
        held.iter().filter(counts).count()
    }
}
