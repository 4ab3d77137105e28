//! Faults that a tester has ordered for deliveries and challenges.

use std::sync::Arc;

use base::{AppId, Time};
use bytes::Bytes;
use emulator::faults::{FaultEffect, FaultOccasion, FaultSubject, InjectedFault};
use http::Request;
use http_body_util::Full;

use super::WebhookClient;
use super::challenge::ChallengeSubject;
use super::client::WebhookResponse;

/// What a delivery meets.
#[derive(Clone, Debug)]
pub(super) struct DeliveryFault(InjectedFault);

impl DeliveryFault {
    pub(super) fn spoils_signature(&self) -> bool {
        self.0.effect == FaultEffect::BadSignature
    }

    /// Whether later deliveries are sent before it.
    pub(super) fn lets_others_pass(&self) -> bool {
        matches!(self.0.effect, FaultEffect::ReorderDeliveries(_))
    }
}

impl WebhookClient {
    fn find_fault(&self, occasion: FaultOccasion, subject: ChallengeSubject, now: Time) -> Option<InjectedFault> {
        let subject =
            FaultSubject { app: Some(subject.app.get()), webhook: subject.webhook, ..FaultSubject::new(occasion) };
        self.faults()?.find_fault(&subject, now)
    }

    pub(super) fn find_delivery_fault(&self, app: AppId, webhook: i64, now: Time) -> Option<DeliveryFault> {
        let subject = ChallengeSubject { app, webhook: Some(webhook) };
        self.find_fault(FaultOccasion::WebhookAttempt, subject, now).map(DeliveryFault)
    }

    /// The id of the rule that makes a challenge fail.
    pub(super) fn find_challenge_fault(&self, subject: ChallengeSubject, now: Time) -> Option<Arc<str>> {
        Some(self.find_fault(FaultOccasion::WebhookChallenge, subject, now)?.rule_id)
    }

    /// Sends a delivery as ordered; of two requests, the second decides.
    pub(super) async fn send_with_fault(
        &self,
        request: Request<Full<Bytes>>,
        fault: Option<DeliveryFault>,
    ) -> WebhookResponse {
        let Some(DeliveryFault(fault)) = fault else {
            return self.send_request(request).await;
        };
        match fault.effect {
            FaultEffect::SkipDelivery => return WebhookResponse::not_sent(&fault.rule_id),
            FaultEffect::DuplicateDelivery => {
                let _first = self.send_request(request.clone()).await;
            }
            FaultEffect::DelayDelivery(time) | FaultEffect::ReorderDeliveries(time) => tokio::time::sleep(time).await,
            _ => {}
        }
        self.send_request(request).await
    }
}

impl WebhookResponse {
    /// As if it had arrived.
    fn not_sent(rule_id: &str) -> Self {
        Self { status: 200, body_start: format!("(not sent: injected fault {rule_id})"), ..Self::default() }
    }
}
