//! Labels of test runs: from a header of the request, or from `locum run --label` while its program runs.

use std::sync::atomic::{AtomicUsize, Ordering};

use base::Time;
use http::HeaderName;
use parking_lot::Mutex;

pub static RUN_HEADER: HeaderName = HeaderName::from_static("x-locum-run");
/// How long a label is valid without being renewed.
pub const LABEL_LEASE_MS: i64 = 30_000;
const MAX_LABEL_BYTES: usize = 64;
const MAX_ACTIVE: usize = 64;

#[derive(Debug, Default)]
pub struct RunLabels {
    active: Mutex<Vec<ActiveLabel>>,
    /// So that requests without active labels take no lock.
    count: AtomicUsize,
}

#[derive(Debug)]
struct ActiveLabel {
    label: String,
    /// By the system's clock.
    valid_until: Time,
}

/// 1 to 64 visible ASCII characters.
pub fn is_valid_label(label: &str) -> bool {
    (1..=MAX_LABEL_BYTES).contains(&label.len()) && label.bytes().all(|byte| byte.is_ascii_graphic())
}

impl RunLabels {
    /// Labels the requests from now on, until [`RunLabels::end`] or the lease's end. Returns the other active labels;
    /// false if there are too many.
    pub fn start(&self, label: &str, now: Time) -> Result<Vec<String>, TooManyRuns> {
        let mut active = self.active.lock();
        active.retain(|one| one.valid_until > now && one.label != label);
        if active.len() >= MAX_ACTIVE {
            return Err(TooManyRuns);
        }
        let others = active.iter().map(|one| one.label.clone()).collect();
        active.push(ActiveLabel { label: label.to_owned(), valid_until: now.plus_ms(LABEL_LEASE_MS) });
        self.count.store(active.len(), Ordering::Relaxed);
        Ok(others)
    }

    pub fn end(&self, label: &str) {
        let mut active = self.active.lock();
        active.retain(|one| one.label != label);
        self.count.store(active.len(), Ordering::Relaxed);
    }

    /// None while several are active, since nothing tells whose a request is.
    pub fn find_active(&self, now: Time) -> Option<String> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let active = self.active.lock();
        let mut valid = active.iter().filter(|one| one.valid_until > now);
        let first = valid.next()?;
        valid.next().is_none().then(|| first.label.clone())
    }
}

/// More runs at once than labels are kept for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyRuns;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_is_used_while_it_is_the_only_one_and_its_lease_is_valid() {
        let labels = RunLabels::default();
        let at = Time::from_ms;
        assert_eq!(labels.find_active(at(0)), None);
        assert_eq!(labels.start("a", at(0)), Ok(Vec::new()));
        assert_eq!(labels.find_active(at(1)), Some("a".to_owned()));
        assert_eq!(labels.start("b", at(2)), Ok(vec!["a".to_owned()]));
        assert_eq!(labels.find_active(at(3)), None);
        labels.end("a");
        assert_eq!(labels.find_active(at(3)), Some("b".to_owned()));
        assert_eq!(labels.find_active(at(3 + LABEL_LEASE_MS)), None);
        assert!(is_valid_label("pr-7/unit") && !is_valid_label("") && !is_valid_label("two words"));
    }
}
