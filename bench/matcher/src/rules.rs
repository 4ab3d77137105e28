//! Rules like those of companies: groups of brands, lists of accounts, phrases, conjunctions, tags,
//! mentions, symbols, links, profiles, places and long rules, followed by narrowing operators. Some
//! words occur in the posts, but most are names that no post of the sample contains, so that as many
//! rules match a post as in a full stream: 1.5 of 25,000.

use std::collections::BTreeMap;

use crate::dice::Dice;
use crate::posts::Posts;

/// Words that must not stand alone.
const COMMON: usize = 150;
/// Words that are not used in conjunctions.
const RARER: usize = 1_000;
/// One of so many words occurs in the posts.
const KNOWN: usize = 28;

pub struct Writer<'a> {
    words: Vec<&'a str>,
    phrases: Vec<String>,
    users: Vec<&'a str>,
    tags: Vec<&'a str>,
    hosts: Vec<&'a str>,
}

impl<'a> Writer<'a> {
    pub fn new(posts: &'a Posts) -> Self {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let (mut phrases, mut users, mut tags, mut hosts) = (vec![], vec![], vec![], vec![]);
        for post in &posts.all {
            let words: Vec<&str> = post.text.split(|c: char| !c.is_alphanumeric()).collect();
            for word in &words {
                if word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase()) {
                    *counts.entry(word).or_default() += 1;
                }
            }
            for pair in words.windows(3) {
                if pair.iter().all(|word| word.len() > 2 && word.is_ascii()) {
                    phrases.push(pair.join(" "));
                }
            }
            users.push(post.author.person.handle.username);
            tags.extend(post.hashtags.iter().copied().filter(|tag| tag.is_ascii()));
            hosts.extend(post.links.iter().filter_map(|link| link.expanded.split('/').nth(2)));
        }
        // Rare and common tags have equally many rules.
        for list in [&mut users, &mut tags, &mut hosts] {
            list.sort_unstable();
            list.dedup();
        }
        let mut words: Vec<(usize, &str)> = counts.into_iter().map(|(word, n)| (n, word)).collect();
        words.sort_by_key(|(count, word)| (std::cmp::Reverse(*count), *word));
        let words = words.into_iter().skip(COMMON).map(|(_, word)| word).collect();
        Self {
            words,
            phrases,
            users,
            tags,
            hosts,
        }
    }

    /// A name that no post contains.
    fn name(dice: &mut Dice) -> String {
        const PARTS: [&str; 24] = [
            "ba", "cro", "del", "fi", "gan", "ho", "jix", "ka", "lum", "mer", "no", "or", "pra", "qui", "ros", "sta",
            "tel", "ura", "vex", "wyn", "xan", "yo", "zet", "ple",
        ];
        (0..3 + dice.below(2)).map(|_| *dice.of(&PARTS)).collect()
    }

    fn word(&self, dice: &mut Dice) -> String {
        if dice.one_in(KNOWN) {
            // Not the most common ones, which nobody uses in a rule.
            let rarer = &self.words[RARER..];
            return rarer[dice.below(rarer.len())].to_owned();
        }
        Self::name(dice)
    }

    fn user(&self, dice: &mut Dice) -> String {
        if dice.one_in(400) {
            (*dice.of(&self.users)).to_owned()
        } else {
            Self::name(dice)
        }
    }

    fn phrase(&self, dice: &mut Dice) -> String {
        if dice.one_in(12) {
            return format!("\"{}\"", dice.of(&self.phrases));
        }
        format!("\"{} {}\"", dice.of(&self.words), self.word(dice))
    }

    fn many(dice: &mut Dice, least: usize, more: usize, mut one: impl FnMut(&mut Dice) -> String) -> String {
        let all: Vec<String> = (0..least + dice.below(more)).map(|_| one(dice)).collect();
        if all.len() == 1 {
            all[0].clone()
        } else {
            format!("({})", all.join(" OR "))
        }
    }

    fn brand(&self, dice: &mut Dice) -> String {
        match dice.below(8) {
            0 => format!("#{}", self.word(dice)),
            1 => format!("@{}", self.user(dice)),
            2 => self.phrase(dice),
            _ => self.word(dice),
        }
    }

    fn head(&self, dice: &mut Dice) -> String {
        match dice.below(100) {
            0..26 => Self::many(dice, 3, 8, |dice| self.brand(dice)),
            26..40 => Self::many(dice, 1, 12, |dice| format!("from:{}", self.user(dice))),
            40..52 => Self::many(dice, 1, 5, |dice| self.phrase(dice)),
            52..68 => {
                let topic = *dice.of(&self.words[..2_000]);
                let brands = Self::many(dice, 2, 6, |dice| self.brand(dice));
                format!("{brands} {topic}")
            }
            68..74 => Self::many(dice, 1, 7, |dice| {
                if dice.one_in(40) {
                    format!("#{}", dice.of(&self.tags))
                } else {
                    format!("#{}", Self::name(dice))
                }
            }),
            74..80 => Self::many(dice, 1, 6, |dice| format!("@{}", self.user(dice))),
            80..83 => Self::many(dice, 1, 6, |dice| format!("${}", Self::name(dice))),
            83..87 => Self::many(dice, 1, 4, |dice| {
                if dice.one_in(30) {
                    format!("url:\"{}\"", dice.of(&self.hosts))
                } else {
                    format!("url:\"{}.com\"", Self::name(dice))
                }
            }),
            87..90 => format!("bio:{} {}", self.word(dice), dice.of(&self.words)),
            90..92 => format!("place:{} {}", self.word(dice), self.brand(dice)),
            92..93 => {
                let (lon, lat) = (dice.below(300) as f64 - 150.0, dice.below(120) as f64 - 60.0);
                format!("bounding_box:[{lon} {lat} {} {}]", lon + 0.2, lat + 0.2)
            }
            93..94 => format!("{} url_contains:{}", self.word(dice), Self::name(dice)),
            _ => Self::many(dice, 14, 30, |dice| self.brand(dice)),
        }
    }

    pub fn rule(&mut self, dice: &mut Dice) -> String {
        let mut rule = self.head(dice);
        if dice.one_in(2) {
            rule.push_str(" lang:en");
        }
        if dice.below(5) < 2 {
            rule.push_str(" -is:retweet");
        }
        if dice.one_in(7) {
            rule.push_str(*dice.of::<&str>(&[
                " has:links",
                " has:images",
                " has:hashtags",
                " -has:links",
                " is:verified",
            ]));
        }
        if dice.one_in(5) {
            for _ in 0..1 + dice.below(3) {
                rule.push_str(&format!(" -{}", dice.of(&self.words)));
            }
        }
        rule
    }
}
