//! Which client libraries have sent requests, by their `User-Agent`.

use std::sync::{Mutex, PoisonError};

use base::Time;

/// A library that identifies itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientFamily {
    pub name: &'static str,
    /// In lower case, with which its `User-Agent` starts or which it contains.
    signs: &'static [&'static str],
}

/// Clients that send no `User-Agent`, or one that is not listed.
pub const OTHER_CLIENTS: &str = "other";

/// The first that matches: libraries come before the HTTP clients that they are built on.
const FAMILIES: &[ClientFamily] = &[
    family("tweepy", &["tweepy"]),
    family("xdk for Python", &["xdk-python"]),
    family("xdk for TypeScript", &["xdk-typescript", "xdk-js"]),
    family("TwitterAPI", &["python-twitterapi"]),
    family("python-twitter", &["python-twitter"]),
    family("twitter-ads", &["twitter-ads"]),
    family("twarc", &["twarc"]),
    family("twitter-api-v2", &["node.twitter-api-v2", "twitter-api-v2"]),
    family("twitter gem", &["twitterrubygem"]),
    family("Twitter::API", &["perl5-twitter-api", "twitter-api"]),
    family("xurl", &["xurl"]),
    family("Python", &["python-requests", "python-httpx", "python-urllib", "aiohttp", "python/"]),
    family("Java", &["java"]),
    family("Go", &["go-http-client"]),
    family("Ruby", &["ruby", "http.rb"]),
    family("PHP", &["php", "guzzlehttp"]),
    family("Node", &["node", "undici", "axios", "got ("]),
    family("Rust", &["reqwest", "rust"]),
    family("curl", &["curl/"]),
    family("API explorer", &["locum-explorer"]),
    family("browser", &["mozilla/"]),
];

const fn family(name: &'static str, signs: &'static [&'static str]) -> ClientFamily {
    ClientFamily { name, signs }
}

/// Longer headers are cut before they are compared.
const MAX_AGENT_BYTES: usize = 256;

/// `also` is `X-User-Agent`, which some libraries send because browsers forbid the other.
pub fn find_family(agent: &str, also: &str) -> &'static str {
    let cut = |text: &str| -> String { text.chars().take(MAX_AGENT_BYTES).collect::<String>().to_ascii_lowercase() };
    let agents = [cut(also), cut(agent)];
    let matches = |family: &&ClientFamily| {
        let mut signs = family.signs.iter();
        signs.any(|sign| agents.iter().any(|agent| agent.contains(sign)))
    };
    FAMILIES.iter().find(matches).map_or(OTHER_CLIENTS, |family| family.name)
}

base::named_enum! {
    pub enum CredentialsKind {
        Anonymous = "none",
        OAuth1 = "OAuth 1.0a",
        OAuth2User = "OAuth 2.0 user token",
        AppOnly = "bearer token of the app",
        /// Client id and secret, or API key and secret.
        AppSecret = "client secret",
    }
}

impl CredentialsKind {
    /// From the `Authorization` header, and whether it belonged to a user.
    pub fn from_header(authorization: &[u8], has_user: bool) -> Self {
        let is = |scheme: &[u8]| {
            let sent = authorization.get(..scheme.len());
            sent.is_some_and(|sent| sent.eq_ignore_ascii_case(scheme))
        };
        match has_user {
            true if is(b"bearer ") => Self::OAuth2User,
            false if is(b"bearer ") => Self::AppOnly,
            _ if is(b"oauth ") => Self::OAuth1,
            _ if is(b"basic ") => Self::AppSecret,
            _ => Self::Anonymous,
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::Anonymous => 1,
            Self::OAuth1 => 2,
            Self::OAuth2User => 4,
            Self::AppOnly => 8,
            Self::AppSecret => 16,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenClient {
    /// Of [`find_family`].
    pub family: &'static str,
    pub first_at: Time,
    pub last_at: Time,
    pub requests: u64,
    /// Requests that were answered with a status below 400.
    pub successes: u64,
    credentials: u8,
}

impl SeenClient {
    pub fn credentials(&self) -> impl Iterator<Item = CredentialsKind> + '_ {
        CredentialsKind::ALL.into_iter().filter(|kind| self.credentials & kind.bit() != 0)
    }
}

#[derive(Debug, Default)]
pub struct ClientRegister(Mutex<SeenClients>);

#[derive(Debug, Default)]
struct SeenClients {
    /// One entry for each family, so at most as many as there are families.
    clients: Vec<SeenClient>,
    /// Of the last request: the next one is often from the same client.
    last: Option<KnownAgent>,
}

#[derive(Debug)]
struct KnownAgent {
    agent: String,
    also: String,
    family: &'static str,
}

impl SeenClients {
    fn family_of(&mut self, agent: &str, also: &str) -> &'static str {
        if let Some(last) = self.last.as_ref().filter(|last| last.agent == agent && last.also == also) {
            return last.family;
        }
        let family = find_family(agent, also);
        if agent.len().max(also.len()) <= MAX_AGENT_BYTES {
            self.last = Some(KnownAgent { agent: agent.to_owned(), also: also.to_owned(), family });
        }
        family
    }
}

impl ClientRegister {
    /// `agent` and `also` are those of [`find_family`].
    pub fn record(&self, (agent, also): (&str, &str), credentials: CredentialsKind, status: u16, at: Time) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let family = seen.family_of(agent, also);
        let seen = &mut seen.clients;
        if !seen.iter().any(|client| client.family == family) {
            seen.push(SeenClient { family, first_at: at, last_at: at, requests: 0, successes: 0, credentials: 0 });
        }
        for client in seen.iter_mut().filter(|client| client.family == family) {
            client.last_at = at;
            client.requests = client.requests.saturating_add(1);
            client.successes = client.successes.saturating_add(u64::from(status < 400));
            client.credentials |= credentials.bit();
        }
    }

    /// In the order in which they were first seen.
    pub fn list(&self) -> Vec<SeenClient> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clients.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_recognized_before_the_clients_that_they_use() {
        for (agent, also, family) in [
            ("Python/3.12.1 Requests/2.32.3 Tweepy/4.14.0", "", "tweepy"),
            ("xdk-python/0.2.1", "", "xdk for Python"),
            ("", "Node.twitter-api-v2", "twitter-api-v2"),
            ("python-requests/2.32.3", "", "Python"),
            ("Java-http-client/21.0.2", "", "Java"),
            ("Go-http-client/2.0", "", "Go"),
            ("curl/8.5.0", "", "curl"),
            ("node", "", "Node"),
            ("", "", OTHER_CLIENTS),
            ("My bot 1.0", "", OTHER_CLIENTS),
        ] {
            assert_eq!(find_family(agent, also), family, "{agent} {also}");
        }
        assert_eq!(find_family(&"x".repeat(100_000), ""), OTHER_CLIENTS);
    }

    #[test]
    fn requests_of_a_family_are_counted_in_one_entry() {
        let register = ClientRegister::default();
        let [early, late] = [Time::from_seconds(1), Time::from_seconds(2)];
        register.record(("curl/8.5.0", ""), CredentialsKind::from_header(b"", false), 401, early);
        register.record(("curl/8.6.0", ""), CredentialsKind::from_header(b"Bearer x", true), 200, late);
        let seen = register.list();
        assert_eq!(seen.len(), 1);
        assert_eq!((seen[0].first_at, seen[0].last_at), (early, late));
        assert_eq!((seen[0].requests, seen[0].successes), (2, 1));
        let kinds: Vec<_> = seen[0].credentials().collect();
        assert_eq!(kinds, [CredentialsKind::Anonymous, CredentialsKind::OAuth2User]);
    }
}
