//! Rate limit headers.

use base::clock::wall_time;
use http::header::{HeaderMap, HeaderName, HeaderValue};

use super::{RateLimitStatus, WindowStatus};

const LIMIT: HeaderName = HeaderName::from_static("x-rate-limit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-rate-limit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-rate-limit-reset");
const USER_LIMIT: HeaderName = HeaderName::from_static("x-user-limit-24hour-limit");
const USER_REMAINING: HeaderName = HeaderName::from_static("x-user-limit-24hour-remaining");
const USER_RESET: HeaderName = HeaderName::from_static("x-user-limit-24hour-reset");
const APP_LIMIT: HeaderName = HeaderName::from_static("x-app-limit-24hour-limit");
const APP_REMAINING: HeaderName = HeaderName::from_static("x-app-limit-24hour-remaining");
const APP_RESET: HeaderName = HeaderName::from_static("x-app-limit-24hour-reset");

const ACCOUNT_LIMIT: HeaderName = HeaderName::from_static("x-account-rate-limit-limit");
const ACCOUNT_REMAINING: HeaderName = HeaderName::from_static("x-account-rate-limit-remaining");
const ACCOUNT_RESET: HeaderName = HeaderName::from_static("x-account-rate-limit-reset");

impl RateLimitStatus {
    pub fn write_account_headers(&self, headers: &mut HeaderMap) {
        if let Some(figures) = self.common {
            headers.insert(ACCOUNT_LIMIT, HeaderValue::from(figures.limit));
            headers.insert(ACCOUNT_REMAINING, HeaderValue::from(figures.remaining));
            headers.insert(ACCOUNT_RESET, HeaderValue::from(figures.reset));
        }
    }

    /// Seconds until the exhausted window resets, at least one; none if no window is exhausted.
    pub fn retry_after_seconds(&self) -> Option<i64> {
        let windows = [self.common, self.day, self.app_day].into_iter().flatten();
        let spent = windows.filter(|figures| figures.remaining == 0);
        let reset = spent.map(|figures| figures.reset).max()?;
        Some((reset - wall_time().ms().div_euclid(1000)).max(1))
    }

    pub fn write_headers(&self, headers: &mut HeaderMap) {
        let mut insert = |[limit, remaining, reset]: [HeaderName; 3], figures: WindowStatus| {
            headers.insert(limit, HeaderValue::from(figures.limit));
            headers.insert(remaining, HeaderValue::from(figures.remaining));
            headers.insert(reset, HeaderValue::from(figures.reset));
        };
        if let Some(figures) = self.common {
            insert([LIMIT, REMAINING, RESET], figures);
        }
        match self.day {
            Some(figures) if self.is_user_limit => insert([USER_LIMIT, USER_REMAINING, USER_RESET], figures),
            Some(figures) => insert([APP_LIMIT, APP_REMAINING, APP_RESET], figures),
            None => {}
        }
        if let Some(figures) = self.app_day {
            insert([APP_LIMIT, APP_REMAINING, APP_RESET], figures);
        }
    }
}
