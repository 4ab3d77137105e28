//! The banner that `locum dev` prints when it is ready.

use std::net::SocketAddr;
use std::time::Duration;

use super::env_file::EnvFile;

/// Where commands look without `--data-dir`.
const DEFAULT_DATA_DIR: &str = "./.locum";
/// Older posts are found only by full-archive search.
const RECENT_SEARCH_REACH: Duration = Duration::from_hours(7 * 24);

#[derive(Debug)]
pub(super) struct BannerFacts<'a> {
    pub(super) world: &'a str,
    pub(super) seed: u64,
    pub(super) data_dir: String,
    pub(super) is_new: bool,
    /// At the end.
    pub(super) removes_data: bool,
    /// Time since the process started.
    pub(super) startup_time: Duration,
    pub(super) counts: WorldCounts,
    /// What the clock does and shows.
    pub(super) clock: &'a str,
    pub(super) world_age: Option<Duration>,
    pub(super) base_url: &'a str,
    pub(super) ads_sandbox: Option<&'a str>,
    pub(super) control: Option<SocketAddr>,
    pub(super) credentials: &'a EnvFile,
    pub(super) emulated_hosts: &'a [String],
    /// Hosts that clients may reach through the server.
    pub(super) pass_through: &'a [String],
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WorldCounts {
    pub(super) users: u64,
    pub(super) posts: i64,
    pub(super) apps: u64,
    /// Whether there are more users or posts than were counted.
    pub(super) is_truncated: bool,
}

pub(super) fn render_banner(facts: &BannerFacts<'_>) -> String {
    let BannerFacts { world, seed, data_dir, base_url, credentials: env, .. } = facts;
    let place = if data_dir == DEFAULT_DATA_DIR { String::new() } else { format!(" --data-dir {data_dir}") };
    let state = if facts.is_new { "created" } else { "existing" };
    let more = if facts.counts.is_truncated { "+" } else { "" };
    let mut text = format!(
        "locum {} · dev world {world:?} · seed {seed} · clock {} · data {data_dir} ({state})\n  \
         ready in {:.2} s   {}{more} users  {}{more} posts  {} apps   DEV MODE: not for real users\n\n  \
         API       {base_url}\n  \
         Console   {base_url}/console  (what your program sends, clock, faults, people)\n",
        env!("CARGO_PKG_VERSION"),
        facts.clock,
        facts.startup_time.as_secs_f64(),
        facts.counts.users,
        facts.counts.posts,
        facts.counts.apps,
    );
    if let Some(age) = facts.world_age.filter(|age| *age > RECENT_SEARCH_REACH) {
        let days = age.as_secs() / 86_400;
        let line = format!(
            "  World     its own posts are {days} days and older, and recent search reaches back 7 days\n            \
             start over with new ones: locum dev{place} --fresh  (removes all data)\n",
        );
        text.push_str(&line);
    }
    if let Some(sandbox) = facts.ads_sandbox {
        let line = format!("  Sandbox   {sandbox}  (Ads API)\n");
        text.push_str(&line);
    }
    if let Some(account) = env.get("ADS_ACCOUNT_ID") {
        let line = format!("  Ads       account {account}  ·  Ads Manager {base_url}/ads/{account}\n");
        text.push_str(&line);
    }
    if let Some(control) = facts.control {
        let line = format!("  Control   http://{control}  (token in {data_dir}/control.token)\n");
        text.push_str(&line);
    }
    text.push_str(&render_hosts(facts));
    if env.get("USER_TOKEN").is_some() {
        text.push_str(&render_credentials(data_dir, &place, env));
    } else {
        let line = format!(
            "\n  start with:  locum{place} user create ada\n               locum{place} app create demo --owner ada\n"
        );
        text.push_str(&line);
    }
    let line = if facts.removes_data {
        "Ctrl-C stops the server and removes the data directory.\n".to_owned()
    } else {
        format!("Ctrl-C stops the server. Data is kept; `locum dev{place} --fresh` starts over.\n")
    };
    text.push_str(&line);
    text
}

fn render_hosts(facts: &BannerFacts<'_>) -> String {
    let mut text = String::new();
    if let [first, others @ ..] = facts.emulated_hosts {
        let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
        text = format!("  Emulates  {first}{more}  (TLS and proxy; CA in {}/ca/ca.pem)\n", facts.data_dir);
    }
    if !facts.pass_through.is_empty() {
        let line = format!("  Passes    {}  (to the real hosts)\n", facts.pass_through.join(", "));
        text.push_str(&line);
    }
    text
}

fn render_credentials(data_dir: &str, place: &str, env: &EnvFile) -> String {
    let part = |name: &str| {
        let value = env.get(name).unwrap_or_default();
        let start: String = value.chars().take(8).collect();
        format!("{start}…")
    };
    format!(
        "  You are   @{}, password {:?}\n  \
         Clients   locum{place} run -- python bot.py   or   eval \"$(locum{place} env)\"\n\n  \
         app \"demo\"   API key {}   secret {}   bearer {}\n  \
         user token   OAuth 1.0a {} / {}   OAuth 2.0 {}\n  \
         (all in {data_dir}/dev.env, mode 0600)\n\n  \
         try:  eval \"$(locum{place} env)\"\n        \
         curl -s $LOCUM_BASE_URL/2/users/me -H \"Authorization: Bearer $LOCUM_USER_TOKEN\"\n",
        env.get("USERNAME").unwrap_or_default(),
        env.get("PASSWORD").unwrap_or_default(),
        part("API_KEY"),
        part("API_SECRET"),
        part("BEARER_TOKEN"),
        part("ACCESS_TOKEN"),
        part("ACCESS_TOKEN_SECRET"),
        part("USER_TOKEN"),
    )
}

#[cfg(test)]
mod tests {
    use super::{BannerFacts, WorldCounts, render_banner};
    use crate::dev::env_file::EnvFile;
    use std::time::Duration;

    fn facts(lines: &EnvFile) -> BannerFacts<'_> {
        BannerFacts {
            world: "demo",
            seed: 7,
            data_dir: "./.locum".to_owned(),
            is_new: true,
            removes_data: false,
            startup_time: Duration::from_millis(312),
            clock: "live",
            world_age: Some(Duration::from_hours(20)),
            counts: WorldCounts { users: 12, posts: 340, apps: 2, is_truncated: false },
            base_url: "http://127.0.0.1:8080",
            ads_sandbox: Some("http://127.0.0.1:8078"),
            control: None,
            credentials: lines,
            emulated_hosts: &[],
            pass_through: &[],
        }
    }

    #[test]
    fn hosts_that_are_reached_are_shown() {
        let lines = EnvFile::default();
        let [hosts, passed] =
            [["api.x.com".to_owned(), "x.com".to_owned()], ["a.example".to_owned(), "b.example".to_owned()]];
        let text = render_banner(&BannerFacts { emulated_hosts: &hosts, pass_through: &passed, ..facts(&lines) });
        assert!(text.contains("Emulates  api.x.com and 1 more  (TLS and proxy; CA in ./.locum/ca/ca.pem)"), "{text}");
        assert!(text.contains("Passes    a.example, b.example  (to the real hosts)"), "{text}");
    }

    #[test]
    fn the_box_says_what_there_is_and_no_whole_secret() {
        let lines = "LOCUM_USER_TOKEN=0123456789abcdef\nLOCUM_USERNAME=ada\nLOCUM_ADS_ACCOUNT_ID=18ce53un18h\n";
        let lines = EnvFile::parse(lines);
        let text = render_banner(&facts(&lines));
        assert!(text.contains("dev world \"demo\" · seed 7 · clock live · data ./.locum (created)"));
        assert!(text.contains("Console   http://127.0.0.1:8080/console"), "{text}");
        assert!(text.contains("Sandbox   http://127.0.0.1:8078"));
        let ads = "Ads       account 18ce53un18h  ·  Ads Manager http://127.0.0.1:8080/ads/18ce53un18h\n";
        assert!(text.contains(ads), "{text}");
        assert!(text.contains("ready in 0.31 s   12 users  340 posts  2 apps"));
        assert!(text.contains("OAuth 2.0 01234567…") && !text.contains("89abcdef"), "{text}");
    }

    #[test]
    fn an_empty_world_says_how_to_begin() {
        let lines = EnvFile::default();
        assert!(render_banner(&facts(&lines)).contains("locum user create ada"));
        let elsewhere = render_banner(&BannerFacts { data_dir: "w1".to_owned(), ..facts(&lines) });
        for command in ["locum --data-dir w1 user create ada", "`locum dev --data-dir w1 --fresh` starts over"] {
            assert!(elsewhere.contains(command), "{elsewhere}");
        }
    }
}
