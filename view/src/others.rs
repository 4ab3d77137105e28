//! What is neither posted nor written: jobs, counts, likes.

use crate::Object;
use crate::shown::{Expansion, Json, Shown};

const JOB_STATUSES: &[&str] = &["created", "in_progress", "failed", "complete", "expired"];

pub(crate) const COMPLIANCE_JOB_FIELDS: &[Shown] = &[
    Shown::always("id", Json::Id, "Id of the job."),
    Shown::always("name", Json::Text, "Its name."),
    Shown::always(
        "type",
        Json::OneOf(&["tweets", "users"]),
        "What it is about.",
    ),
    Shown::always("status", Json::OneOf(JOB_STATUSES), "How far it is."),
    Shown::always(
        "resumable",
        Json::Bool,
        "Whether the upload can be resumed.",
    ),
    Shown::always("created_at", Json::Time, "When it was made."),
    Shown::always("upload_url", Json::Text, "Where the ids go."),
    Shown::always("upload_expires_at", Json::Time, "Until when."),
    Shown::always("download_url", Json::Text, "Where the result comes from."),
    Shown::always("download_expires_at", Json::Time, "Until when."),
];

pub(crate) const SEARCH_COUNT_FIELDS: &[Shown] = &[
    Shown::always("start", Json::Time, "When the bucket begins."),
    Shown::always("end", Json::Time, "When it ends."),
    Shown::always("post_count", Json::Int, "Posts in it.").tweet("tweet_count"),
];

pub(crate) const LIKE_FIELDS: &[Shown] = &[
    Shown::always("id", Json::Text, "Id of the like."),
    Shown::asked("created_at", Json::Time, "When it was given."),
    Shown::asked("liked_post_id", Json::Id, "What is liked.").tweet("liked_tweet_id"),
    Shown::asked(
        "timestamp_ms",
        Json::Int,
        "When it was given, in milliseconds.",
    ),
    Shown::expanded("liked_post_author_id", Json::Id, "Whose post is liked.")
        .tweet("liked_tweet_author_id"),
    Shown::expanded("attachments", Json::Any, "Media of the post."),
];

pub(crate) const LIKE_EXPANSIONS: &[Expansion] = &[
    Expansion::new("liked_post_id", Object::Post, "liked_post_id").tweet("liked_tweet_id"),
    Expansion::new("liked_post_author_id", Object::User, "liked_post_author_id")
        .tweet("liked_tweet_author_id"),
    Expansion::new("attachments.media_keys", Object::Media, "attachments"),
];
