//! Posts: looked up, written, deleted, hidden, quoted, measured.

use base::{Scope, VocabularyWord};

use super::shared::{
    ANY_LENGTH, END_TIME, EXCLUDE, POST, POST_FIELDS, PUBLISHING, READ, START_TIME, page,
    plain_fields,
};
use crate::endpoint::{Body, Endpoint, Kind, Member, Param, Shape, day, quarter};
use crate::v2;

/// Posts themselves.
pub static POSTS: &[Endpoint] = &[
    Endpoint::new("getPostsByIds", "GET", "/2/<posts>")
        .act(v2::posts::by_ids)
        .about("Posts of these ids.")
        .permit("1A2", READ)
        .limits(&[quarter(3_500)], &[quarter(5_000)])
        .params(&[IDS, POST_FIELDS]),
    Endpoint::new("getPostsById", "GET", "/2/<posts>/{id}")
        .act(v2::posts::by_id)
        .about("The post of this id.")
        .permit("1A2", READ)
        .limits(&[quarter(450)], &[quarter(900)])
        .params(&[POST, POST_FIELDS]),
    Endpoint::new("createPosts", "POST", "/2/<posts>")
        .act(v2::posts::create)
        .about("Publishes a post, a reply, a quote or an edit as the authenticated user.")
        .permit("12", READ.with_scope(Scope::TweetWrite))
        .limits(&[day(10_000)], &[quarter(100)])
        .shares(&PUBLISHING)
        .body(Body::Json(NEW_POST))
        .success(201),
    Endpoint::new("deletePosts", "DELETE", "/2/<posts>/{id}")
        .act(v2::posts::delete)
        .about("Deletes a post of the authenticated user, all its versions with it.")
        .permit("12", READ.with_scope(Scope::TweetWrite))
        .limits(&[], &[quarter(50)])
        .params(&[POST]),
    Endpoint::new("hidePostsReply", "PUT", "/2/<posts>/{post_id}/hidden")
        .act(v2::posts::hide)
        .about("Hides or unhides a reply in a conversation that the authenticated user began.")
        .permit("12", READ.with_scope(Scope::TweetModerateWrite))
        .limits(&[], &[quarter(50)])
        .params(&[&[Param::id("post_id", "The id of the reply.").also(&["tweet_id"])]])
        .body(Body::Json(&[Member::new("hidden", Shape::Bool).required()])),
    Endpoint::new(
        "getPostsQuotedPosts",
        "GET",
        "/2/<posts>/{id}/<quote_posts>",
    )
    .act(v2::reposts::quotes)
    .about("Posts that quote this post.")
    .permit("1A2", READ)
    .limits(&[quarter(75)], &[quarter(75)])
    .params(&[POST, &page(10, 100, 10), EXCLUDE, POST_FIELDS]),
    Endpoint::new("getPostsReposts", "GET", "/2/<posts>/{id}/<reposts>")
        .act(v2::reposts::of_post)
        .about("The reposts of this post, as posts.")
        .permit("1A2", READ)
        .limits(&[quarter(75)], &[quarter(75)])
        .params(&[POST, &page(1, 100, 100), POST_FIELDS]),
    Endpoint::new("getPostsAnalytics", "GET", "/2/<posts>/analytics")
        .act(v2::analytics::of_posts)
        .about("Counters of the authenticated user's own posts over time.")
        .permit("12", READ)
        .limits(&[quarter(300)], &[quarter(300)])
        .params(&[IDS, ANALYTICS]),
];

const IDS: &[Param] = &[Param::query("ids", Kind::Ids(1, 100), "The ids of the posts.").required()];

const ANALYTICS: &[Param] = &[
    START_TIME.required(),
    END_TIME.required(),
    Param::query(
        "granularity",
        Kind::OneOf(&["hourly", "daily", "weekly", "total"]),
        "How long each counted span is; `total` when absent.",
    ),
    plain_fields(
        "analytics.fields",
        &[
            "app_install_attempts",
            "app_opens",
            "bookmarks",
            "detail_expands",
            "email_tweet",
            "engagements",
            "follows",
            "hashtag_clicks",
            "id",
            "impressions",
            "likes",
            "media_views",
            "permalink_clicks",
            "quote_tweets",
            "replies",
            "retweets",
            "shares",
            "timestamp",
            "timestamped_metrics",
            "unfollows",
            "unlikes",
            "url_clicks",
            "user_profile_clicks",
        ],
    ),
];

const TEXT: Shape = Shape::Text(0, ANY_LENGTH);
const WHO_MAY_REPLY: Shape =
    Shape::OneOf(&["following", "mentionedUsers", "subscribers", "verified"]);

/// The body of a new post.
const NEW_POST: &[Member] = &[
    Member::new("text", TEXT),
    Member::new("reply", Shape::Object(REPLY)),
    Member::worded(
        VocabularyWord::new("quote_post_id", "quote_tweet_id"),
        Shape::Id,
    ),
    Member::new("media", Shape::Object(MEDIA)),
    Member::new("poll", Shape::Object(POLL)),
    Member::new(
        "geo",
        Shape::Object(&[Member::new("place_id", Shape::Text(1, 64)).required()]),
    ),
    Member::new("reply_settings", WHO_MAY_REPLY),
    Member::new("community_id", Shape::Id),
    Member::new("share_with_followers", Shape::Bool),
    Member::new(
        "edit_options",
        Shape::Object(&[Member::new("previous_post_id", Shape::Id).required()]),
    ),
    Member::new("for_super_followers_only", Shape::Bool),
    Member::new("nullcast", Shape::Bool),
    Member::new("made_with_ai", Shape::Bool),
    Member::new("paid_partnership", Shape::Bool),
    Member::new("card_uri", TEXT),
    Member::new("direct_message_deep_link", TEXT),
];

const REPLY: &[Member] = &[
    Member::worded(
        VocabularyWord::new("in_reply_to_post_id", "in_reply_to_tweet_id"),
        Shape::Id,
    )
    .required(),
    Member::new(
        "exclude_reply_user_ids",
        Shape::Array(&Shape::Id, 0, ANY_LENGTH),
    ),
    Member::new("auto_populate_reply_metadata", Shape::Bool),
];

const MEDIA: &[Member] = &[
    Member::new("media_ids", Shape::Array(&Shape::Id, 1, 4)).required(),
    Member::new("tagged_user_ids", Shape::Array(&Shape::Id, 0, 10)),
    Member::new("title", TEXT),
    Member::new("description", TEXT),
    Member::new("embeddable", Shape::Bool),
    Member::new("preview_media_id", Shape::Id),
    Member::new("call_to_actions", Shape::Object(CALL_TO_ACTIONS)),
];

const CALL_TO_ACTIONS: &[Member] = &[
    Member::new(
        "visit_site",
        Shape::Object(&[Member::new("url", TEXT).required()]),
    ),
    Member::new(
        "watch_now",
        Shape::Object(&[Member::new("url", TEXT).required()]),
    ),
    Member::new(
        "app_install",
        Shape::Object(&[
            Member::new("app_store_id", TEXT),
            Member::new("ipad_app_store_id", TEXT),
            Member::new("play_store_id", TEXT),
        ]),
    ),
];

const POLL: &[Member] = &[
    Member::new("options", Shape::Array(&Shape::Text(1, 25), 2, 4)).required(),
    Member::new("duration_minutes", Shape::Int(5, 10_080)).required(),
    Member::new("reply_settings", WHO_MAY_REPLY),
];
