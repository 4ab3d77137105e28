//! Whether the certificate of the public listener can be used, and for how long.

use base::{Fault, Time, clock};

use super::doctor::DoctorFinding;
use crate::tls::{AcmeFiles, AuthorityFiles, CertificateFacts, CertificateValidity, load_certificate};
use instance::config::{AcmeSettings, RunMode, ServerSettings};

/// A certificate that ends sooner should have been replaced.
const RENEWAL_MS: i64 = 14 * 24 * 3600 * 1000;

pub(super) fn check_certificate(settings: &ServerSettings) -> DoctorFinding {
    if let Some(acme) = &settings.acme {
        return check_acme_certificate(settings, acme);
    }
    let Some((certificate, key)) = settings.certificate_files() else {
        return describe_without_files(settings);
    };
    let facts = load_certificate(certificate, key).and_then(|_| {
        CertificateFacts::from_pem(&std::fs::read(certificate).map_err(Fault::context("reading tls.cert"))?)
    });
    match facts {
        Ok(facts) => judge_validity((&facts).into(), RENEWAL_MS, "replace it", clock::wall_time()),
        Err(fault) => DoctorFinding::Failure(fault.to_string()),
    }
}

/// The server renews it after two thirds of its lifetime.
fn check_acme_certificate(settings: &ServerSettings, acme: &AcmeSettings) -> DoctorFinding {
    match AcmeFiles::of_data_dir(&settings.core.data_dir, acme).load_certificate() {
        Ok(Some(found)) => {
            let renewal_ms = found.validity.lifetime_ms() / 4;
            judge_validity(found.validity, renewal_ms, "the log says why it was not renewed", clock::wall_time())
        }
        Ok(None) => DoctorFinding::Warning(format!("{} has not issued a certificate yet", acme.directory)),
        Err(fault) => DoctorFinding::Failure(fault.to_string()),
    }
}

fn describe_without_files(settings: &ServerSettings) -> DoctorFinding {
    if settings.mode == RunMode::Serve {
        return DoctorFinding::Healthy("none: TLS is left to a proxy".to_owned());
    }
    let file = AuthorityFiles::of_data_dir(&settings.core.data_dir).certificate;
    match std::fs::read(&file).ok().and_then(|pem| CertificateFacts::from_pem(&pem).ok()) {
        Some(facts) => DoctorFinding::Healthy(format!("issued by {}, until {}", file.display(), facts.not_after)),
        None => DoctorFinding::Healthy("the next start creates a local certificate authority".to_owned()),
    }
}

fn judge_validity(validity: CertificateValidity, renewal_ms: i64, advice: &str, now: Time) -> DoctorFinding {
    let (start, end) = (validity.not_before, validity.not_after);
    if now < start {
        DoctorFinding::Failure(format!("the certificate begins at {start}"))
    } else if now > end {
        DoctorFinding::Failure(format!("the certificate ended at {end}"))
    } else if end.ms() - now.ms() < renewal_ms {
        DoctorFinding::Warning(format!("the certificate ends at {end}: {advice}"))
    } else {
        DoctorFinding::Healthy(format!("until {end}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificate_is_judged_by_its_dates() {
        let day = |count: i64| Time::from_ms(1_700_000_000_000 + count * 24 * 3600 * 1000);
        let validity = CertificateValidity { not_before: day(0), not_after: day(90) };
        let judge = |count| judge_validity(validity, RENEWAL_MS, "replace it", day(count));
        assert!(matches!(judge(-1), DoctorFinding::Failure(_)));
        assert!(matches!(judge(1), DoctorFinding::Healthy(_)));
        assert!(matches!(judge(80), DoctorFinding::Warning(text) if text.contains("replace it")));
        assert!(matches!(judge(91), DoctorFinding::Failure(text) if text.contains("ended")));
    }
}
