//! `/{username}/followers` and `/{username}/following`, and accounts as the pages show them.

use std::collections::HashSet;

use base::{Error, Fault, Refusal, UserId, order_by_keys};
use network::timelines::timeline_visibility;
use network::visibility::Visibility;
use pages::members::{PeoplePage, PersonCard};
use portal::{BrowserVisit, PageExit, PageQuery, found_or_exit};
use store::Tx;
use store::follows::{self, UserEdge};
use store::posts::PageRange;
use store::users::{self, User};
use web::request_context::{HttpReply, RequestContext};

use crate::page_ranges::{build_pager, cursor_of, cut_page, range_before};
use crate::post_cards::{CardViewer, own_picture};
use crate::profile::find_profile;

type ReadUserEdges = fn(&mut Tx<'_>, UserId, &PageRange) -> Result<Vec<UserEdge>, Fault>;

/// One of the lists of a profile.
#[derive(Clone, Copy)]
struct PeopleList {
    heading: &'static str,
    path: &'static str,
    empty: &'static str,
    read: ReadUserEdges,
}

const FOLLOWERS: PeopleList = PeopleList {
    heading: "Followers",
    path: "followers",
    empty: "Nobody follows this account yet.",
    read: follows::follower_page,
};

const FOLLOWING: PeopleList = PeopleList {
    heading: "Following",
    path: "following",
    empty: "This account follows nobody yet.",
    read: follows::following_page,
};

pub(crate) async fn show_followers(call: RequestContext) -> Result<HttpReply, PageExit> {
    show_list(call, FOLLOWERS).await
}

pub(crate) async fn show_following(call: RequestContext) -> Result<HttpReply, PageExit> {
    show_list(call, FOLLOWING).await
}

async fn show_list(call: RequestContext, list: PeopleList) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let username = call.path_text("username")?.to_owned();
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let (viewer, range) = (CardViewer::new(&call, &visit), range_before(&query));
    let read = call.read(move |tx| load_list(tx, viewer, &username, list.read, &range));
    let (user, people, next) = found_or_exit(&call, &visit, read.await)?;
    let path = format!("/{}/{}", user.username, list.path);
    let page = PeoplePage {
        frame: visit.page_frame(&call),
        heading: list.heading.to_owned(),
        username: user.username,
        people,
        pager: build_pager(&path, cursor_of(&query).is_none(), next),
        empty: list.empty,
    };
    Ok(visit.render_page(&call, &page)?)
}

/// Refused unless the viewer may see the owner's posts, as in the API.
fn load_list(
    tx: &mut Tx<'_>,
    viewer: CardViewer,
    username: &str,
    read: ReadUserEdges,
    range: &PageRange,
) -> Result<(User, Vec<PersonCard>, Option<i64>), Error> {
    let user = find_profile(tx, username)?;
    if timeline_visibility(tx, viewer.viewer, &user)? != Visibility::Visible {
        return Err(Refusal::RouteNotFound.into());
    }
    let edges = read(tx, user.id, &PageRange { limit: range.limit + 1, ..*range })?;
    let (people, next) = load_edge_cards(tx, viewer, edges)?;
    Ok((user, people, next))
}

/// A page of people, from up to one edge more, and what the next page begins below.
pub(crate) fn load_edge_cards(
    tx: &mut Tx<'_>,
    viewer: CardViewer,
    mut edges: Vec<UserEdge>,
) -> Result<(Vec<PersonCard>, Option<i64>), Fault> {
    let next = cut_page(&mut edges, |edge| edge.1);
    let ids: Vec<UserId> = edges.into_iter().map(|edge| edge.0).collect();
    let mut found = users::find_by_ids(tx, &ids)?;
    order_by_keys(&mut found, &ids, |user| user.id);
    Ok((load_person_cards(tx, viewer, found)?, next))
}

/// In the order of `users`; deleted and suspended accounts are omitted.
pub(crate) fn load_person_cards(
    tx: &mut Tx<'_>,
    viewer: CardViewer,
    users: Vec<User>,
) -> Result<Vec<PersonCard>, Fault> {
    let ids: Vec<UserId> = users.iter().map(|user| user.id).collect();
    let followed: HashSet<UserId> = match viewer.viewer.user {
        Some(reader) if !ids.is_empty() => follows::filter_followed(tx, reader, &ids)?.into_iter().collect(),
        _ => HashSet::new(),
    };
    let is_visible = |user: &User| network::visibility::profile_visibility(user) == Visibility::Visible;
    let cards = users.into_iter().filter(is_visible).map(|user| {
        let is_followed = followed.contains(&user.id);
        let is_other = viewer.viewer.user.is_some_and(|reader| reader != user.id);
        let action = if is_followed { ("unfollow", "Unfollow") } else { ("follow", "Follow") };
        PersonCard {
            id: user.id.to_string(),
            avatar: own_picture(&user.profile_image_url, viewer.site),
            name: user.name,
            username: user.username,
            description: user.description,
            is_protected: user.protected,
            is_verified: user.verified,
            actions: if is_other { vec![(action.0.into(), action.1)] } else { Vec::new() },
        }
    });
    Ok(cards.collect())
}
