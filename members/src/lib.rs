//! The pages of members: timelines, profiles, threads, messages, lists, communities, and what they write. The
//! HTML is in the crate `pages`.

mod actions;
mod attachments;
mod blocked_accounts;
mod bookmarks;
mod communities;
mod compose;
mod drafts;
mod edit_profile;
mod endpoints;
mod feeds;
mod follow_requests;
mod home;
mod home_live;
mod lists;
mod live;
mod message_forms;
mod message_live;
mod message_media;
mod messages;
mod muted_words;
mod notification_settings;
mod notifications;
mod page_ranges;
mod people;
mod post_cards;
mod profile;
mod search;
mod search_engines;
mod thread;

pub use endpoints::ENDPOINTS;
