//! Posts: lookup, publishing, moderation and analytics.

use base::{Scope, VocabularyWord};
use web::endpoint::{BodySpec, Endpoint, Kind, MAX_TEXT, Parameter, per_day, per_quarter_hour};

use super::shared::{
    END_TIME, EXCLUDE, POST, POST_FIELDS, PUBLISHING, READ, START_TIME, page_params, plain_fields_param,
};
use crate::v2::{analytics, posts, reposts};

pub static POSTS: &[Endpoint] = &[
    Endpoint::get("getPostsByIds", "/2/<posts>", &posts::get_many)
        .summary("Posts by ids.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(3_500)], &[per_quarter_hour(5_000)])
        .params(&[IDS, POST_FIELDS]),
    Endpoint::get("getPostsById", "/2/<posts>/{id}", &posts::get)
        .summary("A post by id.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(450)], &[per_quarter_hour(900)])
        .params(&[POST, POST_FIELDS]),
    Endpoint::post("createPosts", "/2/<posts>", &posts::create)
        .summary("Publishes a post, a reply, a quote or an edit as the authenticated user.")
        .permit("12", READ.with_scope(Scope::TweetWrite))
        .limits(&[per_day(10_000)], &[per_quarter_hour(100)])
        .share_limit(&PUBLISHING)
        .body(BodySpec::Json(NEW_POST))
        .creates(),
    Endpoint::delete("deletePosts", "/2/<posts>/{id}", &posts::delete)
        .summary("Deletes a post of the authenticated user with all its versions.")
        .permit("12", READ.with_scope(Scope::TweetWrite))
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[POST]),
    Endpoint::put("hidePostsReply", "/2/<posts>/{post_id}/hidden", &posts::hide)
        .summary("Hides or unhides a reply in a conversation of the authenticated user.")
        .permit("12", READ.with_scope(Scope::TweetModerateWrite))
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[&[Parameter::path_id("post_id", "The id of the reply.").aliases(&["tweet_id"])]])
        .body(BodySpec::Json(&[Parameter::member("hidden", Kind::BOOL).as_required()])),
    Endpoint::get("getPostsQuotedPosts", "/2/<posts>/{id}/<quote_posts>", &reposts::list_quotes)
        .summary("Posts that quote a post.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(75)], &[per_quarter_hour(75)])
        .params(&[POST, &page_params(10, 100, 10), EXCLUDE, POST_FIELDS]),
    Endpoint::get("getPostsReposts", "/2/<posts>/{id}/<reposts>", &reposts::list_for_post)
        .summary("Reposts of a post, as posts.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(75)], &[per_quarter_hour(75)])
        .params(&[POST, &page_params(1, 100, 100), POST_FIELDS]),
    Endpoint::get("getPostsAnalytics", "/2/<posts>/analytics", &analytics::get_post_analytics)
        .summary("Metrics of the authenticated user's own posts over time.")
        .permit("12", READ)
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(300)])
        .params(&[IDS, ANALYTICS]),
];

const IDS: &[Parameter] = &[Parameter::query("ids", Kind::ID.list(1, 100), "The ids of the posts.").as_required()];

const ANALYTICS: &[Parameter] = &[
    START_TIME.as_required(),
    END_TIME.as_required(),
    Parameter::query(
        "granularity",
        Kind::one_of(&["hourly", "daily", "weekly", "total"]),
        "The length of each time bucket.",
    )
    .default_word("total"),
    plain_fields_param(
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

const TEXT: Kind = Kind::text(0, MAX_TEXT);
const WHO_MAY_REPLY: Kind = Kind::one_of(&["following", "mentionedUsers", "subscribers", "verified"]);

const NEW_POST: &[Parameter] = &[
    Parameter::member("text", TEXT),
    Parameter::member("reply", Kind::object(REPLY)),
    Parameter::member_named(VocabularyWord::new("quote_post_id", "quote_tweet_id"), Kind::ID),
    Parameter::member("media", Kind::object(MEDIA)),
    Parameter::member("poll", Kind::object(POLL)),
    Parameter::member("geo", Kind::object(&[Parameter::member("place_id", Kind::text(1, 64)).as_required()])),
    Parameter::member("reply_settings", WHO_MAY_REPLY),
    Parameter::member("community_id", Kind::ID),
    Parameter::member("share_with_followers", Kind::BOOL),
    Parameter::member("edit_options", Kind::object(&[Parameter::member("previous_post_id", Kind::ID).as_required()])),
    Parameter::member("for_super_followers_only", Kind::BOOL),
    Parameter::member("nullcast", Kind::BOOL),
    Parameter::member("made_with_ai", Kind::BOOL),
    Parameter::member("paid_partnership", Kind::BOOL),
    Parameter::member("card_uri", TEXT),
    Parameter::member("direct_message_deep_link", TEXT),
];

const REPLY: &[Parameter] = &[
    Parameter::member_named(VocabularyWord::new("in_reply_to_post_id", "in_reply_to_tweet_id"), Kind::ID).as_required(),
    Parameter::member("exclude_reply_user_ids", Kind::ID.list(0, 1_000)),
    Parameter::member("auto_populate_reply_metadata", Kind::BOOL),
];

const MEDIA: &[Parameter] = &[
    Parameter::member("media_ids", Kind::ID.list(1, 4)).as_required(),
    Parameter::member("tagged_user_ids", Kind::ID.list(0, 10)),
    Parameter::member("title", TEXT),
    Parameter::member("description", TEXT),
    Parameter::member("embeddable", Kind::BOOL),
    Parameter::member("preview_media_id", Kind::ID),
    Parameter::member("call_to_actions", Kind::object(CALL_TO_ACTIONS)),
];

const CALL_TO_ACTIONS: &[Parameter] = &[
    Parameter::member("visit_site", Kind::object(&[Parameter::member("url", TEXT).as_required()])),
    Parameter::member("watch_now", Kind::object(&[Parameter::member("url", TEXT).as_required()])),
    Parameter::member(
        "app_install",
        Kind::object(&[
            Parameter::member("app_store_id", TEXT),
            Parameter::member("ipad_app_store_id", TEXT),
            Parameter::member("play_store_id", TEXT),
        ]),
    ),
];

const POLL: &[Parameter] = &[
    Parameter::member("options", Kind::text(1, 25).list(2, 4)).as_required(),
    Parameter::member("duration_minutes", Kind::int(5, 10_080)).as_required(),
    Parameter::member("reply_settings", WHO_MAY_REPLY),
];
