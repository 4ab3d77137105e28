//! The page of one post.

use base::refusal::ResourceRef;
use base::{Error, Fault, PostId, Refusal, SiteLinks};
use network::visibility::Viewer;
use pages::{PollResult, PostMedia, PostPage, PostTextPart, RelatedPost};
use serde_json::Value;
use store::Tx;
use store::polls::{self, Poll};
use store::posts::Post;
use view::{StatusForm, legacy_text_segments};
use web::endpoint::HandlerFuture;
use web::request_context::RequestContext;

use super::compose::COMPOSE_PATH;
use super::{BrowserVisit, redirect_to, run_page};

/// `GET /{username}/status/{id}`, the permalink of a post; redirects there from another username.
pub(crate) fn show(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let visit = BrowserVisit::from_call(&call).await?;
        let (post, status, poll) = find_post(&call, &visit).await?;
        let username = json_text(&status, "/user/screen_name");
        if call.path_text("username")? != username {
            return Ok(redirect_to(&format!("/{username}/status/{}", post.id)));
        }
        if let Some(person) = &visit.person {
            call.state.views.record(person.user.id, &[post.repost_of_id.unwrap_or(post.id)], call.now());
        }
        let page = build_page(&call, &visit, &post, &status, poll.as_ref());
        Ok(visit.render_page(&call, &page)?)
    })
}

/// `GET /i/web/status/{id}`.
pub(crate) fn redirect_to_permalink(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let visit = BrowserVisit::from_call(&call).await?;
        let (_, status, _) = find_post(&call, &visit).await?;
        let username = json_text(&status, "/user/screen_name");
        Ok(redirect_to(&format!("/{username}/status/{}", json_text(&status, "/id_str"))))
    })
}

/// Refused unless the visitor may see it.
async fn find_post(call: &RequestContext, visit: &BrowserVisit) -> Result<LoadedPost, Error> {
    let id: PostId = call.path_id("id")?;
    let viewer = visit.person.as_ref().map_or_else(Viewer::anonymous, |person| Viewer::user(person.user.id));
    let site = call.site();
    let found = call.read(move |tx| Ok(load_post(tx, viewer, id, site)?)).await?;
    Ok(found.ok_or_else(|| Refusal::NotFound(ResourceRef::new("tweet", "id", id)))?)
}

type LoadedPost = (Post, Value, Option<Poll>);

/// `None` if the viewer may not see it.
fn load_post(tx: &mut Tx<'_>, viewer: Viewer, id: PostId, site: SiteLinks) -> Result<Option<LoadedPost>, Fault> {
    let Some(post) = store::posts::find_by_id(tx, id)? else { return Ok(None) };
    let form = StatusForm { extended: true, trim_user: false };
    let shown = view::legacy_statuses_json(tx, viewer, vec![post.clone()], form, site)?;
    let Some((_, status)) = shown.into_iter().next() else { return Ok(None) };
    let poll = post.poll_id.map(|poll| polls::find_by_id(tx, poll)).transpose()?.flatten();
    Ok(Some((post, status, poll)))
}

fn json_text(status: &Value, path: &str) -> String {
    status.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn build_page(
    call: &RequestContext,
    visit: &BrowserVisit,
    post: &Post,
    status: &Value,
    poll: Option<&Poll>,
) -> PostPage {
    let id = post.id;
    let site = call.site().url;
    let permalink = format!("{site}/{}/status/{id}", json_text(status, "/user/screen_name"));
    // A repost shows what it reposts.
    let shown = status.get("retweeted_status").unwrap_or(status);
    let username = json_text(shown, "/user/screen_name");
    let reply_to = json_text(shown, "/in_reply_to_screen_name");
    let parent = json_text(shown, "/in_reply_to_status_id_str");
    PostPage {
        frame: visit.page_frame(call),
        name: json_text(shown, "/user/name"),
        username,
        language: json_text(shown, "/lang"),
        text: post_text_parts(shown),
        media: post_media(shown),
        poll: poll.map(poll_results).unwrap_or_default(),
        quoted: shown.get("quoted_status").map(related_post),
        reply_to: (!reply_to.is_empty() && !parent.is_empty()).then(|| RelatedPost {
            path: format!("/{reply_to}/status/{parent}"),
            username: reply_to,
            text: String::new(),
        }),
        reposted_by: post.repost_of_id.map(|_| json_text(status, "/user/screen_name")),
        created_at: post.created_at,
        counts: post_counts(shown),
        reply_path: format!("{COMPOSE_PATH}?in_reply_to={}", json_text(shown, "/id_str")),
        oembed_url: format!("{site}/oembed?url={}", base::percent::encode(&permalink)),
    }
}

pub(super) fn post_text_parts(status: &Value) -> Vec<PostTextPart> {
    let segments = legacy_text_segments(status).into_iter();
    segments.map(|segment| PostTextPart { text: segment.text, url: segment.url }).collect()
}

fn post_media(status: &Value) -> Vec<PostMedia> {
    let media = status.pointer("/extended_entities/media").and_then(Value::as_array).into_iter().flatten();
    let media = media.map(|one| {
        let file = json_text(one, "/media_url_https");
        let is_photo = json_text(one, "/type") == "photo";
        PostMedia {
            picture: if is_photo { file.clone() } else { String::new() },
            video: (!is_photo).then_some(file),
            description: json_text(one, "/ext_alt_text"),
        }
    });
    media.collect()
}

fn poll_results(poll: &Poll) -> Vec<PollResult> {
    let total: i64 = poll.options.iter().map(|option| option.votes).sum();
    let results = poll.options.iter().map(|option| PollResult {
        label: option.label.clone(),
        votes: option.votes,
        share: option.votes.saturating_mul(100) / total.max(1),
    });
    results.collect()
}

fn related_post(status: &Value) -> RelatedPost {
    let username = json_text(status, "/user/screen_name");
    let text: String = legacy_text_segments(status).into_iter().map(|segment| segment.text).collect();
    RelatedPost { path: format!("/{username}/status/{}", json_text(status, "/id_str")), username, text }
}

fn post_counts(status: &Value) -> Vec<(i64, &'static str)> {
    let nouns = [
        ("reply_count", "reply", "replies"),
        ("retweet_count", "repost", "reposts"),
        ("quote_count", "quote", "quotes"),
        ("favorite_count", "like", "likes"),
    ];
    let counts = nouns.into_iter().filter_map(|(member, one, many)| {
        let count = status.get(member)?.as_i64().filter(|count| *count > 0)?;
        Some((count, if count == 1 { one } else { many }))
    });
    counts.collect()
}
