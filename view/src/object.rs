//! The kinds of objects that answers hold, each with its tables.

use base::Word;

use crate::shown::{Expansion, Shown, When};
use crate::{
    communities, connections, likes, lists, media, messages, news, notes, others, places, polls,
    posts, spaces, trends, usage, users,
};

/// A kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Object {
    /// A post.
    Post,
    /// A user.
    User,
    /// A photo, video or animated GIF.
    Media,
    /// A poll.
    Poll,
    /// A place.
    Place,
    /// A list of users.
    List,
    /// A space.
    Space,
    /// A topic of a space.
    Topic,
    /// A direct message, or a change of who takes part.
    DmEvent,
    /// A community.
    Community,
    /// A news story.
    News,
    /// A community note.
    Note,
    /// A trend of a place.
    Trend,
    /// A trend for one user.
    PersonalizedTrend,
    /// A project's consumption.
    Usage,
    /// A stream connection.
    Connection,
    /// A compliance job.
    ComplianceJob,
    /// How many stream rules there are.
    RulesCount,
    /// A bucket of a post count.
    SearchCount,
    /// A like, on a stream.
    Like,
}

impl Object {
    /// Every kind.
    pub const ALL: [Self; 20] = [
        Self::Post,
        Self::User,
        Self::Media,
        Self::Poll,
        Self::Place,
        Self::List,
        Self::Space,
        Self::Topic,
        Self::DmEvent,
        Self::Community,
        Self::News,
        Self::Note,
        Self::Trend,
        Self::PersonalizedTrend,
        Self::Usage,
        Self::Connection,
        Self::ComplianceJob,
        Self::RulesCount,
        Self::SearchCount,
        Self::Like,
    ];

    /// Its place in [`Self::ALL`].
    pub(crate) const fn number(self) -> usize {
        #[expect(
            clippy::as_conversions,
            reason = "a fieldless enum's number, in a const"
        )]
        let number = self as usize;
        number
    }

    /// The name of its schema in the OpenAPI document.
    pub const fn schema_name(self) -> Word {
        match self {
            Self::Post => Word::new("Post", "Tweet"),
            Self::User => Word::same("User"),
            Self::Media => Word::same("Media"),
            Self::Poll => Word::same("Poll"),
            Self::Place => Word::same("Place"),
            Self::List => Word::same("List"),
            Self::Space => Word::same("Space"),
            Self::Topic => Word::same("Topic"),
            Self::DmEvent => Word::same("DmEvent"),
            Self::Community => Word::same("Community"),
            Self::News => Word::same("News"),
            Self::Note => Word::same("Note"),
            Self::Trend => Word::same("Trend"),
            Self::PersonalizedTrend => Word::same("PersonalizedTrend"),
            Self::Usage => Word::same("Usage"),
            Self::Connection => Word::same("Connection"),
            Self::ComplianceJob => Word::same("ComplianceJob"),
            Self::RulesCount => Word::same("RulesCount"),
            Self::SearchCount => Word::same("SearchCount"),
            Self::Like => Word::same("Like"),
        }
    }

    /// The parameter that asks for its fields.
    pub const fn fields_param(self) -> Word {
        match self {
            Self::Post => Word::new("post.fields", "tweet.fields"),
            Self::User => Word::same("user.fields"),
            Self::Media => Word::same("media.fields"),
            Self::Poll => Word::same("poll.fields"),
            Self::Place => Word::same("place.fields"),
            Self::List => Word::same("list.fields"),
            Self::Space => Word::same("space.fields"),
            Self::Topic => Word::same("topic.fields"),
            Self::DmEvent => Word::same("dm_event.fields"),
            Self::Community => Word::same("community.fields"),
            Self::News => Word::same("news.fields"),
            Self::Note => Word::same("note.fields"),
            Self::Trend => Word::same("trend.fields"),
            Self::PersonalizedTrend => Word::same("personalized_trend.fields"),
            Self::Usage => Word::same("usage.fields"),
            Self::Connection => Word::same("connection.fields"),
            Self::ComplianceJob => Word::same("compliance_job.fields"),
            Self::RulesCount => Word::same("rules_count.fields"),
            Self::SearchCount => Word::same("search_count.fields"),
            Self::Like => Word::same("like.fields"),
        }
    }

    /// The member of `includes` that holds it, or none.
    pub const fn include_key(self) -> Option<Word> {
        match self {
            Self::Post => Some(Word::new("posts", "tweets")),
            Self::User => Some(Word::same("users")),
            Self::Media => Some(Word::same("media")),
            Self::Poll => Some(Word::same("polls")),
            Self::Place => Some(Word::same("places")),
            Self::Topic => Some(Word::same("topics")),
            _ => None,
        }
    }

    /// Its fields, in the order in which they are spoken.
    pub const fn fields(self) -> &'static [Shown] {
        match self {
            Self::Post => posts::FIELDS,
            Self::User => users::FIELDS,
            Self::Media => media::FIELDS,
            Self::Poll => polls::FIELDS,
            Self::Place => places::FIELDS,
            Self::List => lists::FIELDS,
            Self::Space => spaces::FIELDS,
            Self::Topic => spaces::TOPIC_FIELDS,
            Self::DmEvent => messages::FIELDS,
            Self::Community => communities::FIELDS,
            Self::News => news::FIELDS,
            Self::Note => notes::FIELDS,
            Self::Trend => trends::TREND_FIELDS,
            Self::PersonalizedTrend => trends::PERSONALIZED_TREND_FIELDS,
            Self::Usage => usage::USAGE_FIELDS,
            Self::Connection => connections::CONNECTION_FIELDS,
            Self::ComplianceJob => crate::compliance::COMPLIANCE_JOB_FIELDS,
            Self::RulesCount => connections::RULES_COUNT_FIELDS,
            Self::SearchCount => others::SEARCH_COUNT_FIELDS,
            Self::Like => likes::FIELDS,
        }
    }

    /// What it can lead to.
    pub const fn expansions(self) -> &'static [Expansion] {
        match self {
            Self::Post => posts::EXPANSIONS,
            Self::User => users::EXPANSIONS,
            Self::List => lists::EXPANSIONS,
            Self::Space => spaces::EXPANSIONS,
            Self::DmEvent => messages::EXPANSIONS,
            Self::Like => likes::EXPANSIONS,
            _ => &[],
        }
    }

    /// Every name that its `*.fields` parameter takes: those of both generations, sorted.
    pub fn field_names(self) -> Vec<&'static str> {
        let fields = self.fields().iter();
        let named = fields.filter(|field| !matches!(field.when, When::Expanded));
        sorted(named.map(|field| field.name))
    }

    /// Every name that `expansions` takes when it is what was asked for: those of both
    /// generations, sorted.
    pub fn expansion_names(self) -> Vec<&'static str> {
        sorted(self.expansions().iter().map(|expansion| expansion.name))
    }
}

fn sorted(words: impl Iterator<Item = Word>) -> Vec<&'static str> {
    let both = words.flat_map(|word| [word.post, word.tweet]);
    let mut names: Vec<_> = both.filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    names
}
