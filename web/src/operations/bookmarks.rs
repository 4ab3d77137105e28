//! Bookmarks and the folders that hold them.

use base::{Scope, Scopes, VocabularyWord};

use super::shared::{OWN, POST, POST_FIELDS, POST_ID, POST_OF_USER, READ, page};
use crate::endpoint::{Body, Endpoint, Member, Param, Shape, quarter};
use crate::v2;

/// Bookmarks, set, removed and listed.
pub static BOOKMARKS: &[Endpoint] = &[
    Endpoint::new("getUsersBookmarks", "GET", "/2/users/{id}/bookmarks")
        .act(v2::bookmarks::of_user)
        .about("Posts that the authenticated user bookmarked, newest bookmark first.")
        .permit("12", READ.with_scope(Scope::BookmarkRead))
        .limits(&[], &[quarter(180)])
        .params(&[OWN, &page(1, 100, 100), POST_FIELDS]),
    Endpoint::new("createUsersBookmark", "POST", "/2/users/{id}/bookmarks")
        .act(v2::bookmarks::create)
        .about("Bookmarks a post as the authenticated user.")
        .permit("2", READ.with_scope(Scope::BookmarkWrite))
        .limits(&[], &[quarter(50)])
        .params(&[OWN])
        .body(Body::Json(&[POST_ID, Member::new("folder_id", Shape::Id)])),
    Endpoint::new(
        "deleteUsersBookmark",
        "DELETE",
        "/2/users/{id}/bookmarks/{post_id}",
    )
    .aliases(&["/2/users/{id}/bookmarks{post_id}"])
    .act(v2::bookmarks::delete)
    .about("Removes a bookmark of the authenticated user.")
    .permit("2", READ.with_scope(Scope::BookmarkWrite))
    .limits(&[], &[quarter(50)])
    .params(&[OWN, POST_OF_USER]),
    Endpoint::new("getPostsBookmarks", "GET", "/2/<posts>/{id}/bookmarks")
        .act(v2::bookmarks::of_post)
        .about(
            "The post of this id if the authenticated user bookmarked it; with the user's own \
             id, all that they bookmarked.",
        )
        .permit("12", READ.with_scope(Scope::BookmarkRead))
        .limits(&[], &[quarter(180)])
        .params(&[POST, &page(1, 100, 100), POST_FIELDS]),
    Endpoint::new("createPostsBookmark", "POST", "/2/<posts>/{id}/bookmarks")
        .act(v2::bookmarks::create_of_post)
        .about(
            "Bookmarks the post of this id; with the authenticated user's own id, the post that \
             the body names.",
        )
        .permit("2", READ.with_scope(Scope::BookmarkWrite))
        .limits(&[], &[quarter(50)])
        .params(&[POST])
        .body(Body::Json(&[
            Member::worded(VocabularyWord::new("post_id", "tweet_id"), Shape::Id),
            Member::new("folder_id", Shape::Id),
        ])),
    Endpoint::new(
        "getUsersBookmarkFolders",
        "GET",
        "/2/users/{id}/bookmarks/folders",
    )
    .act(v2::bookmarks::folders)
    .about("The bookmark folders of the authenticated user.")
    .permit("12", FOLDERS.with_scope(Scope::BookmarkRead))
    .limits(&[quarter(50)], &[quarter(50)])
    .params(&[OWN, &page(1, 100, 100)]),
    Endpoint::new(
        "createUsersBookmarkFolder",
        "POST",
        "/2/users/{id}/bookmarks/folders",
    )
    .act(v2::bookmarks::create_folder)
    .about("Creates a bookmark folder for the authenticated user.")
    .permit("2", FOLDERS.with_scope(Scope::BookmarkWrite))
    .params(&[OWN])
    .body(Body::Json(&[
        Member::new("name", Shape::Text(1, 25)).required()
    ]))
    .success(201),
    Endpoint::new(
        "getUsersBookmarksByFolderId",
        "GET",
        "/2/users/{id}/bookmarks/folders/{folder_id}",
    )
    .act(v2::bookmarks::of_folder)
    .about("Ids of the posts in a bookmark folder of the authenticated user.")
    .permit("12", READ.with_scope(Scope::BookmarkRead))
    .limits(&[quarter(50)], &[quarter(50)])
    .params(&[
        OWN,
        &[Param::id("folder_id", "The id of the folder.")],
        &page(1, 100, 100),
    ]),
];

const FOLDERS: Scopes = Scopes::from_slice(&[Scope::UsersRead]);
