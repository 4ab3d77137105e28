//! What people signed in with last, as far as their browsers tell: what it runs on, its version, and
//! which device it is.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use base::{Error, Fault};
use roaring::RoaringBitmap;
use store::Tx;
use store::ads::viewers;

use super::built::since;
use super::criteria::{Criterion, Operator};
use super::kept::{Group, Grouped};
use super::{Evaluator, Users};
use crate::choices;

/// How long it is kept what people signed in with.
const BROWSERS_MS: i64 = 600_000;

impl Evaluator {
    /// Finds out what everybody signed in with last.
    pub(super) fn look_at_browsers(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let since = since(tx);
        let sessions: HashMap<i64, String> = viewers::list_signed_in_users(tx, since)?
            .into_iter()
            .collect();
        let mut all = [Group::Platform, Group::Device, Group::Version]
            .map(|group| (group, BTreeMap::<String, RoaringBitmap>::new()));
        let mut kept = self.kept.lock();
        for (user, agent) in sessions {
            let number = kept.numbers.of(user);
            for (group, by) in &mut all {
                let value = match group {
                    Group::Device => device(&agent).map(str::to_lowercase),
                    Group::Version => version(&agent).map(|version| version.written()),
                    _ => platform(&agent).map(str::to_owned),
                };
                if let Some(value) = value {
                    by.entry(value).or_default().insert(number);
                }
            }
        }
        let until = tx.now().plus_ms(BROWSERS_MS);
        for (group, by) in all {
            let by = by
                .into_iter()
                .map(|(value, users)| (value, Arc::new(users)));
            let by = by.collect();
            kept.groups.insert(group, Grouped { by, until });
        }
        Ok(())
    }

    /// Who signed in with a device, by what its option calls it.
    pub(super) fn with_device(&self, tx: &mut Tx<'_>, value: &str) -> Result<Option<Users>, Error> {
        let option = choices::find(tx, "DEVICE", value)?;
        let name = option.map_or_else(|| value.to_owned(), |option| option.name);
        self.grouped(tx, Group::Device, &name.to_lowercase())
    }

    /// Who signed in with a version of a platform, or with that or a later one.
    pub(super) fn with_version(
        &self,
        tx: &mut Tx<'_>,
        criterion: &Criterion,
    ) -> Result<Option<Users>, Error> {
        let option = choices::find(tx, "PLATFORM_VERSION", &criterion.value)?;
        let Some(option) = option else {
            return self.grouped(tx, Group::Version, "");
        };
        let text = |name: &str| {
            let text = option.details.get(name).and_then(|text| text.as_str());
            text.unwrap_or_default().to_lowercase()
        };
        let wanted = Version {
            of: text("os_type"),
            number: numbers(&text("number")),
        };
        // Makes the group where it is not there.
        if self.grouped(tx, Group::Version, "")?.is_none() {
            return Ok(None);
        }
        let mut users = RoaringBitmap::new();
        let kept = self.kept.lock();
        let groups = kept.groups.get(&Group::Version);
        for (version, some) in groups.iter().flat_map(|held| &held.by) {
            let version = Version::read(version);
            let fits = match criterion.operator {
                Operator::Gte => version.number >= wanted.number,
                _ => version.number.starts_with(&wanted.number),
            };
            if version.of == wanted.of && fits {
                users |= &**some;
            }
        }
        Ok(Some(Arc::new(users)))
    }
}

/// A version of what a device runs.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Version {
    /// In lower case.
    of: String,
    number: Vec<u32>,
}

impl Version {
    fn written(&self) -> String {
        let parts: Vec<String> = self.number.iter().map(u32::to_string).collect();
        format!("{} {}", self.of, parts.join("."))
    }

    fn read(text: &str) -> Self {
        let (of, number) = text.split_once(' ').unwrap_or((text, ""));
        Self {
            of: of.to_owned(),
            number: numbers(number),
        }
    }
}

/// `18_5` or `18.5`: noughts at its end say nothing.
fn numbers(text: &str) -> Vec<u32> {
    let parts = text.split(['.', '_']).map(str::parse);
    let mut all: Vec<u32> = parts.map_while(Result::ok).collect();
    while all.len() > 1 && all.last() == Some(&0) {
        all.pop();
    }
    all
}

/// The number of the platform that a browser says it runs on (contract §9.4).
fn platform(agent: &str) -> Option<&'static str> {
    let has = |name: &str| agent.contains(name);
    if has("iPhone") || has("iPad") || has("iPod") {
        Some("0")
    } else if has("Android") {
        Some("1")
    } else if has("BlackBerry") || has("BB10") {
        Some("2")
    } else if has("Mobile") {
        Some("3")
    } else if ["Windows", "Macintosh", "Linux", "CrOS", "X11"]
        .iter()
        .any(|name| has(name))
    {
        Some("4")
    } else {
        None
    }
}

/// What stands between a text and the first of some signs.
fn after<'a>(agent: &'a str, before: &str, ends: &[char]) -> Option<&'a str> {
    let (_, rest) = agent.split_once(before)?;
    rest.split(ends).next().map(str::trim)
}

/// The version of a phone's or tablet's system. Those of others are frozen in what browsers say.
fn version(agent: &str) -> Option<Version> {
    let ends = [' ', ';', ')'];
    let found = if platform(agent) == Some("0") {
        let number = after(agent, "iPhone OS ", &ends).or_else(|| after(agent, "CPU OS ", &ends));
        ("ios", number?)
    } else {
        ("android", after(agent, "Android ", &ends)?)
    };
    let number = numbers(found.1);
    let of = found.0.to_owned();
    (!number.is_empty()).then_some(Version { of, number })
}

/// The device, where a browser tells one: many say `K` for any.
fn device(agent: &str) -> Option<&str> {
    let apple = ["iPhone", "iPad", "iPod"].into_iter();
    if let Some(name) = apple.into_iter().find(|name| agent.contains(name)) {
        return Some(name);
    }
    let system = after(agent, "Android ", &[')'])?;
    let (_, model) = system.split_once("; ")?;
    let model = model.rsplit("; ").next().unwrap_or(model);
    let model = model.split(" Build/").next().unwrap_or(model).trim();
    let tells = !["", "K", "Mobile", "Tablet", "wv"].contains(&model) && !model.starts_with("rv:");
    tells.then_some(model)
}

#[cfg(test)]
mod tests {
    use super::{device, numbers, platform, version};

    #[test]
    fn browsers_tell_the_platform() {
        for (agent, wanted) in [
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)",
                Some("0"),
            ),
            ("Mozilla/5.0 (Linux; Android 15; Pixel 9) Mobile", Some("1")),
            ("Mozilla/5.0 (X11; Linux x86_64; rv:130.0)", Some("4")),
            ("Mozilla/5.0 (Windows NT 10.0; Win64; x64)", Some("4")),
            ("curl/8", None),
        ] {
            assert_eq!(platform(agent), wanted, "{agent}");
        }
    }

    #[test]
    fn phones_and_tablets_tell_their_version_and_some_which_they_are() {
        for (agent, wanted, model) in [
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Version/18.5 Mobile",
                Some("ios 18.5"),
                Some("iPhone"),
            ),
            (
                "Mozilla/5.0 (iPad; CPU OS 17_0 like Mac OS X) Version/17.0 Mobile",
                Some("ios 17"),
                Some("iPad"),
            ),
            (
                "Mozilla/5.0 (Linux; Android 15; Pixel 9) Chrome/142.0 Mobile",
                Some("android 15"),
                Some("Pixel 9"),
            ),
            (
                "Mozilla/5.0 (Linux; U; Android 9; pt-pt; SM-G960F Build/PPR1) Mobile",
                Some("android 9"),
                Some("SM-G960F"),
            ),
            (
                "Mozilla/5.0 (Linux; Android 10; K) Chrome/142.0 Mobile",
                Some("android 10"),
                None,
            ),
            (
                "Mozilla/5.0 (Android 16; Mobile; rv:145.0) Firefox/145.0",
                Some("android 16"),
                None,
            ),
            ("Mozilla/5.0 (Windows NT 10.0; Win64; x64)", None, None),
            ("Android", None, None),
        ] {
            let found = version(agent).map(|version| version.written());
            assert_eq!(found.as_deref(), wanted, "{agent}");
            assert_eq!(device(agent), model, "{agent}");
        }
        assert!(numbers("18.5") > numbers("18") && numbers("9") < numbers("10.1"));
        assert_eq!(numbers("18.0"), numbers("18"));
    }
}
