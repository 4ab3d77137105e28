//! Declarations of the operations, by noun.

pub mod account_activity;
pub mod activity;
pub mod ads;
pub mod blocks;
pub mod bookmarks;
pub mod communities;
pub mod compliance;
pub mod connections;
pub mod follows;
pub mod likes;
pub mod lists;
pub mod media;
pub mod messages;
pub mod mutes;
pub mod news;
pub mod notes;
pub mod oauth;
pub mod posts;
pub mod powerstream;
pub mod reposts;
pub mod search;
pub(crate) mod shared;
pub mod spaces;
pub mod streams;
pub mod timelines;
pub mod trends;
pub mod usage;
pub mod users;
pub mod v1;
pub mod webhooks;

use std::sync::LazyLock;

use web::endpoint::Endpoint;

/// The operations declared here, and those generated from the `ads` crate.
pub static ENDPOINTS: LazyLock<Vec<&'static [Endpoint]>> =
    LazyLock::new(|| DECLARED.iter().copied().chain([ads::generate_endpoints()]).collect());

static DECLARED: &[&[Endpoint]] = &[
    posts::POSTS,
    timelines::TIMELINES,
    search::SEARCH,
    streams::STREAMS,
    streams::FIREHOSES,
    likes::LIKES,
    reposts::REPOSTS,
    bookmarks::BOOKMARKS,
    users::USERS,
    follows::FOLLOWS,
    blocks::BLOCKS,
    mutes::MUTES,
    spaces::SPACES,
    lists::LISTS,
    lists::LIST_MEMBERS,
    lists::LIST_FOLLOWS,
    news::NEWS,
    trends::TRENDS,
    communities::COMMUNITIES,
    usage::USAGE,
    notes::NOTES,
    messages::MESSAGES,
    media::UPLOADS,
    media::MEDIA_DETAILS,
    media::MEDIA_FILES,
    connections::CONNECTIONS,
    webhooks::WEBHOOKS,
    activity::ACTIVITY,
    account_activity::ACCOUNT_ACTIVITY,
    compliance::COMPLIANCE,
    compliance::COMPLIANCE_FILES,
    powerstream::POWERSTREAM,
    v1::V1,
    oauth::OAUTH1,
    oauth::OAUTH2,
    ads::SERVING,
    ads::MCP,
];
