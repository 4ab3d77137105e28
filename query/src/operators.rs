//! The operators: one table of names, class, place and value, from which lexer, checks, print and
//! documents derive.

use crate::dialect::{Dialect, Level};
use crate::words::Field;

/// Whether an operator may stand alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Alone or with others.
    Standalone,
    /// Only beside one that may stand alone.
    Conjunction,
}

/// What must be said about negating an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Negation {
    Free,
    Never,
    Always,
}

/// How an operator's value reads and what it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Consecutive words of a field.
    Words(Field),
    /// One whole text: a tag, a symbol, a country.
    Exact(Mark),
    /// A username or a numeric id.
    User(Mark),
    /// A numeric id.
    Id(Mark),
    /// `domain.entity`, either of which may be `*`.
    Context,
    /// A kind of post, or something that it has.
    Flag(u16),
    /// A language code.
    Language,
    /// A share of posts, in per cent.
    Sample,
    /// A counter: a minimum, or `A..B` where `range`.
    Counter(Counter),
    /// `[longitude latitude radius]`.
    Circle,
    /// `[west south east north]`.
    Rectangle,
    /// A literal part of a link (true) or of the text.
    Part(bool),
    /// Compared by meaning; not served.
    Meaning,
}

/// Kinds of whole features of a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the operator of the same name")]
pub enum Mark {
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

/// Numbers of a post or of its author.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the operator of the same name")]
pub enum Counter {
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

/// One operator of the language.
#[derive(Debug)]
pub struct Operator {
    /// Its names, the canonical one first; a sign for those that begin with one.
    pub names: &'static [&'static str],
    /// Whether it may stand alone.
    pub class: Class,
    /// How its value reads.
    pub how: How,
    /// What it matches.
    pub about: &'static str,
    pub(crate) negation: Negation,
    products: u8,
    least: Level,
    engagement: bool,
}

const SEARCH: u8 = 15;
const RECENT: u8 = 5;
const STREAM: u8 = 16;
const POWER: u8 = 32;
const ACTIVITY: u8 = 64;
const BOTH: u8 = SEARCH | STREAM;
const MOST: u8 = BOTH | POWER;
const ALL: u8 = MOST | ACTIVITY;

impl Operator {
    /// The name under which it is printed.
    pub fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    /// Whether it can be used here.
    pub fn available(&self, dialect: Dialect) -> bool {
        self.products & dialect.product.bit() != 0
            && self.least <= dialect.level
            && (dialect.engagement || !self.engagement)
    }

    /// The one with a name, as it is written before the colon (`is:` and `has:` with their value).
    pub fn find(name: &str) -> Option<&'static Self> {
        OPERATORS.iter().find(|operator| {
            operator
                .names
                .iter()
                .any(|known| known.eq_ignore_ascii_case(name))
                && name != KEYWORD
        })
    }
}

impl PartialEq for Operator {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

const fn free(
    names: &'static [&'static str],
    products: u8,
    how: How,
    about: &'static str,
) -> Operator {
    Operator {
        names,
        class: Class::Standalone,
        how,
        about,
        negation: Negation::Free,
        products,
        least: Level::SelfServe,
        engagement: false,
    }
}

const fn bound(
    names: &'static [&'static str],
    products: u8,
    how: How,
    about: &'static str,
) -> Operator {
    let mut operator = free(names, products, how, about);
    operator.class = Class::Conjunction;
    operator
}

const fn counted(
    names: &'static [&'static str],
    counter: Counter,
    about: &'static str,
) -> Operator {
    let mut operator = free(names, SEARCH, How::Counter(counter), about);
    operator.engagement = true;
    operator
}

const fn ruled(mut operator: Operator, negation: Negation) -> Operator {
    operator.negation = negation;
    operator
}

/// What the table calls a word without an operator.
const KEYWORD: &str = "keyword";

/// The operator of plain words.
pub(crate) fn keyword() -> &'static Operator {
    &OPERATORS[0]
}

/// Every operator of the language.
#[rustfmt::skip]
pub static OPERATORS: [Operator; 56] = [
    free(&["keyword"], ALL, How::Words(Field::Text), "a word of the text"),
    free(&["\""], ALL, How::Words(Field::Text), "consecutive words of the text"),
    free(&["#"], ALL, How::Exact(Mark::Hashtag), "a whole hashtag"),
    free(&["@"], ALL, How::User(Mark::Mention), "a mention"),
    free(&["$"], ALL, How::Exact(Mark::Cashtag), "a cashtag"),
    free(&["from"], MOST, How::User(Mark::From), "the author"),
    free(&["to"], MOST, How::User(Mark::To), "the author of the post replied to"),
    free(&["retweets_of", "retweets_of_user"], MOST, How::User(Mark::RepostedUser), "reposts of that user's posts"),
    free(&["url"], BOTH, How::Words(Field::Link), "consecutive words of a link"),
    free(&["context"], BOTH, How::Context, "a context annotation: domain.entity, domain.*, *.entity"),
    free(&["entity"], RECENT | STREAM, How::Words(Field::Entity), "the name of an annotated entity"),
    free(&["conversation_id"], BOTH, How::Id(Mark::Conversation), "posts of that conversation"),
    free(&["in_reply_to_tweet_id", "in_reply_to_status_id"], MOST, How::Id(Mark::ReplyTo), "replies to that post"),
    free(&["retweets_of_tweet_id", "retweets_of_status_id"], MOST, How::Id(Mark::RepostOf), "reposts of that post"),
    free(&["quotes_of_tweet_id", "quotes_of_status_id"], SEARCH, How::Id(Mark::QuoteOf), "quotes of that post"),
    free(&["list"], SEARCH, How::Id(Mark::List), "authors who are members of that list"),
    free(&["place"], MOST, How::Words(Field::Place), "a place by its full name or id"),
    free(&["place_country"], BOTH, How::Exact(Mark::Country), "a country by its two letters"),
    free(&["point_radius"], MOST, How::Circle, "posts from within a circle"),
    free(&["bounding_box", "geo_bounding_box"], MOST, How::Rectangle, "posts from within a rectangle"),
    counted(&["min_likes"], Counter::Likes, "posts with at least so many likes"),
    counted(&["min_replies"], Counter::Replies, "posts with at least so many replies"),
    counted(&["min_reposts"], Counter::Reposts, "posts with at least so many reposts"),
    bound(&["is:retweet"], MOST, How::Flag(flag::REPOST), "reposts"),
    bound(&["is:reply"], MOST, How::Flag(flag::REPLY), "replies"),
    bound(&["is:quote"], BOTH, How::Flag(flag::QUOTE), "quotes"),
    bound(&["is:verified"], BOTH, How::Flag(flag::VERIFIED), "posts of verified authors"),
    ruled(bound(&["is:nullcast"], BOTH, How::Flag(flag::NULLCAST), "promoted-only posts; only excluded"), Negation::Always),
    bound(&["has:hashtags"], BOTH, How::Flag(flag::HASHTAGS), "a hashtag"),
    bound(&["has:cashtags"], BOTH, How::Flag(flag::CASHTAGS), "a cashtag"),
    bound(&["has:symbols"], POWER, How::Flag(flag::CASHTAGS), "a cashtag"),
    bound(&["has:links"], MOST, How::Flag(flag::LINKS), "a link, to media included"),
    bound(&["has:mentions"], MOST, How::Flag(flag::MENTIONS), "a mention"),
    bound(&["has:media", "has:media_link"], MOST, How::Flag(flag::MEDIA), "a picture or a film"),
    bound(&["has:images"], MOST, How::Flag(flag::IMAGES), "a picture"),
    bound(&["has:video_link", "has:videos"], MOST, How::Flag(flag::VIDEO), "a film"),
    bound(&["has:geo"], MOST, How::Flag(flag::GEO), "a place or a point"),
    bound(&["has:lang"], POWER, How::Flag(flag::LANGUAGE), "a known language"),
    bound(&["lang"], MOST, How::Language, "the language"),
    ruled(bound(&["sample"], STREAM, How::Sample, "a share of the matches, in per cent"), Negation::Never),
    free(&["bio", "user_bio"], STREAM | POWER, How::Words(Field::Bio), "words of the author's description"),
    free(&["bio_name"], STREAM | POWER, How::Words(Field::Name), "words of the author's name"),
    free(&["bio_location", "user_bio_location"], STREAM, How::Words(Field::Location), "words of the author's location"),
    free(&["from_affiliate_of"], STREAM, How::User(Mark::FromAffiliate), "authors affiliated with that account"),
    free(&["to_affiliate_of"], STREAM, How::User(Mark::ToAffiliate), "replies to accounts affiliated with that one"),
    bound(&["url_title", "within_url_title"], STREAM, How::Words(Field::Title), "words of a link's title"),
    bound(&["url_description", "within_url_description"], STREAM, How::Words(Field::Description), "words of a link's description"),
    bound(&["url_contains"], STREAM | POWER, How::Part(true), "a part of a link"),
    free(&["contains"], POWER, How::Part(false), "a part of the text"),
    bound(&["source"], STREAM, How::Words(Field::Source), "the posting application"),
    bound(&["followers_count", "min_followers"], STREAM, How::Counter(Counter::Followers), "the author's followers"),
    bound(&["tweets_count", "statuses_count"], STREAM, How::Counter(Counter::Posts), "the author's posts"),
    bound(&["following_count", "friends_count"], STREAM, How::Counter(Counter::Following), "whom the author follows"),
    bound(&["listed_count", "user_in_lists_count"], STREAM, How::Counter(Counter::Listed), "the lists that hold the author"),
    ruled(free(&["embedding"], 0, How::Meaning, "posts of a meaning; not served"), Negation::Never),
    ruled(bound(&["embedding_threshold"], 0, How::Meaning, "how near a meaning; not served"), Negation::Never),
];

/// Whether a name stands before a colon anywhere in the language.
pub(crate) fn known(name: &str) -> bool {
    name.eq_ignore_ascii_case("is")
        || name.eq_ignore_ascii_case("has")
        || Operator::find(name).is_some()
}
