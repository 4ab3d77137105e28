//! What is neither posted nor written: counts.

use crate::shown::{Json, Shown};

pub(crate) const SEARCH_COUNT_FIELDS: &[Shown] = &[
    Shown::always("start", Json::Time, "When the bucket begins."),
    Shown::always("end", Json::Time, "When it ends."),
    Shown::always("post_count", Json::Int, "Posts in it.").tweet("tweet_count"),
];
