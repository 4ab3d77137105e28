//! The conditions of a rule.

use base::Time;

use super::chance::FaultChance;
use crate::request_paths::{RequestPaths, is_placeholder, is_same_word};

/// What happens at the moment a rule is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultOccasion {
    Request,
    /// A request that exchanges a refresh token.
    TokenRefresh,
    StreamOpen,
    StreamMessage,
    StreamHeartbeat,
    StreamEnd,
    WebhookAttempt,
    WebhookChallenge,
}

/// What rules are compared with.
#[derive(Clone, Copy, Debug)]
pub struct FaultSubject<'a> {
    pub occasion: FaultOccasion,
    /// Upper case; empty if there is none.
    pub method: &'a str,
    /// The path as sent.
    pub path: &'a str,
    /// Every documented path of the operation, in both vocabularies.
    pub templates: &'a [String],
    /// An HTML page, which rules concern that name its route.
    pub is_page: bool,
    pub app: Option<i64>,
    pub user: Option<i64>,
    pub account: Option<i64>,
    pub stream: &'a str,
    pub webhook: Option<i64>,
}

impl FaultSubject<'_> {
    pub const fn new(occasion: FaultOccasion) -> Self {
        Self {
            occasion,
            method: "",
            path: "",
            templates: &[],
            is_page: false,
            app: None,
            user: None,
            account: None,
            stream: "",
            webhook: None,
        }
    }
}

/// A path, or the beginning of paths if it ends in `*`; with or without a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutePattern {
    method: Option<String>,
    /// `{name}` stands for any segment.
    path: String,
    is_prefix: bool,
}

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

impl RoutePattern {
    pub fn parse(text: &str) -> Result<Self, String> {
        let (method, path) = match text.trim().split_once(char::is_whitespace) {
            Some((method, path)) => (Some(parse_method(method)?), path.trim()),
            None => (None, text.trim()),
        };
        let (path, is_prefix) = path.strip_suffix('*').map_or((path, false), |start| (start, true));
        let is_path = path.starts_with('/') && !path.contains(['*', '?', '#', ' ']);
        if !is_path {
            return Err("a route is a path, with a method before it if wanted and a * at its end for all below: \
                        \"GET /2/users/me\", \"/2/tweets/*\""
                .to_owned());
        }
        Ok(Self { method, path: path.to_owned(), is_prefix })
    }

    pub fn matches(&self, subject: &FaultSubject<'_>) -> bool {
        let paths = RequestPaths { sent: subject.path, templates: subject.templates };
        self.matches_method(subject.method) && paths.match_wanted(&self.path, self.is_prefix)
    }

    pub fn matches_method(&self, method: &str) -> bool {
        self.method.as_deref().is_none_or(|own| own == method)
    }

    /// Whether some request to the documented `path` may match.
    pub fn may_match_path(&self, path: &str) -> bool {
        let mut theirs = path.split('/');
        let mut own = self.path.split('/').peekable();
        while let Some(segment) = own.next() {
            if self.is_prefix && own.peek().is_none() {
                return theirs.next().is_some_and(|their| is_placeholder(their) || their.starts_with(segment));
            }
            match theirs.next() {
                Some(their) if is_placeholder(segment) || is_placeholder(their) => {}
                Some(their) if segment == their || is_same_word(segment, their) => {}
                _ => return false,
            }
        }
        theirs.next().is_none()
    }
}

pub(super) fn parse_method(text: &str) -> Result<String, String> {
    let upper = text.to_ascii_uppercase();
    if METHODS.contains(&upper.as_str()) {
        return Ok(upper);
    }
    Err(format!("{text:?} is no method; the methods are: {}", METHODS.join(", ")))
}

#[derive(Clone, Debug, Default)]
pub struct FaultMatch {
    pub(super) method: Option<String>,
    pub route: Option<RoutePattern>,
    /// The id or name of an app, as given.
    pub app: Option<String>,
    /// The app, once it is known.
    pub app_id: Option<i64>,
    /// The id or @name of a user, as given.
    pub user: Option<String>,
    /// The user, once known.
    pub user_id: Option<i64>,
    pub(super) account: Option<i64>,
    pub stream: Option<String>,
    pub webhook: Option<i64>,
    pub(super) nth: Option<u64>,
    pub(super) after: Option<u64>,
    pub(super) every: Option<u64>,
    pub(super) probability: Option<f64>,
    pub(super) times: Option<u64>,
    pub(super) until: Option<Time>,
}

impl FaultMatch {
    pub(super) fn matches(&self, subject: &FaultSubject<'_>) -> bool {
        let fits = |own: Option<i64>, theirs: Option<i64>| own.is_none_or(|own| theirs == Some(own));
        self.method.as_deref().is_none_or(|own| own == subject.method)
            && fits(self.app_id, subject.app)
            && fits(self.user_id, subject.user)
            && fits(self.account, subject.account)
            && fits(self.webhook, subject.webhook)
            && self.stream.as_deref().is_none_or(|own| own == subject.stream)
            && self.route.as_ref().map_or(!subject.is_page, |route| route.matches(subject))
    }

    /// Whether the effect is applied at this match, counted from 1.
    pub(super) fn selects(&self, matched: u64, chance: FaultChance) -> bool {
        let after = self.after.unwrap_or(0);
        self.nth.is_none_or(|nth| nth == matched)
            && matched > after
            && self.every.is_none_or(|every| (matched - after).is_multiple_of(every))
            && self.probability.is_none_or(|share| chance.draw(0) < share)
    }

    pub(super) fn has_ended(&self, matched: u64, applied: u64, now: Time) -> bool {
        self.nth.is_some_and(|nth| matched >= nth)
            || self.times.is_some_and(|times| applied >= times)
            || self.until.is_some_and(|until| now >= until)
    }
}
