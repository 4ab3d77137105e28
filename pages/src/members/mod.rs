//! The pages of members: timelines, profiles, threads and what they write.

mod blocked_accounts;
mod bookmarks;
mod communities;
mod drafts;
mod edit_profile;
mod feed;
mod home;
mod link_preview;
mod lists;
mod messages;
mod muted_words;
mod notification_settings;
mod notifications;
mod people;
mod post_list;
mod profile;
mod search;
mod thread;
mod write;

pub use blocked_accounts::{BlockedAccountsPage, BlockedAccountsTab};
pub use bookmarks::{BookmarkCard, BookmarkFolderItem, BookmarksPage};
pub use communities::{
    CommunitiesPage, CommunitiesTab, CommunityCard, CommunityMembersPage, CommunityMembership, CommunityPage,
};
pub use drafts::{DraftItem, DraftsPage, DraftsTab};
pub use edit_profile::{EditProfilePage, ProfilePictureForm};
pub use feed::{PollCard, PollChoice, PostAction, PostCard, PostFeed, PostMedia, PostTextPart, QuotedPost};
pub use home::{ComposeBox, HomePage};
pub use link_preview::{AtomFeed, FeedEntry, FeedEntryBody, LinkPreview, Sitemap};
pub use lists::{
    AddToListPage, DeleteListPage, EditListPage, ListCard, ListForm, ListMembersPage, ListRelationship,
    ListTimelinePage, ListsPage, ListsTab, NewListPage,
};
pub use messages::{
    ConversationItem, ConversationListPage, MAX_MESSAGE_TEXT, MessageAttachment, MessageItem, MessageMedia,
    MessageMediaKind, MessageThreadPage, NewMessagePage,
};
pub use muted_words::{MUTE_DURATIONS, MutedWordItem, MutedWordsPage};
pub use notification_settings::{NOTIFICATION_SENDERS, NotificationSettingItem, NotificationSettingsPage};
pub use notifications::{ActionItem, FollowRequestsPage, NotificationItem, NotificationTab, NotificationsPage};
pub use people::{PeoplePage, PersonCard};
pub use post_list::PostListPage;
pub use profile::{ProfileHeader, ProfilePage, ProfileRelationship, ProfileTab};
pub use search::MemberSearchPage;
pub use thread::{EditHistoryPage, PostVersion, ThreadPage};
pub use write::{
    AttachedMedia, CommunityTarget, FILE_SIZES, POLL_DURATIONS, REPLY_SETTINGS, TargetPost, WritePostPage, WriteTarget,
};

pub(crate) use feed::PostFeedHtml;
pub(crate) use people::PersonList;

pub const HOME_PATH: &str = "/home";
/// Server-sent events named `posts` with a number, to which a plus is appended if there may be more.
pub const HOME_LIVE_PATH: &str = "/home/live";
/// Path of the server-sent events of a conversation, which are named `messages` and have the newest message's id.
pub const CONVERSATION_LIVE_PATH: &str = "/messages/{conversation}/live";
pub const SEARCH_PATH: &str = "/search";
pub const NOTIFICATIONS_PATH: &str = "/notifications";
pub const FOLLOW_REQUESTS_PATH: &str = "/notifications/requests";
pub const BOOKMARKS_PATH: &str = "/bookmarks";
pub const MESSAGES_PATH: &str = "/messages";
/// Below it, the id of a message and the name of its file.
pub const MESSAGE_FILES_PATH: &str = "/messages/files";
pub const NEW_MESSAGE_PATH: &str = "/messages/new";
pub const LISTS_PATH: &str = "/lists";
pub const NEW_LIST_PATH: &str = "/lists/new";
pub const COMMUNITIES_PATH: &str = "/communities";
pub const EDIT_PROFILE_PATH: &str = "/settings/profile";
pub const PROFILE_PICTURES_PATH: &str = "/settings/profile/pictures";
pub const NOTIFICATION_SETTINGS_PATH: &str = "/settings/notifications";
pub const MUTED_WORDS_PATH: &str = "/settings/muted_words";
pub const BLOCKED_ACCOUNTS_PATH: &str = "/settings/blocked";
pub const MUTED_ACCOUNTS_PATH: &str = "/settings/muted";
pub const COMPOSE_PATH: &str = "/compose";
pub const DRAFTS_PATH: &str = "/compose/drafts";
pub const SCHEDULED_PATH: &str = "/compose/scheduled";
/// Where all buttons of posts and people lead: the field `act` has a verb and an id.
pub const ACTIONS_PATH: &str = "/i/actions";

/// Path, name and icon of each part of the site, in the order of the navigation; the profile follows.
pub(crate) const SECTIONS: [(&str, &str, &str); 6] = [
    (HOME_PATH, "Home", "home"),
    (SEARCH_PATH, "Search", "search"),
    (NOTIFICATIONS_PATH, "Notifications", "bell"),
    (MESSAGES_PATH, "Messages", "letter"),
    (BOOKMARKS_PATH, "Bookmarks", "mark"),
    (COMPOSE_PATH, "Compose", "pen"),
];
