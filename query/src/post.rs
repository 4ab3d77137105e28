//! A post as the language sees it.

use crate::geo::GeoArea;

/// An account by its id and its username.
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "their names say it")]
pub struct UserHandle<'a> {
    pub id: i64,
    pub username: &'a str,
}

/// Somebody whom operators ask about.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueryablePerson<'a> {
    /// Who it is.
    pub handle: UserHandle<'a>,
    /// The accounts that it is affiliated with.
    pub affiliations: &'a [UserHandle<'a>],
}

/// Who wrote a post, as it was then.
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "their names say it")]
pub struct QueryableAuthor<'a> {
    pub person: QueryablePerson<'a>,
    pub name: &'a str,
    pub bio: &'a str,
    pub location: &'a str,
    pub verified: bool,
    pub followers: u64,
    pub following: u64,
    pub posts: u64,
    pub listed: u64,
    /// The lists that hold the author (search asks).
    pub lists: &'a [i64],
}

/// A link of a post: as written, where it leads, and what stands there.
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "their names say it")]
pub struct QueryableLink<'a> {
    pub url: &'a str,
    pub expanded: &'a str,
    pub unwound: &'a str,
    pub title: &'a str,
    pub description: &'a str,
}

/// A context annotation; an entity found in the text has no domain.
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "their names say it")]
pub struct ContextAnnotation<'a> {
    pub domain: Option<u64>,
    pub entity: u64,
    pub name: &'a str,
}

/// The place that a post is tagged with.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "their names say it")]
pub struct QueryablePlace<'a> {
    pub id: &'a str,
    pub full_name: &'a str,
    /// ISO 3166-1 alpha-2.
    pub country: &'a str,
    pub area: Option<GeoArea>,
}

/// What [`crate::Facts`] are made of. Of a repost: text, links and entities of what it reposts,
/// and the reposter as author.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueryablePost<'a> {
    /// Its id; `sample:` chooses by it.
    pub id: i64,
    /// Who wrote it.
    pub author: QueryableAuthor<'a>,
    /// The whole text, not escaped.
    pub text: &'a str,
    /// Its language code; empty or `und` when unknown.
    pub lang: &'a str,
    /// The posting application.
    pub source: &'a str,
    /// The root of its conversation.
    pub conversation: i64,
    /// The post it replies to, and that post's author.
    pub reply_to: Option<(i64, QueryablePerson<'a>)>,
    /// The post it reposts, and that post's author.
    pub repost_of: Option<(i64, UserHandle<'a>)>,
    /// The post it quotes.
    pub quote_of: Option<i64>,
    /// What the quoted post says, where it can be seen (streams ask).
    pub quoted: Option<&'a QueryablePost<'a>>,
    /// Hashtags, without the sign.
    pub hashtags: &'a [&'a str],
    /// Cashtags, without the sign.
    pub cashtags: &'a [&'a str],
    /// Mentions.
    pub mentions: &'a [UserHandle<'a>],
    /// Links.
    pub links: &'a [QueryableLink<'a>],
    /// Context annotations and entities found in the text.
    pub annotations: &'a [ContextAnnotation<'a>],
    /// Whether it carries a picture.
    pub images: bool,
    /// Whether it carries a film.
    pub video: bool,
    /// Whether it carries an animation.
    pub animation: bool,
    /// Where it was written: longitude, latitude.
    pub point: Option<(f64, f64)>,
    /// The place that it is tagged with.
    pub place: Option<QueryablePlace<'a>>,
    /// For promotion only.
    pub nullcast: bool,
    /// Likes.
    pub likes: u64,
    /// Replies.
    pub replies: u64,
    /// Reposts.
    pub reposts: u64,
}
