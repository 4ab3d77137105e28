//! Queries that only archive imports need: progress, id aliases and bulk inserts.

mod edges;
mod merge;
mod posts;
mod progress;
mod users;

pub use edges::{
    EdgeKind, ImportedEdges, delete_follow_between, has_follow_requests, insert_edge, insert_edges, insert_like,
    insert_mention, list_accounts,
};
pub use merge::{absorb_placeholder, merge_accounts};
pub use posts::{
    ImportedPostSummary, PostCounterDeltas, apply_post_deltas, complete_placeholder, find_posts, has_reposted,
    insert_missing_post, insert_placeholder, list_replies, list_reposts, mark_superseded, set_conversation,
};
pub use progress::{
    ImportProgress, claim_progress, insert_authors, invalidate_home_timelines, load_progress, set_progress,
    update_statistics,
};
pub use users::{
    ImportedUserSummary, UserCounterDeltas, apply_user_deltas, find_aliases, find_users, has_other_alias,
    insert_missing_user, is_name_only, list_taken_handles, mark_name_only, rename_placeholder, set_alias,
};
