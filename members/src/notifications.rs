//! `/notifications`: what others did that concerns the member, and notices of the site.

use std::collections::HashMap;

use base::{Error, Fault, PostId, UserId, sorted_distinct};
use network::muted_words::MutedWordFilter;
use network::visibility::{Visibility, profile_visibility};
use network::{follows, interactions, notifications};
use pages::members::{ActionItem, NotificationItem, NotificationTab, NotificationsPage, PostCard};
use portal::{MemberVisit, PageExit, PageQuery};
use store::Tx;
use store::interactions::{Interaction, InteractionKind};
use store::posts::PageRange;
use store::users::{self, User};
use web::request_context::{HttpReply, RequestContext};

use crate::page_ranges::{PAGE_SIZE, build_pager, cursor_of, cut_page};
use crate::post_cards::{CardViewer, record_views};
use crate::profile::load_ordered_cards;

/// Interactions on a page: more than of other rows, since many become one line.
const INTERACTIONS_PER_PAGE: i64 = 60;
/// People who are named in one line.
const MAX_NAMES: usize = 2;
/// Requests to follow that are counted.
const MAX_COUNTED_REQUESTS: i64 = 100;
/// Pages that are read to show anything where all posts have muted words.
const MAX_EMPTY_PAGES: usize = 10;
/// Characters of a post's text.
const MAX_EXCERPT_LENGTH: usize = 120;

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let (user, unread) = (visit.person.user.id, visit.person.unread);
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let tab = selected_tab(&query);
    let (viewer, below) = (CardViewer::new(&call, &visit), cursor_of(&query).unwrap_or(i64::MAX));
    let loaded = call.read(move |tx| load_tab(tx, viewer, user, tab, below)).await?;
    let mut frame = visit.page_frame(&call);
    let mut unread_notices = unread.notices;
    if let Some(newest) = loaded.newest.filter(|newest| *newest > loaded.seen) {
        call.write(move |tx| Ok(mark_seen(tx, user, tab, newest)?)).await?;
    }
    match tab {
        NotificationTab::All => frame.unread = unread.notices,
        NotificationTab::Mentions => {}
        NotificationTab::Notices => (frame.unread, unread_notices) = (unread.interactions, 0),
    }
    record_views(&call, Some(user), loaded.items.iter().filter_map(shown_post));
    let page = NotificationsPage {
        frame,
        tab,
        pager: build_pager(&tab.path(), cursor_of(&query).is_none(), loaded.next),
        items: loaded.items,
        unread_notices,
        follow_requests: loaded.follow_requests,
    };
    Ok(visit.render_page(&call, &page)?)
}

fn selected_tab(query: &PageQuery) -> NotificationTab {
    let asked = query.get("tab").unwrap_or_default();
    NotificationTab::ALL.into_iter().find(|tab| tab.name() == asked).unwrap_or(NotificationTab::All)
}

fn shown_post(item: &NotificationItem) -> Option<&PostCard> {
    match item {
        NotificationItem::Post(post, ..) => Some(post),
        _ => None,
    }
}

/// The tab of mentions shows only a part, and so marks nothing.
fn mark_seen(tx: &mut Tx<'_>, user: UserId, tab: NotificationTab, newest: i64) -> Result<(), Fault> {
    match tab {
        NotificationTab::All => interactions::mark_interactions_seen(tx, user, newest),
        NotificationTab::Mentions => Ok(()),
        NotificationTab::Notices => interactions::mark_notices_seen(tx, user, newest),
    }
}

struct LoadedTab {
    items: Vec<NotificationItem>,
    /// What the next page begins below.
    next: Option<i64>,
    /// The newest row that was read.
    newest: Option<i64>,
    /// Rows up to this were seen before.
    seen: i64,
    follow_requests: usize,
}

fn load_tab(
    tx: &mut Tx<'_>,
    viewer: CardViewer,
    user: UserId,
    tab: NotificationTab,
    below: i64,
) -> Result<LoadedTab, Error> {
    let range = PageRange::newest(MAX_COUNTED_REQUESTS);
    let follow_requests = follows::list_requests(tx, user, &range)?.len();
    let mut loaded = match tab {
        NotificationTab::Notices => load_notices(tx, user, below)?,
        NotificationTab::All | NotificationTab::Mentions => load_interactions(tx, viewer, user, tab, below)?,
    };
    if tab == NotificationTab::All && below == i64::MAX {
        // Until their own tab was opened.
        let mut unread = load_notices(tx, user, below)?.items;
        unread.retain(|item| matches!(item, NotificationItem::Notice { is_new: true, .. }));
        loaded.items.splice(0..0, unread);
    }
    loaded.follow_requests = follow_requests;
    Ok(loaded)
}

fn load_notices(tx: &mut Tx<'_>, user: UserId, below: i64) -> Result<LoadedTab, Fault> {
    let mut found = notifications::list_before(tx, user, below, PAGE_SIZE + 1)?;
    let seen = interactions::find_seen_notice(tx, user)?;
    let newest = found.first().map(|one| one.id);
    let next = cut_page(&mut found, |one| one.id);
    let items = found.into_iter().map(|one| NotificationItem::Notice {
        at: one.created_at(),
        is_new: one.id > seen,
        text: one.text,
        path: one.path,
    });
    Ok(LoadedTab { items: items.collect(), next, newest, seen, follow_requests: 0 })
}

fn load_interactions(
    tx: &mut Tx<'_>,
    viewer: CardViewer,
    user: UserId,
    tab: NotificationTab,
    below: i64,
) -> Result<LoadedTab, Fault> {
    let muted = MutedWordFilter::load(tx, user)?;
    let mut loaded = load_interaction_page(tx, viewer, &muted, user, tab, below)?;
    for _ in 1..MAX_EMPTY_PAGES {
        let Some(below) = loaded.next.filter(|_| loaded.items.is_empty()) else { break };
        let newest = loaded.newest;
        loaded = load_interaction_page(tx, viewer, &muted, user, tab, below)?;
        loaded.newest = newest.or(loaded.newest);
    }
    Ok(loaded)
}

fn load_interaction_page(
    tx: &mut Tx<'_>,
    viewer: CardViewer,
    muted: &MutedWordFilter,
    user: UserId,
    tab: NotificationTab,
    below: i64,
) -> Result<LoadedTab, Fault> {
    let only_mentions = tab == NotificationTab::Mentions;
    let limit = if only_mentions { PAGE_SIZE } else { INTERACTIONS_PER_PAGE };
    let mut page = interactions::load_page(tx, user, only_mentions, below, limit)?;
    let seen = interactions::find_seen(tx, user)?;
    let newest = page.newest;
    interactions::replace_reposts(tx, &mut page.interactions)?;
    let mut post_ids = sorted_distinct(page.interactions.iter().filter_map(|one| one.post_id));
    let hidden = muted.find_hidden(tx, &post_ids)?;
    post_ids.retain(|id| !hidden.contains(id));
    let actor_ids = sorted_distinct(page.interactions.iter().map(|one| one.actor_id));
    let actors = users::find_by_ids(tx, &actor_ids)?.into_iter();
    let actors = actors.filter(|actor| profile_visibility(actor) == Visibility::Visible);
    let sources = InteractionSources {
        posts: load_cards_by_id(tx, viewer, &post_ids)?,
        actors: actors.map(|actor| (actor.id, actor)).collect(),
        seen,
    };
    let items = sources.build_items(page.interactions);
    Ok(LoadedTab { items, next: page.next, newest, seen, follow_requests: 0 })
}

/// The visible posts with these ids.
fn load_cards_by_id(tx: &mut Tx<'_>, viewer: CardViewer, ids: &[PostId]) -> Result<HashMap<PostId, PostCard>, Fault> {
    let cards = load_ordered_cards(tx, viewer, ids)?.into_iter();
    Ok(cards.filter_map(|card| Some((PostId::parse(&card.id)?, card))).collect())
}

struct InteractionSources {
    posts: HashMap<PostId, PostCard>,
    actors: HashMap<UserId, User>,
    seen: i64,
}

impl InteractionSources {
    /// Newest first. Actions of the same kind about the same post become one line.
    fn build_items(mut self, interactions: Vec<Interaction>) -> Vec<NotificationItem> {
        let mut items = Vec::new();
        let mut lines: HashMap<(InteractionKind, String), usize> = HashMap::new();
        for one in interactions {
            let is_new = one.seq > self.seen;
            let Some(actor) = self.actors.get(&one.actor_id) else { continue };
            if let Some(label) = post_label(one.kind) {
                let post = one.post_id.and_then(|id| self.posts.remove(&id));
                items.extend(post.map(|post| NotificationItem::Post(Box::new(post), label, is_new)));
                continue;
            }
            let post = one.post_id.and_then(|id| self.posts.get(&id));
            if post.is_none() && one.post_id.is_some() {
                continue;
            }
            let subject = post.map(PostCard::path).unwrap_or_default();
            let name = (actor.name.clone(), actor.username.clone());
            let line = lines.get(&(one.kind, subject.clone())).and_then(|place| items.get_mut(*place));
            if let Some(NotificationItem::Action(line)) = line {
                add_actor(line, name);
                continue;
            }
            let (icon, verb) = action_words(one.kind);
            lines.insert((one.kind, subject), items.len());
            items.push(NotificationItem::Action(ActionItem {
                icon,
                people: vec![name],
                others: 0,
                verb,
                post: post.map(|post| (post.path(), excerpt_of(post))),
                at: one.at,
                is_new,
            }));
        }
        items
    }
}

fn add_actor(line: &mut ActionItem, name: (String, String)) {
    if line.people.contains(&name) {
        return;
    }
    if line.people.len() < MAX_NAMES {
        line.people.push(name);
    } else {
        line.others += 1;
    }
}

/// None for actions that are no posts.
fn post_label(kind: InteractionKind) -> Option<&'static str> {
    match kind {
        InteractionKind::Mention => Some("Mentioned you"),
        InteractionKind::Reply => Some("Replied to you"),
        InteractionKind::Quote => Some("Quoted you"),
        _ => None,
    }
}

fn action_words(kind: InteractionKind) -> (&'static str, &'static str) {
    match kind {
        InteractionKind::Repost => ("repost", "reposted your post"),
        InteractionKind::Like => ("like", "liked your post"),
        InteractionKind::Follow => ("person", "followed you"),
        InteractionKind::FollowRequest => ("person", "asked to follow you"),
        InteractionKind::Mention | InteractionKind::Reply | InteractionKind::Quote => ("reply", "mentioned you"),
    }
}

fn excerpt_of(post: &PostCard) -> String {
    match post.excerpt(MAX_EXCERPT_LENGTH) {
        text if text.is_empty() => "A post without text".to_owned(),
        text => text,
    }
}
