//! The features of a post, extracted once, in the form that queries are compared with.

use std::cell::OnceCell;

use crate::geo::{GeoPoint, grid_cell};
use crate::languages::{LanguageNumber, parse_language};
use crate::operators::{FeatureKind, PostCounter, flag};
use crate::post::{QueryablePerson, QueryablePost, UserHandle};
use crate::values::{context_feature, hash_feature, number_feature};
use crate::words::{WordField, feature_hash, hash_text, normalize_case, visit_words, word_feature};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchMode {
    /// Accents are folded; only the post's own content counts.
    Search,
    /// Accents are significant; the quoted post's content counts too.
    Stream,
}

pub struct PostFeatures<'a> {
    pub(crate) post: &'a QueryablePost<'a>,
    pub(crate) match_mode: MatchMode,
    pub(crate) flags: u16,
    pub(crate) language: LanguageNumber,
    pub(crate) features: FeatureSet,
    words: Vec<u64>,
    word_runs: Vec<(WordField, usize, usize)>,
    lowercase_texts: OnceCell<Vec<String>>,
    lowercase_links: OnceCell<Vec<String>>,
}

impl<'a> PostFeatures<'a> {
    pub fn new(post: &'a QueryablePost<'a>, mode: MatchMode) -> Self {
        let mut facts = Self {
            post,
            match_mode: mode,
            flags: 0,
            language: parse_language(post.lang).unwrap_or(0),
            features: FeatureSet::new(),
            words: Vec::with_capacity(64),
            word_runs: Vec::with_capacity(8),
            lowercase_texts: OnceCell::new(),
            lowercase_links: OnceCell::new(),
        };
        facts.add_content(post);
        facts.add_author();
        facts.add_references();
        facts.add_places();
        if let (MatchMode::Stream, Some(quoted)) = (mode, post.quoted) {
            facts.add_content(quoted);
        }
        if facts.language != 0 && post.lang != "und" {
            facts.flags |= flag::LANGUAGE;
        }
        facts
    }

    pub const fn match_mode(&self) -> MatchMode {
        self.match_mode
    }

    /// The words of each text of a field, hashed as in
    /// [`TermValue::Words`](crate::TermValue::Words) (see [`crate::words`]).
    pub fn word_runs(&self, field: WordField) -> impl Iterator<Item = &[u64]> {
        self.word_runs
            .iter()
            .filter(move |(run_field, ..)| *run_field == field)
            .filter_map(|(_, start, end)| self.words.get(*start..*end))
    }

    /// Everything that [`TermValue::Feature`](crate::TermValue::Feature) is compared with, and each
    /// word with its field ([`crate::words::word_feature`]), without duplicates. Never contains 0.
    pub fn all_features(&self) -> &[u64] {
        self.features.as_slice()
    }

    pub const fn flags(&self) -> u16 {
        self.flags
    }

    /// Numbered as in [`TermValue::Language`](crate::TermValue::Language); 0 when unknown.
    pub const fn language(&self) -> u8 {
        self.language
    }

    pub const fn counter_value(&self, counter: PostCounter) -> u64 {
        let (post, author) = (self.post, &self.post.author);
        match counter {
            PostCounter::Likes => post.likes,
            PostCounter::Replies => post.replies,
            PostCounter::Reposts => post.reposts,
            PostCounter::Followers => author.followers,
            PostCounter::Following => author.following,
            PostCounter::Posts => author.posts,
            PostCounter::Listed => author.listed,
        }
    }

    pub(crate) fn all_word_runs(&self) -> impl Iterator<Item = (WordField, &[u64])> {
        let words = |(field, start, end): &(WordField, usize, usize)| Some((*field, self.words.get(*start..*end)?));
        self.word_runs.iter().filter_map(words)
    }

    pub(crate) fn lowercase_texts(&self) -> &[String] {
        self.lowercase_texts.get_or_init(|| self.matched_posts().map(|post| normalize_case(post.text)).collect())
    }

    pub(crate) fn lowercase_links(&self) -> &[String] {
        self.lowercase_links.get_or_init(|| {
            self.matched_posts().flat_map(|post| post.links).map(|link| normalize_case(link.expanded)).collect()
        })
    }

    /// Tests the post's point, or all corners of its place.
    pub(crate) fn location_matches(&self, predicate: impl Fn(GeoPoint) -> bool) -> bool {
        if self.flags & flag::REPOST != 0 {
            return false;
        }
        match (self.post.point, self.post.place.and_then(|place| place.area)) {
            (Some(point), _) => predicate(point),
            (None, Some(area)) => area.corners().into_iter().all(predicate),
            (None, None) => false,
        }
    }

    fn matched_posts(&self) -> impl Iterator<Item = &'a QueryablePost<'a>> {
        let quoted = self.post.quoted.filter(|_| self.match_mode == MatchMode::Stream);
        std::iter::once(self.post).chain(quoted)
    }

    fn add_words(&mut self, field: WordField, text: &str) {
        if text.is_empty() {
            return;
        }
        let start = self.words.len();
        let (words, features) = (&mut self.words, &mut self.features);
        visit_words(text, self.match_mode, field != WordField::Text, |word| {
            words.push(word);
            features.insert(word_feature(field, word));
        });
        self.word_runs.push((field, start, self.words.len()));
    }

    fn add_content(&mut self, post: &QueryablePost<'_>) {
        self.add_words(WordField::Text, post.text);
        self.add_tags(FeatureKind::Hashtag, post.hashtags, flag::HASHTAGS);
        self.add_tags(FeatureKind::Cashtag, post.cashtags, flag::CASHTAGS);
        for mention in post.mentions {
            self.flags |= flag::MENTIONS;
            self.add_handle(FeatureKind::Mention, *mention);
        }
        for link in post.links {
            self.flags |= flag::LINKS;
            self.add_words(WordField::Link, link.url);
            if link.expanded != link.url {
                self.add_words(WordField::Link, link.expanded);
            }
            if link.unwound != link.expanded && link.unwound != link.url {
                self.add_words(WordField::Link, link.unwound);
            }
            if self.match_mode == MatchMode::Stream {
                self.add_words(WordField::Title, link.title);
                self.add_words(WordField::Description, link.description);
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

    fn add_tags(&mut self, kind: FeatureKind, tags: &[&str], bit: u16) {
        for tag in tags {
            self.flags |= bit;
            self.features.insert(hash_feature(kind, hash_text(tag, self.match_mode)));
        }
    }

    fn add_handle(&mut self, kind: FeatureKind, handle: UserHandle<'_>) {
        self.features.insert(number_feature(kind, handle.id.cast_unsigned()));
        self.features.insert(hash_feature(kind, hash_text(handle.username, MatchMode::Stream)));
        // A query cannot tell a username of digits from an id.
        if handle.username.bytes().all(|byte| byte.is_ascii_digit())
            && let Ok(digits) = handle.username.parse()
        {
            self.features.insert(number_feature(kind, digits));
        }
    }

    fn add_author(&mut self) {
        let author = &self.post.author;
        self.add_person(FeatureKind::From, FeatureKind::FromAffiliate, &author.person);
        if author.verified {
            self.flags |= flag::VERIFIED;
        }
        for list in author.lists {
            self.features.insert(number_feature(FeatureKind::List, list.cast_unsigned()));
        }
        if self.match_mode == MatchMode::Stream {
            self.add_words(WordField::Bio, author.bio);
            self.add_words(WordField::Name, author.name);
            self.add_words(WordField::Location, author.location);
            self.add_words(WordField::Source, self.post.source);
        }
    }

    fn add_person(&mut self, kind: FeatureKind, affiliate: FeatureKind, person: &QueryablePerson<'_>) {
        self.add_handle(kind, person.handle);
        for affiliation in person.affiliations {
            self.add_handle(affiliate, *affiliation);
        }
    }

    fn add_references(&mut self) {
        let post = self.post;
        let mut add_reference = |kind, id: i64| self.features.insert(number_feature(kind, id.cast_unsigned()));
        add_reference(FeatureKind::Conversation, post.conversation);
        if let Some((id, _)) = post.reply_to {
            add_reference(FeatureKind::ReplyTo, id);
        }
        if let Some((id, _)) = post.repost_of {
            add_reference(FeatureKind::RepostOf, id);
        }
        if let Some(id) = post.quote_of {
            add_reference(FeatureKind::QuoteOf, id);
        }
        if let Some((_, author)) = &post.reply_to {
            self.flags |= flag::REPLY;
            self.add_person(FeatureKind::To, FeatureKind::ToAffiliate, author);
        }
        if let Some((_, author)) = post.repost_of {
            self.flags |= flag::REPOST;
            self.add_handle(FeatureKind::RepostedUser, author);
        }
        if post.quote_of.is_some() {
            self.flags |= flag::QUOTE;
        }
        if post.nullcast {
            self.flags |= flag::NULLCAST;
        }
        for annotation in post.annotations {
            if let Some(domain) = annotation.domain {
                self.features.insert(context_feature(domain, annotation.entity));
                self.features.insert(number_feature(FeatureKind::ContextDomain, domain));
                self.features.insert(number_feature(FeatureKind::ContextEntity, annotation.entity));
            }
            self.add_words(WordField::Entity, annotation.name);
        }
    }

    /// A repost has no location of its own.
    fn add_places(&mut self) {
        if self.flags & flag::REPOST != 0 {
            return;
        }
        if self.post.point.is_some() || self.post.place.is_some() {
            self.flags |= flag::GEO;
            self.features.insert(number_feature(FeatureKind::Geo, 0));
        }
        // All corners must lie inside the queried area, so one cell is enough.
        let corner = self.post.place.and_then(|place| place.area);
        let corner = corner.map(|area| (area.west, area.south));
        if let Some(point) = self.post.point.or(corner) {
            self.features.insert(number_feature(FeatureKind::Geo, grid_cell(point)));
        }
        if let Some(place) = self.post.place {
            self.add_words(WordField::Place, place.full_name);
            self.add_words(WordField::Place, place.id);
            self.features.insert(hash_feature(FeatureKind::Country, hash_text(place.country, self.match_mode)));
        }
    }
}

#[expect(clippy::as_conversions, reason = "a fieldless enum's number")]
pub(crate) fn gram_feature(kind: FeatureKind, bytes: [u8; 4]) -> u64 {
    feature_hash(kind as u64, u64::from(u32::from_le_bytes(bytes)))
}

/// A set of features: a list, a hash table for lookups and a small Bloom filter before it.
pub(crate) struct FeatureSet {
    list: Vec<u64>,
    table: Vec<u64>,
    filter: [u64; 64],
}

impl FeatureSet {
    fn new() -> Self {
        Self { list: Vec::with_capacity(96), table: vec![0; 512], filter: [0; 64] }
    }

    pub(crate) fn as_slice(&self) -> &[u64] {
        &self.list
    }

    /// `bit` has 12 bits.
    pub(crate) fn may_contain(&self, bit: u16) -> bool {
        let word = self.filter.get(usize::from(bit >> 6)).copied();
        word.unwrap_or(0) >> (bit & 63) & 1 == 1
    }

    pub(crate) fn contains(&self, feature: u64) -> bool {
        if !self.may_contain(filter_bit(feature)) {
            return false;
        }
        let mask = self.table.len() - 1;
        let mut position = table_slot(feature) & mask;
        loop {
            match self.table.get(position).copied() {
                Some(found) if found == feature => return true,
                Some(0) | None => return false,
                Some(_) => position = (position + 1) & mask,
            }
        }
    }

    fn insert(&mut self, feature: u64) {
        if self.list.len() * 2 >= self.table.len() {
            self.grow();
        }
        if insert_into_table(&mut self.table, feature) {
            self.list.push(feature);
            let bit = filter_bit(feature);
            if let Some(word) = self.filter.get_mut(usize::from(bit >> 6)) {
                *word |= 1 << (bit & 63);
            }
        }
    }

    fn grow(&mut self) {
        self.table = vec![0; self.table.len() * 4];
        for feature in &self.list {
            insert_into_table(&mut self.table, *feature);
        }
    }
}

/// The table must have a free slot. Returns whether the feature is new.
fn insert_into_table(table: &mut [u64], feature: u64) -> bool {
    let mask = table.len() - 1;
    let mut position = table_slot(feature) & mask;
    while let Some(slot) = table.get_mut(position) {
        if *slot == feature {
            return false;
        }
        if *slot == 0 {
            *slot = feature;
            return true;
        }
        position = (position + 1) & mask;
    }
    false
}

fn table_slot(feature: u64) -> usize {
    usize::try_from(feature >> 40).unwrap_or(0)
}

/// The feature's bit in the Bloom filter: 12 bits.
pub(crate) fn filter_bit(feature: u64) -> u16 {
    u16::try_from(feature >> 20 & 0xfff).unwrap_or(0)
}
