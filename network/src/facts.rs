//! Posts as the query language sees them ([`query::Post`]), loaded from the store many at once:
//! one query a kind, however many posts there are. What search, streams and explanations read.

mod content;

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use base::{AppId, Fault, PostId, UserId};
use store::places::Place;
use store::posts::{Post, PostState};
use store::users::User;
use store::{Tx, affiliates, apps, lists, posts, users};

use self::content::{Content, Name, handle};
use crate::places;
use crate::visibility::{Sight, Sights, Viewer, bar_of_post};

/// What a post says about itself, its author and what it refers to, at the time of reading.
#[derive(Clone, Debug)]
pub struct PostFacts {
    /// Its row.
    pub row: Post,
    /// Who wrote it.
    pub author: Arc<User>,
    /// Whether everybody may see it, and what it reposts.
    pub sight: Sight,
    /// Its own, or that of what it reposts.
    content: Content,
    /// That of what it quotes, where everybody may see it.
    quoted: Option<Content>,
    affiliations: Arc<[Name]>,
    /// The lists that hold the author.
    lists: Arc<[i64]>,
    reply_to: Option<Replied>,
    repost_of: Option<(i64, Name)>,
    place: Option<Located>,
    point: Option<(f64, f64)>,
    source: Arc<str>,
}

/// The post that is replied to, and its author.
#[derive(Clone, Debug)]
struct Replied {
    post: i64,
    author: Name,
    affiliations: Arc<[Name]>,
}

#[derive(Clone, Debug)]
struct Located {
    id: String,
    full_name: String,
    country: String,
    area: Option<query::Area>,
}

/// The facts of posts, in the order of their ids; unknown ids are left out, deleted posts and
/// earlier versions are not ([`PostFacts::row`] tells, and [`PostFacts::sight`]). The lists that
/// hold the authors are looked up only where `with_lists` asks for them.
pub fn of(tx: &mut Tx<'_>, ids: &[PostId], with_lists: bool) -> Result<Vec<PostFacts>, Fault> {
    let mut rows = by_key(posts::find_by_ids(tx, ids)?, |post| post.id);
    let rows = ids.iter().filter_map(|id| rows.remove(id)).collect();
    of_rows(tx, rows, with_lists)
}

/// The facts of the newest posts that everybody may see, newest first, of so many looked at.
pub fn newest(tx: &mut Tx<'_>, looked_at: i64) -> Result<Vec<PostFacts>, Fault> {
    let recent = posts::list_recent(tx, PostId::new(0), looked_at)?;
    let ids: Vec<PostId> = recent.into_iter().map(|(id, _)| id).collect();
    let mut all = of(tx, &ids, true)?;
    all.retain(|facts| facts.sight == Sight::Visible);
    Ok(all)
}

/// The facts of a post that a viewer may see, and what it reposts.
pub fn seen(tx: &mut Tx<'_>, viewer: UserId, id: PostId) -> Result<Option<PostFacts>, Fault> {
    let Some(facts) = of(tx, &[id], true)?.pop() else {
        return Ok(None);
    };
    let hidden = match facts.sight {
        Sight::Visible => false,
        Sight::Missing => true,
        Sight::Forbidden | Sight::Suspended => {
            let original = facts.row.repost_of_id.map(|id| posts::find_by_id(tx, id));
            let original = original.transpose()?.flatten();
            let mut hidden = bar_of_post(tx, viewer, &facts.row)?.is_some();
            if let Some(original) = original {
                hidden |= bar_of_post(tx, viewer, &original)?.is_some();
            }
            hidden
        }
    };
    Ok(Some(facts).filter(|_| !hidden))
}

/// As [`of`], of posts that are loaded already. A post whose author is unknown is left out.
pub fn of_rows(
    tx: &mut Tx<'_>,
    rows: Vec<Post>,
    with_lists: bool,
) -> Result<Vec<PostFacts>, Fault> {
    let around = Around::load(tx, &rows, with_lists)?;
    let rows = rows.into_iter();
    Ok(rows.filter_map(|row| around.facts(row)).collect())
}

impl PostFacts {
    /// Lends the post as the language sees it.
    pub fn lend<T>(&self, look: impl FnOnce(&query::Post<'_>) -> T) -> T {
        let quoted = self.quoted.as_ref().map(Content::lend);
        let quoted = quoted.as_ref().map(content::Loan::post);
        let content = self.content.lend();
        let affiliations: Vec<_> = self.affiliations.iter().map(handle).collect();
        let theirs = self.reply_to.as_ref();
        let theirs: Vec<_> = theirs
            .map(|reply| reply.affiliations.iter().map(handle).collect())
            .unwrap_or_default();
        let row = &self.row;
        let post = query::Post {
            id: row.id.get(),
            author: self.author(&affiliations),
            source: &self.source,
            conversation: row.conversation_id.get(),
            reply_to: self.reply_to.as_ref().map(|reply| {
                let person = query::Person {
                    handle: handle(&reply.author),
                    affiliations: &theirs,
                };
                (reply.post, person)
            }),
            repost_of: (self.repost_of.as_ref()).map(|(id, author)| (*id, handle(author))),
            quote_of: row.quoted_post_id.map(PostId::get),
            quoted: quoted.as_ref(),
            point: self.point,
            place: self.place.as_ref().map(|place| query::Place {
                id: &place.id,
                full_name: &place.full_name,
                country: &place.country,
                area: place.area,
            }),
            nullcast: row.nullcast,
            likes: count(row.like_count),
            replies: count(row.reply_count),
            reposts: count(row.repost_count),
            ..content.post()
        };
        look(&post)
    }

    fn author<'a>(&'a self, affiliations: &'a [query::Handle<'a>]) -> query::Author<'a> {
        let author = &*self.author;
        query::Author {
            person: query::Person {
                handle: query::Handle {
                    id: author.id.get(),
                    username: &author.username,
                },
                affiliations,
            },
            name: &author.name,
            bio: &author.description,
            location: &author.location,
            verified: author.verified,
            followers: count(author.followers_count),
            following: count(author.following_count),
            posts: count(author.post_count),
            listed: count(author.listed_count),
            lists: &self.lists,
        }
    }
}

fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// What stands around some posts.
struct Around {
    /// What they repost and quote.
    posts: HashMap<PostId, Post>,
    users: HashMap<UserId, Arc<User>>,
    affiliations: HashMap<UserId, Arc<[Name]>>,
    lists: HashMap<UserId, Arc<[i64]>>,
    places: HashMap<i64, Place>,
    apps: HashMap<AppId, Arc<str>>,
    sights: Sights,
    nobody: Arc<[Name]>,
    nowhere: Arc<str>,
}

impl Around {
    fn load(tx: &mut Tx<'_>, rows: &[Post], with_lists: bool) -> Result<Self, Fault> {
        let referred = rows
            .iter()
            .flat_map(|row| [row.repost_of_id, row.quoted_post_id]);
        let posts = posts::find_by_ids(tx, &distinct(referred.flatten()))?;
        let written = rows.iter().chain(&posts).map(|post| post.author_id);
        let written = distinct(written);
        let asked = rows
            .iter()
            .flat_map(|row| [Some(row.author_id), row.in_reply_to_user_id]);
        let asked = distinct(asked.flatten());
        let affiliated = affiliates::list_by_users(tx, &asked)?;
        let organizations = affiliated.iter().map(|(_, organization)| *organization);
        let all = written.iter().chain(&asked).copied().chain(organizations);
        let users = users::find_by_ids(tx, &distinct(all))?;
        let places = distinct(rows.iter().filter_map(place_of));
        let apps = apps::names_by_ids(tx, &distinct(rows.iter().filter_map(|row| row.app_id)))?;
        let lists = if with_lists {
            lists::public_lists_of_users(tx, &distinct(rows.iter().map(|row| row.author_id)))?
        } else {
            Vec::new()
        };
        let authors: HashSet<_> = written.into_iter().collect();
        let authors = users.iter().filter(|user| authors.contains(&user.id));
        let sights = Sights::of_authors(tx, Viewer::anyone(), authors)?;
        let users: HashMap<_, _> = users
            .into_iter()
            .map(|user| (user.id, Arc::new(user)))
            .collect();
        let named = affiliated.into_iter().filter_map(|(user, organization)| {
            let organization = users.get(&organization)?;
            Some((user, (organization.id.get(), organization.username.clone())))
        });
        Ok(Self {
            affiliations: grouped(named),
            lists: grouped(lists),
            posts: by_key(posts, |post| post.id),
            places: by_key(store::places::find_by_ids(tx, &places)?, |place| place.id),
            apps: apps
                .into_iter()
                .map(|(id, name)| (id, name.into()))
                .collect(),
            sights,
            users,
            nobody: Arc::default(),
            nowhere: Arc::default(),
        })
    }

    fn facts(&self, row: Post) -> Option<PostFacts> {
        let author = Arc::clone(self.users.get(&row.author_id)?);
        let original = row.repost_of_id.and_then(|id| self.posts.get(&id));
        let original = original.filter(|post| self.judge(post) != Sight::Missing);
        let content = Content::of(original.unwrap_or(&row));
        let quoted = row.quoted_post_id.and_then(|id| self.posts.get(&id));
        let quoted = quoted.filter(|post| self.judge(post) == Sight::Visible);
        let place = place_of(&row).and_then(|id| self.places.get(&id));
        let app = row.app_id.and_then(|app| self.apps.get(&app));
        Some(PostFacts {
            sight: self.sight(&row, original),
            quoted: quoted.map(Content::of),
            affiliations: self.affiliations_of(row.author_id),
            lists: self.lists.get(&row.author_id).cloned().unwrap_or_default(),
            reply_to: self.replied(&row),
            repost_of: row.repost_of_id.map(|id| {
                let name = original.map_or_else(
                    || (0, content.reposted_name().to_owned()),
                    |post| self.name(post.author_id),
                );
                (id.get(), name)
            }),
            place: place.map(located),
            point: point(&row.geo),
            source: Arc::clone(app.unwrap_or(&self.nowhere)),
            content,
            author,
            row,
        })
    }

    /// As a view judges it for everybody.
    fn sight(&self, row: &Post, original: Option<&Post>) -> Sight {
        match (self.judge(row), row.repost_of_id, original) {
            (Sight::Visible, Some(_), Some(original)) => self.judge(original),
            // An import knows the texts of reposts whose originals it lacks.
            (Sight::Visible, Some(_), None) if row.text.is_empty() => Sight::Missing,
            (sight, ..) => sight,
        }
    }

    fn judge(&self, post: &Post) -> Sight {
        match post.state {
            PostState::Placeholder => Sight::Missing,
            _ => self.sights.of_post(post),
        }
    }

    fn replied(&self, row: &Post) -> Option<Replied> {
        if row.in_reply_to_post_id.is_none() && row.in_reply_to_user_id.is_none() {
            return None;
        }
        let author = row.in_reply_to_user_id;
        Some(Replied {
            post: row.in_reply_to_post_id.map_or(0, PostId::get),
            author: author.map_or_else(Name::default, |author| self.name(author)),
            affiliations: author.map_or_else(Arc::default, |author| self.affiliations_of(author)),
        })
    }

    fn affiliations_of(&self, user: UserId) -> Arc<[Name]> {
        Arc::clone(self.affiliations.get(&user).unwrap_or(&self.nobody))
    }

    fn name(&self, user: UserId) -> Name {
        let known = self.users.get(&user);
        let username = known.map_or_else(String::new, |user| user.username.clone());
        (user.get(), username)
    }
}

fn place_of(row: &Post) -> Option<i64> {
    places::number(row.place_id.as_deref()?)
}

fn located(place: &Place) -> Located {
    let bounds: Option<[f64; 4]> = serde_json::from_str(&place.bbox).ok();
    Located {
        id: places::spoken(place.id),
        full_name: place.full_name.clone(),
        country: place.country_code.clone(),
        area: bounds.map(|[west, south, east, north]| query::Area {
            west,
            south,
            east,
            north,
        }),
    }
}

/// Longitude and latitude of coordinates as the interface shows them.
fn point(geo: &str) -> Option<(f64, f64)> {
    if geo.is_empty() {
        return None;
    }
    let geo: serde_json::Value = serde_json::from_str(geo).ok()?;
    let [lon, lat] = geo.get("coordinates")?.as_array()?.as_slice() else {
        return None;
    };
    Some((lon.as_f64()?, lat.as_f64()?))
}

fn distinct<K: Copy + Ord>(keys: impl Iterator<Item = K>) -> Vec<K> {
    let mut keys: Vec<K> = keys.collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn by_key<K: Eq + Hash, V>(records: Vec<V>, key: impl Fn(&V) -> K) -> HashMap<K, V> {
    records.into_iter().map(|one| (key(&one), one)).collect()
}

fn grouped<V>(pairs: impl IntoIterator<Item = (UserId, V)>) -> HashMap<UserId, Arc<[V]>> {
    let mut groups: HashMap<UserId, Vec<V>> = HashMap::new();
    for (user, one) in pairs {
        groups.entry(user).or_default().push(one);
    }
    let groups = groups.into_iter();
    groups.map(|(user, all)| (user, all.into())).collect()
}
