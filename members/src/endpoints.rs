//! Declarations of the pages of members.

use pages::members::{
    ACTIONS_PATH, BLOCKED_ACCOUNTS_PATH, BOOKMARKS_PATH, COMMUNITIES_PATH, COMPOSE_PATH, CONVERSATION_LIVE_PATH,
    DRAFTS_PATH, EDIT_PROFILE_PATH, FOLLOW_REQUESTS_PATH, HOME_LIVE_PATH, HOME_PATH, LISTS_PATH, MESSAGES_PATH,
    MUTED_ACCOUNTS_PATH, MUTED_WORDS_PATH, NEW_LIST_PATH, NEW_MESSAGE_PATH, NOTIFICATION_SETTINGS_PATH,
    NOTIFICATIONS_PATH, PROFILE_PICTURES_PATH, SCHEDULED_PATH, SEARCH_PATH,
};
use portal::{form_endpoint, page_endpoint};
use web::endpoint::{BodySpec, Endpoint, Kind, MAX_TEXT, Parameter};
use web::media_files::SUBTITLES_PARAM;
use web::text_members;

use crate::{
    actions, blocked_accounts, bookmarks, communities, compose, drafts, edit_profile, feeds, follow_requests, home,
    home_live, lists, message_forms, message_live, message_media, messages, muted_words, notification_settings,
    notifications, people, profile, search, search_engines, thread,
};

pub static ENDPOINTS: &[&[Endpoint]] = &[TIMELINES, WRITING, MESSAGES, LISTS, COMMUNITIES, PROFILE];

static TIMELINES: &[Endpoint] = &[
    page_endpoint("showHome", HOME_PATH, &home::show).summary("The home timeline, with a form for a post."),
    page_endpoint("watchHome", HOME_LIVE_PATH, &home_live::open)
        .summary("Server-sent events that say how many new posts the home timeline has."),
    page_endpoint("showProfile", "/{username}", &profile::show)
        .params(&[&[USERNAME]])
        .summary("A profile with posts, replies, media or one's own likes."),
    page_endpoint("showFeed", "/{username}/feed.xml", &feeds::show)
        .params(&[&[USERNAME]])
        .summary("The posts of a public profile for feed readers (Atom)."),
    page_endpoint("showFollowers", "/{username}/followers", &people::show_followers)
        .params(&[&[USERNAME]])
        .summary("The followers of an account."),
    page_endpoint("showFollowing", "/{username}/following", &people::show_following)
        .params(&[&[USERNAME]])
        .summary("The accounts that an account follows."),
    page_endpoint("showPost", "/{username}/status/{id}", &thread::show)
        .params(POST)
        .summary("A post with the posts that it replies to, and its replies."),
    page_endpoint("showQuotes", "/{username}/status/{id}/quotes", &thread::show_quotes)
        .params(POST)
        .summary("Posts that quote a post."),
    page_endpoint("showPostVersions", "/{username}/status/{id}/history", &thread::show_history)
        .params(POST)
        .summary("The versions of an edited post."),
    page_endpoint("findPost", "/i/web/status/{id}", &thread::redirect_to_permalink)
        .aliases(&["/i/status/{id}"])
        .params(&[&[POST_ID]])
        .summary("Redirects to the page of a post."),
    page_endpoint("showRobots", "/robots.txt", &search_engines::show_robots).summary("What search engines may read."),
    page_endpoint("showSitemap", "/sitemap.xml", &search_engines::show_sitemap)
        .summary("Public profiles for search engines, where the owners of the site allow it."),
    page_endpoint("searchAsMember", SEARCH_PATH, &search::show).summary("Search for posts and people, and trends."),
    page_endpoint("showNotifications", NOTIFICATIONS_PATH, &notifications::show)
        .summary("What others did that concerns the account, and notices of the site."),
    page_endpoint("showFollowRequests", FOLLOW_REQUESTS_PATH, &follow_requests::show)
        .summary("Those who ask to follow a protected account."),
    page_endpoint("showBookmarks", BOOKMARKS_PATH, &bookmarks::show).summary("One's own bookmarks and their folders."),
    form_endpoint("createBookmarkFolderAsMember", BOOKMARKS_PATH, &bookmarks::create_folder, BOOKMARK_FOLDER)
        .summary("Creates a folder for bookmarks."),
    page_endpoint("showBookmarkFolder", "/bookmarks/{id}", &bookmarks::show_folder)
        .params(&[&[FOLDER_ID]])
        .summary("The bookmarks in a folder."),
];

static WRITING: &[Endpoint] = &[
    form_endpoint("actAsMember", ACTIONS_PATH, &actions::submit, ACTION)
        .summary("Likes, reposts, bookmarks, votes, follows, mutes or blocks, or the opposite."),
    page_endpoint("showWritePost", COMPOSE_PATH, &compose::show).summary("The form for a post, a reply or a quote."),
    form_endpoint("writePost", COMPOSE_PATH, &compose::submit, &[])
        .body(BodySpec::Multipart(COMPOSE))
        .summary("Publishes or schedules a post, saves it as a draft, or attaches a file to it."),
    page_endpoint("showDrafts", DRAFTS_PATH, &drafts::show_drafts).summary("One's own drafts."),
    page_endpoint("showScheduledPosts", SCHEDULED_PATH, &drafts::show_scheduled)
        .summary("One's own scheduled posts, and those that were not published."),
    page_endpoint("showEditPost", "/{username}/status/{id}/edit", &compose::show_edit)
        .params(POST)
        .summary("The form that edits a post."),
];

static MESSAGES: &[Endpoint] = &[
    page_endpoint("showConversations", MESSAGES_PATH, &messages::list).summary("One's own conversations."),
    page_endpoint("showNewMessage", NEW_MESSAGE_PATH, &message_forms::show_new)
        .summary("The form for a message to one person or a new group."),
    page_endpoint("composeMessage", "/messages/compose", &message_forms::redirect_to_form).summary(
        "Redirects a link with a `recipient_id`, which may be in a post, to the form for a message to this person.",
    ),
    form_endpoint("sendFirstMessage", NEW_MESSAGE_PATH, &message_forms::send_new, &[])
        .body(BodySpec::Multipart(NEW_MESSAGE))
        .summary("Sends a message to one person or a new group."),
    page_endpoint("showConversation", "/messages/{conversation}", &messages::show)
        .params(&[&[CONVERSATION]])
        .summary("The messages of a conversation, with a form for another."),
    form_endpoint("sendMessage", "/messages/{conversation}", &message_forms::send, &[])
        .params(&[&[CONVERSATION]])
        .body(BodySpec::Multipart(MESSAGE))
        .summary("Sends a message to a conversation."),
    page_endpoint("watchConversation", CONVERSATION_LIVE_PATH, &message_live::open)
        .params(&[&[CONVERSATION]])
        .summary("Server-sent events that say that a conversation has new messages."),
    page_endpoint("showMessageFile", "/messages/files/{message}/{file}", &message_media::show_file)
        .params(&[&[MESSAGE_ID, MESSAGE_FILE, SUBTITLES_PARAM]])
        .summary("The picture or video of a message, for the people in the conversation."),
];

static LISTS: &[Endpoint] = &[
    page_endpoint("showLists", LISTS_PATH, &lists::list).summary("One's own lists, and those that one follows."),
    page_endpoint("showNewList", NEW_LIST_PATH, &lists::show_new).summary("The form for a list."),
    form_endpoint("createListAsMember", NEW_LIST_PATH, &lists::create, LIST_FORM).summary("Creates a list."),
    page_endpoint("showList", "/lists/{id}", &lists::show)
        .params(&[&[LIST_ID]])
        .summary("The posts of the people on a list."),
    page_endpoint("showEditList", "/lists/{id}/edit", &lists::show_edit)
        .params(&[&[LIST_ID]])
        .summary("The form that changes a list."),
    form_endpoint("updateListAsMember", "/lists/{id}/edit", &lists::update, LIST_FORM)
        .params(&[&[LIST_ID]])
        .summary("Changes a list."),
    page_endpoint("showDeleteList", "/lists/{id}/delete", &lists::show_delete)
        .params(&[&[LIST_ID]])
        .summary("Asks whether a list is to be deleted."),
    form_endpoint("deleteListAsMember", "/lists/{id}/delete", &lists::delete, DELETE_LIST)
        .params(&[&[LIST_ID]])
        .summary("Deletes a list."),
    page_endpoint("showListMembers", "/lists/{id}/members", &lists::show_members)
        .params(&[&[LIST_ID]])
        .summary("The people on a list."),
    form_endpoint("addListMemberAsMember", "/lists/{id}/members", &lists::add_member, LIST_MEMBER)
        .params(&[&[LIST_ID]])
        .summary("Adds a person to a list."),
    page_endpoint("showAddToList", "/{username}/lists", &lists::show_add)
        .params(&[&[USERNAME]])
        .summary("One's own lists, with buttons that add a person or remove them."),
];

static COMMUNITIES: &[Endpoint] = &[
    page_endpoint("showCommunities", COMMUNITIES_PATH, &communities::list)
        .summary("The communities that one is in, the newest ones, and those that a search finds."),
    page_endpoint("showCommunity", "/communities/{id}", &communities::show)
        .params(&[&[COMMUNITY_ID]])
        .summary("A community with its posts."),
    page_endpoint("showCommunityMembers", "/communities/{id}/members", &communities::show_members)
        .params(&[&[COMMUNITY_ID]])
        .summary("The members of a community."),
];

static PROFILE: &[Endpoint] = &[
    page_endpoint("showEditProfile", EDIT_PROFILE_PATH, &edit_profile::show).summary("The form of one's own profile."),
    form_endpoint("updateProfileAsMember", EDIT_PROFILE_PATH, &edit_profile::update, PROFILE_FORM)
        .summary("Changes one's own profile, who sees one's posts and who may message."),
    form_endpoint("updateProfilePicture", PROFILE_PICTURES_PATH, &edit_profile::update_picture, &[])
        .body(BodySpec::Multipart(PROFILE_PICTURE))
        .summary("Replaces or removes one's own picture or banner."),
    page_endpoint("showMutedWords", MUTED_WORDS_PATH, &muted_words::show).summary("The words that one has muted."),
    form_endpoint("changeMutedWords", MUTED_WORDS_PATH, &muted_words::submit, MUTED_WORD)
        .summary("Mutes a word, a phrase or a hashtag, or no longer."),
    page_endpoint("showBlockedAccounts", BLOCKED_ACCOUNTS_PATH, &blocked_accounts::show_blocked)
        .summary("The accounts that one blocks."),
    page_endpoint("showMutedAccounts", MUTED_ACCOUNTS_PATH, &blocked_accounts::show_muted)
        .summary("The accounts that one mutes."),
    page_endpoint("showNotificationSettings", NOTIFICATION_SETTINGS_PATH, &notification_settings::show)
        .summary("Which notifications one wants to see."),
    form_endpoint(
        "changeNotificationSettings",
        NOTIFICATION_SETTINGS_PATH,
        &notification_settings::submit,
        NOTIFICATION_SETTINGS,
    )
    .summary("Changes which notifications one wants to see."),
];

const USERNAME: Parameter = Parameter::path("username", Kind::text(1, 50), "The username.");
const POST_ID: Parameter = Parameter::path("id", Kind::ID, "The id of the post.");
const POST: &[&[Parameter]] = &[&[USERNAME, POST_ID]];
const CONVERSATION: Parameter = Parameter::path("conversation", Kind::text(1, 50), "The id of the conversation.");
const FOLDER_ID: Parameter = Parameter::path("id", Kind::ID, "The id of the folder.");
const BOOKMARK_FOLDER: &[Parameter] = text_members! { MAX_TEXT; csrf form name };
const MESSAGE_ID: Parameter = Parameter::path("message", Kind::ID, "The id of the message.");
const MESSAGE_FILE: Parameter = Parameter::path("file", Kind::text(1, 200), "The name of the file.");
const MESSAGE: &[Parameter] = text_members! { MAX_TEXT; csrf form text media_id media description };
const NEW_MESSAGE: &[Parameter] = text_members! { MAX_TEXT; csrf form to text media_id media description };
const LIST_ID: Parameter = Parameter::path("id", Kind::ID, "The id of the list.");
const LIST_FORM: &[Parameter] = text_members! { MAX_TEXT; csrf form name description private };
const DELETE_LIST: &[Parameter] = text_members! { MAX_TEXT; csrf form };
const LIST_MEMBER: &[Parameter] = text_members! { MAX_TEXT; csrf username };
const COMMUNITY_ID: Parameter = Parameter::path("id", Kind::ID, "The id of the community.");
const PROFILE_FORM: &[Parameter] = text_members! { MAX_TEXT;
    csrf form name description location url protected messages time_zone
};
const MUTED_WORD: &[Parameter] = text_members! { MAX_TEXT; csrf word duration remove };
const NOTIFICATION_SETTINGS: &[Parameter] = text_members! { MAX_TEXT;
    csrf mention reply quote repost like follow follow_request
};
const PROFILE_PICTURE: &[Parameter] = text_members! { MAX_TEXT; csrf form act part keep media };
const ACTION: &[Parameter] = text_members! { MAX_TEXT; csrf next act };
const COMPOSE: &[Parameter] = text_members! { MAX_TEXT;
    csrf next form act text in_reply_to quote edit_of media_ids media description choice1 choice2 choice3 choice4
    poll_minutes reply_settings draft publish_at community share
};
