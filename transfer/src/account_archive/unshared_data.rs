//! The elements of data files about what nobody but the owner of an archive sees.

use base::PostId;
use base::text::escape_html;
use serde_json::{Value, json};
use store::unpublished_posts::UnpublishedPost;
use store::{Tx, bookmarks, muted_words, unpublished_posts};

use super::elements::{ElementPage, ElementPageResult, ElementQuery, VisiblePosts, edge_page};
use network::muted_words::MAX_MUTED_WORDS;
use network::unpublished_posts::{MAX_DRAFTS, MAX_SCHEDULED};

pub(super) fn load_bookmarks(tx: &mut Tx<'_>, query: &ElementQuery) -> ElementPageResult {
    let found = bookmarks::page_by_user(tx, query.user, &query.range())?;
    let posts = VisiblePosts::load(tx, query, &found)?;
    let ids: Vec<PostId> = found.iter().map(|(post, _)| PostId::new(*post)).collect();
    let entries = bookmarks::list_post_folders(tx, query.user, &ids)?;
    let folder_ids: Vec<i64> = entries.iter().map(|(_, folder)| *folder).collect();
    let folders = bookmarks::find_folders(tx, &folder_ids)?;
    Ok(edge_page(&found, |id| {
        let own_entries = entries.iter().filter(|(post, _)| post.get() == *id);
        let names = own_entries
            .filter_map(|(_, folder)| Some(escape_html(&folders.iter().find(|known| known.id == *folder)?.name)));
        let mut bookmark = posts.to_json(*id);
        if let Some(members) = bookmark.as_object_mut() {
            members.insert("folders".to_owned(), names.collect());
        }
        json!({ "bookmark": bookmark })
    }))
}

pub(super) fn load_muted_words(tx: &mut Tx<'_>, query: &ElementQuery) -> ElementPageResult {
    let found = muted_words::list_by_user(tx, query.user, MAX_MUTED_WORDS)?;
    let element = |word: &muted_words::MutedWord| {
        let expires_at = word.expires_at.map(|time| time.to_string());
        json!({ "mutedWord": { "phrase": escape_html(&word.phrase), "expiresAt": expires_at } })
    };
    Ok(ElementPage::last(found.iter().map(element).collect()))
}

/// Drafts, then scheduled posts.
pub(super) fn load_drafts(tx: &mut Tx<'_>, query: &ElementQuery) -> ElementPageResult {
    let mut found = unpublished_posts::list_drafts(tx, query.user, 0, MAX_DRAFTS)?;
    found.extend(unpublished_posts::list_scheduled(tx, query.user, 0, MAX_SCHEDULED)?);
    Ok(ElementPage::last(found.iter().map(draft_json).collect()))
}

fn draft_json(draft: &UnpublishedPost) -> Value {
    let id_text = |id: Option<i64>| id.map(|id| id.to_string());
    let choices: Vec<String> = draft.poll_choices.lines().map(|choice| escape_html(choice).into_owned()).collect();
    let poll = json!({ "choices": choices, "durationMinutes": draft.poll_minutes.to_string() });
    json!({ "draft": {
        "id": draft.id.to_string(),
        "text": escape_html(&draft.text),
        "scheduledAt": draft.scheduled_at.map(|time| time.to_string()),
        "inReplyToStatusId": id_text(draft.in_reply_to_post_id.map(PostId::get)),
        "quotedStatusId": id_text(draft.quoted_post_id.map(PostId::get)),
        "communityId": id_text(draft.community_id),
        "mediaIds": draft.media_ids.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "poll": if choices.is_empty() { Value::Null } else { poll },
        "replySettings": draft.reply_settings,
    } })
}
