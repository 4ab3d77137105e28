//! What users write in, and what they sign in with.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use base::{Fault, Stop};
use query::{Language, language, language_code, speaks};
use roaring::RoaringBitmap;
use store::Tx;
use store::ads::viewers;

use super::built::{AT_ONCE, since};
use super::kept::{Group, Grouped};
use super::{Evaluator, Users};

/// Posts of a user that tell their language.
const POSTS: u32 = 50;
/// How long it is kept what people sign in with: the log tells nothing of that.
const BROWSERS_MS: i64 = 600_000;

impl Evaluator {
    /// Who writes in a language; none when it is of nobody known.
    pub(super) fn speaking(&self, tx: &mut Tx<'_>, code: &str) -> Result<Option<Users>, Stop> {
        let Some(asked) = language(code) else {
            let known = self.grouped(tx, Group::Language, "")?;
            return Ok(known.map(|_| Users::default()));
        };
        let mut all: Option<RoaringBitmap> = None;
        // What is written in several scripts has several codes.
        for posted in (1..=Language::MAX).filter(|posted| speaks(asked, *posted)) {
            let users = self.grouped(tx, Group::Language, language_code(posted))?;
            if let Some(users) = users {
                *all.get_or_insert_default() |= &*users;
            }
        }
        Ok(all.map(Arc::new))
    }

    /// Finds out what everybody writes in: public posts by the index, those of others one user
    /// after the other.
    pub(super) fn listen(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let begun = self.kept.lock().place();
        let mut counts: HashMap<i64, Vec<(Language, u32)>> = HashMap::new();
        if let Some(search) = &self.search {
            search.snapshot().speakers(|author, spoken| {
                let counted = counts.entry(author).or_default();
                if counted.iter().map(|(_, count)| count).sum::<u32>() < POSTS {
                    add(counted, spoken);
                }
            })?;
        }
        let mut last = 0;
        loop {
            let some = viewers::guarded(tx, last, AT_ONCE)?;
            let Some(end) = some.last() else { break };
            last = *end;
            for user in some {
                counts.insert(user, self.written(tx, user)?);
            }
        }
        let mut by: BTreeMap<String, RoaringBitmap> = BTreeMap::new();
        let mut kept = self.kept.lock();
        for (user, counted) in counts {
            if let Some(code) = main(&counted) {
                let number = kept.numbers.of(user);
                by.entry(code.to_owned()).or_default().insert(number);
            }
        }
        drop(kept);
        self.keep_group(tx, Group::Language, by, begun);
        Ok(())
    }

    /// Finds out what some users write in now.
    pub(super) fn listen_again(&self, tx: &mut Tx<'_>, users: &[i64]) -> Result<(), Fault> {
        if !self.kept.lock().groups.contains_key(&Group::Language) {
            return Ok(());
        }
        for user in users {
            let counted = self.written(tx, *user)?;
            let code = main(&counted).map(str::to_owned);
            let codes: Vec<String> = code.into_iter().collect();
            self.kept.lock().regroup(Group::Language, *user, &codes);
        }
        Ok(())
    }

    #[expect(clippy::unused_self, reason = "a part of the evaluator")]
    fn written(&self, tx: &mut Tx<'_>, user: i64) -> Result<Vec<(Language, u32)>, Fault> {
        let mut counted = Vec::new();
        for code in viewers::languages(tx, user, i64::from(POSTS))? {
            add(&mut counted, language(&code).unwrap_or(0));
        }
        Ok(counted)
    }

    /// Finds out what everybody signed in with last.
    pub(super) fn look_at_browsers(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let since = since(tx);
        let sessions: HashMap<i64, String> = viewers::signed_in(tx, since)?.into_iter().collect();
        let mut by: BTreeMap<String, RoaringBitmap> = BTreeMap::new();
        let mut kept = self.kept.lock();
        for (user, agent) in sessions {
            if let Some(platform) = platform(&agent) {
                let number = kept.numbers.of(user);
                by.entry(platform.to_owned()).or_default().insert(number);
            }
        }
        let by = by
            .into_iter()
            .map(|(value, users)| (value, Arc::new(users)));
        let by = by.collect();
        let until = tx.now().plus_ms(BROWSERS_MS);
        kept.groups.insert(Group::Platform, Grouped { by, until });
        Ok(())
    }
}

fn add(counted: &mut Vec<(Language, u32)>, spoken: Language) {
    match counted.iter_mut().find(|(known, _)| *known == spoken) {
        Some((_, count)) => *count += 1,
        None => counted.push((spoken, 1)),
    }
}

/// The language of the most posts, of those that have one; the first of the list among equals.
fn main(counted: &[(Language, u32)]) -> Option<&'static str> {
    // Codes that say why a post has no language.
    const NONE: &[&str] = &["und", "qam", "qct", "qht", "qme", "qst", "zxx", "art"];
    let real = counted
        .iter()
        .filter(|(spoken, _)| *spoken != 0 && !NONE.contains(&language_code(*spoken)));
    let most = real.max_by_key(|(spoken, count)| (*count, std::cmp::Reverse(*spoken)));
    most.map(|(spoken, _)| language_code(*spoken))
}

/// The number of the platform that a browser says it runs on (contract §9.4).
pub(crate) fn platform(agent: &str) -> Option<&'static str> {
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

#[cfg(test)]
mod tests {
    use super::{main, platform};

    #[test]
    fn most_posts_tell_the_language() {
        let number = |code: &str| query::language(code).unwrap();
        let counted = [(number("en"), 2), (number("pt"), 3), (number("und"), 9)];
        assert_eq!(main(&counted), Some("pt"));
        assert_eq!(main(&[(number("und"), 9)]), None);
        assert_eq!(main(&[(number("pt"), 1), (number("en"), 1)]), Some("en"));
    }

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
}
