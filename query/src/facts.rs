//! What a post says, read once, in the form in which queries ask.

use std::cell::OnceCell;

use crate::geo::{Point, cell};
use crate::languages::{Language, language};
use crate::operators::{Mark, flag};
use crate::post::{Handle, Person, Post};
use crate::values::{number, pair, whole};
use crate::words::{Field, each_word, feature, hash, lower, word_in};

/// For whom a post is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Accents folded, the post's own content.
    Search,
    /// Accents kept, the quoted post's content too.
    Stream,
}

/// A post, taken apart.
pub struct Facts<'a> {
    pub(crate) post: &'a Post<'a>,
    pub(crate) reading: Reading,
    pub(crate) flags: u16,
    pub(crate) language: Language,
    pub(crate) features: Features,
    words: Vec<u64>,
    runs: Vec<(Field, usize, usize)>,
    lowered: OnceCell<Vec<String>>,
    links: OnceCell<Vec<String>>,
}

impl<'a> Facts<'a> {
    /// Reads a post.
    pub fn new(post: &'a Post<'a>, reading: Reading) -> Self {
        let mut facts = Self {
            post,
            reading,
            flags: 0,
            language: language(post.lang).unwrap_or(0),
            features: Features::new(),
            words: Vec::with_capacity(64),
            runs: Vec::with_capacity(8),
            lowered: OnceCell::new(),
            links: OnceCell::new(),
        };
        facts.content(post);
        facts.author();
        facts.references();
        facts.places();
        if let (Reading::Stream, Some(quoted)) = (reading, post.quoted) {
            facts.content(quoted);
        }
        if facts.language != 0 && post.lang != "und" {
            facts.flags |= flag::LANGUAGE;
        }
        facts
    }

    /// Whether the post is read for the same purpose.
    pub const fn reading(&self) -> Reading {
        self.reading
    }

    /// The words of each text of a field, hashed (see [`crate::words`]): what
    /// [`Value::Words`](crate::Value::Words) is looked for in.
    pub fn runs(&self, field: Field) -> impl Iterator<Item = &[u64]> {
        self.runs
            .iter()
            .filter(move |(of, ..)| *of == field)
            .filter_map(|(_, start, end)| self.words.get(*start..*end))
    }

    /// Everything that [`Value::Feature`](crate::Value::Feature) is compared with, and each word
    /// with its field ([`crate::words::word_in`]), each once. Never 0.
    pub fn all_features(&self) -> &[u64] {
        self.features.list()
    }

    /// The bits that [`Value::Flag`](crate::Value::Flag) asks for.
    pub const fn flags(&self) -> u16 {
        self.flags
    }

    /// The language, as [`Value::Language`](crate::Value::Language) names it; 0 when unknown.
    pub const fn language(&self) -> u8 {
        self.language
    }

    /// A counter of the post or of its author.
    pub const fn counter(&self, counter: crate::Counter) -> u64 {
        crate::evaluate::counted(counter, self)
    }

    /// The words of every text, with its field.
    pub(crate) fn every_run(&self) -> impl Iterator<Item = (Field, &[u64])> {
        let words = |(field, start, end): &(Field, usize, usize)| {
            Some((*field, self.words.get(*start..*end)?))
        };
        self.runs.iter().filter_map(words)
    }

    /// The texts in lower case, for literal parts.
    pub(crate) fn texts(&self) -> &[String] {
        self.lowered
            .get_or_init(|| self.contents().map(|post| lower(post.text)).collect())
    }

    /// The links in lower case, for literal parts.
    pub(crate) fn links(&self) -> &[String] {
        self.links.get_or_init(|| {
            self.contents()
                .flat_map(|post| post.links)
                .map(|link| lower(link.expanded))
                .collect()
        })
    }

    /// Where the post was written: its point, or the corners of its place.
    pub(crate) fn written_within(&self, holds: impl Fn(Point) -> bool) -> bool {
        if self.flags & flag::REPOST != 0 {
            return false;
        }
        match (
            self.post.point,
            self.post.place.and_then(|place| place.area),
        ) {
            (Some(point), _) => holds(point),
            (None, Some(area)) => area.corners().into_iter().all(holds),
            (None, None) => false,
        }
    }

    fn contents(&self) -> impl Iterator<Item = &'a Post<'a>> {
        let quoted = self.post.quoted.filter(|_| self.reading == Reading::Stream);
        std::iter::once(self.post).chain(quoted)
    }

    fn run(&mut self, field: Field, text: &str) {
        if text.is_empty() {
            return;
        }
        let start = self.words.len();
        let (words, features) = (&mut self.words, &mut self.features);
        each_word(text, self.reading, field != Field::Text, |word| {
            words.push(word);
            features.add(word_in(field, word));
        });
        self.runs.push((field, start, self.words.len()));
    }

    fn content(&mut self, post: &Post<'_>) {
        self.run(Field::Text, post.text);
        self.tags(Mark::Hashtag, post.hashtags, flag::HASHTAGS);
        self.tags(Mark::Cashtag, post.cashtags, flag::CASHTAGS);
        for mention in post.mentions {
            self.flags |= flag::MENTIONS;
            self.handle(Mark::Mention, *mention);
        }
        for link in post.links {
            self.flags |= flag::LINKS;
            self.run(Field::Link, link.url);
            if link.expanded != link.url {
                self.run(Field::Link, link.expanded);
            }
            if link.unwound != link.expanded && link.unwound != link.url {
                self.run(Field::Link, link.unwound);
            }
            if self.reading == Reading::Stream {
                self.run(Field::Title, link.title);
                self.run(Field::Description, link.description);
            }
        }
        if post.images || post.video || post.animation {
            self.flags |= flag::MEDIA | flag::LINKS;
        }
        if post.images {
            self.flags |= flag::IMAGES;
        }
        if post.video {
            self.flags |= flag::VIDEO;
        }
    }

    fn tags(&mut self, mark: Mark, tags: &[&str], bit: u16) {
        for tag in tags {
            self.flags |= bit;
            self.features.add(whole(mark, hash(tag, self.reading)));
        }
    }

    fn handle(&mut self, mark: Mark, handle: Handle<'_>) {
        self.features.add(number(mark, handle.id.cast_unsigned()));
        self.features
            .add(whole(mark, hash(handle.username, Reading::Stream)));
        // A query cannot tell a username of digits from an id.
        if handle.username.bytes().all(|byte| byte.is_ascii_digit())
            && let Ok(digits) = handle.username.parse()
        {
            self.features.add(number(mark, digits));
        }
    }

    fn author(&mut self) {
        let author = &self.post.author;
        self.person(Mark::From, Mark::FromAffiliate, &author.person);
        if author.verified {
            self.flags |= flag::VERIFIED;
        }
        for list in author.lists {
            self.features.add(number(Mark::List, list.cast_unsigned()));
        }
        if self.reading == Reading::Stream {
            self.run(Field::Bio, author.bio);
            self.run(Field::Name, author.name);
            self.run(Field::Location, author.location);
            self.run(Field::Source, self.post.source);
        }
    }

    fn person(&mut self, mark: Mark, affiliate: Mark, person: &Person<'_>) {
        self.handle(mark, person.handle);
        for affiliation in person.affiliations {
            self.handle(affiliate, *affiliation);
        }
    }

    fn references(&mut self) {
        let post = self.post;
        let mut refer = |mark, id: i64| self.features.add(number(mark, id.cast_unsigned()));
        refer(Mark::Conversation, post.conversation);
        if let Some((id, _)) = post.reply_to {
            refer(Mark::ReplyTo, id);
        }
        if let Some((id, _)) = post.repost_of {
            refer(Mark::RepostOf, id);
        }
        if let Some(id) = post.quote_of {
            refer(Mark::QuoteOf, id);
        }
        if let Some((_, author)) = &post.reply_to {
            self.flags |= flag::REPLY;
            self.person(Mark::To, Mark::ToAffiliate, author);
        }
        if let Some((_, author)) = post.repost_of {
            self.flags |= flag::REPOST;
            self.handle(Mark::RepostedUser, author);
        }
        if post.quote_of.is_some() {
            self.flags |= flag::QUOTE;
        }
        if post.nullcast {
            self.flags |= flag::NULLCAST;
        }
        for annotation in post.annotations {
            if let Some(domain) = annotation.domain {
                self.features.add(pair(domain, annotation.entity));
                self.features.add(number(Mark::ContextDomain, domain));
                self.features
                    .add(number(Mark::ContextEntity, annotation.entity));
            }
            self.run(Field::Entity, annotation.name);
        }
    }

    /// A repost is not written where the reposted post was.
    fn places(&mut self) {
        if self.flags & flag::REPOST != 0 {
            return;
        }
        if self.post.point.is_some() || self.post.place.is_some() {
            self.flags |= flag::GEO;
            self.features.add(number(Mark::Geo, 0));
        }
        // All corners must lie inside what is asked for, so one cell tells enough.
        let corner = self.post.place.and_then(|place| place.area);
        let corner = corner.map(|area| (area.west, area.south));
        if let Some(point) = self.post.point.or(corner) {
            self.features.add(number(Mark::Geo, cell(point)));
        }
        if let Some(place) = self.post.place {
            self.run(Field::Place, place.full_name);
            self.run(Field::Place, place.id);
            self.features
                .add(whole(Mark::Country, hash(place.country, self.reading)));
        }
    }
}

/// The feature of four bytes of a literal.
#[expect(clippy::as_conversions, reason = "a fieldless enum's number")]
pub(crate) fn gram(mark: Mark, bytes: [u8; 4]) -> u64 {
    feature(mark as u64, u64::from(u32::from_le_bytes(bytes)))
}

/// A set of features: a list, a table to look one up, and a small filter before both.
pub(crate) struct Features {
    list: Vec<u64>,
    table: Vec<u64>,
    filter: [u64; 64],
}

impl Features {
    fn new() -> Self {
        Self {
            list: Vec::with_capacity(96),
            table: vec![0; 512],
            filter: [0; 64],
        }
    }

    pub(crate) fn list(&self) -> &[u64] {
        &self.list
    }

    /// Whether the filter has a place of 12 bits set.
    pub(crate) fn may_have(&self, place: u16) -> bool {
        let word = self.filter.get(usize::from(place >> 6)).copied();
        word.unwrap_or(0) >> (place & 63) & 1 == 1
    }

    pub(crate) fn has(&self, feature: u64) -> bool {
        if !self.may_have(filter_place(feature)) {
            return false;
        }
        let mask = self.table.len() - 1;
        let mut place = spot(feature) & mask;
        loop {
            match self.table.get(place).copied() {
                Some(found) if found == feature => return true,
                Some(0) | None => return false,
                Some(_) => place = (place + 1) & mask,
            }
        }
    }

    fn add(&mut self, feature: u64) {
        if self.list.len() * 2 >= self.table.len() {
            self.grow();
        }
        if put(&mut self.table, feature) {
            self.list.push(feature);
            let place = filter_place(feature);
            if let Some(word) = self.filter.get_mut(usize::from(place >> 6)) {
                *word |= 1 << (place & 63);
            }
        }
    }

    fn grow(&mut self) {
        self.table = vec![0; self.table.len() * 4];
        for feature in &self.list {
            put(&mut self.table, *feature);
        }
    }
}

/// Puts a feature into a table with room; says whether it is new.
fn put(table: &mut [u64], feature: u64) -> bool {
    let mask = table.len() - 1;
    let mut place = spot(feature) & mask;
    while let Some(slot) = table.get_mut(place) {
        if *slot == feature {
            return false;
        }
        if *slot == 0 {
            *slot = feature;
            return true;
        }
        place = (place + 1) & mask;
    }
    false
}

fn spot(feature: u64) -> usize {
    usize::try_from(feature >> 40).unwrap_or(0)
}

/// A feature's place in the filter: 12 bits.
pub(crate) fn filter_place(feature: u64) -> u16 {
    u16::try_from(feature >> 20 & 0xfff).unwrap_or(0)
}
