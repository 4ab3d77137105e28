//! Posts as the query language reads them ([`query::QueryablePost`]), loaded in bulk with one query per kind of row.
//! Used by search, streams and explanations.

mod content;

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use base::{AppId, Fault, PostId, UserId, sorted_distinct};
use store::places::Place;
use store::posts::{Post, PostState};
use store::users::User;
use store::{Tx, affiliates, apps, lists, posts, users};

use self::content::{AccountName, PostContent, to_handle};
use crate::link_facts::{self, KnownLinks};
use crate::places;
use crate::visibility::{AuthorVisibilities, Viewer, Visibility, find_post_denial};

/// A post with its author and everything it refers to.
#[derive(Clone, Debug)]
pub struct StoredPostFacts {
    pub row: Post,
    pub author: Arc<User>,
    /// The public visibility of the post and the post it reposts.
    pub visibility: Visibility,
    /// Its own content, or that of the reposted post.
    content: PostContent,
    /// The content of the quoted post, if it is public.
    quoted: Option<PostContent>,
    affiliations: Arc<[AccountName]>,
    /// The lists that the author is a member of.
    lists: Arc<[i64]>,
    reply_to: Option<RepliedPost>,
    repost_of: Option<(i64, AccountName)>,
    place: Option<PostPlaceFacts>,
    point: Option<(f64, f64)>,
    source: Arc<str>,
}

#[derive(Clone, Debug)]
struct RepliedPost {
    post: i64,
    author: AccountName,
    affiliations: Arc<[AccountName]>,
}

#[derive(Clone, Debug)]
struct PostPlaceFacts {
    id: String,
    full_name: String,
    country: String,
    area: Option<query::GeoArea>,
}

/// In the order of `ids`; unknown ids are skipped, deleted posts and superseded versions are not (see `row` and
/// `visibility`). Lists of the authors are loaded only with `with_lists`.
pub fn load_post_facts(tx: &mut Tx<'_>, ids: &[PostId], with_lists: bool) -> Result<Vec<StoredPostFacts>, Fault> {
    let mut rows = index_by_key(posts::find_by_ids(tx, ids)?, |post| post.id);
    let rows = ids.iter().filter_map(|id| rows.remove(id)).collect();
    load_facts_of_rows(tx, rows, with_lists)
}

/// The newest public posts, newest first, out of the `examined` newest posts.
pub fn load_newest_facts(tx: &mut Tx<'_>, examined: i64) -> Result<Vec<StoredPostFacts>, Fault> {
    let recent = posts::list_recent(tx, PostId::new(0), examined)?;
    let ids: Vec<PostId> = recent.into_iter().map(|(id, _)| id).collect();
    let mut all = load_post_facts(tx, &ids, true)?;
    all.retain(|facts| facts.visibility == Visibility::Visible);
    Ok(all)
}

/// None if the viewer may not see the post or the post it reposts.
pub fn find_visible_facts(tx: &mut Tx<'_>, viewer: UserId, id: PostId) -> Result<Option<StoredPostFacts>, Fault> {
    let Some(facts) = load_post_facts(tx, &[id], true)?.pop() else {
        return Ok(None);
    };
    let hidden = match facts.visibility {
        Visibility::Visible => false,
        Visibility::Missing => true,
        Visibility::Forbidden | Visibility::Suspended => {
            let original = facts.row.repost_of_id.map(|id| posts::find_by_id(tx, id));
            let original = original.transpose()?.flatten();
            let mut hidden = find_post_denial(tx, viewer, &facts.row)?.is_some();
            if let Some(original) = original {
                hidden |= find_post_denial(tx, viewer, &original)?.is_some();
            }
            hidden
        }
    };
    Ok(Some(facts).filter(|_| !hidden))
}

/// As [`load_post_facts`], for loaded posts. Posts of unknown authors are skipped.
pub fn load_facts_of_rows(tx: &mut Tx<'_>, rows: Vec<Post>, with_lists: bool) -> Result<Vec<StoredPostFacts>, Fault> {
    let context = PostFactsContext::load(tx, &rows, with_lists)?;
    let rows = rows.into_iter();
    Ok(rows.filter_map(|row| context.build_facts(row)).collect())
}

impl StoredPostFacts {
    /// Whether a moderator keeps the posts of the author out of search.
    pub fn is_author_limited(&self) -> bool {
        self.author.limited
    }

    /// Calls `map` with the post as the query language reads it.
    pub fn map_query_post<T>(&self, map: impl FnOnce(&query::QueryablePost<'_>) -> T) -> T {
        let quoted = self.quoted.as_ref().map(PostContent::borrow_content);
        let quoted = quoted.as_ref().map(content::BorrowedContent::to_query_post);
        let content = self.content.borrow_content();
        let affiliations: Vec<_> = self.affiliations.iter().map(to_handle).collect();
        let reply_affiliations = self.reply_to.as_ref();
        let reply_affiliations: Vec<_> =
            reply_affiliations.map(|reply| reply.affiliations.iter().map(to_handle).collect()).unwrap_or_default();
        let row = &self.row;
        let post = query::QueryablePost {
            id: row.id.get(),
            author: self.query_author(&affiliations),
            source: &self.source,
            conversation: row.conversation_id.get(),
            reply_to: self.reply_to.as_ref().map(|reply| {
                let person =
                    query::QueryablePerson { handle: to_handle(&reply.author), affiliations: &reply_affiliations };
                (reply.post, person)
            }),
            repost_of: (self.repost_of.as_ref()).map(|(id, author)| (*id, to_handle(author))),
            quote_of: row.quoted_post_id.map(PostId::get),
            quoted: quoted.as_ref(),
            point: self.point,
            place: self.place.as_ref().map(|place| query::QueryablePlace {
                id: &place.id,
                full_name: &place.full_name,
                country: &place.country,
                area: place.area,
            }),
            nullcast: row.nullcast,
            likes: to_unsigned_count(row.like_count),
            replies: to_unsigned_count(row.reply_count),
            reposts: to_unsigned_count(row.repost_count),
            ..content.to_query_post()
        };
        map(&post)
    }

    fn query_author<'a>(&'a self, affiliations: &'a [query::UserHandle<'a>]) -> query::QueryableAuthor<'a> {
        let author = &*self.author;
        query::QueryableAuthor {
            person: query::QueryablePerson {
                handle: query::UserHandle { id: author.id.get(), username: &author.username },
                affiliations,
            },
            name: &author.name,
            bio: &author.description,
            location: &author.location,
            verified: author.verified,
            followers: to_unsigned_count(author.followers_count),
            following: to_unsigned_count(author.following_count),
            posts: to_unsigned_count(author.post_count),
            listed: to_unsigned_count(author.listed_count),
            lists: &self.lists,
        }
    }
}

fn to_unsigned_count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Everything that the posts refer to.
struct PostFactsContext {
    /// Reposted and quoted posts.
    posts: HashMap<PostId, Post>,
    users: HashMap<UserId, Arc<User>>,
    affiliations: HashMap<UserId, Arc<[AccountName]>>,
    lists: HashMap<UserId, Arc<[i64]>>,
    places: HashMap<i64, Place>,
    apps: HashMap<AppId, Arc<str>>,
    links: KnownLinks,
    visibilities: AuthorVisibilities,
    no_affiliations: Arc<[AccountName]>,
    no_source: Arc<str>,
}

impl PostFactsContext {
    fn load(tx: &mut Tx<'_>, rows: &[Post], with_lists: bool) -> Result<Self, Fault> {
        let referred = rows.iter().flat_map(|row| [row.repost_of_id, row.quoted_post_id]);
        let posts = posts::find_by_ids(tx, &sorted_distinct(referred.flatten()))?;
        let author_ids = rows.iter().chain(&posts).map(|post| post.author_id);
        let author_ids = sorted_distinct(author_ids);
        let user_ids = rows.iter().flat_map(|row| [Some(row.author_id), row.in_reply_to_user_id]);
        let user_ids = sorted_distinct(user_ids.flatten());
        let affiliated = affiliates::list_by_users(tx, &user_ids)?;
        let organizations = affiliated.iter().map(|(_, organization)| *organization);
        let all = author_ids.iter().chain(&user_ids).copied().chain(organizations);
        let users = users::find_by_ids(tx, &sorted_distinct(all))?;
        let places = sorted_distinct(rows.iter().filter_map(post_place_id));
        let apps = apps::names_by_ids(tx, &sorted_distinct(rows.iter().filter_map(|row| row.app_id)))?;
        let lists = if with_lists {
            lists::public_lists_of_users(tx, &sorted_distinct(rows.iter().map(|row| row.author_id)))?
        } else {
            Vec::new()
        };
        let authors: HashSet<_> = author_ids.into_iter().collect();
        let authors = users.iter().filter(|user| authors.contains(&user.id));
        let visibilities = AuthorVisibilities::load(tx, Viewer::anonymous(), authors)?;
        let users: HashMap<_, _> = users.into_iter().map(|user| (user.id, Arc::new(user))).collect();
        let named_affiliations = affiliated.into_iter().filter_map(|(user, organization)| {
            let organization = users.get(&organization)?;
            Some((user, (organization.id.get(), organization.username.clone())))
        });
        Ok(Self {
            affiliations: group_by_user(named_affiliations),
            lists: group_by_user(lists),
            links: link_facts::load_for_posts(tx, rows.iter().chain(&posts))?,
            posts: index_by_key(posts, |post| post.id),
            places: index_by_key(store::places::find_by_ids(tx, &places)?, |place| place.id),
            apps: apps.into_iter().map(|(id, name)| (id, name.into())).collect(),
            visibilities,
            users,
            no_affiliations: Arc::default(),
            no_source: Arc::default(),
        })
    }

    fn build_facts(&self, row: Post) -> Option<StoredPostFacts> {
        let author = Arc::clone(self.users.get(&row.author_id)?);
        let original = row.repost_of_id.and_then(|id| self.posts.get(&id));
        let original = original.filter(|post| self.post_visibility(post) != Visibility::Missing);
        let mut content = PostContent::from_post(original.unwrap_or(&row), &self.links);
        if let Some(original) = original {
            // The text of a repost begins with it.
            content.add_mention(self.account_name(original.author_id));
        }
        let quoted = row.quoted_post_id.and_then(|id| self.posts.get(&id));
        let quoted = quoted.filter(|post| self.post_visibility(post) == Visibility::Visible);
        let place = post_place_id(&row).and_then(|id| self.places.get(&id));
        let app = row.app_id.and_then(|app| self.apps.get(&app));
        Some(StoredPostFacts {
            visibility: self.public_visibility(&row, original),
            quoted: quoted.map(|post| PostContent::from_post(post, &self.links)),
            affiliations: self.user_affiliations(row.author_id),
            lists: self.lists.get(&row.author_id).cloned().unwrap_or_default(),
            reply_to: self.replied_post(&row),
            repost_of: row.repost_of_id.map(|id| {
                let name = original.map_or_else(
                    || (0, content.reposted_username().to_owned()),
                    |post| self.account_name(post.author_id),
                );
                (id.get(), name)
            }),
            place: place.map(build_place_facts),
            point: parse_point(&row.geo),
            source: Arc::clone(app.unwrap_or(&self.no_source)),
            content,
            author,
            row,
        })
    }

    /// As in the API for anonymous viewers.
    fn public_visibility(&self, row: &Post, original: Option<&Post>) -> Visibility {
        match (self.post_visibility(row), row.repost_of_id, original) {
            (Visibility::Visible, Some(_), Some(original)) => self.post_visibility(original),
            // Imports may contain reposts with a text but without the original.
            (Visibility::Visible, Some(_), None) if row.text.is_empty() => Visibility::Missing,
            (visibility, ..) => visibility,
        }
    }

    fn post_visibility(&self, post: &Post) -> Visibility {
        match post.state {
            PostState::Placeholder => Visibility::Missing,
            _ => self.visibilities.post_visibility(post),
        }
    }

    fn replied_post(&self, row: &Post) -> Option<RepliedPost> {
        if row.in_reply_to_post_id.is_none() && row.in_reply_to_user_id.is_none() {
            return None;
        }
        let author = row.in_reply_to_user_id;
        Some(RepliedPost {
            post: row.in_reply_to_post_id.map_or(0, PostId::get),
            author: author.map_or_else(AccountName::default, |author| self.account_name(author)),
            affiliations: author.map_or_else(Arc::default, |author| self.user_affiliations(author)),
        })
    }

    fn user_affiliations(&self, user: UserId) -> Arc<[AccountName]> {
        Arc::clone(self.affiliations.get(&user).unwrap_or(&self.no_affiliations))
    }

    fn account_name(&self, user: UserId) -> AccountName {
        let known = self.users.get(&user);
        let username = known.map_or_else(String::new, |user| user.username.clone());
        (user.get(), username)
    }
}

fn post_place_id(row: &Post) -> Option<i64> {
    places::parse_place_id(row.place_id.as_deref()?)
}

fn build_place_facts(place: &Place) -> PostPlaceFacts {
    let bounds: Option<[f64; 4]> = serde_json::from_str(&place.bbox).ok();
    PostPlaceFacts {
        id: places::format_place_id(place.id),
        full_name: place.full_name.clone(),
        country: place.country_code.clone(),
        area: bounds.map(|[west, south, east, north]| query::GeoArea { west, south, east, north }),
    }
}

/// Longitude and latitude of coordinates in the API's format.
fn parse_point(geo: &str) -> Option<(f64, f64)> {
    if geo.is_empty() {
        return None;
    }
    let geo: serde_json::Value = serde_json::from_str(geo).ok()?;
    let [lon, lat] = geo.get("coordinates")?.as_array()?.as_slice() else {
        return None;
    };
    Some((lon.as_f64()?, lat.as_f64()?))
}

fn index_by_key<K: Eq + Hash, V>(records: Vec<V>, key: impl Fn(&V) -> K) -> HashMap<K, V> {
    records.into_iter().map(|one| (key(&one), one)).collect()
}

fn group_by_user<V>(pairs: impl IntoIterator<Item = (UserId, V)>) -> HashMap<UserId, Arc<[V]>> {
    let mut groups: HashMap<UserId, Vec<V>> = HashMap::new();
    for (user, one) in pairs {
        groups.entry(user).or_default().push(one);
    }
    let groups = groups.into_iter();
    groups.map(|(user, all)| (user, all.into())).collect()
}
