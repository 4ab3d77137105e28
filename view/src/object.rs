//! The kinds of objects in responses, each with its tables.

use base::VocabularyWord;

use crate::field_schema::{Expansion, FieldDefinition, FieldInclusion};
use crate::{
    communities, connections, likes, lists, media, messages, news, notes, places, polls, posts, search_counts, spaces,
    trends, usage, users,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ObjectKind {
    Post,
    User,
    Media,
    Poll,
    Place,
    List,
    Space,
    Topic,
    /// A direct message event.
    DmEvent,
    Community,
    News,
    Note,
    Trend,
    PersonalizedTrend,
    Usage,
    Connection,
    ComplianceJob,
    RulesCount,
    SearchCount,
    /// A like on a stream.
    Like,
}

impl ObjectKind {
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

    /// The index in [`Self::ALL`].
    pub(crate) const fn index(self) -> usize {
        #[expect(clippy::as_conversions, reason = "the discriminant of a fieldless enum in a const fn")]
        let number = self as usize;
        number
    }

    /// The name of the schema in the OpenAPI document.
    pub const fn schema_name(self) -> VocabularyWord {
        match self {
            Self::Post => VocabularyWord::new("Post", "Tweet"),
            Self::User => VocabularyWord::same_in_both("User"),
            Self::Media => VocabularyWord::same_in_both("Media"),
            Self::Poll => VocabularyWord::same_in_both("Poll"),
            Self::Place => VocabularyWord::same_in_both("Place"),
            Self::List => VocabularyWord::same_in_both("List"),
            Self::Space => VocabularyWord::same_in_both("Space"),
            Self::Topic => VocabularyWord::same_in_both("Topic"),
            Self::DmEvent => VocabularyWord::same_in_both("DmEvent"),
            Self::Community => VocabularyWord::same_in_both("Community"),
            Self::News => VocabularyWord::same_in_both("News"),
            Self::Note => VocabularyWord::same_in_both("Note"),
            Self::Trend => VocabularyWord::same_in_both("Trend"),
            Self::PersonalizedTrend => VocabularyWord::same_in_both("PersonalizedTrend"),
            Self::Usage => VocabularyWord::same_in_both("Usage"),
            Self::Connection => VocabularyWord::same_in_both("Connection"),
            Self::ComplianceJob => VocabularyWord::same_in_both("ComplianceJob"),
            Self::RulesCount => VocabularyWord::same_in_both("RulesCount"),
            Self::SearchCount => VocabularyWord::same_in_both("SearchCount"),
            Self::Like => VocabularyWord::same_in_both("Like"),
        }
    }

    /// The name of the `*.fields` parameter.
    pub const fn fields_param(self) -> VocabularyWord {
        match self {
            Self::Post => VocabularyWord::new("post.fields", "tweet.fields"),
            Self::User => VocabularyWord::same_in_both("user.fields"),
            Self::Media => VocabularyWord::same_in_both("media.fields"),
            Self::Poll => VocabularyWord::same_in_both("poll.fields"),
            Self::Place => VocabularyWord::same_in_both("place.fields"),
            Self::List => VocabularyWord::same_in_both("list.fields"),
            Self::Space => VocabularyWord::same_in_both("space.fields"),
            Self::Topic => VocabularyWord::same_in_both("topic.fields"),
            Self::DmEvent => VocabularyWord::same_in_both("dm_event.fields"),
            Self::Community => VocabularyWord::same_in_both("community.fields"),
            Self::News => VocabularyWord::same_in_both("news.fields"),
            Self::Note => VocabularyWord::same_in_both("note.fields"),
            Self::Trend => VocabularyWord::same_in_both("trend.fields"),
            Self::PersonalizedTrend => VocabularyWord::same_in_both("personalized_trend.fields"),
            Self::Usage => VocabularyWord::same_in_both("usage.fields"),
            Self::Connection => VocabularyWord::same_in_both("connection.fields"),
            Self::ComplianceJob => VocabularyWord::same_in_both("compliance_job.fields"),
            Self::RulesCount => VocabularyWord::same_in_both("rules_count.fields"),
            Self::SearchCount => VocabularyWord::same_in_both("search_count.fields"),
            Self::Like => VocabularyWord::same_in_both("like.fields"),
        }
    }

    /// The member of `includes`, if the kind can be included.
    pub const fn include_key(self) -> Option<VocabularyWord> {
        match self {
            Self::Post => Some(VocabularyWord::new("posts", "tweets")),
            Self::User => Some(VocabularyWord::same_in_both("users")),
            Self::Media => Some(VocabularyWord::same_in_both("media")),
            Self::Poll => Some(VocabularyWord::same_in_both("polls")),
            Self::Place => Some(VocabularyWord::same_in_both("places")),
            Self::Topic => Some(VocabularyWord::same_in_both("topics")),
            _ => None,
        }
    }

    /// In the order in which they are rendered.
    pub const fn fields(self) -> &'static [FieldDefinition] {
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
            Self::SearchCount => search_counts::SEARCH_COUNT_FIELDS,
            Self::Like => likes::FIELDS,
        }
    }

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

    /// The names accepted by the `*.fields` parameter in either vocabulary, sorted.
    pub fn field_names(self) -> Vec<&'static str> {
        let fields = self.fields().iter();
        let named = fields.filter(|field| !matches!(field.inclusion, FieldInclusion::Expanded));
        sort_names(named.map(|field| field.name))
    }

    /// The names accepted by `expansions` for primary objects of this kind in either vocabulary, sorted.
    pub fn expansion_names(self) -> Vec<&'static str> {
        sort_names(self.expansions().iter().map(|expansion| expansion.name))
    }
}

fn sort_names(words: impl Iterator<Item = VocabularyWord>) -> Vec<&'static str> {
    let both = words.flat_map(|word| [word.post, word.tweet]);
    let mut names: Vec<_> = both.filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    names
}
