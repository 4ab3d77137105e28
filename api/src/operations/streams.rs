//! Streams of posts and likes, and the rules of the filtered stream.

use view::ObjectKind;
use web::endpoint::{
    BodySpec, Endpoint, ExpansionNames, FieldNames, Kind, MAX_SHORT_TEXT, Parameter, per_quarter_hour,
};

use super::shared::{
    BACKFILL, MEDIA_FIELD, POST_FIELD, POST_FIELDS, SPAN, USER_FIELD, WEBHOOK, app_endpoint, app_stream,
    expansions_param, object_fields_param, page_params, partition_param,
};
use crate::v2::{stream_rules, streams, webhooks};

pub static STREAMS: &[Endpoint] = &[
    app_stream("streamPosts", "/2/<posts>/search/stream", &streams::filtered)
        .summary("Posts that match the app's rules, as they are published.")
        .limits(&[per_quarter_hour(50)], &[])
        .params(&[BACKFILL, SPAN, POST_FIELDS]),
    app_endpoint("getRules", "GET", "/2/<posts>/search/stream/rules", &stream_rules::list_rules)
        .summary("The app's rules of the filtered stream.")
        .limits(&[per_quarter_hour(450)], &[])
        .params(&[
            &[Parameter::query("ids", Kind::ID.list(0, 1_000), "The ids of the rules.")],
            &page_params(1, 1_000, 1_000),
        ]),
    app_endpoint("updateRules", "POST", "/2/<posts>/search/stream/rules", &stream_rules::update_rules)
        .summary("Adds or deletes rules of the app.")
        .limits(&[per_quarter_hour(100)], &[])
        .params(&[&[
            Parameter::query("dry_run", Kind::BOOL, "Whether to validate only, without storing changes."),
            Parameter::query("delete_all", Kind::BOOL, "Whether to delete all rules."),
        ]])
        .body(BodySpec::Json(RULES))
        .creates(),
    app_endpoint("getRuleCounts", "GET", "/2/<posts>/search/stream/rules/counts", &stream_rules::get_counts)
        .summary("The number of rules, and its limit.")
        .params(&[&[object_fields_param("rules_count.fields", &FieldNames(ObjectKind::RULES_COUNT))]]),
    app_endpoint("getWebhooksStreamLinks", "GET", "/2/<posts>/search/webhooks", &webhooks::list_links)
        .summary("The webhooks that receive the filtered stream."),
    app_endpoint("createWebhooksStreamLink", "POST", "/2/<posts>/search/webhooks/{webhook_id}", &webhooks::create_link)
        .summary("Sends the filtered stream to a webhook, with these fields and expansions.")
        .params(&[WEBHOOK, POST_FIELDS]),
    app_endpoint(
        "deleteWebhooksStreamLink",
        "DELETE",
        "/2/<posts>/search/webhooks/{webhook_id}",
        &webhooks::delete_link,
    )
    .summary("Stops sending the filtered stream to a webhook.")
    .params(&[WEBHOOK]),
    app_stream("streamPostsSample", "/2/<posts>/sample/stream", &streams::sample)
        .summary("About 1 % of all posts, as they are published.")
        .limits(&[per_quarter_hour(50)], &[])
        .params(&[BACKFILL, POST_FIELDS]),
    app_stream("streamPostsSample10", "/2/<posts>/sample10/stream", &streams::sample10)
        .summary("About 10 % of all posts, as they are published.")
        .limits(&[per_quarter_hour(100)], &[])
        .params(&[BACKFILL, &[partition_param(2)], SPAN, POST_FIELDS]),
];

pub static FIREHOSES: &[Endpoint] = &[
    app_stream("streamPostsFirehose", "/2/<posts>/firehose/stream", &streams::firehose)
        .summary("All posts, as they are published.")
        .params(&[BACKFILL, &[partition_param(20)], SPAN, POST_FIELDS]),
    app_stream("streamPostsFirehoseEn", "/2/<posts>/firehose/stream/lang/en", &streams::firehose_en)
        .summary("All posts in English, as they are published.")
        .params(&[BACKFILL, &[partition_param(8)], SPAN, POST_FIELDS]),
    app_stream("streamPostsFirehoseJa", "/2/<posts>/firehose/stream/lang/ja", &streams::firehose_ja)
        .summary("All posts in Japanese, as they are published.")
        .params(&[BACKFILL, &[partition_param(2)], SPAN, POST_FIELDS]),
    app_stream("streamPostsFirehoseKo", "/2/<posts>/firehose/stream/lang/ko", &streams::firehose_ko)
        .summary("All posts in Korean, as they are published.")
        .params(&[BACKFILL, &[partition_param(2)], SPAN, POST_FIELDS]),
    app_stream("streamPostsFirehosePt", "/2/<posts>/firehose/stream/lang/pt", &streams::firehose_pt)
        .summary("All posts in Portuguese, as they are published.")
        .params(&[BACKFILL, &[partition_param(2)], SPAN, POST_FIELDS]),
    app_stream("streamPostsCompliance", "/2/<posts>/compliance/stream", &streams::posts_compliance)
        .summary("Compliance events of posts: deletions, withholdings, edits.")
        .params(&[BACKFILL, &[partition_param(4)], SPAN]),
    app_stream("streamUsersCompliance", "/2/users/compliance/stream", &streams::users_compliance)
        .summary("Compliance events of users: protections, suspensions, deletions.")
        .params(&[BACKFILL, &[partition_param(4)], SPAN]),
    app_stream("streamLabelsCompliance", "/2/<posts>/label/stream", &streams::labels)
        .summary("Labels applied to posts.")
        .params(&[BACKFILL, SPAN]),
    app_stream("streamLikesFirehose", "/2/likes/firehose/stream", &streams::likes_firehose)
        .summary("All likes, as they happen.")
        .params(&[BACKFILL, &[partition_param(20)], SPAN, LIKE_FIELDS]),
    app_stream("streamLikesSample10", "/2/likes/sample10/stream", &streams::likes_sample10)
        .summary("About 10 % of all likes, as they happen.")
        .params(&[BACKFILL, &[partition_param(2)], SPAN, LIKE_FIELDS]),
    app_stream("streamLikesCompliance", "/2/likes/compliance/stream", &streams::likes_compliance)
        .summary("Compliance events of likes: removals.")
        .params(&[BACKFILL, SPAN]),
];

/// Of our own choosing: the public contract names no bound, but every list repeats the tags.
pub(super) const RULE_TAG: Parameter = Parameter::member("tag", Kind::text(0, 1000));

/// Of our own choosing, above the length that any app's rules may have: a longer one is refused by itself.
pub(super) const RULE_VALUE: Kind = Kind::text(0, MAX_SHORT_TEXT);
/// Rules in one request, of our own choosing: their errors are told one by one.
const MAX_RULES: usize = 1_000;

const RULES: &[Parameter] = &[
    Parameter::member(
        "add",
        Kind::object(&[Parameter::member("value", RULE_VALUE).as_required(), RULE_TAG]).list(0, MAX_RULES),
    ),
    Parameter::member(
        "delete",
        Kind::object(&[
            Parameter::member("ids", Kind::ID.list(0, MAX_RULES)),
            Parameter::member("values", RULE_VALUE.list(0, MAX_RULES)),
        ]),
    ),
];

const LIKE_FIELDS: &[Parameter] = &[
    object_fields_param("like_with_tweet_author.fields", &FieldNames(ObjectKind::LIKE)),
    expansions_param(&ExpansionNames(ObjectKind::LIKE)),
    POST_FIELD,
    USER_FIELD,
    MEDIA_FIELD,
];
