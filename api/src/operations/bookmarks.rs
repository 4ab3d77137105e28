//! Bookmarks and bookmark folders.

use base::{Scope, Scopes, VocabularyWord};
use network::bookmarks::FOLDER_NAME_LENGTH;
use web::endpoint::{BodySpec, Endpoint, Kind, Parameter, per_quarter_hour};

use super::shared::{OWN, POST, POST_FIELDS, POST_ID, POST_OF_USER, READ, page_params};
use crate::v2::bookmarks;

pub static BOOKMARKS: &[Endpoint] = &[
    Endpoint::get("getUsersBookmarks", "/2/users/{id}/bookmarks", &bookmarks::list)
        .summary("Posts that the authenticated user bookmarked, newest bookmark first.")
        .permit("12", READ.with_scope(Scope::BookmarkRead))
        .limits(&[], &[per_quarter_hour(180)])
        .params(&[OWN, &page_params(1, 100, 100), POST_FIELDS]),
    Endpoint::post("createUsersBookmark", "/2/users/{id}/bookmarks", &bookmarks::create)
        .summary("Bookmarks a post as the authenticated user.")
        .permit("2", READ.with_scope(Scope::BookmarkWrite))
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[OWN])
        .body(BodySpec::Json(&[POST_ID, Parameter::member("folder_id", Kind::ID)])),
    Endpoint::delete("deleteUsersBookmark", "/2/users/{id}/bookmarks/{post_id}", &bookmarks::delete)
        .aliases(&["/2/users/{id}/bookmarks{post_id}", "/2/users/{id}/bookmarks:{post_id}"])
        .summary("Removes a bookmark of the authenticated user.")
        .permit("2", READ.with_scope(Scope::BookmarkWrite))
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[OWN, POST_OF_USER]),
    Endpoint::get("getPostsBookmarks", "/2/<posts>/{id}/bookmarks", &bookmarks::list_for_post)
        .summary(
            "The post with this id, if the authenticated user bookmarked it; with the user's own \
             id, all their bookmarks.",
        )
        .permit("12", READ.with_scope(Scope::BookmarkRead))
        .limits(&[], &[per_quarter_hour(180)])
        .params(&[POST, &page_params(1, 100, 100), POST_FIELDS]),
    Endpoint::post("createPostsBookmark", "/2/<posts>/{id}/bookmarks", &bookmarks::create_for_post)
        .summary(
            "Bookmarks the post with this id; with the authenticated user's own id, the post that \
             the body names.",
        )
        .permit("2", READ.with_scope(Scope::BookmarkWrite))
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[POST])
        .body(BodySpec::Json(&[
            Parameter::member_named(VocabularyWord::new("post_id", "tweet_id"), Kind::ID),
            Parameter::member("folder_id", Kind::ID),
        ])),
    Endpoint::get("getUsersBookmarkFolders", "/2/users/{id}/bookmarks/folders", &bookmarks::list_folders)
        .summary("The bookmark folders of the authenticated user.")
        .permit("12", FOLDERS.with_scope(Scope::BookmarkRead))
        .limits(&[per_quarter_hour(50)], &[per_quarter_hour(50)])
        .params(&[OWN, &page_params(1, 100, 100)]),
    Endpoint::post("createUsersBookmarkFolder", "/2/users/{id}/bookmarks/folders", &bookmarks::create_folder)
        .summary("Creates a bookmark folder for the authenticated user.")
        .permit("2", FOLDERS.with_scope(Scope::BookmarkWrite))
        .params(&[OWN])
        .body(BodySpec::Json(&[Parameter::member("name", Kind::text(1, FOLDER_NAME_LENGTH)).as_required()]))
        .creates(),
    Endpoint::get(
        "getUsersBookmarksByFolderId",
        "/2/users/{id}/bookmarks/folders/{folder_id}",
        &bookmarks::list_folder_posts,
    )
    .summary("Ids of the posts in a bookmark folder of the authenticated user.")
    .permit("12", READ.with_scope(Scope::BookmarkRead))
    .limits(&[per_quarter_hour(50)], &[per_quarter_hour(50)])
    .params(&[OWN, &[Parameter::path_id("folder_id", "The id of the folder.")], &page_params(1, 100, 100)]),
];

const FOLDERS: Scopes = Scopes::from_slice(&[Scope::UsersRead]);
