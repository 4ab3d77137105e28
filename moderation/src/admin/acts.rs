//! The form that acts on what is reported, or on an account.

use base::{Refusal, Time};
use identity::moderation::{KIND_NAMES, Kind, ModerationTarget, NewModerationAction};
use portal::SubmittedForm;

const DAY_MS: i64 = 24 * 3600 * 1000;
const MAX_DAYS: i64 = 366;
pub(super) const DEFAULT_DAYS: &str = "7";

/// What was ordered, as it was typed.
#[derive(Clone)]
pub(super) struct ActForm {
    /// None to dismiss a report.
    pub(super) kind: Option<Kind>,
    pub(super) reason: String,
    pub(super) days: String,
}

impl ActForm {
    pub(super) fn read(sent: &SubmittedForm<'_>) -> Result<Self, Refusal> {
        let act = sent.text("act");
        let kind = KIND_NAMES.iter().find(|(_, name)| *name == act).map(|(kind, _)| *kind);
        if kind.is_none() && act != "dismiss" {
            return Err(Refusal::invalid_value("act", act));
        }
        Ok(Self { kind, reason: sent.text("reason"), days: sent.text("days") })
    }

    /// Refuses days of a silence or suspension that are not a whole number from 1 to 366, and a suspension or ban
    /// without a reason.
    pub(super) fn build_action(
        &self,
        kind: Kind,
        target: ModerationTarget,
        now: Time,
    ) -> Result<NewModerationAction, Refusal> {
        if matches!(kind, Kind::Suspend | Kind::Ban) && self.reason.trim().is_empty() {
            let message = "Enter a reason for the suspension or ban. The person concerned reads it.";
            return Err(Refusal::invalid_parameter("reason", "", message));
        }
        let ends = matches!(kind, Kind::Silence | Kind::Suspend);
        let days = ends.then(|| parse_days(&self.days)).transpose()?;
        Ok(NewModerationAction {
            kind,
            target,
            reason: self.reason.clone(),
            ends_at: days.map(|days| now.plus_ms(days.saturating_mul(DAY_MS))),
        })
    }
}

fn parse_days(text: &str) -> Result<i64, Refusal> {
    let days = text.trim().parse().ok().filter(|days| (1..=MAX_DAYS).contains(days));
    days.ok_or_else(|| {
        let message = format!("Enter the days as a whole number from 1 to {MAX_DAYS}.");
        Refusal::invalid_parameter("days", text, message)
    })
}
