//! Whether the certificate of the public listener can be used, and for how long.

use base::{Fault, Time, clock};

use super::doctor::DoctorFinding;
use crate::config::{RunMode, ServerSettings};
use crate::tls::{AuthorityFiles, CertificateFacts, load_certificate};

/// A certificate that ends sooner should have been replaced.
const RENEWAL_MS: i64 = 14 * 24 * 3600 * 1000;

pub(super) fn check_certificate(settings: &ServerSettings) -> DoctorFinding {
    let Some((certificate, key)) = settings.certificate_files() else {
        return describe_without_files(settings);
    };
    let facts = load_certificate(certificate, key).and_then(|_| {
        CertificateFacts::from_pem(&std::fs::read(certificate).map_err(Fault::context("reading tls.cert"))?)
    });
    match facts {
        Ok(facts) => judge_validity(facts.not_before, facts.not_after, clock::wall_time()),
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

fn judge_validity(start: Time, end: Time, now: Time) -> DoctorFinding {
    if now < start {
        DoctorFinding::Failure(format!("the certificate begins at {start}"))
    } else if now > end {
        DoctorFinding::Failure(format!("the certificate ended at {end}"))
    } else if end.ms() - now.ms() < RENEWAL_MS {
        DoctorFinding::Warning(format!("the certificate ends at {end}: replace it"))
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
        let judge = |count| judge_validity(day(0), day(90), day(count));
        assert!(matches!(judge(-1), DoctorFinding::Failure(_)));
        assert!(matches!(judge(1), DoctorFinding::Healthy(_)));
        assert!(matches!(judge(80), DoctorFinding::Warning(text) if text.contains("replace it")));
        assert!(matches!(judge(91), DoctorFinding::Failure(text) if text.contains("ended")));
    }
}
