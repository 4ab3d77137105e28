//! The row types of the field tables: fields and expansions.

use base::VocabularyWord;
use store::communities::Community;
use store::lists::List;
use store::messages::MessageEvent;
use store::news_stories::NewsStoryDetails;
use store::places::Place;
use store::spaces::SpaceTopic;

use crate::ObjectKind;
use crate::compliance::ComplianceJobSummary;
use crate::connections::{ConnectionSummary, RuleCount};
use crate::json_writer::JsonWriter;
use crate::likes::LikeRenderContext;
use crate::loader::ExpansionTarget;
use crate::media::MediaRenderContext;
use crate::notes::RatedNote;
use crate::polls::PollRenderContext;
use crate::posts::PostRenderContext;
use crate::spaces::SpaceRenderContext;
use crate::trends::TrendRenderContext;
use crate::usage::ProjectUsage;
use crate::users::UserRenderContext;

#[derive(Clone, Copy, Debug)]
pub struct FieldDefinition {
    pub name: VocabularyWord,
    pub inclusion: FieldInclusion,
    pub audience: FieldAudience,
    pub json_type: JsonFieldType,
    /// One sentence for the OpenAPI document.
    pub description: &'static str,
    /// Whether the field can be missing although it was requested.
    pub may_be_absent: bool,
    pub(crate) writer: FieldWriter,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldInclusion {
    Always,
    /// When requested, or when an expansion goes through the field.
    Requested,
    /// Only when an expansion goes through the field.
    Expanded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldAudience {
    Anyone,
    /// Authenticated users: the field depends on the viewer.
    Users,
    /// The owner of the object.
    Owner,
}

#[derive(Clone, Copy, Debug)]
pub enum JsonFieldType {
    Text,
    /// A decimal id as a string.
    Id,
    /// `YYYY-MM-DDTHH:MM:SS.mmmZ`.
    Time,
    Int,
    Real,
    Bool,
    OneOf(&'static [&'static str]),
    List(&'static JsonFieldType),
    /// All members are optional.
    Object(&'static [JsonMember]),
    /// An object with arbitrary members.
    Any,
}

#[derive(Clone, Copy, Debug)]
pub struct JsonMember {
    pub name: VocabularyWord,
    pub json_type: JsonFieldType,
}

/// Writes a field's value, or nothing if there is none.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FieldWriter {
    Post(fn(&mut JsonWriter, PostRenderContext<'_>)),
    User(fn(&mut JsonWriter, UserRenderContext<'_>)),
    Media(fn(&mut JsonWriter, MediaRenderContext<'_>)),
    List(fn(&mut JsonWriter, &List)),
    Space(fn(&mut JsonWriter, SpaceRenderContext<'_>)),
    Topic(fn(&mut JsonWriter, &SpaceTopic)),
    Poll(fn(&mut JsonWriter, PollRenderContext<'_>)),
    Place(fn(&mut JsonWriter, &Place)),
    Community(fn(&mut JsonWriter, &Community)),
    Note(fn(&mut JsonWriter, &RatedNote)),
    News(fn(&mut JsonWriter, &NewsStoryDetails)),
    Trend(fn(&mut JsonWriter, TrendRenderContext<'_>)),
    Usage(fn(&mut JsonWriter, &ProjectUsage)),
    Connection(fn(&mut JsonWriter, &ConnectionSummary)),
    RulesCount(fn(&mut JsonWriter, RuleCount)),
    ComplianceJob(fn(&mut JsonWriter, &ComplianceJobSummary)),
    Message(fn(&mut JsonWriter, &MessageEvent)),
    Like(fn(&mut JsonWriter, LikeRenderContext<'_>)),
    /// The field is accepted in requests, but never has a value.
    Unsupported,
}

impl FieldDefinition {
    const fn new(
        inclusion: FieldInclusion,
        name: &'static str,
        json_type: JsonFieldType,
        description: &'static str,
    ) -> Self {
        Self {
            name: VocabularyWord::same_in_both(name),
            inclusion,
            audience: FieldAudience::Anyone,
            json_type,
            description,
            may_be_absent: false,
            writer: FieldWriter::Unsupported,
        }
    }

    pub(crate) const fn default_field(name: &'static str, json: JsonFieldType, about: &'static str) -> Self {
        Self::new(FieldInclusion::Always, name, json, about)
    }

    pub(crate) const fn requested_field(name: &'static str, json: JsonFieldType, about: &'static str) -> Self {
        Self::new(FieldInclusion::Requested, name, json, about)
    }

    pub(crate) const fn expansion_field(name: &'static str, json: JsonFieldType, about: &'static str) -> Self {
        Self::new(FieldInclusion::Expanded, name, json, about)
    }

    /// Sets the name in the tweets vocabulary.
    pub(crate) const fn tweet_name(self, tweet: &'static str) -> Self {
        let name = VocabularyWord::new(self.name.post, tweet);
        Self { name, ..self }
    }

    /// Marks the field as missing from some objects although it was requested.
    pub(crate) const fn absent_for_some(self) -> Self {
        Self { may_be_absent: true, ..self }
    }

    pub(crate) const fn restrict_to(self, audience: FieldAudience) -> Self {
        Self { audience, ..self }
    }

    pub(crate) const fn post_writer(self, write: fn(&mut JsonWriter, PostRenderContext<'_>)) -> Self {
        let write = FieldWriter::Post(write);
        Self { writer: write, ..self }
    }

    pub(crate) const fn user_writer(self, write: fn(&mut JsonWriter, UserRenderContext<'_>)) -> Self {
        let write = FieldWriter::User(write);
        Self { writer: write, ..self }
    }

    pub(crate) const fn media_writer(self, write: fn(&mut JsonWriter, MediaRenderContext<'_>)) -> Self {
        let write = FieldWriter::Media(write);
        Self { writer: write, ..self }
    }

    pub(crate) const fn list_writer(self, write: fn(&mut JsonWriter, &List)) -> Self {
        let write = FieldWriter::List(write);
        Self { writer: write, ..self }
    }

    pub(crate) const fn space_writer(self, write: fn(&mut JsonWriter, SpaceRenderContext<'_>)) -> Self {
        let write = FieldWriter::Space(write);
        Self { writer: write, ..self }
    }

    pub(crate) const fn topic_writer(self, write: fn(&mut JsonWriter, &SpaceTopic)) -> Self {
        let write = FieldWriter::Topic(write);
        Self { writer: write, ..self }
    }

    pub(crate) const fn poll_writer(self, write: fn(&mut JsonWriter, PollRenderContext<'_>)) -> Self {
        let write = FieldWriter::Poll(write);
        Self { writer: write, ..self }
    }

    pub(crate) const fn place_writer(self, write: fn(&mut JsonWriter, &Place)) -> Self {
        let write = FieldWriter::Place(write);
        Self { writer: write, ..self }
    }

    pub(crate) const fn message_writer(self, write: fn(&mut JsonWriter, &MessageEvent)) -> Self {
        let write = FieldWriter::Message(write);
        Self { writer: write, ..self }
    }

    pub(crate) const fn like_writer(self, write: fn(&mut JsonWriter, LikeRenderContext<'_>)) -> Self {
        let write = FieldWriter::Like(write);
        Self { writer: write, ..self }
    }

    pub(crate) const fn community_writer(self, write: fn(&mut JsonWriter, &Community)) -> Self {
        let write = FieldWriter::Community(write);
        Self { writer: write, ..self }
    }

    pub(crate) const fn note_writer(self, write: fn(&mut JsonWriter, &RatedNote)) -> Self {
        let write = FieldWriter::Note(write);
        Self { writer: write, ..self }
    }

    pub(crate) const fn news_writer(self, write: fn(&mut JsonWriter, &NewsStoryDetails)) -> Self {
        let write = FieldWriter::News(write);
        Self { writer: write, ..self }
    }

    pub(crate) const fn trend_writer(self, write: fn(&mut JsonWriter, TrendRenderContext<'_>)) -> Self {
        let write = FieldWriter::Trend(write);
        Self { writer: write, ..self }
    }

    pub(crate) const fn usage_writer(self, write: fn(&mut JsonWriter, &ProjectUsage)) -> Self {
        let write = FieldWriter::Usage(write);
        Self { writer: write, ..self }
    }

    pub(crate) const fn connection_writer(self, write: fn(&mut JsonWriter, &ConnectionSummary)) -> Self {
        let write = FieldWriter::Connection(write);
        Self { writer: write, ..self }
    }

    pub(crate) const fn rules_count_writer(self, write: fn(&mut JsonWriter, RuleCount)) -> Self {
        let write = FieldWriter::RulesCount(write);
        Self { writer: write, ..self }
    }

    pub(crate) const fn compliance_job_writer(self, write: fn(&mut JsonWriter, &ComplianceJobSummary)) -> Self {
        let write = FieldWriter::ComplianceJob(write);
        Self { writer: write, ..self }
    }
}

impl JsonMember {
    pub(crate) const fn new(name: &'static str, json_type: JsonFieldType) -> Self {
        let name = VocabularyWord::same_in_both(name);
        Self { name, json_type }
    }

    pub(crate) const fn per_vocabulary(post: &'static str, tweet: &'static str, json_type: JsonFieldType) -> Self {
        let name = VocabularyWord::new(post, tweet);
        Self { name, json_type }
    }
}

/// A reference from an object to others, which are then rendered in `includes`.
#[derive(Clone, Copy, Debug)]
pub struct Expansion {
    /// Empty in a vocabulary that lacks it.
    pub name: VocabularyWord,
    pub target: ObjectKind,
    /// The field (posts vocabulary) it goes through, which is rendered as well.
    pub field: &'static str,
    /// Whether it starts at the posts that the object refers to, rather than at the object.
    pub nested: bool,
    pub(crate) resolver: ExpansionResolver,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum ExpansionResolver {
    Post(for<'a> fn(PostRenderContext<'a>, &mut Vec<ExpansionTarget<'a>>)),
    User(for<'a> fn(UserRenderContext<'a>, &mut Vec<ExpansionTarget<'a>>)),
    List(for<'a> fn(&'a List, &mut Vec<ExpansionTarget<'a>>)),
    Space(for<'a> fn(SpaceRenderContext<'a>, &mut Vec<ExpansionTarget<'a>>)),
    Message(for<'a> fn(&'a MessageEvent, &mut Vec<ExpansionTarget<'a>>)),
    Like(for<'a> fn(LikeRenderContext<'a>, &mut Vec<ExpansionTarget<'a>>)),
    /// The expansion is accepted in requests, but never leads anywhere.
    Unsupported,
}

impl Expansion {
    pub(crate) const fn new(name: &'static str, target: ObjectKind, field: &'static str) -> Self {
        Self {
            name: VocabularyWord::same_in_both(name),
            target,
            field,
            nested: false,
            resolver: ExpansionResolver::Unsupported,
        }
    }

    pub(crate) const fn tweet_name(self, tweet: &'static str) -> Self {
        let name = VocabularyWord::new(self.name.post, tweet);
        Self { name, ..self }
    }

    pub(crate) const fn tweet_only(self) -> Self {
        let name = VocabularyWord::new("", self.name.tweet);
        Self { name, ..self }
    }

    pub(crate) const fn post_only(self) -> Self {
        let name = VocabularyWord::new(self.name.post, "");
        Self { name, ..self }
    }

    pub(crate) const fn start_at_references(self) -> Self {
        Self { nested: true, ..self }
    }

    pub(crate) const fn post_resolver(
        self,
        resolve: for<'a> fn(PostRenderContext<'a>, &mut Vec<ExpansionTarget<'a>>),
    ) -> Self {
        let resolve = ExpansionResolver::Post(resolve);
        Self { resolver: resolve, ..self }
    }

    pub(crate) const fn user_resolver(
        self,
        resolve: for<'a> fn(UserRenderContext<'a>, &mut Vec<ExpansionTarget<'a>>),
    ) -> Self {
        let resolve = ExpansionResolver::User(resolve);
        Self { resolver: resolve, ..self }
    }

    pub(crate) const fn list_resolver(self, resolve: for<'a> fn(&'a List, &mut Vec<ExpansionTarget<'a>>)) -> Self {
        let resolve = ExpansionResolver::List(resolve);
        Self { resolver: resolve, ..self }
    }

    pub(crate) const fn message_resolver(
        self,
        resolve: for<'a> fn(&'a MessageEvent, &mut Vec<ExpansionTarget<'a>>),
    ) -> Self {
        let resolve = ExpansionResolver::Message(resolve);
        Self { resolver: resolve, ..self }
    }

    pub(crate) const fn like_resolver(
        self,
        resolve: for<'a> fn(LikeRenderContext<'a>, &mut Vec<ExpansionTarget<'a>>),
    ) -> Self {
        let resolve = ExpansionResolver::Like(resolve);
        Self { resolver: resolve, ..self }
    }

    pub(crate) const fn space_resolver(
        self,
        resolve: for<'a> fn(SpaceRenderContext<'a>, &mut Vec<ExpansionTarget<'a>>),
    ) -> Self {
        let resolve = ExpansionResolver::Space(resolve);
        Self { resolver: resolve, ..self }
    }
}
