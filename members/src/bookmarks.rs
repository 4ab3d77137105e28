//! `/bookmarks` and the folders that bookmarks are in.

use base::{Error, Fault, Id, PostId, Refusal, SplitRefusal, UserId, sorted_distinct};
use network::bookmarks::{self, FOLDER_NAME_LENGTH};
use pages::FormField;
use pages::members::{BOOKMARKS_PATH, BookmarkCard, BookmarkFolderItem, BookmarksPage, PostCard};
use portal::submitted_forms::{new_form_id, write_once};
use portal::{MemberVisit, PageExit, PageQuery, found_or_exit, redirect_to};
use store::Tx;
use store::bookmarks::{self as stored, BookmarkFolder};
use store::edges::Edge;
use store::posts::PageRange;
use web::HttpReply;
use web::error_formats::error_message;
use web::request_context::RequestContext;

use crate::lists::one_more;
use crate::page_ranges::{build_pager, cursor_of, cut_page, range_before};
use crate::post_cards::{CardViewer, record_views};
use crate::profile::load_ordered_cards;

/// Folders on a page, as in the API.
const FOLDERS_SHOWN: i64 = 100;
/// Folders that a post's select offers, besides those that the post is in.
const MAX_CHOICES: i64 = 500;
/// What is counted of a folder at most.
const MAX_COUNTED: i64 = 100;

/// Either all bookmarks or those in the open folder.
struct LoadedBookmarks {
    open: Option<BookmarkFolder>,
    folders: Vec<BookmarkFolderItem>,
    next_folder: Option<i64>,
    choices: Vec<BookmarkFolderItem>,
    cards: Vec<BookmarkCard>,
    next: Option<i64>,
}

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    render(&call, &visit, None, FormField::default()).await
}

pub(crate) async fn show_folder(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let folder = call.path_id::<()>("id").map(Id::get)?;
    render(&call, &visit, Some(folder), FormField::default()).await
}

pub(crate) async fn create_folder(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, form) = MemberVisit::accept_form(&call).await?;
    let user = visit.person.user.id;
    let sent = form.text("name");
    let name = sent.clone();
    let created = write_once(&call, user, &form.text("form"), move |tx| bookmarks::create_folder(tx, user, &name));
    match created.await.split_refusal()? {
        Ok(_) => Ok(redirect_to(BOOKMARKS_PATH)),
        Err(refusal) => {
            let error = describe_refusal(&refusal);
            Ok(render(&call, &visit, None, FormField::invalid(sent, error)).await?.status(400))
        }
    }
}

fn describe_refusal(refusal: &Refusal) -> String {
    match refusal {
        Refusal::InvalidParameters(_) => format!("A name has 1 to {FOLDER_NAME_LENGTH} characters."),
        _ => error_message(refusal).to_owned(),
    }
}

async fn render(
    call: &RequestContext,
    visit: &MemberVisit,
    open: Option<i64>,
    name: FormField,
) -> Result<HttpReply, PageExit> {
    let user = visit.person.user.id;
    let query = PageQuery::from_call(call).unwrap_or_default();
    let viewer = CardViewer::new(call, visit);
    let range = one_more(&range_before(&query));
    let folder_cursor = query.get("folders").and_then(|id| id.parse().ok()).filter(|id| *id > 0);
    let folder_range = PageRange { below: folder_cursor.unwrap_or(i64::MAX), ..PageRange::newest(FOLDERS_SHOWN + 1) };
    let read = call.read(move |tx| load_bookmarks(tx, viewer, user, open, (&folder_range, &range)));
    let loaded = found_or_exit(call, visit, read.await)?;
    record_views(call, Some(user), loaded.cards.iter().map(|card| &card.post));
    let path = open.map_or_else(|| BOOKMARKS_PATH.to_owned(), |id| format!("{BOOKMARKS_PATH}/{id}"));
    let page = BookmarksPage {
        frame: visit.page_frame(call),
        open: loaded.open.map(|folder| (folder.id.to_string(), folder.name)),
        folders: loaded.folders,
        choices: loaded.choices,
        folder_pager: portal::build_pager(BOOKMARKS_PATH, "folders", folder_cursor.is_none(), loaded.next_folder),
        name,
        form_id: new_form_id(call)?,
        cards: loaded.cards,
        pager: build_pager(&path, cursor_of(&query).is_none(), loaded.next),
    };
    Ok(visit.render_page(call, &page)?)
}

fn load_bookmarks(
    tx: &mut Tx<'_>,
    viewer: CardViewer,
    user: UserId,
    open: Option<i64>,
    (folder_range, range): (&PageRange, &PageRange),
) -> Result<LoadedBookmarks, Error> {
    let open = open.map(|id| bookmarks::find_folder(tx, user, id)).transpose()?;
    let mut edges: Vec<Edge> = match &open {
        Some(folder) => bookmarks::list_folder_bookmarks(tx, user, folder.id, range)?,
        None => bookmarks::list_user_bookmarks(tx, user, range)?,
    };
    let next = cut_page(&mut edges, |edge| edge.1);
    let ids: Vec<PostId> = edges.iter().map(|edge| PostId::new(edge.0)).collect();
    let posts = load_ordered_cards(tx, viewer, &ids)?;
    let (folders, next_folder) = load_folders(tx, user, open.as_ref(), folder_range)?;
    let cards = load_bookmark_cards(tx, user, posts)?;
    let is_all = next_folder.is_none() && folder_range.below == i64::MAX;
    let choices = if is_all || cards.is_empty() { Vec::new() } else { load_choices(tx, user, &cards)? };
    Ok(LoadedBookmarks { open, folders, next_folder, choices, cards, next })
}

/// The newest folders and those of the posts, latest first, for members who have more than a page of them.
fn load_choices(tx: &mut Tx<'_>, user: UserId, cards: &[BookmarkCard]) -> Result<Vec<BookmarkFolderItem>, Fault> {
    let mut folders = stored::list_folders(tx, user, &PageRange::newest(MAX_CHOICES))?;
    let used = cards.iter().flat_map(|card| &card.folder_ids).filter_map(|id| id.parse().ok());
    let missing: Vec<i64> = sorted_distinct(used.filter(|id| folders.iter().all(|folder| folder.id != *id)));
    folders.extend(stored::find_folders(tx, &missing)?);
    folders.sort_unstable_by_key(|folder| std::cmp::Reverse(folder.id));
    let item = |folder: BookmarkFolder| BookmarkFolderItem {
        id: folder.id.to_string(),
        name: folder.name,
        size: String::new(),
    };
    Ok(folders.into_iter().map(item).collect())
}

/// The open folder comes first if it is not among them.
fn load_folders(
    tx: &mut Tx<'_>,
    user: UserId,
    open: Option<&BookmarkFolder>,
    range: &PageRange,
) -> Result<(Vec<BookmarkFolderItem>, Option<i64>), Fault> {
    let mut folders = stored::list_folders(tx, user, range)?;
    let next = portal::cut_page(&mut folders, FOLDERS_SHOWN, |folder| folder.id);
    if let Some(open) = open.filter(|open| folders.iter().all(|folder| folder.id != open.id)) {
        folders.insert(0, open.clone());
    }
    let ids: Vec<i64> = folders.iter().map(|folder| folder.id).collect();
    let counts = if ids.is_empty() { Vec::new() } else { stored::count_folder_posts(tx, &ids)? };
    let items = folders.into_iter().map(|folder| {
        let count = counts.iter().find(|(id, _)| *id == folder.id).map_or(0, |(_, count)| *count);
        BookmarkFolderItem { id: folder.id.to_string(), name: folder.name, size: describe_size(count) }
    });
    Ok((items.collect(), next))
}

fn describe_size(count: i64) -> String {
    match count {
        1 => "1 post".to_owned(),
        MAX_COUNTED.. => format!("{MAX_COUNTED} posts or more"),
        _ => format!("{count} posts"),
    }
}

fn load_bookmark_cards(tx: &mut Tx<'_>, user: UserId, posts: Vec<PostCard>) -> Result<Vec<BookmarkCard>, Fault> {
    let ids: Vec<PostId> = posts.iter().filter_map(|post| PostId::parse(&post.id)).collect();
    let pairs = if ids.is_empty() { Vec::new() } else { stored::list_post_folders(tx, user, &ids)? };
    let cards = posts.into_iter().map(|post| {
        let of_post = pairs.iter().filter(|(id, _)| id.to_string() == post.id);
        let folder_ids = of_post.map(|(_, folder)| folder.to_string()).collect();
        BookmarkCard { post, folder_ids }
    });
    Ok(cards.collect())
}
