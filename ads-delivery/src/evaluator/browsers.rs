//! Devices, platforms and versions, from the user agent of each user's last sign-in.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use ads::option_catalog;
use base::{Error, Fault};
use roaring::RoaringBitmap;
use store::Tx;
use store::ads::viewers;

use super::base_sets::activity_cutoff;
use super::criteria::{CriterionOperator, TargetingCriterion};
use super::set_cache::{GroupedUserSets, UserGroup};
use super::{Evaluator, UserSet};

/// How long the groups are cached.
const BROWSERS_MS: i64 = 600_000;

impl Evaluator {
    /// Groups all users by the user agent of their last sign-in.
    pub(super) fn load_browser_groups(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let since = activity_cutoff(tx);
        let sessions: HashMap<i64, String> = viewers::list_signed_in_users(tx, since)?.into_iter().collect();
        let mut all = [UserGroup::Platform, UserGroup::Device, UserGroup::Version]
            .map(|group| (group, BTreeMap::<String, RoaringBitmap>::new()));
        let mut cache = self.set_cache.lock();
        for (user, agent) in sessions {
            let number = cache.numbers.assign_number(user);
            for (group, by) in &mut all {
                let value = match group {
                    UserGroup::Device => device_name(&agent).map(str::to_lowercase),
                    UserGroup::Version => parse_platform_version(&agent).map(|version| version.to_key()),
                    _ => platform_number(&agent).map(str::to_owned),
                };
                if let Some(value) = value {
                    by.entry(value).or_default().insert(number);
                }
            }
        }
        let until = tx.now().plus_ms(BROWSERS_MS);
        for (group, by) in all {
            let by = by.into_iter().map(|(value, users)| (value, Arc::new(users)));
            let by = by.collect();
            cache.groups.insert(group, GroupedUserSets { sets: by, expires_at: until });
        }
        Ok(())
    }

    pub(super) fn device_users(&self, tx: &mut Tx<'_>, value: &str) -> Result<Option<UserSet>, Error> {
        let option = option_catalog::find(tx, "DEVICE", value)?;
        let name = option.map_or_else(|| value.to_owned(), |option| option.name);
        self.group_users(tx, UserGroup::Device, &name.to_lowercase())
    }

    /// Users of a platform version, or of that and later versions.
    pub(super) fn version_users(
        &self,
        tx: &mut Tx<'_>,
        criterion: &TargetingCriterion,
    ) -> Result<Option<UserSet>, Error> {
        let option = option_catalog::find(tx, "PLATFORM_VERSION", &criterion.value)?;
        let Some(option) = option else {
            return self.group_users(tx, UserGroup::Version, "");
        };
        let text = |name: &str| {
            let text = option.details.get(name).and_then(|text| text.as_str());
            text.unwrap_or_default().to_lowercase()
        };
        let wanted = PlatformVersion { platform: text("os_type"), number: parse_version_numbers(&text("number")) };
        // Builds the group if it is missing.
        if self.group_users(tx, UserGroup::Version, "")?.is_none() {
            return Ok(None);
        }
        let mut users = RoaringBitmap::new();
        let cache = self.set_cache.lock();
        let groups = cache.groups.get(&UserGroup::Version);
        for (version, some) in groups.iter().flat_map(|held| &held.sets) {
            let version = PlatformVersion::parse(version);
            let fits = match criterion.operator {
                CriterionOperator::Gte => version.number >= wanted.number,
                _ => version.number.starts_with(&wanted.number),
            };
            if version.platform == wanted.platform && fits {
                users |= &**some;
            }
        }
        Ok(Some(Arc::new(users)))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct PlatformVersion {
    /// Lowercase.
    platform: String,
    number: Vec<u32>,
}

impl PlatformVersion {
    fn to_key(&self) -> String {
        let parts: Vec<String> = self.number.iter().map(u32::to_string).collect();
        format!("{} {}", self.platform, parts.join("."))
    }

    fn parse(text: &str) -> Self {
        let (of, number) = text.split_once(' ').unwrap_or((text, ""));
        Self { platform: of.to_owned(), number: parse_version_numbers(number) }
    }
}

/// Parses `18_5` or `18.5`; trailing zeros are dropped.
fn parse_version_numbers(text: &str) -> Vec<u32> {
    let parts = text.split(['.', '_']).map(str::parse);
    let mut all: Vec<u32> = parts.map_while(Result::ok).collect();
    while all.len() > 1 && all.last() == Some(&0) {
        all.pop();
    }
    all
}

/// The platform number for a user agent (contract ads §9.4).
pub(crate) fn platform_number(agent: &str) -> Option<&'static str> {
    let has = |name: &str| agent.contains(name);
    if has("iPhone") || has("iPad") || has("iPod") {
        Some("0")
    } else if has("Android") {
        Some("1")
    } else if has("BlackBerry") || has("BB10") {
        Some("2")
    } else if has("Mobile") {
        Some("3")
    } else if ["Windows", "Macintosh", "Linux", "CrOS", "X11"].iter().any(|name| has(name)) {
        Some("4")
    } else {
        None
    }
}

fn text_between<'a>(agent: &'a str, prefix: &str, ends: &[char]) -> Option<&'a str> {
    let (_, rest) = agent.split_once(prefix)?;
    rest.split(ends).next().map(str::trim)
}

/// The version of a phone's or tablet's system. Other systems freeze it in the user agent.
fn parse_platform_version(agent: &str) -> Option<PlatformVersion> {
    let ends = [' ', ';', ')'];
    let found = if platform_number(agent) == Some("0") {
        let number = text_between(agent, "iPhone OS ", &ends).or_else(|| text_between(agent, "CPU OS ", &ends));
        ("ios", number?)
    } else {
        ("android", text_between(agent, "Android ", &ends)?)
    };
    let number = parse_version_numbers(found.1);
    let of = found.0.to_owned();
    (!number.is_empty()).then_some(PlatformVersion { platform: of, number })
}

/// The device, if the user agent names one; many send `K` for any device.
fn device_name(agent: &str) -> Option<&str> {
    let apple = ["iPhone", "iPad", "iPod"].into_iter();
    if let Some(name) = apple.into_iter().find(|name| agent.contains(name)) {
        return Some(name);
    }
    let system = text_between(agent, "Android ", &[')'])?;
    let (_, model) = system.split_once("; ")?;
    let model = model.rsplit("; ").next().unwrap_or(model);
    let model = model.split(" Build/").next().unwrap_or(model).trim();
    let tells = !["", "K", "Mobile", "Tablet", "wv"].contains(&model) && !model.starts_with("rv:");
    tells.then_some(model)
}

#[cfg(test)]
mod tests {
    use super::{device_name, parse_platform_version, parse_version_numbers, platform_number};

    #[test]
    fn browsers_tell_the_platform() {
        for (agent, wanted) in [
            ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)", Some("0")),
            ("Mozilla/5.0 (Linux; Android 15; Pixel 9) Mobile", Some("1")),
            ("Mozilla/5.0 (X11; Linux x86_64; rv:130.0)", Some("4")),
            ("Mozilla/5.0 (Windows NT 10.0; Win64; x64)", Some("4")),
            ("curl/8", None),
        ] {
            assert_eq!(platform_number(agent), wanted, "{agent}");
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
            ("Mozilla/5.0 (iPad; CPU OS 17_0 like Mac OS X) Version/17.0 Mobile", Some("ios 17"), Some("iPad")),
            ("Mozilla/5.0 (Linux; Android 15; Pixel 9) Chrome/142.0 Mobile", Some("android 15"), Some("Pixel 9")),
            (
                "Mozilla/5.0 (Linux; U; Android 9; pt-pt; SM-G960F Build/PPR1) Mobile",
                Some("android 9"),
                Some("SM-G960F"),
            ),
            ("Mozilla/5.0 (Linux; Android 10; K) Chrome/142.0 Mobile", Some("android 10"), None),
            ("Mozilla/5.0 (Android 16; Mobile; rv:145.0) Firefox/145.0", Some("android 16"), None),
            ("Mozilla/5.0 (Windows NT 10.0; Win64; x64)", None, None),
            ("Android", None, None),
        ] {
            let found = parse_platform_version(agent).map(|version| version.to_key());
            assert_eq!(found.as_deref(), wanted, "{agent}");
            assert_eq!(device_name(agent), model, "{agent}");
        }
        assert!(
            parse_version_numbers("18.5") > parse_version_numbers("18")
                && parse_version_numbers("9") < parse_version_numbers("10.1")
        );
        assert_eq!(parse_version_numbers("18.0"), parse_version_numbers("18"));
    }
}
