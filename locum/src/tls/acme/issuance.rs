//! An order: from proving control of the domain to the certificate.

use std::time::Duration;

use base::Fault;
use instant_acme::{
    AuthorizationStatus, ChallengeType, Error, Identifier, NewOrder, Order, OrderStatus, Problem, RetryPolicy,
};

use super::AcmeCertificates;
use super::certificate_store::AcmeCertificate;

const POLLING: RetryPolicy = RetryPolicy::new().timeout(Duration::from_mins(2));
/// RFC 8555 §6.7
const UNKNOWN_ACCOUNT: &str = "urn:ietf:params:acme:error:accountDoesNotExist";

impl AcmeCertificates {
    pub(super) async fn obtain_certificate(&self) -> Result<AcmeCertificate, Fault> {
        let mut order = self.place_order().await?;
        self.prove_control(&mut order).await?;
        let key = order.finalize().await.map_err(Fault::context("requesting the certificate"))?;
        let chain = order.poll_certificate(&POLLING).await.map_err(Fault::context("fetching the certificate"))?;
        self.files.save_certificate(&chain, &key)?;
        let saved = self.files.load_certificate()?;
        saved.ok_or_else(|| Fault::new("the certificate was removed"))
    }

    /// An account that the server no longer knows is replaced.
    async fn place_order(&self) -> Result<Order, Fault> {
        let names = [Identifier::Dns(self.settings.domain.clone())];
        let order = NewOrder::new(&names);
        let mut placed = self.open_account().await?.new_order(&order).await;
        if placed.as_ref().is_err_and(is_unknown_account) {
            self.files.forget_account()?;
            placed = self.open_account().await?.new_order(&order).await;
        }
        placed.map_err(Fault::context("placing the order"))
    }

    async fn prove_control(&self, order: &mut Order) -> Result<(), Fault> {
        let mut authorizations = order.authorizations();
        while let Some(authorization) = authorizations.next().await {
            let mut authorization = authorization.map_err(Fault::context("reading an authorization"))?;
            if authorization.status == AuthorizationStatus::Valid {
                continue;
            }
            let challenge = authorization.challenge(ChallengeType::TlsAlpn01);
            let mut challenge = challenge.ok_or_else(|| Fault::new("the server offers no challenge TLS-ALPN-01"))?;
            self.resolver.begin_challenge(challenge.key_authorization().digest().as_ref())?;
            challenge.set_ready().await.map_err(Fault::context("asking for the validation"))?;
        }
        match order.poll_ready(&POLLING).await {
            Ok(OrderStatus::Ready) => Ok(()),
            Ok(_) | Err(Error::Api(_)) => Err(validation_failure(order).await),
            Err(error) => Err(Fault::from_cause("waiting for the validation", error)),
        }
    }
}

fn is_unknown_account(error: &Error) -> bool {
    matches!(error, Error::Api(Problem { r#type: Some(name), .. }) if name == UNKNOWN_ACCOUNT)
}

/// Why the server could not validate the challenge, as far as it says.
async fn validation_failure(order: &mut Order) -> Fault {
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        let refreshed = authorization.refresh().await;
        let problem = refreshed.ok().and_then(|state| state.challenges.iter().find_map(|found| found.error.clone()));
        if let Some(problem) = problem {
            return Fault::from_cause("the validation failed", problem);
        }
    }
    Fault::new("the validation failed")
}
