//! Posts as the pages show them: rendered as in the API, with what the viewer has done to them.

use std::collections::HashMap;

use base::{Fault, PostId, SiteLinks, Time, UserId};
use network::posts::{EDIT_WINDOW_MS, is_editable_kind};
use network::viewer_actions::{ViewerActions, load_viewer_actions};
use network::visibility::Viewer;
use pages::members::{PollCard, PollChoice, PostCard, PostMedia, PostTextPart, QuotedPost};
use portal::BrowserVisit;
use serde_json::{Value, json};
use store::polls::{self, Poll};
use store::posts::{self, Post, PostState};
use store::{Tx, replies};
use view::{StatusForm, legacy_text_segments, linked_text_segments};
use web::request_context::RequestContext;

const STATUS_FORM: StatusForm = StatusForm { extended: true, trim_user: false };

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

struct CardContext<'a> {
    viewer: CardViewer,
    actions: ViewerActions,
    polls: HashMap<i64, Poll>,
    /// The shown posts by id, without reposts.
    originals: HashMap<PostId, &'a Post>,
    now: Time,
}

/// In the order of `posts`; those that the viewer may not see are omitted, and reposts of such.
pub(crate) fn load_post_cards(tx: &mut Tx<'_>, viewer: CardViewer, posts: Vec<Post>) -> Result<Vec<PostCard>, Fault> {
    let reposted: Vec<PostId> = posts.iter().filter_map(|post| post.repost_of_id).collect();
    let mut rows = if reposted.is_empty() { Vec::new() } else { posts::find_by_ids(tx, &reposted)? };
    rows.extend(posts.iter().filter(|post| post.repost_of_id.is_none()).cloned());
    let statuses = view::legacy_statuses_json(tx, viewer.viewer, posts, STATUS_FORM, viewer.site)?;
    let ids: Vec<PostId> = rows.iter().map(|post| post.id).collect();
    let mut poll_ids: Vec<i64> = rows.iter().filter_map(|post| post.poll_id).collect();
    poll_ids.sort_unstable();
    poll_ids.dedup();
    let polls = if poll_ids.is_empty() { Vec::new() } else { polls::find_by_ids(tx, &poll_ids)? };
    let actions = match viewer.viewer.user {
        Some(user) => load_viewer_actions(tx, user, &ids, &poll_ids)?,
        None => ViewerActions::default(),
    };
    let context = CardContext {
        viewer,
        actions,
        polls: polls.into_iter().map(|poll| (poll.id, poll)).collect(),
        originals: rows.iter().map(|post| (post.id, post)).collect(),
        now: tx.now(),
    };
    Ok(statuses.iter().filter_map(|(_, status)| context.build_card(status)).collect())
}

impl CardContext<'_> {
    fn build_card(&self, status: &Value) -> Option<PostCard> {
        let shown = status.get("retweeted_status").unwrap_or(status);
        let id = PostId::parse(&json_text(shown, "/id_str"))?;
        // Not there if the repost's original is not visible.
        let post = *self.originals.get(&id)?;
        let reply_to = json_text(shown, "/in_reply_to_screen_name");
        let parent = json_text(shown, "/in_reply_to_status_id_str");
        let is_own = self.viewer.viewer.user == Some(post.author_id);
        Some(PostCard {
            id: id.to_string(),
            name: json_text(shown, "/user/name"),
            username: json_text(shown, "/user/screen_name"),
            avatar: own_picture(&json_text(shown, "/user/profile_image_url_https"), self.viewer.site),
            language: post.lang.clone(),
            text: linked_text(shown),
            media: self.list_media(shown),
            poll: post.poll_id.and_then(|poll| self.build_poll(poll)),
            quoted: shown.get("quoted_status").map(quoted_post),
            reply_to: (!reply_to.is_empty() && !parent.is_empty())
                .then(|| (reply_to.clone(), format!("/{reply_to}/status/{parent}"))),
            reposted_by: status.get("retweeted_status").map(|_| json_text(status, "/user/screen_name")),
            created_at: post.created_at,
            replies: post.reply_count,
            reposts: post.repost_count,
            quotes: post.quote_count,
            likes: post.like_count,
            is_liked: self.actions.liked.contains(&id),
            is_reposted: self.actions.reposted.contains(&id),
            is_bookmarked: self.actions.bookmarked.contains(&id),
            is_own,
            is_editable: is_own && self.is_editable(post),
            is_edited: post.edit_root_id.is_some_and(|root| root != post.id),
            is_protected: shown.pointer("/user/protected").and_then(Value::as_bool).unwrap_or(false),
            is_sensitive: post.possibly_sensitive,
            hide_state: None,
        })
    }

    fn is_editable(&self, post: &Post) -> bool {
        let first = post.edit_root_id.unwrap_or(post.id).created_at();
        self.viewer.may_edit
            && post.state == PostState::Live
            && post.edits_remaining > 0
            && self.now <= first.plus_ms(EDIT_WINDOW_MS)
            && is_editable_kind(post)
    }

    fn build_poll(&self, id: i64) -> Option<PollCard> {
        let poll = self.polls.get(&id)?;
        let vote = self.actions.votes.get(&id).copied();
        let total: i64 = poll.options.iter().map(|option| option.votes).sum();
        let choices = poll.options.iter().map(|option| PollChoice {
            number: option.number,
            label: option.label.clone(),
            votes: option.votes,
            share: option.votes.saturating_mul(100) / total.max(1),
            is_own: vote == Some(option.number),
        });
        let is_open = self.viewer.viewer.user.is_some() && vote.is_none() && poll.is_open(self.now);
        Some(PollCard { choices: choices.collect(), ends_at: poll.ends_at, is_open })
    }

    fn list_media(&self, status: &Value) -> Vec<PostMedia> {
        let media = status.pointer("/extended_entities/media").and_then(Value::as_array).into_iter().flatten();
        let media = media.map(|one| {
            let file = self.site_path(json_text(one, "/media_url_https"));
            let is_photo = json_text(one, "/type") == "photo";
            let variants = one.pointer("/video_info/variants").and_then(Value::as_array).into_iter().flatten();
            let mut films = variants.filter(|variant| json_text(variant, "/content_type") == "video/mp4");
            let film = films.next().map(|variant| self.site_path(json_text(variant, "/url")));
            PostMedia {
                picture: file.clone(),
                video: if is_photo { None } else { film.or(Some(file)) },
                description: json_text(one, "/ext_alt_text"),
            }
        });
        media.collect()
    }

    fn site_path(&self, url: String) -> String {
        site_path(url, self.viewer.site)
    }
}

/// Files of this site by their path, which the content policy allows under each of its names.
fn site_path(url: String, site: SiteLinks) -> String {
    find_site_path(&url, site).map(str::to_owned).unwrap_or(url)
}

/// Empty for a picture of another site, which would learn of every reader.
pub(crate) fn own_picture(url: &str, site: SiteLinks) -> String {
    find_site_path(url, site).unwrap_or_default().to_owned()
}

fn find_site_path(url: &str, site: SiteLinks) -> Option<&str> {
    if url.starts_with("/media/") {
        return Some(url);
    }
    url.strip_prefix(site.url).filter(|path| path.starts_with('/') && !site.url.is_empty())
}

pub(crate) fn json_text(status: &Value, path: &str) -> String {
    status.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
}

pub(crate) fn linked_text(status: &Value) -> Vec<PostTextPart> {
    let segments = linked_text_segments(status, |username| format!("/{username}"));
    segments.into_iter().map(|segment| PostTextPart { text: segment.text, url: segment.url }).collect()
}

/// A text with entities as they are stored.
pub(crate) fn linked_parts(text: &str, entities: &str) -> Vec<PostTextPart> {
    let text = base::text::escape_html(text);
    linked_text(&json!({ "full_text": text, "entities": view::legacy_entities_json(entities) }))
}

fn quoted_post(status: &Value) -> QuotedPost {
    let username = json_text(status, "/user/screen_name");
    let text: String = legacy_text_segments(status).into_iter().map(|segment| segment.text).collect();
    QuotedPost { path: format!("/{username}/status/{}", json_text(status, "/id_str")), username, text }
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
