use super::members::{hostile_post, varied_posts};
use super::{HOSTILE, hostile_frame, signed_in_frame};
use pages::members::{BookmarkCard, BookmarkFolderItem, BookmarksPage, PostCard};
use pages::{FormField, PageFrame, Pager};

fn folder(id: &str, name: &str) -> BookmarkFolderItem {
    BookmarkFolderItem { id: id.to_owned(), name: name.to_owned(), size: "1 post".to_owned() }
}

fn page_of(frame: PageFrame, folders: Vec<BookmarkFolderItem>, posts: Vec<PostCard>) -> BookmarksPage {
    let cards = posts.into_iter().map(|post| BookmarkCard { post, folder_ids: vec!["17".to_owned()] });
    BookmarksPage {
        frame,
        open: None,
        folders,
        choices: Vec::new(),
        folder_pager: Pager::default(),
        name: FormField::default(),
        form_id: "f0rm".to_owned(),
        cards: cards.collect(),
        pager: Pager { previous: None, next: Some("/bookmarks?before=17".to_owned()) },
    }
}

pub(crate) fn bookmarks_states() -> Vec<(&'static str, BookmarksPage)> {
    let folders = || vec![folder("17", "Recipes"), folder("18", "Places")];
    let plain = |posts| page_of(signed_in_frame(), folders(), posts);
    let open = |posts| BookmarksPage { open: Some(("17".to_owned(), "Recipes".to_owned())), ..plain(posts) };
    let many = |posts| BookmarksPage { choices: vec![folder("19", "Boats"), folder("17", "Recipes")], ..plain(posts) };
    let refused = FormField::invalid("…", "A name has 1 to 25 characters.");
    let hostile = page_of(hostile_frame(), vec![folder("17", HOSTILE)], vec![hostile_post()]);
    vec![
        ("plain", plain(varied_posts())),
        ("folder", open(varied_posts())),
        ("many_folders", many(varied_posts())),
        ("empty", page_of(signed_in_frame(), Vec::new(), Vec::new())),
        ("empty_folder", open(Vec::new())),
        ("refused", BookmarksPage { name: refused, ..plain(varied_posts()) }),
        ("hostile", BookmarksPage { name: FormField::invalid(HOSTILE, HOSTILE), ..hostile }),
    ]
}
