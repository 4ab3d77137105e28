//! `/compose/drafts` and `/compose/scheduled`.

use base::{AccountTimeZone, Time};
use network::unpublished_posts::{self, MAX_SCHEDULED};
use pages::Pager;
use pages::members::{DraftItem, DraftsPage, DraftsTab};
use portal::{MemberVisit, PageExit, PageQuery};
use store::communities::{self, Community};
use store::unpublished_posts::UnpublishedPost;
use web::request_context::{HttpReply, RequestContext};

use crate::communities::community_path;
use crate::page_ranges::{PAGE_SIZE, cut_page};

/// `2026-11-27T10:05` and `2026-11-27T10:05:00`.
const LOCAL_MINUTES: usize = 16;
const LOCAL_SECONDS: usize = 19;
/// Characters of a post's text.
const MAX_EXCERPT_LENGTH: usize = 280;

pub(crate) async fn show_drafts(call: RequestContext) -> Result<HttpReply, PageExit> {
    show(call, DraftsTab::Drafts).await
}

pub(crate) async fn show_scheduled(call: RequestContext) -> Result<HttpReply, PageExit> {
    show(call, DraftsTab::Scheduled).await
}

async fn show(call: RequestContext, tab: DraftsTab) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let user = visit.person.user.id;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let skip = query.get("skip").and_then(|skip| skip.parse().ok()).unwrap_or(0).clamp(0, MAX_SCHEDULED);
    let list = match tab {
        DraftsTab::Drafts => unpublished_posts::list_drafts,
        DraftsTab::Scheduled => unpublished_posts::list_scheduled,
    };
    let read = call.read(move |tx| {
        let posts = list(tx, user, skip, PAGE_SIZE + 1)?;
        let communities: Vec<i64> = posts.iter().filter_map(|post| post.community_id).collect();
        Ok((posts, communities::find_by_ids(tx, &communities)?))
    });
    let (mut posts, communities) = read.await?;
    let has_more = cut_page(&mut posts, |post| post.id).is_some();
    let page = DraftsPage {
        frame: visit.page_frame(&call),
        tab,
        items: posts.into_iter().map(|post| build_item(post, &communities)).collect(),
        pager: Pager {
            previous: (skip > 0).then(|| page_path(tab, skip - PAGE_SIZE)),
            next: has_more.then(|| page_path(tab, skip + PAGE_SIZE)),
        },
    };
    Ok(visit.render_page(&call, &page)?)
}

fn page_path(tab: DraftsTab, skip: i64) -> String {
    if skip > 0 { format!("{}?skip={skip}", tab.path()) } else { tab.path().to_owned() }
}

fn build_item(post: UnpublishedPost, communities: &[Community]) -> DraftItem {
    let files = post.media_ids.len();
    let contents = [
        post.in_reply_to_post_id.map(|_| "A reply".to_owned()),
        post.quoted_post_id.map(|_| "A quote".to_owned()),
        (files > 0).then(|| if files == 1 { "1 file".to_owned() } else { format!("{files} files") }),
        (!post.poll_choices.is_empty()).then(|| "A poll".to_owned()),
    ];
    let community = communities.iter().find(|one| Some(one.id) == post.community_id);
    DraftItem {
        community: community.map(|one| (one.name.clone(), community_path(one.id))),
        id: post.id.to_string(),
        text: shorten(&post.text),
        contents: contents.into_iter().flatten().collect(),
        scheduled_at: post.scheduled_at,
        problem: post.problem,
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_EXCERPT_LENGTH) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}

/// Reads what browsers send for a date and a time. Of two moments with the same local time, the first; a time that clocks
/// skip is taken as if they had not been changed.
pub(crate) fn parse_publication_time(text: &str, zone: &AccountTimeZone) -> Option<Time> {
    let text = text.trim();
    let has_form = matches!(text.len(), LOCAL_MINUTES | LOCAL_SECONDS) && text.get(10..11) == Some("T");
    if has_form { zone.parse_local(text) } else { None }
}

#[cfg(test)]
mod tests {
    use base::{AccountTimeZone, Time};

    use super::{parse_publication_time, shorten};

    #[test]
    fn date_and_time_of_a_form_are_those_of_its_zone() {
        let (utc, berlin) = (AccountTimeZone::default(), AccountTimeZone::from_name("Europe/Berlin"));
        let cases = [
            (&utc, "2026-11-27T10:05", "2026-11-27T10:05:00Z"),
            (&utc, " 2026-11-27T10:05:00 ", "2026-11-27T10:05:00Z"),
            (&berlin, "2026-11-27T10:05", "2026-11-27T09:05:00Z"),
            (&berlin, "2026-07-27T10:05", "2026-07-27T08:05:00Z"),
            // Clocks skip this hour.
            (&berlin, "2026-03-29T02:30", "2026-03-29T01:30:00Z"),
            // This hour comes twice.
            (&berlin, "2026-10-25T02:30", "2026-10-25T00:30:00Z"),
        ];
        for (zone, text, at) in cases {
            assert_eq!(parse_publication_time(text, zone), Time::parse(at), "{text}");
        }
        for wrong in ["", "tomorrow", "2026-11-27", "2026-13-27T10:05", "2026-11-27T10:05+01:00", "2026-11-27 10:05"] {
            assert_eq!(parse_publication_time(wrong, &utc), None, "{wrong}");
        }
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(shorten("short"), "short");
        assert_eq!(shorten(&"é".repeat(300)).chars().count(), 281);
    }
}
