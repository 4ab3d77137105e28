//! Posts as the pages show them, with what the viewer has done to them.

use std::cmp::Reverse;
use std::collections::HashMap;

use base::{Fault, PostId, SiteLinks, Time, UserId};
use network::posts::{EDIT_WINDOW_MS, is_editable_kind, message_link_recipient};
use network::viewer_actions::{ViewerActions, load_viewer_actions};
use network::visibility::Viewer;
use pages::members::{PollCard, PollChoice, PostCard, PostMedia, PostTextPart, QuotedPost};
use portal::{BrowserVisit, find_site_path};
use store::polls::Poll;
use store::posts::{Post, PostState};
use store::users::{self, UserState};
use store::{Tx, replies};
use view::{ShownMedia, ShownPost, ShownPosts, TextSegment};
use web::request_context::RequestContext;

use crate::communities::community_path;

/// For whom posts are shown.
#[derive(Clone, Copy)]
pub(crate) struct CardViewer {
    pub(crate) viewer: Viewer,
    /// Whether the viewer's subscription includes editing.
    may_edit: bool,
    pub(crate) site: SiteLinks,
}

impl CardViewer {
    pub(crate) fn new(call: &RequestContext, visit: &BrowserVisit) -> Self {
        let user = visit.person.as_ref().map(|person| &person.user);
        Self {
            viewer: user.map_or_else(Viewer::anonymous, |user| Viewer::user(user.id)),
            may_edit: user.is_some_and(|user| user.subscription_type != "None"),
            site: call.site(),
        }
    }

    /// Whoever is not signed in.
    pub(crate) fn visitor(call: &RequestContext) -> Self {
        Self { viewer: Viewer::anonymous(), may_edit: false, site: call.site() }
    }
}

struct CardContext {
    viewer: CardViewer,
    actions: ViewerActions,
    /// The usernames to whom posts invite to write, by post.
    recipients: HashMap<PostId, String>,
    now: Time,
}

/// In the order of `posts`; those that the viewer may not see are omitted, and reposts of such.
pub(crate) fn load_post_cards(tx: &mut Tx<'_>, viewer: CardViewer, posts: Vec<Post>) -> Result<Vec<PostCard>, Fault> {
    let shown = ShownPosts::load(tx, viewer.viewer, posts, viewer.site)?;
    let ids: Vec<PostId> = shown.iter().map(|shown| shown.post.id).collect();
    let polls: Vec<i64> = shown.iter().filter_map(|shown| shown.post.poll_id).collect();
    let actions = match viewer.viewer.user {
        Some(user) => load_viewer_actions(tx, user, &ids, &polls)?,
        None => ViewerActions::default(),
    };
    let context = CardContext { viewer, actions, recipients: load_recipients(tx, &ids)?, now: tx.now() };
    Ok(shown.iter().map(|shown| context.build_card(shown)).collect())
}

fn load_recipients(tx: &mut Tx<'_>, posts: &[PostId]) -> Result<HashMap<PostId, String>, Fault> {
    let ids: Vec<i64> = posts.iter().map(|id| id.get()).collect();
    let mut recipients = HashMap::new();
    for (post, link) in store::exports::message_links(tx, &ids)? {
        let recipient = message_link_recipient(&link).map(|id| users::find_by_id(tx, id)).transpose()?.flatten();
        if let Some(user) = recipient.filter(|user| user.state == UserState::Active) {
            recipients.insert(post, user.username);
        }
    }
    Ok(recipients)
}

impl CardContext {
    fn build_card(&self, shown: ShownPost<'_>) -> PostCard {
        let ShownPost { post, author, .. } = shown;
        let is_own = self.viewer.viewer.user == Some(post.author_id);
        let reply_to = shown.replied_user().zip(post.in_reply_to_post_id);
        PostCard {
            id: post.id.to_string(),
            name: author.name.clone(),
            username: author.username.clone(),
            avatar: own_picture(&author.profile_image_url, self.viewer.site),
            language: post.lang.clone(),
            text: linked_text(shown),
            media: shown.media().map(|media| self.build_media(media)).collect(),
            poll: shown.poll().map(|poll| self.build_poll(poll)),
            quoted: shown.quoted().map(quoted_post),
            message_to: self.recipients.get(&post.id).cloned(),
            reply_to: reply_to.map(|(user, id)| (user.username.clone(), format!("/{}/status/{id}", user.username))),
            community: shown.community().map(|one| (one.name.clone(), community_path(one.id))),
            reposted_by: shown.reposted_by.map(|user| user.username.clone()),
            created_at: post.created_at,
            replies: post.reply_count,
            reposts: post.repost_count,
            quotes: post.quote_count,
            likes: post.like_count,
            is_liked: self.actions.liked.contains(&post.id),
            is_reposted: self.actions.reposted.contains(&post.id),
            is_bookmarked: self.actions.bookmarked.contains(&post.id),
            is_own,
            is_editable: is_own && self.is_editable(post),
            is_edited: post.edit_root_id.is_some_and(|root| root != post.id),
            is_protected: author.protected,
            is_sensitive: post.possibly_sensitive,
            hide_state: None,
        }
    }

    fn is_editable(&self, post: &Post) -> bool {
        let first = post.edit_root_id.unwrap_or(post.id).created_at();
        self.viewer.may_edit
            && post.state == PostState::Live
            && post.edits_remaining > 0
            && self.now <= first.plus_ms(EDIT_WINDOW_MS)
            && is_editable_kind(post)
    }

    fn build_poll(&self, poll: &Poll) -> PollCard {
        let vote = self.actions.votes.get(&poll.id).copied();
        let shares = percentages(&poll.options.iter().map(|option| option.votes).collect::<Vec<_>>());
        let choices = poll.options.iter().zip(shares).map(|(option, share)| PollChoice {
            number: option.number,
            label: option.label.clone(),
            votes: option.votes,
            share,
            is_own: vote == Some(option.number),
        });
        let is_open = self.viewer.viewer.user.is_some() && vote.is_none() && poll.is_open(self.now);
        PollCard { choices: choices.collect(), ends_at: poll.ends_at, is_open }
    }

    fn build_media(&self, media: ShownMedia) -> PostMedia {
        PostMedia {
            picture: site_path(media.picture, self.viewer.site),
            video: media.video.map(|url| site_path(url, self.viewer.site)),
            description: media.description,
            subtitles: media.subtitles,
        }
    }
}

/// Whole percentages that add up to 100: those with the largest remainders are rounded up. Zeros if all counts are.
fn percentages(counts: &[i64]) -> Vec<i64> {
    let total = counts.iter().sum::<i64>().max(1);
    let hundredfold = counts.iter().map(|count| count.saturating_mul(100));
    let mut shares: Vec<(i64, i64)> = hundredfold.map(|count| (count / total, count % total)).collect();
    let missing = shares.iter().map(|(_, remainder)| remainder).sum::<i64>() / total;
    let mut by_remainder: Vec<&mut (i64, i64)> = shares.iter_mut().collect();
    by_remainder.sort_by_key(|(_, remainder)| Reverse(*remainder));
    by_remainder.into_iter().zip(0..missing).for_each(|((share, _), _)| *share += 1);
    shares.into_iter().map(|(share, _)| share).collect()
}

/// Files of this site by their path, which the content policy allows under each of its names.
fn site_path(url: String, site: SiteLinks) -> String {
    find_site_path(&url, site).map(str::to_owned).unwrap_or(url)
}

/// Empty for a picture of another site, which would learn of every reader.
pub(crate) fn own_picture(url: &str, site: SiteLinks) -> String {
    find_site_path(url, site).unwrap_or_default().to_owned()
}

fn user_path(username: &str) -> String {
    format!("/{username}")
}

pub(crate) fn linked_text(shown: ShownPost<'_>) -> Vec<PostTextPart> {
    shown.linked_text_segments(user_path).into_iter().map(text_part).collect()
}

/// A text with entities as they are stored.
pub(crate) fn linked_parts(text: &str, entities: &str) -> Vec<PostTextPart> {
    view::linked_text_segments(text, entities, user_path).into_iter().map(text_part).collect()
}

fn text_part(segment: TextSegment) -> PostTextPart {
    PostTextPart { text: segment.text, url: segment.url }
}

fn quoted_post(shown: ShownPost<'_>) -> QuotedPost {
    let username = shown.author.username.clone();
    let text: String = shown.text_segments().into_iter().map(|segment| segment.text).collect();
    QuotedPost { path: format!("/{username}/status/{}", shown.post.id), username, text }
}

/// Marks the replies that the viewer may hide, since the conversation is theirs; returns those that are hidden apart.
pub(crate) fn split_hidden(
    tx: &mut Tx<'_>,
    cards: Vec<PostCard>,
    is_owner: bool,
) -> Result<(Vec<PostCard>, Vec<PostCard>), Fault> {
    let ids: Vec<PostId> = cards.iter().filter_map(|card| PostId::parse(&card.id)).collect();
    let hidden = replies::filter_hidden(tx, &ids)?;
    let cards = cards.into_iter().map(|card| {
        let is_hidden = PostId::parse(&card.id).is_some_and(|id| hidden.contains(&id));
        (is_hidden, PostCard { hide_state: is_owner.then_some(is_hidden), ..card })
    });
    let (hidden, shown): (Vec<_>, Vec<_>) = cards.partition(|(is_hidden, _)| *is_hidden);
    let without_flag = |cards: Vec<(bool, PostCard)>| cards.into_iter().map(|(_, card)| card).collect();
    Ok((without_flag(shown), without_flag(hidden)))
}

/// Counts the posts as seen by the viewer.
pub(crate) fn record_views<'a>(
    call: &RequestContext,
    viewer: Option<UserId>,
    cards: impl IntoIterator<Item = &'a PostCard>,
) {
    if let Some(user) = viewer {
        let ids: Vec<PostId> = cards.into_iter().filter_map(|card| PostId::parse(&card.id)).collect();
        call.state.views.record(user, &ids, call.now());
    }
}
