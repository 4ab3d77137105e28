//! Connections of streams.

use base::Scopes;
use view::ObjectKind;

use super::shared::{object_fields, page};
use crate::endpoint::{Body, Endpoint, Kind, Member, Param, Shape, quarter};
use crate::v2;

/// Connections, listed and ended.
pub static CONNECTIONS: &[Endpoint] = &[
    Endpoint::new("getConnectionHistory", "GET", "/2/connections")
        .about("Active and past connections of the app's streams.")
        .permit("A", Scopes::NONE)
        .params(&[
            &[
                Param::query(
                    "status",
                    Kind::OneOf(&["active", "inactive", "all"]),
                    "Which connections; `active` when absent.",
                ),
                Param::query(
                    "endpoints",
                    Kind::SomeOf(STREAMS),
                    "Streams whose connections to show.",
                ),
                object_fields("connection.fields", ObjectKind::Connection),
            ],
            &page(1, 100, 10),
        ])
        .act(v2::connections::list),
    Endpoint::new("deleteAllConnections", "DELETE", "/2/connections/all")
        .about("Ends all connections of the app's streams.")
        .permit("A", Scopes::NONE)
        .limits(&[quarter(25)], &[])
        .act(v2::connections::end_all),
    Endpoint::new(
        "deleteConnectionsByEndpoint",
        "DELETE",
        "/2/connections/{endpoint_id}",
    )
    .about("Ends the app's connections of one stream.")
    .permit("A", Scopes::NONE)
    .params(&[&[Param::path(
        "endpoint_id",
        Kind::OneOf(STREAMS),
        "The name of the stream.",
    )]])
    .act(v2::connections::end_endpoint),
    Endpoint::new("deleteConnectionsByUuids", "DELETE", "/2/connections")
        .about("Ends these connections.")
        .permit("A", Scopes::NONE)
        .body(Body::Json(&[Member::new(
            "uuids",
            Shape::Array(&Shape::Text(1, 64), 1, 100),
        )
        .required()]))
        .act(v2::connections::end_named),
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
