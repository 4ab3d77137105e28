//! Streams of posts and likes, and the rules of the filtered one.

use base::Scopes;
use view::ObjectKind;

use super::shared::{
    ANY_LENGTH, BACKFILL, MEDIA_FIELD, POST_FIELD, POST_FIELDS, SPAN, USER_FIELD, WEBHOOK,
    expansions, object_fields, page, partition,
};
use crate::endpoint::{Body, Endpoint, Kind, Member, Param, Shape, quarter};
use crate::v2;

/// The filtered stream, its rules and its webhooks; the samples.
pub static STREAMS: &[Endpoint] = &[
    Endpoint::new("streamPosts", "GET", "/2/<posts>/search/stream")
        .about("Posts that match the app's rules, as they are published.")
        .permit("A", Scopes::NONE)
        .limits(&[quarter(50)], &[])
        .params(&[BACKFILL, SPAN, POST_FIELDS])
        .act(v2::streams::filtered),
    Endpoint::new("getRules", "GET", "/2/<posts>/search/stream/rules")
        .about("The app's rules.")
        .permit("A", Scopes::NONE)
        .limits(&[quarter(450)], &[])
        .params(&[
            &[Param::query(
                "ids",
                Kind::Ids(0, 1_000),
                "The ids of the rules.",
            )],
            &page(1, 1_000, 1_000),
        ])
        .act(v2::stream_rules::list),
    Endpoint::new("updateRules", "POST", "/2/<posts>/search/stream/rules")
        .about("Adds rules to the app's or deletes some of them.")
        .permit("A", Scopes::NONE)
        .limits(&[quarter(100)], &[])
        .params(&[&[
            Param::query("dry_run", Kind::Bool, "Whether nothing shall be stored."),
            Param::query("delete_all", Kind::Bool, "Whether all rules shall go."),
        ]])
        .body(Body::Json(RULES))
        .success(201)
        .act(v2::stream_rules::update),
    Endpoint::new(
        "getRuleCounts",
        "GET",
        "/2/<posts>/search/stream/rules/counts",
    )
    .about("How many rules there are and may be.")
    .permit("A", Scopes::NONE)
    .params(&[&[object_fields("rules_count.fields", ObjectKind::RulesCount)]])
    .act(v2::stream_rules::counts),
    Endpoint::new(
        "getWebhooksStreamLinks",
        "GET",
        "/2/<posts>/search/webhooks",
    )
    .about("The webhooks that receive the filtered stream.")
    .permit("A", Scopes::NONE)
    .act(v2::webhooks::links),
    Endpoint::new(
        "createWebhooksStreamLink",
        "POST",
        "/2/<posts>/search/webhooks/{webhook_id}",
    )
    .about("Sends the filtered stream to a webhook, with these fields and expansions.")
    .permit("A", Scopes::NONE)
    .params(&[WEBHOOK, POST_FIELDS])
    .act(v2::webhooks::create_link),
    Endpoint::new(
        "deleteWebhooksStreamLink",
        "DELETE",
        "/2/<posts>/search/webhooks/{webhook_id}",
    )
    .about("Stops sending the filtered stream to a webhook.")
    .permit("A", Scopes::NONE)
    .params(&[WEBHOOK])
    .act(v2::webhooks::delete_link),
    Endpoint::new("streamPostsSample", "GET", "/2/<posts>/sample/stream")
        .about("About one post of a hundred, as they are published.")
        .permit("A", Scopes::NONE)
        .limits(&[quarter(50)], &[])
        .params(&[BACKFILL, POST_FIELDS])
        .act(v2::streams::sample),
    Endpoint::new("streamPostsSample10", "GET", "/2/<posts>/sample10/stream")
        .about("About one post of ten, as they are published.")
        .permit("A", Scopes::NONE)
        .limits(&[quarter(100)], &[])
        .params(&[BACKFILL, &[partition(2)], SPAN, POST_FIELDS])
        .act(v2::streams::sample10),
];

/// All posts, all likes, and what became of them.
pub static FIREHOSES: &[Endpoint] = &[
    Endpoint::new("streamPostsFirehose", "GET", "/2/<posts>/firehose/stream")
        .about("All posts, as they are published.")
        .permit("A", Scopes::NONE)
        .params(&[BACKFILL, &[partition(20)], SPAN, POST_FIELDS])
        .act(v2::streams::firehose),
    Endpoint::new(
        "streamPostsFirehoseEn",
        "GET",
        "/2/<posts>/firehose/stream/lang/en",
    )
    .about("All posts in English, as they are published.")
    .permit("A", Scopes::NONE)
    .params(&[BACKFILL, &[partition(8)], SPAN, POST_FIELDS])
    .act(v2::streams::firehose_en),
    Endpoint::new(
        "streamPostsFirehoseJa",
        "GET",
        "/2/<posts>/firehose/stream/lang/ja",
    )
    .about("All posts in Japanese, as they are published.")
    .permit("A", Scopes::NONE)
    .params(&[BACKFILL, &[partition(2)], SPAN, POST_FIELDS])
    .act(v2::streams::firehose_ja),
    Endpoint::new(
        "streamPostsFirehoseKo",
        "GET",
        "/2/<posts>/firehose/stream/lang/ko",
    )
    .about("All posts in Korean, as they are published.")
    .permit("A", Scopes::NONE)
    .params(&[BACKFILL, &[partition(2)], SPAN, POST_FIELDS])
    .act(v2::streams::firehose_ko),
    Endpoint::new(
        "streamPostsFirehosePt",
        "GET",
        "/2/<posts>/firehose/stream/lang/pt",
    )
    .about("All posts in Portuguese, as they are published.")
    .permit("A", Scopes::NONE)
    .params(&[BACKFILL, &[partition(2)], SPAN, POST_FIELDS])
    .act(v2::streams::firehose_pt),
    Endpoint::new(
        "streamPostsCompliance",
        "GET",
        "/2/<posts>/compliance/stream",
    )
    .about("What became of posts: deleted, withheld, edited.")
    .permit("A", Scopes::NONE)
    .params(&[BACKFILL, &[partition(4)], SPAN])
    .act(v2::streams::posts_compliance),
    Endpoint::new("streamUsersCompliance", "GET", "/2/users/compliance/stream")
        .about("What became of users: protected, suspended, deleted.")
        .permit("A", Scopes::NONE)
        .params(&[BACKFILL, &[partition(4)], SPAN])
        .act(v2::streams::users_compliance),
    Endpoint::new("streamLabelsCompliance", "GET", "/2/<posts>/label/stream")
        .about("Labels that posts were given.")
        .permit("A", Scopes::NONE)
        .params(&[BACKFILL, SPAN])
        .act(v2::streams::labels),
    Endpoint::new("streamLikesFirehose", "GET", "/2/likes/firehose/stream")
        .about("All likes, as they are given.")
        .permit("A", Scopes::NONE)
        .params(&[BACKFILL, &[partition(20)], SPAN, LIKE_FIELDS])
        .act(v2::streams::likes_firehose),
    Endpoint::new("streamLikesSample10", "GET", "/2/likes/sample10/stream")
        .about("About one like of ten, as they are given.")
        .permit("A", Scopes::NONE)
        .params(&[BACKFILL, &[partition(2)], SPAN, LIKE_FIELDS])
        .act(v2::streams::likes_sample10),
    Endpoint::new("streamLikesCompliance", "GET", "/2/likes/compliance/stream")
        .about("Likes that were taken back.")
        .permit("A", Scopes::NONE)
        .params(&[BACKFILL, SPAN])
        .act(v2::streams::likes_compliance),
];

const RULES: &[Member] = &[
    Member::new(
        "add",
        Shape::Array(
            &Shape::Object(&[
                Member::new("value", Shape::Text(0, ANY_LENGTH)).required(),
                Member::new("tag", Shape::Text(0, ANY_LENGTH)),
            ]),
            0,
            ANY_LENGTH,
        ),
    ),
    Member::new(
        "delete",
        Shape::Object(&[
            Member::new("ids", Shape::Array(&Shape::Id, 0, ANY_LENGTH)),
            Member::new(
                "values",
                Shape::Array(&Shape::Text(0, ANY_LENGTH), 0, ANY_LENGTH),
            ),
        ]),
    ),
];

const LIKE_FIELDS: &[Param] = &[
    object_fields("like_with_tweet_author.fields", ObjectKind::Like),
    expansions(ObjectKind::Like),
    POST_FIELD,
    USER_FIELD,
    MEDIA_FIELD,
];
