//! What is neither posted nor written: jobs, counts, likes.

use crate::Object;
use crate::shown::{Expansion, Json, Shown};

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
