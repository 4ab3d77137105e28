//! A post as the query language sees it.

use crate::geo::GeoArea;

#[derive(Clone, Copy, Debug, Default)]
pub struct UserHandle<'a> {
    pub id: i64,
    pub username: &'a str,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct QueryablePerson<'a> {
    pub handle: UserHandle<'a>,
    pub affiliations: &'a [UserHandle<'a>],
}

/// The author's profile at the time of the post.
#[derive(Clone, Copy, Debug, Default)]
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
    /// Lists that the author is a member of; only needed for search.
    pub lists: &'a [i64],
}

/// `url` is the short link, `expanded` its target, `unwound` the target after redirects.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueryableLink<'a> {
    pub url: &'a str,
    pub expanded: &'a str,
    pub unwound: &'a str,
    pub title: &'a str,
    pub description: &'a str,
}

/// An entity found in the text has no domain.
#[derive(Clone, Copy, Debug, Default)]
pub struct ContextAnnotation<'a> {
    pub domain: Option<u64>,
    pub entity: u64,
    pub name: &'a str,
}

#[derive(Clone, Copy, Debug)]
pub struct QueryablePlace<'a> {
    pub id: &'a str,
    pub full_name: &'a str,
    /// ISO 3166-1 alpha-2.
    pub country: &'a str,
    pub area: Option<GeoArea>,
}

/// The input of [`crate::PostFeatures`]. A repost has the text, links and entities of the original
/// and the reposter as author.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueryablePost<'a> {
    pub id: i64,
    pub author: QueryableAuthor<'a>,
    /// The whole text, unescaped.
    pub text: &'a str,
    /// Empty or `und` when unknown.
    pub lang: &'a str,
    pub source: &'a str,
    pub conversation: i64,
    pub reply_to: Option<(i64, QueryablePerson<'a>)>,
    pub repost_of: Option<(i64, UserHandle<'a>)>,
    pub quote_of: Option<i64>,
    /// The quoted post, if it is visible; only needed for streams.
    pub quoted: Option<&'a QueryablePost<'a>>,
    pub hashtags: &'a [&'a str],
    pub cashtags: &'a [&'a str],
    pub mentions: &'a [UserHandle<'a>],
    pub links: &'a [QueryableLink<'a>],
    pub annotations: &'a [ContextAnnotation<'a>],
    pub images: bool,
    pub video: bool,
    pub animation: bool,
    /// Longitude and latitude.
    pub point: Option<(f64, f64)>,
    pub place: Option<QueryablePlace<'a>>,
    pub nullcast: bool,
    pub likes: u64,
    pub replies: u64,
    pub reposts: u64,
}
