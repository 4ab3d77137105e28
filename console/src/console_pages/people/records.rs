//! What the database has about a user.

use base::{AppId, Error, UserId};
use identity::grants;
use pages::console::{PersonApp, PersonPost, PersonRelation, SelectOption};
use store::Tx;
use store::follows::{self, UserEdge};
use store::graph::{self, RelationKind};
use store::posts::{PageRange, Post};
use store::users::User;
use store::{apps, lists, posts, spaces, tokens, users};

use super::person_item;
use crate::world_environment::mask;

const MAX_POSTS: i64 = 20;
const MAX_RELATED: usize = 50;
const MAX_LISTED: i64 = 50;

pub(super) struct PersonRecords {
    pub(super) posts: Vec<PersonPost>,
    /// Where the next page of posts starts.
    pub(super) next: Option<i64>,
    pub(super) relations: Vec<PersonRelation>,
    pub(super) connected_apps: Vec<PersonApp>,
    pub(super) apps: Vec<SelectOption>,
    pub(super) lists: Vec<(String, String)>,
    pub(super) spaces: Vec<(String, String)>,
}

pub(super) fn load_records(tx: &mut Tx<'_>, user: &User, below: Option<i64>) -> Result<PersonRecords, Error> {
    let range = PageRange { below: below.unwrap_or(i64::MAX), ..PageRange::newest(MAX_POSTS + 1) };
    let mut found = posts::page_by_author(tx, user.id, &range)?;
    let next = portal::cut_page(&mut found, MAX_POSTS, |post| post.id.get());
    let apps = identity::apps::list(tx, None)?;
    let owned = lists::page_by_owner(tx, user.id, true, &PageRange::newest(MAX_LISTED))?;
    let hosted = spaces::list_active_by_creators(tx, &[user.id])?;
    Ok(PersonRecords {
        posts: load_post_items(tx, user, found)?,
        next,
        relations: load_relations(tx, user.id)?,
        connected_apps: load_apps(tx, user)?,
        apps: apps.iter().map(|app| SelectOption::new(app.id.to_string(), app.name.as_str())).collect(),
        lists: owned.into_iter().map(|list| (list.name, list_detail(list.private, list.member_count))).collect(),
        spaces: hosted.into_iter().map(|space| (space.title, space.state.name().to_owned())).collect(),
    })
}

fn list_detail(private: bool, members: i64) -> String {
    let members = if members == 1 { "1 member".to_owned() } else { format!("{members} members") };
    if private { format!("private, {members}") } else { members }
}

/// A repost shows the text of the original.
fn load_post_items(tx: &mut Tx<'_>, user: &User, found: Vec<Post>) -> Result<Vec<PersonPost>, Error> {
    let originals: Vec<_> = found.iter().filter_map(|post| post.repost_of_id).collect();
    let originals = posts::find_by_ids(tx, &originals)?;
    let items = found.into_iter().map(|post| {
        let original = originals.iter().find(|original| Some(original.id) == post.repost_of_id);
        let kind = match (post.repost_of_id, post.in_reply_to_post_id, post.quoted_post_id) {
            (Some(_), ..) => "repost",
            (_, Some(_), _) => "reply",
            (.., Some(_)) => "quote",
            _ => "",
        };
        PersonPost {
            link: format!("/{}/status/{}", user.username, post.id),
            text: original.map_or(post.text, |original| original.text.clone()),
            id: post.id.to_string(),
            at: post.created_at,
            kind,
            likes: post.like_count,
            reposts: post.repost_count,
            replies: post.reply_count,
        }
    });
    Ok(items.collect())
}

fn load_relations(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<PersonRelation>, Error> {
    let range = PageRange::newest(i64::try_from(MAX_RELATED).unwrap_or(i64::MAX).saturating_add(1));
    let requests = graph::follow_request_page(tx, user, &range)?;
    let following = follows::following_page(tx, user, &range)?;
    let followers = follows::follower_page(tx, user, &range)?;
    let blocked = graph::target_page(tx, RelationKind::Block, user, &range)?;
    let muted = graph::target_page(tx, RelationKind::Mute, user, &range)?;
    let all = [
        ("Follow requests", ("deny", "Deny"), requests),
        ("Following", ("unfollow", "Unfollow"), following),
        ("Followers", ("remove-follower", "Remove"), followers),
        ("Blocked", ("unblock", "Unblock"), blocked),
        ("Muted", ("unmute", "Unmute"), muted),
    ];
    all.into_iter().map(|(title, undo, edges)| load_relation(tx, title, undo, edges)).collect()
}

fn load_relation(
    tx: &mut Tx<'_>,
    title: &'static str,
    undo: (&'static str, &'static str),
    mut edges: Vec<UserEdge>,
) -> Result<PersonRelation, Error> {
    let is_truncated = edges.len() > MAX_RELATED;
    edges.truncate(MAX_RELATED);
    let ids: Vec<UserId> = edges.into_iter().map(|(user, _)| user).collect();
    let people = users::find_by_ids(tx, &ids)?;
    Ok(PersonRelation {
        title,
        undo,
        accept: (undo.0 == "deny").then_some(("approve", "Approve")),
        people: people.iter().map(person_item).collect(),
        is_truncated,
    })
}

fn load_apps(tx: &mut Tx<'_>, user: &User) -> Result<Vec<PersonApp>, Error> {
    let mut all = Vec::new();
    for grant in grants::list(tx, user.id)? {
        let mut values = Vec::new();
        if let Some(permission) = grant.permission
            && let Some(token) = tokens::find_live_oauth1(tx, grant.app.id, user.id, permission.name())?
        {
            values.push(("OAuth 1.0a token", mask(token.token.expose_secret())));
        }
        let scopes = grant.scopes.to_string();
        let access = [grant.permission.map(|permission| format!("OAuth 1.0a: {}", permission.name()))];
        let access = access.into_iter().flatten().chain((!scopes.is_empty()).then(|| format!("OAuth 2.0: {scopes}")));
        all.push(PersonApp {
            name: grant.app.name,
            access: access.collect::<Vec<_>>().join(" · "),
            values,
            last_used: Some(grant.used_at).filter(|used| used.ms() > 0),
        });
    }
    for app in apps::list(tx, Some(user.id), AppId::new(0), MAX_LISTED)? {
        let values = vec![("API key", mask(&app.api_key)), ("Client ID", mask(&app.client_id))];
        all.push(PersonApp { name: app.name, access: "Owner".to_owned(), values, last_used: None });
    }
    Ok(all)
}
