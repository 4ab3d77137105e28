//! Posts: lookup, publishing, moderation and analytics.

use base::{Scope, VocabularyWord};
use web::endpoint::{
    ANY_LENGTH, BodyMember, BodySpec, Endpoint, EndpointParam, MemberShape, ParamType, per_day, per_quarter_hour,
};

use super::shared::{
    END_TIME, EXCLUDE, POST, POST_FIELDS, PUBLISHING, READ, START_TIME, page_params, plain_fields_param,
};
use crate::v2;

pub static POSTS: &[Endpoint] = &[
    Endpoint::new("getPostsByIds", "GET", "/2/<posts>")
        .handler(v2::posts::get_many)
        .summary("Posts by ids.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(3_500)], &[per_quarter_hour(5_000)])
        .params(&[IDS, POST_FIELDS]),
    Endpoint::new("getPostsById", "GET", "/2/<posts>/{id}")
        .handler(v2::posts::get)
        .summary("A post by id.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(450)], &[per_quarter_hour(900)])
        .params(&[POST, POST_FIELDS]),
    Endpoint::new("createPosts", "POST", "/2/<posts>")
        .handler(v2::posts::create)
        .summary("Publishes a post, a reply, a quote or an edit as the authenticated user.")
        .permit("12", READ.with_scope(Scope::TweetWrite))
        .limits(&[per_day(10_000)], &[per_quarter_hour(100)])
        .share_limit(&PUBLISHING)
        .body(BodySpec::Json(NEW_POST))
        .success_status(201),
    Endpoint::new("deletePosts", "DELETE", "/2/<posts>/{id}")
        .handler(v2::posts::delete)
        .summary("Deletes a post of the authenticated user with all its versions.")
        .permit("12", READ.with_scope(Scope::TweetWrite))
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[POST]),
    Endpoint::new("hidePostsReply", "PUT", "/2/<posts>/{post_id}/hidden")
        .handler(v2::posts::hide)
        .summary("Hides or unhides a reply in a conversation of the authenticated user.")
        .permit("12", READ.with_scope(Scope::TweetModerateWrite))
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[&[EndpointParam::path_id("post_id", "The id of the reply.").aliases(&["tweet_id"])]])
        .body(BodySpec::Json(&[BodyMember::new("hidden", MemberShape::Bool).as_required()])),
    Endpoint::new("getPostsQuotedPosts", "GET", "/2/<posts>/{id}/<quote_posts>")
        .handler(v2::reposts::list_quotes)
        .summary("Posts that quote a post.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(75)], &[per_quarter_hour(75)])
        .params(&[POST, &page_params(10, 100, 10), EXCLUDE, POST_FIELDS]),
    Endpoint::new("getPostsReposts", "GET", "/2/<posts>/{id}/<reposts>")
        .handler(v2::reposts::list_for_post)
        .summary("Reposts of a post, as posts.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(75)], &[per_quarter_hour(75)])
        .params(&[POST, &page_params(1, 100, 100), POST_FIELDS]),
    Endpoint::new("getPostsAnalytics", "GET", "/2/<posts>/analytics")
        .handler(v2::analytics::get_post_analytics)
        .summary("Metrics of the authenticated user's own posts over time.")
        .permit("12", READ)
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(300)])
        .params(&[IDS, ANALYTICS]),
];

const IDS: &[EndpointParam] =
    &[EndpointParam::query("ids", ParamType::Ids(1, 100), "The ids of the posts.").as_required()];

const ANALYTICS: &[EndpointParam] = &[
    START_TIME.as_required(),
    END_TIME.as_required(),
    EndpointParam::query(
        "granularity",
        ParamType::OneOf(&["hourly", "daily", "weekly", "total"]),
        "The length of each time bucket; `total` by default.",
    ),
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

const TEXT: MemberShape = MemberShape::Text(0, ANY_LENGTH);
const WHO_MAY_REPLY: MemberShape = MemberShape::OneOf(&["following", "mentionedUsers", "subscribers", "verified"]);

const NEW_POST: &[BodyMember] = &[
    BodyMember::new("text", TEXT),
    BodyMember::new("reply", MemberShape::Object(REPLY)),
    BodyMember::from_names(VocabularyWord::new("quote_post_id", "quote_tweet_id"), MemberShape::Id),
    BodyMember::new("media", MemberShape::Object(MEDIA)),
    BodyMember::new("poll", MemberShape::Object(POLL)),
    BodyMember::new("geo", MemberShape::Object(&[BodyMember::new("place_id", MemberShape::Text(1, 64)).as_required()])),
    BodyMember::new("reply_settings", WHO_MAY_REPLY),
    BodyMember::new("community_id", MemberShape::Id),
    BodyMember::new("share_with_followers", MemberShape::Bool),
    BodyMember::new(
        "edit_options",
        MemberShape::Object(&[BodyMember::new("previous_post_id", MemberShape::Id).as_required()]),
    ),
    BodyMember::new("for_super_followers_only", MemberShape::Bool),
    BodyMember::new("nullcast", MemberShape::Bool),
    BodyMember::new("made_with_ai", MemberShape::Bool),
    BodyMember::new("paid_partnership", MemberShape::Bool),
    BodyMember::new("card_uri", TEXT),
    BodyMember::new("direct_message_deep_link", TEXT),
];

const REPLY: &[BodyMember] = &[
    BodyMember::from_names(VocabularyWord::new("in_reply_to_post_id", "in_reply_to_tweet_id"), MemberShape::Id)
        .as_required(),
    BodyMember::new("exclude_reply_user_ids", MemberShape::Array(&MemberShape::Id, 0, ANY_LENGTH)),
    BodyMember::new("auto_populate_reply_metadata", MemberShape::Bool),
];

const MEDIA: &[BodyMember] = &[
    BodyMember::new("media_ids", MemberShape::Array(&MemberShape::Id, 1, 4)).as_required(),
    BodyMember::new("tagged_user_ids", MemberShape::Array(&MemberShape::Id, 0, 10)),
    BodyMember::new("title", TEXT),
    BodyMember::new("description", TEXT),
    BodyMember::new("embeddable", MemberShape::Bool),
    BodyMember::new("preview_media_id", MemberShape::Id),
    BodyMember::new("call_to_actions", MemberShape::Object(CALL_TO_ACTIONS)),
];

const CALL_TO_ACTIONS: &[BodyMember] = &[
    BodyMember::new("visit_site", MemberShape::Object(&[BodyMember::new("url", TEXT).as_required()])),
    BodyMember::new("watch_now", MemberShape::Object(&[BodyMember::new("url", TEXT).as_required()])),
    BodyMember::new(
        "app_install",
        MemberShape::Object(&[
            BodyMember::new("app_store_id", TEXT),
            BodyMember::new("ipad_app_store_id", TEXT),
            BodyMember::new("play_store_id", TEXT),
        ]),
    ),
];

const POLL: &[BodyMember] = &[
    BodyMember::new("options", MemberShape::Array(&MemberShape::Text(1, 25), 2, 4)).as_required(),
    BodyMember::new("duration_minutes", MemberShape::Int(5, 10_080)).as_required(),
    BodyMember::new("reply_settings", WHO_MAY_REPLY),
];
