//! `/{username}`.

use base::{Error, Fault, PostId, Refusal, UserId, order_by_keys};
use network::relationships::{Relationship, load_relationship};
use network::site_settings::allows_indexing;
use network::timelines::{self, TimelinePage};
use network::visibility::{Visibility, may_message, profile_visibility};
use network::{likes, users as accounts};
use pages::PageFrame;
use pages::members::{
    LinkPreview, PostCard, PostFeed, PostTextPart, ProfileHeader, ProfilePage, ProfileRelationship, ProfileTab,
};
use portal::{BrowserVisit, PageExit, PageQuery, found_or_exit, redirect_to};
use serde_json::Value;
use store::Tx;
use store::posts::{self, PageRange};
use store::users::{self, User};
use web::request_context::{HttpReply, RequestContext};

use crate::feeds::feed_path;
use crate::page_ranges::{PAGE_SIZE, build_pager, cursor_of, cut_page, range_before};
use crate::post_cards::{CardViewer, linked_parts, load_post_cards, own_picture, record_views};

/// Pages of an author's posts examined for those with media.
const MAX_MEDIA_PAGES: usize = 5;
const MEDIA_PAGE_SIZE: i64 = 100;

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let username = call.path_text("username")?.to_owned();
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let tab = selected_tab(&query);
    let (viewer, range) = (CardViewer::new(&call, &visit), range_before(&query));
    let asked = username.clone();
    let found = call.read(move |tx| load_profile(tx, viewer, &asked, tab, &range)).await;
    let found = found_or_exit(&call, &visit, found)?;
    if found.user.username != username {
        return Ok(redirect_to(&tab.path(&found.user.username)));
    }
    let is_own = viewer.viewer.user == Some(found.user.id);
    record_views(&call, viewer.viewer.user, &found.posts);
    let path = tab.path(&username);
    let frame = PageFrame { is_indexable: found.is_indexable, ..visit.page_frame(&call) };
    let page = ProfilePage {
        frame,
        preview: profile_preview(viewer, &found.user),
        profile: profile_header(&found.user, viewer),
        is_own,
        relationship: visit.person.as_ref().filter(|_| !is_own).map(|_| found.profile_relationship()),
        tab,
        hidden_because: found.hidden_reason(),
        feed: PostFeed { posts: found.posts, pager: build_pager(&path, cursor_of(&query).is_none(), found.next) },
    };
    Ok(visit.render_page(&call, &page)?)
}

fn selected_tab(query: &PageQuery) -> ProfileTab {
    let asked = query.get("tab").unwrap_or_default();
    ProfileTab::ALL.into_iter().find(|tab| tab.name() == asked).unwrap_or(ProfileTab::Posts)
}

struct LoadedProfile {
    user: User,
    relationship: Relationship,
    is_visible: bool,
    may_message: bool,
    /// By search engines.
    is_indexable: bool,
    posts: Vec<PostCard>,
    /// What the next page begins below.
    next: Option<i64>,
}

/// A user whose profile may be seen.
pub(crate) fn find_profile(tx: &mut Tx<'_>, username: &str) -> Result<User, Error> {
    let user = users::find_by_username(tx, username)?.ok_or(Refusal::RouteNotFound)?;
    if profile_visibility(&user) != Visibility::Visible || accounts::is_reserved_username(username) {
        return Err(Refusal::RouteNotFound.into());
    }
    Ok(user)
}

fn load_profile(
    tx: &mut Tx<'_>,
    viewer: CardViewer,
    username: &str,
    tab: ProfileTab,
    range: &PageRange,
) -> Result<LoadedProfile, Error> {
    let user = find_profile(tx, username)?;
    let is_visible = timelines::timeline_visibility(tx, viewer.viewer, &user)? == Visibility::Visible;
    let relationship = match viewer.viewer.user {
        Some(id) => load_relationship(tx, id, user.id)?,
        None => Relationship::default(),
    };
    let may_message = match viewer.viewer.user {
        Some(id) => may_message(tx, id, &user)?,
        None => false,
    };
    let (posts, next) = if is_visible { load_tab(tx, viewer, &user, tab, range)? } else { (Vec::new(), None) };
    let is_indexable = is_indexable(tx, viewer, &user)?;
    Ok(LoadedProfile { user, relationship, is_visible, may_message, is_indexable, posts, next })
}

/// Whether search engines may index what the account shows to everyone.
pub(crate) fn is_indexable(tx: &mut Tx<'_>, viewer: CardViewer, user: &User) -> Result<bool, Fault> {
    let is_public = viewer.viewer.user.is_none() && !user.protected && !user.limited;
    Ok(is_public && allows_indexing(tx)?)
}

fn load_tab(
    tx: &mut Tx<'_>,
    viewer: CardViewer,
    user: &User,
    tab: ProfileTab,
    range: &PageRange,
) -> Result<(Vec<PostCard>, Option<i64>), Error> {
    let page = match tab {
        ProfileTab::Likes => return load_likes(tx, viewer, user.id, range),
        ProfileTab::Media => load_media_page(tx, viewer, user, range)?,
        ProfileTab::Posts => {
            let range = PageRange { without_replies: true, ..*range };
            timelines::load_author_page(tx, viewer.viewer, user, &range)?
        }
        ProfileTab::Replies => timelines::load_author_page(tx, viewer.viewer, user, range)?,
    };
    let next = page.scanned_range.map(|(_, oldest)| oldest.get()).filter(|_| page.more);
    Ok((load_post_cards(tx, viewer, page.posts)?, next))
}

fn load_media_page(tx: &mut Tx<'_>, viewer: CardViewer, user: &User, range: &PageRange) -> Result<TimelinePage, Fault> {
    let mut rest = PageRange { limit: MEDIA_PAGE_SIZE, without_reposts: true, ..*range };
    let mut all = TimelinePage { posts: Vec::new(), scanned_range: None, more: true };
    let size = usize::try_from(PAGE_SIZE).unwrap_or(0);
    for _ in 0..MAX_MEDIA_PAGES {
        let page = timelines::load_author_page(tx, viewer.viewer, user, &rest)?;
        all.scanned_range = page.scanned_range.or(all.scanned_range);
        all.more = page.more;
        all.posts.extend(page.posts.into_iter().filter(|post| !post.media_keys.is_empty()));
        if let Some((newest, last)) = all.posts.first().zip(all.posts.get(size.saturating_sub(1)))
            && all.posts.len() >= size
        {
            all.more = all.more || all.posts.len() > size;
            all.scanned_range = Some((newest.id, last.id));
            all.posts.truncate(size);
            break;
        }
        let Some((_, oldest)) = all.scanned_range.filter(|_| all.more) else { break };
        rest.below = oldest.get();
    }
    Ok(all)
}

fn load_likes(
    tx: &mut Tx<'_>,
    viewer: CardViewer,
    user: UserId,
    range: &PageRange,
) -> Result<(Vec<PostCard>, Option<i64>), Error> {
    let reader = viewer.viewer.user.ok_or(Refusal::RouteNotFound)?;
    let range = PageRange { limit: range.limit + 1, ..*range };
    let mut edges = likes::list_user_likes(tx, reader, user, &range)?;
    let next = cut_page(&mut edges, |edge| edge.1);
    let ids: Vec<PostId> = edges.iter().map(|edge| PostId::new(edge.0)).collect();
    Ok((load_ordered_cards(tx, viewer, &ids)?, next))
}

/// Posts by id, in this order.
pub(crate) fn load_ordered_cards(tx: &mut Tx<'_>, viewer: CardViewer, ids: &[PostId]) -> Result<Vec<PostCard>, Fault> {
    let mut found = posts::find_by_ids(tx, ids)?;
    order_by_keys(&mut found, ids, |post| post.id);
    load_post_cards(tx, viewer, found)
}

impl LoadedProfile {
    fn profile_relationship(&self) -> ProfileRelationship {
        let Relationship { is_following, is_followed_by, has_requested, is_blocking, is_muting, .. } =
            self.relationship;
        let may_message = self.may_message;
        ProfileRelationship { is_following, is_followed_by, has_requested, is_blocking, is_muting, may_message }
    }

    fn hidden_reason(&self) -> Option<&'static str> {
        match (self.is_visible, self.relationship.is_blocked_by) {
            (true, _) => None,
            (false, true) => Some("This account has blocked you."),
            (false, false) => Some("Only approved followers see the posts of this account."),
        }
    }
}

fn profile_preview(viewer: CardViewer, user: &User) -> LinkPreview {
    let site = viewer.site.url;
    let picture = own_picture(&user.profile_image_url, viewer.site);
    LinkPreview {
        kind: "profile",
        title: format!("{} (@{})", user.name, user.username),
        description: user.description.clone(),
        url: format!("{site}/{}", user.username),
        image: if picture.is_empty() { picture } else { format!("{site}{picture}") },
        feed: if user.protected { String::new() } else { format!("{site}{}", feed_path(&user.username)) },
    }
}

fn profile_header(user: &User, viewer: CardViewer) -> ProfileHeader {
    let site = viewer.site;
    ProfileHeader {
        id: user.id.to_string(),
        name: user.name.clone(),
        username: user.username.clone(),
        avatar: own_picture(&user.profile_image_url, site),
        banner: own_picture(&user.profile_banner_url, site),
        description: linked_description(user),
        location: user.location.clone(),
        url: user.url.clone(),
        joined_at: user.created_at,
        is_protected: user.protected,
        is_verified: user.verified,
        posts: user.post_count,
        followers: user.followers_count,
        following: user.following_count,
    }
}

fn linked_description(user: &User) -> Vec<PostTextPart> {
    let stored: Value = serde_json::from_str(&user.entities).unwrap_or_default();
    let entities = stored.get("description").map(Value::to_string).unwrap_or_default();
    linked_parts(&user.description, &entities)
}
