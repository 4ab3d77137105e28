//! `/communities`: found, joined and left, with their posts and members.

use base::{Error, Fault, Id, Refusal, UserId, order_by_keys, sorted_distinct};
use network::communities as rules;
use network::timelines;
use network::visibility::{Visibility, profile_visibility};
use pages::FormField;
use pages::members::{
    COMMUNITIES_PATH, CommunitiesPage, CommunitiesTab, CommunityCard, CommunityMembersPage, CommunityMembership,
    CommunityPage, PostCard, PostFeed,
};
use portal::{BrowserVisit, MemberVisit, PageExit, PageQuery, found_or_exit};
use store::Tx;
use store::communities::{self as stored, Community};
use store::posts::PageRange;
use store::users;
use web::request_context::{HttpReply, RequestContext};

use crate::lists::one_more;
use crate::page_ranges::{build_pager, cursor_of, cut_page, range_before};
use crate::people::load_edge_cards;
use crate::post_cards::{CardViewer, load_post_cards, record_views};

/// Characters.
const MAX_QUERY: usize = 200;

pub(crate) fn community_path(id: i64) -> String {
    format!("{COMMUNITIES_PATH}/{id}")
}

pub(crate) async fn list(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let user = visit.person.user.id;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let words = query.get("q").unwrap_or_default().trim().to_owned();
    let is_too_long = words.chars().count() > MAX_QUERY;
    let tab = selected_tab(&query, &words);
    let (range, asked) = (one_more(&range_before(&query)), words.clone());
    let read = call.read(move |tx| {
        let (communities, next) = match tab {
            _ if is_too_long => (Vec::new(), None),
            CommunitiesTab::Joined => load_joined(tx, user, &range)?,
            CommunitiesTab::Newest => cut_communities(stored::list_newest(tx, range.below, range.limit)?),
            CommunitiesTab::Found => {
                let limit = usize::try_from(range.limit).unwrap_or(0);
                cut_communities(rules::search(tx, &asked, range.below, limit)?)
            }
        };
        Ok((load_community_cards(tx, communities)?, next))
    });
    let (communities, next) = read.await?;
    let path = match tab {
        CommunitiesTab::Found => format!("{COMMUNITIES_PATH}?q={}", base::percent::encode(&words)),
        other => other.path().to_owned(),
    };
    let problem = is_too_long.then(|| format!("A search has at most {MAX_QUERY} characters."));
    let page = CommunitiesPage {
        frame: visit.page_frame(&call),
        tab,
        query: FormField { value: words, error: problem },
        communities,
        pager: build_pager(&path, cursor_of(&query).is_none(), next),
    };
    Ok(visit.render_page(&call, &page)?.status(if is_too_long { 400 } else { 200 }))
}

fn selected_tab(query: &PageQuery, words: &str) -> CommunitiesTab {
    match query.get("tab") {
        _ if !words.is_empty() => CommunitiesTab::Found,
        Some("newest") => CommunitiesTab::Newest,
        _ => CommunitiesTab::Joined,
    }
}

fn cut_communities(mut communities: Vec<Community>) -> (Vec<Community>, Option<i64>) {
    let next = cut_page(&mut communities, |community| community.id);
    (communities, next)
}

fn load_joined(tx: &mut Tx<'_>, user: UserId, range: &PageRange) -> Result<(Vec<Community>, Option<i64>), Fault> {
    let mut edges = stored::joined_page(tx, user, range)?;
    let next = cut_page(&mut edges, |edge| edge.1);
    let ids: Vec<i64> = edges.into_iter().map(|edge| edge.0).collect();
    let mut found = stored::find_by_ids(tx, &ids)?;
    order_by_keys(&mut found, &ids, |community| community.id);
    Ok((found, next))
}

/// In the order of `communities`.
fn load_community_cards(tx: &mut Tx<'_>, communities: Vec<Community>) -> Result<Vec<CommunityCard>, Fault> {
    let owners = sorted_distinct(communities.iter().map(|community| community.owner_id));
    let owners = users::find_by_ids(tx, &owners)?;
    let cards = communities.into_iter().map(|community| {
        let mut owner = owners.iter().filter(|owner| profile_visibility(owner) == Visibility::Visible);
        let owner = owner.find(|owner| owner.id == community.owner_id);
        CommunityCard {
            id: community.id.to_string(),
            owner: owner.map(|owner| owner.username.clone()).unwrap_or_default(),
            is_closed: rules::is_closed(&community),
            is_open: rules::is_open(&community),
            join_rule: describe_join_policy(&community.join_policy),
            name: community.name,
            description: community.description,
            members: community.member_count,
        }
    });
    Ok(cards.collect())
}

fn describe_join_policy(policy: &str) -> &'static str {
    match policy {
        "Open" => "Anyone may join.",
        "RestrictedJoinRequestsRequireAdminApproval" => "An administrator approves new members.",
        "RestrictedJoinRequestsRequireModeratorApproval" => "A moderator approves new members.",
        "SuperFollowRequired" => "Subscribers of its owner may join, once they are approved.",
        _ => "New members are invited.",
    }
}

struct LoadedCommunity {
    card: CommunityCard,
    /// None for visitors who are not signed in.
    membership: Option<CommunityMembership>,
    /// Whether the viewer sees posts and members.
    is_readable: bool,
}

fn load_community(tx: &mut Tx<'_>, viewer: CardViewer, id: i64) -> Result<LoadedCommunity, Error> {
    let community = stored::find_by_id(tx, id)?.ok_or(Refusal::RouteNotFound)?;
    let membership = match viewer.viewer.user {
        None => None,
        Some(user) if user == community.owner_id => Some(CommunityMembership::Owner),
        Some(user) if rules::is_member(tx, id, user)? => Some(CommunityMembership::Member),
        Some(_) => Some(CommunityMembership::Outsider),
    };
    let is_inside = matches!(membership, Some(CommunityMembership::Owner | CommunityMembership::Member));
    let is_readable = is_inside || !rules::is_closed(&community);
    let card = load_community_cards(tx, vec![community])?.pop().ok_or(Refusal::RouteNotFound)?;
    Ok(LoadedCommunity { card, membership, is_readable })
}

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let (id, viewer) = (call.path_id::<()>("id").map(Id::get)?, CardViewer::new(&call, &visit));
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let range = range_before(&query);
    let read = call.read(move |tx| {
        let community = load_community(tx, viewer, id)?;
        if !community.is_readable {
            return Ok((community, Vec::new(), None));
        }
        let found = timelines::load_community_page(tx, id, &range)?;
        let next = found.scanned_range.map(|(_, oldest)| oldest.get()).filter(|_| found.more);
        let cards = load_post_cards(tx, viewer, found.posts)?.into_iter();
        // The page's heading names it.
        Ok((community, cards.map(|card| PostCard { community: None, ..card }).collect(), next))
    });
    let (community, posts, next) = found_or_exit(&call, &visit, read.await)?;
    record_views(&call, viewer.viewer.user, &posts);
    let path = community_path(id);
    let page = CommunityPage {
        frame: visit.page_frame(&call),
        community: community.card,
        membership: community.membership,
        is_readable: community.is_readable,
        feed: PostFeed { posts, pager: build_pager(&path, cursor_of(&query).is_none(), next) },
    };
    Ok(visit.render_page(&call, &page)?)
}

/// `GET /communities/{id}/members`: for members only if the community is closed.
pub(crate) async fn show_members(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let (id, viewer) = (call.path_id::<()>("id").map(Id::get)?, CardViewer::new(&call, &visit));
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let range = one_more(&range_before(&query));
    let read = call.read(move |tx| {
        let community = load_community(tx, viewer, id)?;
        if !community.is_readable {
            return Err(Refusal::RouteNotFound.into());
        }
        let edges = stored::member_page(tx, id, &range)?;
        let (people, next) = load_edge_cards(tx, viewer, edges)?;
        Ok((community.card, people, next))
    });
    let (community, people, next) = found_or_exit(&call, &visit, read.await)?;
    let path = format!("{}/members", community.path());
    let page = CommunityMembersPage {
        frame: visit.page_frame(&call),
        community,
        people,
        pager: build_pager(&path, cursor_of(&query).is_none(), next),
    };
    Ok(visit.render_page(&call, &page)?)
}
