//! When certificates are ordered.

use std::time::Duration;

use base::{Fault, clock};
use tokio::time::{sleep, timeout};

use super::AcmeCertificates;
use super::certificate_store::AcmeCertificate;

/// One order, from the first request to the certificate.
const MAX_ORDER_TIME: Duration = Duration::from_mins(5);
/// The pause after the first failure. Let's Encrypt allows five failed validations an hour.
const FIRST_RETRY: Duration = Duration::from_secs(5);
const RETRY_FACTOR: u32 = 4;
const MAX_RETRY: Duration = Duration::from_hours(1);
/// The machine's time may be changed during a pause.
const MAX_PAUSE: Duration = Duration::from_mins(10);

impl AcmeCertificates {
    /// Orders the first certificate, and another one after two thirds of each one's lifetime. Failures are logged and
    /// retried for ever.
    pub(crate) async fn renew(self) {
        let mut retry = FIRST_RETRY;
        loop {
            let pause = self.time_to_renewal();
            if !pause.is_zero() {
                sleep(pause.min(MAX_PAUSE)).await;
                continue;
            }
            match self.replace_certificate().await {
                Ok(()) => retry = FIRST_RETRY,
                Err(fault) => {
                    tracing::error!(error = %fault, next_attempt = ?retry, "failed to obtain a certificate");
                    sleep(retry).await;
                    retry = (retry * RETRY_FACTOR).min(MAX_RETRY);
                }
            }
        }
    }

    /// Zero if there is no certificate.
    fn time_to_renewal(&self) -> Duration {
        let due = self.resolver.validity().map_or(0, |validity| validity.renewal_time().ms());
        let ms = due.saturating_sub(clock::wall_time().ms());
        Duration::from_millis(u64::try_from(ms).unwrap_or(0))
    }

    async fn replace_certificate(&self) -> Result<(), Fault> {
        let obtained = timeout(MAX_ORDER_TIME, Box::pin(self.obtain_certificate())).await;
        self.resolver.end_challenge();
        let obtained = obtained.unwrap_or_else(|_| Err(Fault::new("the ACME server took too long")))?;
        let AcmeCertificate { validity, .. } = obtained;
        self.resolver.set_certificate(obtained);
        if self.time_to_renewal().is_zero() {
            return Err(Fault::new(format!("the new certificate ends at {}: check the clock", validity.not_after)));
        }
        tracing::info!(domain = self.settings.domain, until = %validity.not_after, "obtained a certificate");
        Ok(())
    }
}
