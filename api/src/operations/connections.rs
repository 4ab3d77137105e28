//! Stream connections.

use view::ObjectKind;
use web::endpoint::{BodySpec, Endpoint, FieldNames, Kind, Parameter, per_quarter_hour};

use super::shared::{app_endpoint, object_fields_param, page_params};
use crate::v2::connections;

pub static CONNECTIONS: &[Endpoint] = &[
    app_endpoint("getConnectionHistory", "GET", "/2/connections", &connections::list)
        .summary("Active and past stream connections of the app.")
        .params(&[
            &[
                Parameter::query(
                    "status",
                    Kind::one_of(&["active", "inactive", "all"]),
                    "The status of the connections.",
                )
                .default_word("active"),
                Parameter::query(
                    "endpoints",
                    Kind::one_of(STREAMS).list(1, STREAMS.len()),
                    "The streams whose connections to return.",
                ),
                object_fields_param("connection.fields", &FieldNames(ObjectKind::CONNECTION)),
            ],
            &page_params(1, 100, 10),
        ]),
    app_endpoint("deleteAllConnections", "DELETE", "/2/connections/all", &connections::close_all)
        .summary("Closes all stream connections of the app.")
        .limits(&[per_quarter_hour(25)], &[]),
    app_endpoint("deleteConnectionsByEndpoint", "DELETE", "/2/connections/{endpoint_id}", &connections::close_endpoint)
        .summary("Closes the app's connections to one stream.")
        .params(&[&[Parameter::path("endpoint_id", Kind::one_of(STREAMS), "The name of the stream.")]]),
    app_endpoint("deleteConnectionsByUuids", "DELETE", "/2/connections", &connections::close_listed)
        .summary("Closes connections by UUID.")
        .body(BodySpec::Json(&[Parameter::member("uuids", Kind::text(1, 64).list(1, 100)).as_required()])),
];

const STREAMS: &[&str] = &[
    "filtered_stream",
    "sample_stream",
    "sample10_stream",
    "firehose_stream",
    "tweets_compliance_stream",
    "users_compliance_stream",
    "tweet_label_stream",
    "firehose_stream_lang_en",
    "firehose_stream_lang_ja",
    "firehose_stream_lang_ko",
    "firehose_stream_lang_pt",
    "likes_firehose_stream",
    "likes_sample10_stream",
    "likes_compliance_stream",
    "activity_stream",
    "powerstream",
];
