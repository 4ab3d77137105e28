//! The rows of the tables: fields and expansions.

use base::VocabularyWord;
use store::communities::Community;
use store::lists::List;
use store::messages::MessageEvent;
use store::news_stories::NewsStoryDetails;
use store::places::Place;
use store::spaces::SpaceTopic;

use crate::Object;
use crate::compliance::JobShown;
use crate::connections::{ConnectionShown, RulesShown};
use crate::likes::LikeFacts;
use crate::media::MediaFacts;
use crate::notes::NoteShown;
use crate::out::Out;
use crate::polls::PollFacts;
use crate::posts::PostFacts;
use crate::spaces::SpaceFacts;
use crate::trends::TrendFacts;
use crate::usage::UsageShown;
use crate::users::UserFacts;
use crate::world::Target;

/// A field of an object.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// Its name.
    pub name: VocabularyWord,
    /// When it is there.
    pub when: When,
    /// Who may see it.
    pub audience: Audience,
    /// What it holds.
    pub json: Json,
    /// One sentence.
    pub about: &'static str,
    /// Whether some objects lack it even when it is to be there.
    pub partial: bool,
    pub(crate) write: Write,
}

/// When a field is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Always.
    Always,
    /// When it is asked for, or an expansion goes through it.
    Asked,
    /// Only when an expansion goes through it.
    Expanded,
}

/// Who may see a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Everyone.
    Anyone,
    /// Any user: it says something about the two.
    Users,
    /// Whom the object belongs to.
    Owner,
}

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub enum Json {
    /// Text.
    Text,
    /// A decimal id, as text.
    Id,
    /// A moment, `YYYY-MM-DDTHH:MM:SS.mmmZ`.
    Time,
    /// A whole number.
    Int,
    /// A number.
    Real,
    /// `true` or `false`.
    Bool,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// An array.
    List(&'static Json),
    /// An object with these members, each of them optional.
    Object(&'static [Member]),
    /// An object of any members.
    Any,
}

/// A member of an object inside a field.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Its name.
    pub name: VocabularyWord,
    /// What it holds.
    pub json: Json,
}

/// The function that writes a field's value, or writes nothing when there is none.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Write {
    Post(fn(&mut Out, PostFacts<'_>)),
    User(fn(&mut Out, UserFacts<'_>)),
    Media(fn(&mut Out, MediaFacts<'_>)),
    List(fn(&mut Out, &List)),
    Space(fn(&mut Out, SpaceFacts<'_>)),
    Topic(fn(&mut Out, &SpaceTopic)),
    Poll(fn(&mut Out, PollFacts<'_>)),
    Place(fn(&mut Out, &Place)),
    Community(fn(&mut Out, &Community)),
    Note(fn(&mut Out, &NoteShown)),
    News(fn(&mut Out, &NewsStoryDetails)),
    Trend(fn(&mut Out, TrendFacts<'_>)),
    Usage(fn(&mut Out, &UsageShown)),
    Connection(fn(&mut Out, &ConnectionShown)),
    Rules(fn(&mut Out, RulesShown)),
    Job(fn(&mut Out, &JobShown)),
    Message(fn(&mut Out, &MessageEvent)),
    Like(fn(&mut Out, LikeFacts<'_>)),
    /// Accepted; this platform has no such facts.
    Never,
}

impl Shown {
    const fn new(when: When, name: &'static str, json: Json, about: &'static str) -> Self {
        Self {
            name: VocabularyWord::same_in_both(name),
            when,
            audience: Audience::Anyone,
            json,
            about,
            partial: false,
            write: Write::Never,
        }
    }

    pub(crate) const fn always(name: &'static str, json: Json, about: &'static str) -> Self {
        Self::new(When::Always, name, json, about)
    }

    pub(crate) const fn asked(name: &'static str, json: Json, about: &'static str) -> Self {
        Self::new(When::Asked, name, json, about)
    }

    pub(crate) const fn expanded(name: &'static str, json: Json, about: &'static str) -> Self {
        Self::new(When::Expanded, name, json, about)
    }

    /// Is called something else in the tweets vocabulary.
    pub(crate) const fn tweet(self, tweet: &'static str) -> Self {
        let name = VocabularyWord::new(self.name.post, tweet);
        Self { name, ..self }
    }

    /// Some objects lack it even when it is to be there.
    pub(crate) const fn partial(self) -> Self {
        Self {
            partial: true,
            ..self
        }
    }

    pub(crate) const fn only_for(self, audience: Audience) -> Self {
        Self { audience, ..self }
    }

    pub(crate) const fn post(self, write: fn(&mut Out, PostFacts<'_>)) -> Self {
        let write = Write::Post(write);
        Self { write, ..self }
    }

    pub(crate) const fn user(self, write: fn(&mut Out, UserFacts<'_>)) -> Self {
        let write = Write::User(write);
        Self { write, ..self }
    }

    pub(crate) const fn media(self, write: fn(&mut Out, MediaFacts<'_>)) -> Self {
        let write = Write::Media(write);
        Self { write, ..self }
    }

    pub(crate) const fn list(self, write: fn(&mut Out, &List)) -> Self {
        let write = Write::List(write);
        Self { write, ..self }
    }

    pub(crate) const fn space(self, write: fn(&mut Out, SpaceFacts<'_>)) -> Self {
        let write = Write::Space(write);
        Self { write, ..self }
    }

    pub(crate) const fn topic(self, write: fn(&mut Out, &SpaceTopic)) -> Self {
        let write = Write::Topic(write);
        Self { write, ..self }
    }

    pub(crate) const fn poll(self, write: fn(&mut Out, PollFacts<'_>)) -> Self {
        let write = Write::Poll(write);
        Self { write, ..self }
    }

    pub(crate) const fn place(self, write: fn(&mut Out, &Place)) -> Self {
        let write = Write::Place(write);
        Self { write, ..self }
    }

    pub(crate) const fn message(self, write: fn(&mut Out, &MessageEvent)) -> Self {
        let write = Write::Message(write);
        Self { write, ..self }
    }

    pub(crate) const fn like(self, write: fn(&mut Out, LikeFacts<'_>)) -> Self {
        let write = Write::Like(write);
        Self { write, ..self }
    }

    pub(crate) const fn community(self, write: fn(&mut Out, &Community)) -> Self {
        let write = Write::Community(write);
        Self { write, ..self }
    }

    pub(crate) const fn note(self, write: fn(&mut Out, &NoteShown)) -> Self {
        let write = Write::Note(write);
        Self { write, ..self }
    }

    pub(crate) const fn news(self, write: fn(&mut Out, &NewsStoryDetails)) -> Self {
        let write = Write::News(write);
        Self { write, ..self }
    }

    pub(crate) const fn trend(self, write: fn(&mut Out, TrendFacts<'_>)) -> Self {
        let write = Write::Trend(write);
        Self { write, ..self }
    }

    pub(crate) const fn usage(self, write: fn(&mut Out, &UsageShown)) -> Self {
        let write = Write::Usage(write);
        Self { write, ..self }
    }

    pub(crate) const fn connection(self, write: fn(&mut Out, &ConnectionShown)) -> Self {
        let write = Write::Connection(write);
        Self { write, ..self }
    }

    pub(crate) const fn rules(self, write: fn(&mut Out, RulesShown)) -> Self {
        let write = Write::Rules(write);
        Self { write, ..self }
    }

    pub(crate) const fn job(self, write: fn(&mut Out, &JobShown)) -> Self {
        let write = Write::Job(write);
        Self { write, ..self }
    }
}

impl Member {
    pub(crate) const fn new(name: &'static str, json: Json) -> Self {
        let name = VocabularyWord::same_in_both(name);
        Self { name, json }
    }

    pub(crate) const fn words(post: &'static str, tweet: &'static str, json: Json) -> Self {
        let name = VocabularyWord::new(post, tweet);
        Self { name, json }
    }
}

/// A way from an object to others, which then come in `includes`.
#[derive(Clone, Copy, Debug)]
pub struct Expansion {
    /// Its name; empty in a vocabulary that lacks it.
    pub name: VocabularyWord,
    /// What it leads to.
    pub to: Object,
    /// The field (posts vocabulary) that it goes through, which is shown along with it.
    pub field: &'static str,
    /// Whether it starts at the posts that the object refers to, rather than at the object.
    pub nested: bool,
    pub(crate) reach: Reach,
}

/// How the targets of an expansion are found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reach {
    Post(for<'a> fn(PostFacts<'a>, &mut Vec<Target<'a>>)),
    User(for<'a> fn(UserFacts<'a>, &mut Vec<Target<'a>>)),
    List(for<'a> fn(&'a List, &mut Vec<Target<'a>>)),
    Space(for<'a> fn(SpaceFacts<'a>, &mut Vec<Target<'a>>)),
    Message(for<'a> fn(&'a MessageEvent, &mut Vec<Target<'a>>)),
    Like(for<'a> fn(LikeFacts<'a>, &mut Vec<Target<'a>>)),
    /// Accepted; this platform has no such facts.
    Never,
}

impl Expansion {
    pub(crate) const fn new(name: &'static str, to: Object, field: &'static str) -> Self {
        Self {
            name: VocabularyWord::same_in_both(name),
            to,
            field,
            nested: false,
            reach: Reach::Never,
        }
    }

    pub(crate) const fn tweet(self, tweet: &'static str) -> Self {
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

    pub(crate) const fn nested(self) -> Self {
        Self {
            nested: true,
            ..self
        }
    }

    pub(crate) const fn by_post(
        self,
        reach: for<'a> fn(PostFacts<'a>, &mut Vec<Target<'a>>),
    ) -> Self {
        let reach = Reach::Post(reach);
        Self { reach, ..self }
    }

    pub(crate) const fn by_user(
        self,
        reach: for<'a> fn(UserFacts<'a>, &mut Vec<Target<'a>>),
    ) -> Self {
        let reach = Reach::User(reach);
        Self { reach, ..self }
    }

    pub(crate) const fn by_list(self, reach: for<'a> fn(&'a List, &mut Vec<Target<'a>>)) -> Self {
        let reach = Reach::List(reach);
        Self { reach, ..self }
    }

    pub(crate) const fn by_message(
        self,
        reach: for<'a> fn(&'a MessageEvent, &mut Vec<Target<'a>>),
    ) -> Self {
        let reach = Reach::Message(reach);
        Self { reach, ..self }
    }

    pub(crate) const fn by_like(
        self,
        reach: for<'a> fn(LikeFacts<'a>, &mut Vec<Target<'a>>),
    ) -> Self {
        let reach = Reach::Like(reach);
        Self { reach, ..self }
    }

    pub(crate) const fn by_space(
        self,
        reach: for<'a> fn(SpaceFacts<'a>, &mut Vec<Target<'a>>),
    ) -> Self {
        let reach = Reach::Space(reach);
        Self { reach, ..self }
    }
}
