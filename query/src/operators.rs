//! The table of operators, from which lexer, validation, canonical text and documentation derive.

use crate::dialect::{AccessTier, QueryDialect};
use crate::words::WordField;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorClass {
    Standalone,
    Conjunction,
}

/// Whether an operator may or must be negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NegationRule {
    Free,
    Never,
    Always,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorKind {
    Words(WordField),
    Exact(FeatureKind),
    User(FeatureKind),
    Id(FeatureKind),
    /// `domain.entity`, either of which may be `*`.
    Context,
    Flag(u16),
    Language,
    Sample,
    /// A minimum, or in stream rules also `A..B`.
    Counter(PostCounter),
    /// `[longitude latitude radius]`.
    Circle,
    /// `[west south east north]`.
    Rectangle,
    /// A substring of a link (true) or of the text.
    Substring(bool),
    Embedding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureKind {
    Hashtag = 32,
    Mention,
    Cashtag,
    From,
    To,
    RepostedUser,
    Context,
    ContextDomain,
    ContextEntity,
    Conversation,
    ReplyTo,
    RepostOf,
    QuoteOf,
    List,
    Country,
    FromAffiliate,
    ToAffiliate,
    Geo,
    Gram,
    LinkGram,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostCounter {
    Likes,
    Replies,
    Reposts,
    Followers,
    Following,
    Posts,
    Listed,
}

/// The bits of `is:` and `has:`.
pub(crate) mod flag {
    pub(crate) const HASHTAGS: u16 = 1;
    pub(crate) const CASHTAGS: u16 = 1 << 1;
    pub(crate) const LINKS: u16 = 1 << 2;
    pub(crate) const MENTIONS: u16 = 1 << 3;
    pub(crate) const MEDIA: u16 = 1 << 4;
    pub(crate) const IMAGES: u16 = 1 << 5;
    pub(crate) const VIDEO: u16 = 1 << 6;
    pub(crate) const GEO: u16 = 1 << 7;
    pub(crate) const REPOST: u16 = 1 << 8;
    pub(crate) const REPLY: u16 = 1 << 9;
    pub(crate) const QUOTE: u16 = 1 << 10;
    pub(crate) const VERIFIED: u16 = 1 << 11;
    pub(crate) const NULLCAST: u16 = 1 << 12;
    pub(crate) const LANGUAGE: u16 = 1 << 13;
}

#[derive(Debug)]
pub struct QueryOperator {
    /// The canonical name first; a sign for operators that begin with one.
    pub names: &'static [&'static str],
    pub class: OperatorClass,
    pub kind: OperatorKind,
    pub description: &'static str,
    pub(crate) negation: NegationRule,
    products: u8,
    min_tier: AccessTier,
    needs_engagement: bool,
}

const SEARCH: u8 = 15;
const RECENT: u8 = 5;
const STREAM: u8 = 16;
const POWERSTREAM: u8 = 32;
const ACTIVITY: u8 = 64;
const SEARCH_AND_STREAM: u8 = SEARCH | STREAM;
const ALL_BUT_ACTIVITY: u8 = SEARCH_AND_STREAM | POWERSTREAM;
const ALL: u8 = ALL_BUT_ACTIVITY | ACTIVITY;

impl QueryOperator {
    pub fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    pub fn is_available(&self, dialect: QueryDialect) -> bool {
        self.products & dialect.product.bit_mask() != 0
            && self.min_tier <= dialect.tier
            && (dialect.engagement_operators || !self.needs_engagement)
    }

    /// Expects the name before the colon; `is:` and `has:` with their value.
    pub fn find(name: &str) -> Option<&'static Self> {
        OPERATORS
            .iter()
            .find(|operator| operator.names.iter().any(|known| known.eq_ignore_ascii_case(name)) && name != KEYWORD)
    }
}

impl PartialEq for QueryOperator {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

const fn standalone(
    names: &'static [&'static str],
    products: u8,
    kind: OperatorKind,
    description: &'static str,
) -> QueryOperator {
    QueryOperator {
        names,
        class: OperatorClass::Standalone,
        kind,
        description,
        negation: NegationRule::Free,
        products,
        min_tier: AccessTier::SelfServe,
        needs_engagement: false,
    }
}

const fn conjunction_only(
    names: &'static [&'static str],
    products: u8,
    kind: OperatorKind,
    description: &'static str,
) -> QueryOperator {
    let mut operator = standalone(names, products, kind, description);
    operator.class = OperatorClass::Conjunction;
    operator
}

const fn search_counter(
    names: &'static [&'static str],
    counter: PostCounter,
    description: &'static str,
) -> QueryOperator {
    let mut operator = standalone(names, SEARCH, OperatorKind::Counter(counter), description);
    operator.needs_engagement = true;
    operator
}

const fn set_negation(mut operator: QueryOperator, negation: NegationRule) -> QueryOperator {
    operator.negation = negation;
    operator
}

const KEYWORD: &str = "keyword";

pub(crate) fn keyword_operator() -> &'static QueryOperator {
    &OPERATORS[0]
}

#[rustfmt::skip]
pub static OPERATORS: [QueryOperator; 56] = [
    standalone(&["keyword"], ALL, OperatorKind::Words(WordField::Text), "a word of the text"),
    standalone(&["\""], ALL, OperatorKind::Words(WordField::Text), "consecutive words of the text"),
    standalone(&["#"], ALL, OperatorKind::Exact(FeatureKind::Hashtag), "a whole hashtag"),
    standalone(&["@"], ALL, OperatorKind::User(FeatureKind::Mention), "a mention"),
    standalone(&["$"], ALL, OperatorKind::Exact(FeatureKind::Cashtag), "a cashtag"),
    standalone(&["from"], ALL_BUT_ACTIVITY, OperatorKind::User(FeatureKind::From), "the author"),
    standalone(&["to"], ALL_BUT_ACTIVITY, OperatorKind::User(FeatureKind::To), "the author of the post replied to"),
    standalone(&["retweets_of", "retweets_of_user"], ALL_BUT_ACTIVITY, OperatorKind::User(FeatureKind::RepostedUser), "reposts of that user's posts"),
    standalone(&["url"], SEARCH_AND_STREAM, OperatorKind::Words(WordField::Link), "consecutive words of a link"),
    standalone(&["context"], SEARCH_AND_STREAM, OperatorKind::Context, "a context annotation: domain.entity, domain.*, *.entity"),
    standalone(&["entity"], RECENT | STREAM, OperatorKind::Words(WordField::Entity), "the name of an annotated entity"),
    standalone(&["conversation_id"], SEARCH_AND_STREAM, OperatorKind::Id(FeatureKind::Conversation), "posts of that conversation"),
    standalone(&["in_reply_to_tweet_id", "in_reply_to_status_id"], ALL_BUT_ACTIVITY, OperatorKind::Id(FeatureKind::ReplyTo), "replies to that post"),
    standalone(&["retweets_of_tweet_id", "retweets_of_status_id"], ALL_BUT_ACTIVITY, OperatorKind::Id(FeatureKind::RepostOf), "reposts of that post"),
    standalone(&["quotes_of_tweet_id", "quotes_of_status_id"], SEARCH, OperatorKind::Id(FeatureKind::QuoteOf), "quotes of that post"),
    standalone(&["list"], SEARCH, OperatorKind::Id(FeatureKind::List), "authors who are members of that list"),
    standalone(&["place"], ALL_BUT_ACTIVITY, OperatorKind::Words(WordField::Place), "a place by its full name or id"),
    standalone(&["place_country"], SEARCH_AND_STREAM, OperatorKind::Exact(FeatureKind::Country), "a country by its two-letter code"),
    standalone(&["point_radius"], ALL_BUT_ACTIVITY, OperatorKind::Circle, "posts from within a circle"),
    standalone(&["bounding_box", "geo_bounding_box"], ALL_BUT_ACTIVITY, OperatorKind::Rectangle, "posts from within a rectangle"),
    search_counter(&["min_likes"], PostCounter::Likes, "posts with at least this many likes"),
    search_counter(&["min_replies"], PostCounter::Replies, "posts with at least this many replies"),
    search_counter(&["min_reposts"], PostCounter::Reposts, "posts with at least this many reposts"),
    conjunction_only(&["is:retweet"], ALL_BUT_ACTIVITY, OperatorKind::Flag(flag::REPOST), "reposts"),
    conjunction_only(&["is:reply"], ALL_BUT_ACTIVITY, OperatorKind::Flag(flag::REPLY), "replies"),
    conjunction_only(&["is:quote"], SEARCH_AND_STREAM, OperatorKind::Flag(flag::QUOTE), "quotes"),
    conjunction_only(&["is:verified"], SEARCH_AND_STREAM, OperatorKind::Flag(flag::VERIFIED), "posts of verified authors"),
    set_negation(conjunction_only(&["is:nullcast"], SEARCH_AND_STREAM, OperatorKind::Flag(flag::NULLCAST), "promoted-only posts; must be negated"), NegationRule::Always),
    conjunction_only(&["has:hashtags"], SEARCH_AND_STREAM, OperatorKind::Flag(flag::HASHTAGS), "a hashtag"),
    conjunction_only(&["has:cashtags"], SEARCH_AND_STREAM, OperatorKind::Flag(flag::CASHTAGS), "a cashtag"),
    conjunction_only(&["has:symbols"], POWERSTREAM, OperatorKind::Flag(flag::CASHTAGS), "a cashtag"),
    conjunction_only(&["has:links"], ALL_BUT_ACTIVITY, OperatorKind::Flag(flag::LINKS), "a link, to media included"),
    conjunction_only(&["has:mentions"], ALL_BUT_ACTIVITY, OperatorKind::Flag(flag::MENTIONS), "a mention"),
    conjunction_only(&["has:media", "has:media_link"], ALL_BUT_ACTIVITY, OperatorKind::Flag(flag::MEDIA), "an image or a video"),
    conjunction_only(&["has:images"], ALL_BUT_ACTIVITY, OperatorKind::Flag(flag::IMAGES), "an image"),
    conjunction_only(&["has:video_link", "has:videos"], ALL_BUT_ACTIVITY, OperatorKind::Flag(flag::VIDEO), "a video"),
    conjunction_only(&["has:geo"], ALL_BUT_ACTIVITY, OperatorKind::Flag(flag::GEO), "a place or a point"),
    conjunction_only(&["has:lang"], POWERSTREAM, OperatorKind::Flag(flag::LANGUAGE), "a known language"),
    conjunction_only(&["lang"], ALL_BUT_ACTIVITY, OperatorKind::Language, "the language"),
    set_negation(conjunction_only(&["sample"], STREAM, OperatorKind::Sample, "a share of the matches, in per cent"), NegationRule::Never),
    standalone(&["bio", "user_bio"], STREAM | POWERSTREAM, OperatorKind::Words(WordField::Bio), "words of the author's description"),
    standalone(&["bio_name"], STREAM | POWERSTREAM, OperatorKind::Words(WordField::Name), "words of the author's name"),
    standalone(&["bio_location", "user_bio_location"], STREAM, OperatorKind::Words(WordField::Location), "words of the author's location"),
    standalone(&["from_affiliate_of"], STREAM, OperatorKind::User(FeatureKind::FromAffiliate), "authors affiliated with that account"),
    standalone(&["to_affiliate_of"], STREAM, OperatorKind::User(FeatureKind::ToAffiliate), "replies to accounts affiliated with that one"),
    conjunction_only(&["url_title", "within_url_title"], STREAM, OperatorKind::Words(WordField::Title), "words of a link's title"),
    conjunction_only(&["url_description", "within_url_description"], STREAM, OperatorKind::Words(WordField::Description), "words of a link's description"),
    conjunction_only(&["url_contains"], STREAM | POWERSTREAM, OperatorKind::Substring(true), "a part of a link"),
    standalone(&["contains"], POWERSTREAM, OperatorKind::Substring(false), "a part of the text"),
    conjunction_only(&["source"], STREAM, OperatorKind::Words(WordField::Source), "the posting application"),
    conjunction_only(&["followers_count", "min_followers"], STREAM, OperatorKind::Counter(PostCounter::Followers), "the author's followers"),
    conjunction_only(&["tweets_count", "statuses_count"], STREAM, OperatorKind::Counter(PostCounter::Posts), "the author's posts"),
    conjunction_only(&["following_count", "friends_count"], STREAM, OperatorKind::Counter(PostCounter::Following), "the accounts that the author follows"),
    conjunction_only(&["listed_count", "user_in_lists_count"], STREAM, OperatorKind::Counter(PostCounter::Listed), "the lists that the author is a member of"),
    set_negation(standalone(&["embedding"], 0, OperatorKind::Embedding, "semantic search; not supported"), NegationRule::Never),
    set_negation(conjunction_only(&["embedding_threshold"], 0, OperatorKind::Embedding, "the threshold of semantic search; not supported"), NegationRule::Never),
];

/// Whether a name may precede a colon in any dialect.
pub(crate) fn is_operator_name(name: &str) -> bool {
    name.eq_ignore_ascii_case("is") || name.eq_ignore_ascii_case("has") || QueryOperator::find(name).is_some()
}
