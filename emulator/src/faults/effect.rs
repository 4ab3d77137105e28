//! Effects with their parameters.

use std::time::Duration;

use serde_json::{Map, Value};

use super::chance::FaultChance;
use super::declarations::{EFFECTS, EffectDeclaration};
use super::rule_parsing::FaultRuleProblem;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultEffect {
    Delay(DelayTime),
    Status(u16),
    RateLimit { reset_seconds: u32 },
    DatabaseBusy,
    ResetBeforeHeaders,
    LoseResponse,
    ResetMidBody { bytes: Option<u32> },
    Truncate { bytes: Option<u32> },
    Drip { chunk_bytes: u32, interval: Duration },
    BadJson,
    ExpireToken,
    RevokeToken,
    RefreshLost,
    BatchPartial,
    AsyncJobStuck,
    CountMismatch,
    ServableFalse,
    NoHeartbeat,
    DropEvents,
    DuplicateEvents,
    ReorderEvents,
    OperationalDisconnect,
    SlowStream(Duration),
    TooManyConnections,
    HoldSlot(Duration),
    SkipDelivery,
    DuplicateDelivery,
    DelayDelivery(Duration),
    ReorderDeliveries(Duration),
    BadSignature,
    CrcFail,
}

/// In milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayTime {
    Fixed(u32),
    Uniform(u32, u32),
    /// A log-normal distribution.
    LongTail {
        median: u32,
        p99: u32,
    },
}

/// The 99th percentile of the standard normal distribution.
const P99_DEVIATIONS: f64 = 2.326_347_87;
/// A long tail ends at this many times its 99th percentile.
const LONGEST_TAIL: f64 = 10.0;

impl DelayTime {
    pub fn sample(self, chance: FaultChance) -> Duration {
        let (one, two) = (chance.draw(1), chance.draw(2));
        let ms = match self {
            Self::Fixed(ms) => f64::from(ms),
            Self::Uniform(min, max) => f64::from(min) + f64::from(max.saturating_sub(min)) * one,
            Self::LongTail { median, p99 } => {
                let (median, p99) = (f64::from(median), f64::from(p99));
                // Box–Muller.
                let deviations = (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * two).cos();
                let spread = (p99 / median).ln() / P99_DEVIATIONS;
                (median * (spread * deviations).exp()).min(p99 * LONGEST_TAIL)
            }
        };
        Duration::from_secs_f64(ms / 1000.0)
    }
}

impl FaultEffect {
    /// `fields` match the declaration.
    pub(super) fn build(
        declaration: &'static EffectDeclaration,
        fields: &Map<String, Value>,
    ) -> Result<Self, FaultRuleProblem> {
        let number =
            |name: &str| fields.get(name).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok());
        let ms = |name: &str, default: u32| Duration::from_millis(number(name).unwrap_or(default).into());
        Ok(match declaration.name {
            "delay" => Self::Delay(build_delay(number("ms").unwrap_or(1), number("max_ms"), number("p99_ms"))?),
            "status" => Self::Status(number("status").and_then(|status| status.try_into().ok()).unwrap_or(500)),
            "rate-limit" => Self::RateLimit { reset_seconds: number("reset_seconds").unwrap_or(900) },
            "database-busy" => Self::DatabaseBusy,
            "reset-before-headers" => Self::ResetBeforeHeaders,
            "lose-response" => Self::LoseResponse,
            "reset-mid-body" => Self::ResetMidBody { bytes: number("bytes") },
            "truncate" => Self::Truncate { bytes: number("bytes") },
            "drip" => Self::Drip { chunk_bytes: number("chunk_bytes").unwrap_or(64), interval: ms("interval_ms", 100) },
            "bad-json" => Self::BadJson,
            "expire-token" => Self::ExpireToken,
            "revoke-token" => Self::RevokeToken,
            "refresh-lost" => Self::RefreshLost,
            "batch-partial" => Self::BatchPartial,
            "async-job-stuck" => Self::AsyncJobStuck,
            "count-mismatch" => Self::CountMismatch,
            "servable-false" => Self::ServableFalse,
            "no-heartbeat" => Self::NoHeartbeat,
            "drop-events" => Self::DropEvents,
            "duplicate-events" => Self::DuplicateEvents,
            "reorder-events" => Self::ReorderEvents,
            "operational-disconnect" => Self::OperationalDisconnect,
            "slow-stream" => Self::SlowStream(ms("ms", 1)),
            "too-many-connections" => Self::TooManyConnections,
            "hold-slot" => Self::HoldSlot(Duration::from_secs(number("seconds").unwrap_or(1).into())),
            "skip-delivery" => Self::SkipDelivery,
            "duplicate-delivery" => Self::DuplicateDelivery,
            "delay-delivery" => Self::DelayDelivery(ms("ms", 1)),
            "reorder-deliveries" => Self::ReorderDeliveries(ms("ms", 2000)),
            "bad-signature" => Self::BadSignature,
            "crc-fail" => Self::CrcFail,
            name => return Err(FaultRuleProblem::new("effect", name, unknown_effect(name))),
        })
    }

    pub const fn name(&self) -> &'static str {
        match self {
            Self::Delay(_) => "delay",
            Self::Status(_) => "status",
            Self::RateLimit { .. } => "rate-limit",
            Self::DatabaseBusy => "database-busy",
            Self::ResetBeforeHeaders => "reset-before-headers",
            Self::LoseResponse => "lose-response",
            Self::ResetMidBody { .. } => "reset-mid-body",
            Self::Truncate { .. } => "truncate",
            Self::Drip { .. } => "drip",
            Self::BadJson => "bad-json",
            Self::ExpireToken => "expire-token",
            Self::RevokeToken => "revoke-token",
            Self::RefreshLost => "refresh-lost",
            Self::BatchPartial => "batch-partial",
            Self::AsyncJobStuck => "async-job-stuck",
            Self::CountMismatch => "count-mismatch",
            Self::ServableFalse => "servable-false",
            Self::NoHeartbeat => "no-heartbeat",
            Self::DropEvents => "drop-events",
            Self::DuplicateEvents => "duplicate-events",
            Self::ReorderEvents => "reorder-events",
            Self::OperationalDisconnect => "operational-disconnect",
            Self::SlowStream(_) => "slow-stream",
            Self::TooManyConnections => "too-many-connections",
            Self::HoldSlot(_) => "hold-slot",
            Self::SkipDelivery => "skip-delivery",
            Self::DuplicateDelivery => "duplicate-delivery",
            Self::DelayDelivery(_) => "delay-delivery",
            Self::ReorderDeliveries(_) => "reorder-deliveries",
            Self::BadSignature => "bad-signature",
            Self::CrcFail => "crc-fail",
        }
    }
}

fn build_delay(ms: u32, max_ms: Option<u32>, p99_ms: Option<u32>) -> Result<DelayTime, FaultRuleProblem> {
    let below = |name: &str, value: u32| {
        FaultRuleProblem::new(format!("effect.{name}"), value, format!("{name} must be at least ms, which is {ms}"))
    };
    match (max_ms, p99_ms) {
        (None, None) => Ok(DelayTime::Fixed(ms)),
        (Some(max), None) if max < ms => Err(below("max_ms", max)),
        (Some(max), None) => Ok(DelayTime::Uniform(ms, max)),
        (None, Some(p99)) if p99 < ms => Err(below("p99_ms", p99)),
        (None, Some(p99)) => Ok(DelayTime::LongTail { median: ms, p99 }),
        (Some(_), Some(p99)) => {
            let message = "max_ms makes a delay uniform and p99_ms gives it a long tail: choose one";
            Err(FaultRuleProblem::new("effect.p99_ms", p99, message))
        }
    }
}

pub(super) fn unknown_effect(name: &str) -> String {
    let names: Vec<&str> = EFFECTS.iter().map(|effect| effect.name).collect();
    format!("there is no effect {name:?}; the effects are: {}", names.join(", "))
}
