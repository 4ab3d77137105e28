//! Media uploads, files, metadata and analytics.

use base::{Scope, Scopes};
use web::endpoint::{BodySpec, Endpoint, ErrorFormat, Kind, MAX_SHORT_TEXT, Parameter, per_day, per_quarter_hour};
use web::media_files::SUBTITLES_PARAM;

use super::shared::{END_TIME, MEDIA_FIELD, MEDIA_KEY, START_TIME, plain_fields_param};
use crate::v2::analytics;
use crate::v2::media::{self, serve, upload};

pub static UPLOADS: &[Endpoint] = &[
    Endpoint::post("initializeMediaUpload", "/2/media/upload/initialize", &upload::initialize)
        .summary("Initializes a chunked upload.")
        .permit("12", WRITE)
        .limits(&[per_day(180_000)], &[per_quarter_hour(1_875)])
        .body(BodySpec::Json(&[
            Parameter::member("media_type", Kind::one_of(TYPES)),
            Parameter::member("total_bytes", Kind::int(0, 17_179_869_184)),
            Parameter::member("media_category", Kind::one_of(CATEGORIES)),
            Parameter::member("additional_owners", Kind::ID.list(0, 100)),
            Parameter::member("shared", Kind::BOOL),
        ])),
    Endpoint::post("appendMediaUpload", "/2/media/upload/{id}/append", &upload::append)
        .summary("Uploads a chunk.")
        .permit("12", WRITE)
        .limits(&[per_day(180_000)], &[per_quarter_hour(1_875)])
        .params(&[MEDIA])
        .body(BodySpec::Multipart(&[
            Parameter::member("media", Kind::JSON).as_required(),
            Parameter::member("segment_index", SEGMENT_INDEX).as_required(),
        ])),
    Endpoint::post("finalizeMediaUpload", "/2/media/upload/{id}/finalize", &upload::finalize)
        .summary("Finalizes a chunked upload.")
        .permit("12", WRITE)
        .limits(&[per_day(180_000)], &[per_quarter_hour(1_875)])
        .params(&[MEDIA]),
    Endpoint::get("getMediaUploadStatus", "/2/media/upload", &upload::status)
        .summary("The processing status of an upload.")
        .permit("12", WRITE)
        .limits(&[per_day(100_000)], &[per_quarter_hour(1_000)])
        .params(&[STATUS_PARAMS]),
    // What is required depends on `command`.
    Endpoint::post("mediaUpload", "/2/media/upload", &upload::upload)
        .summary("Uploads media in one request, or in steps selected by `command`.")
        .permit("12", WRITE)
        .limits(&[per_day(50_000)], &[per_quarter_hour(500)])
        .params(&[STEP_PARAMS])
        .body(BodySpec::Multipart(STEP)),
    Endpoint::post("uploadMediaV1", "/1.1/media/upload.json", &upload::upload)
        .summary("Uploads media (v1.1).")
        .permit("12", WRITE)
        .limits(&[per_day(180_000)], &[per_quarter_hour(1_875)])
        .params(&[STEP_PARAMS])
        .body(BodySpec::Multipart(STEP))
        .error_format(ErrorFormat::Legacy)
        .aliases(&["/1.1/media/upload"]),
    Endpoint::get("getMediaUploadStatusV1", "/1.1/media/upload.json", &upload::status)
        .summary("The processing status of an upload (v1.1).")
        .permit("12", WRITE)
        .limits(&[per_day(100_000)], &[per_quarter_hour(1_000)])
        .params(&[STATUS_PARAMS])
        .error_format(ErrorFormat::Legacy)
        .aliases(&["/1.1/media/upload"]),
    Endpoint::post("createMediaMetadataV1", "/1.1/media/metadata/create.json", &media::set_metadata_v1)
        .summary("Sets the alt text of the authenticated user's media (v1.1).")
        .permit("12", WRITE)
        .limits(&[per_day(50_000)], &[per_quarter_hour(500)])
        .body(BodySpec::Json(&[
            Parameter::member("media_id", Kind::JSON).as_required(),
            Parameter::member(
                "alt_text",
                Kind::object(&[Parameter::member("text", Kind::text(0, 1_000)).as_required()]),
            ),
        ]))
        .error_format(ErrorFormat::Legacy),
    Endpoint::post("createMediaSubtitlesV1", "/1.1/media/subtitles/create.json", &media::add_subtitles_v1)
        .summary("Adds subtitles to the authenticated user's video (v1.1).")
        .permit("12", WRITE)
        .body(BodySpec::Json(SUBTITLES_V1))
        .error_format(ErrorFormat::Legacy),
    Endpoint::post("deleteMediaSubtitlesV1", "/1.1/media/subtitles/delete.json", &media::remove_subtitles_v1)
        .summary("Removes subtitles from the authenticated user's video (v1.1).")
        .permit("12", WRITE)
        .body(BodySpec::Json(SUBTITLES_V1))
        .error_format(ErrorFormat::Legacy),
];

/// The ids may be numbers here. Files are named when subtitles are added only.
const SUBTITLES_V1: &[Parameter] = &[
    Parameter::member("media_id", Kind::JSON).as_required(),
    Parameter::member("media_category", TEXT),
    Parameter::member(
        "subtitle_info",
        Kind::object(&[Parameter::member("subtitles", SUBTITLE_V1.list(1, 10)).as_required()]),
    )
    .as_required(),
];
const SUBTITLE_V1: Kind = Kind::object(&[
    Parameter::member("media_id", Kind::JSON),
    Parameter::member("language_code", Kind::text(2, 2)).as_required(),
    Parameter::member("display_name", TEXT),
]);

pub static MEDIA_FILES: &[Endpoint] = &[Endpoint::get("getMediaFile", "/media/{file}", &serve::serve_file)
    .allow_anonymous()
    .summary("A media file, or a range of its bytes.")
    .limits(&[per_quarter_hour(100_000)], &[])
    .params(&[&[
        Parameter::path("file", Kind::text(1, 200), "The name of the file."),
        Parameter::query(
            "name",
            Kind::one_of(&["thumb", "small", "medium", "large", "orig"]),
            "The size of a photo; the original if that size does not exist.",
        ),
        Parameter::query("format", Kind::text(1, 10), "Accepted and ignored."),
        SUBTITLES_PARAM,
    ]])];

pub static MEDIA_DETAILS: &[Endpoint] = &[
    Endpoint::post("createMediaMetadata", "/2/media/metadata", &media::set_metadata)
        .summary("Sets metadata of the authenticated user's media.")
        .permit("12", WRITE)
        .limits(&[per_day(50_000)], &[per_quarter_hour(500)])
        .body(BodySpec::Json(&[
            Parameter::member("id", Kind::ID).as_required(),
            Parameter::member("metadata", Kind::object(METADATA)),
        ])),
    Endpoint::get("getMediaByMediaKeys", "/2/media", &media::get_many)
        .summary("Media by keys.")
        .permit("1A2", SEE)
        .params(&[KEYS, &[MEDIA_FIELD]]),
    Endpoint::get("getMediaByMediaKey", "/2/media/{media_key}", &media::get)
        .summary("Media by key.")
        .permit("1A2", SEE)
        .params(&[&[Parameter::path("media_key", Kind::pattern(&MEDIA_KEY), "The key of the media."), MEDIA_FIELD]]),
    Endpoint::get("getMediaAnalytics", "/2/media/analytics", &analytics::get_media_analytics)
        .summary("Metrics of the authenticated user's own media over time.")
        .permit("12", SEE)
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(300)])
        .params(&[KEYS, ANALYTICS]),
    Endpoint::post("createMediaSubtitles", "/2/media/subtitles", &media::add_subtitles)
        .summary("Adds subtitles to a video.")
        .permit("12", WRITE)
        .body(BodySpec::Json(&[
            Parameter::member("id", Kind::ID),
            Parameter::member("media_category", VIDEO),
            Parameter::member(
                "subtitles",
                Kind::object(&[
                    Parameter::member("id", Kind::ID),
                    Parameter::member("language_code", Kind::text(2, 2)),
                    Parameter::member("display_name", TEXT),
                ]),
            ),
        ])),
    Endpoint::delete("deleteMediaSubtitles", "/2/media/subtitles", &media::remove_subtitles)
        .summary("Removes subtitles from a video.")
        .permit("12", WRITE)
        .body(BodySpec::Json(&[
            Parameter::member("id", Kind::ID).as_required(),
            Parameter::member("media_category", TEXT).as_required(),
            Parameter::member("language_code", Kind::text(2, 2)).as_required(),
        ])),
];

const WRITE: Scopes = Scopes::from_slice(&[Scope::MediaWrite]);
const SEE: Scopes = Scopes::from_slice(&[Scope::TweetRead]);
const TEXT: Kind = Kind::text(0, MAX_SHORT_TEXT);
const VIDEO: Kind = Kind::one_of(&["AmplifyVideo", "TweetVideo"]);

const STATUS_PARAMS: &[Parameter] = &[
    Parameter::query("media_id", Kind::ID, "The id of the media.").as_required(),
    Parameter::query("command", Kind::one_of(&["STATUS"]), "The command."),
];

const MEDIA: &[Parameter] = &[Parameter::path_id("id", "The id of the media.")];
const KEYS: &[Parameter] =
    &[Parameter::query("media_keys", Kind::pattern(&MEDIA_KEY).list(1, 100), "The keys of the media.").as_required()];

const CATEGORIES: &[&str] =
    &["amplify_video", "tweet_gif", "tweet_image", "tweet_video", "dm_gif", "dm_image", "dm_video", "subtitles"];

const TYPES: &[&str] = &[
    "video/mp4",
    "video/webm",
    "video/mp2t",
    "video/quicktime",
    "text/srt",
    "text/vtt",
    "text/plain",
    "image/jpeg",
    "image/gif",
    "image/bmp",
    "image/png",
    "image/webp",
    "image/pjpeg",
    "image/tiff",
    "model/gltf-binary",
    "model/vnd.usdz+zip",
];

const COMMANDS: &[&str] = &["INIT", "APPEND", "FINALIZE"];

const STEP_PARAMS: &[Parameter] = &[
    Parameter::query("command", Kind::one_of(COMMANDS), "The upload step."),
    Parameter::query("media_id", Kind::ID, "The id of the media."),
    Parameter::query("segment_index", Kind::int(0, 999), "The index of the chunk.").default_number(0),
    Parameter::query("media_type", Kind::text(1, 100), "The type of the media."),
    Parameter::query("total_bytes", Kind::int(0, 17_179_869_184), "The size of the media.").default_number(0),
    Parameter::query("media_category", Kind::text(1, 100), "The category of the media."),
    Parameter::query("additional_owners", Kind::ID.list(0, 100), "Users who may also use the media."),
];

/// A number, also as text; the handler checks it.
const SEGMENT_INDEX: Kind = Kind::JSON;

const STEP: &[Parameter] = &[
    Parameter::member("command", Kind::one_of(COMMANDS)),
    Parameter::member("media", Kind::JSON),
    Parameter::member("media_data", Kind::JSON),
    Parameter::member("media_id", Kind::ID),
    Parameter::member("segment_index", SEGMENT_INDEX),
    Parameter::member("media_type", TEXT),
    Parameter::member("total_bytes", Kind::int(0, 17_179_869_184)),
    Parameter::member("media_category", TEXT),
    // A list, or ids with commas between them.
    Parameter::member("additional_owners", Kind::JSON),
    Parameter::member("shared", Kind::BOOL),
];

const METADATA: &[Parameter] = &[
    Parameter::member("alt_text", Kind::object(&[Parameter::member("text", Kind::text(0, 1_000)).as_required()])),
    Parameter::member("allow_download_status", Kind::object(&[Parameter::member("allow_download", Kind::BOOL)])),
    Parameter::member(
        "audience_policy",
        Kind::object(&[
            Parameter::member("creator_subscriptions", ANY.list(0, 1)),
            Parameter::member("x_subscriptions", ANY.list(0, 1)),
        ]),
    ),
    Parameter::member(
        "content_expiration",
        Kind::object(&[Parameter::member("timestamp_sec", Kind::int(0, i64::MAX)).as_required()]),
    ),
    Parameter::member(
        "domain_restrictions",
        Kind::object(&[Parameter::member("whitelist", TEXT.list(0, MAX_ITEMS)).as_required()]),
    ),
    Parameter::member(
        "found_media_origin",
        Kind::object(&[
            Parameter::member("provider", Kind::text(0, 8)).as_required(),
            Parameter::member("id", Kind::text(0, 24)).as_required(),
        ]),
    ),
    Parameter::member(
        "geo_restrictions",
        Kind::object(&[
            Parameter::member("whitelisted_country_codes", COUNTRY.list(0, MAX_ITEMS)).as_required(),
            Parameter::member("blacklisted_country_codes", COUNTRY.list(0, MAX_ITEMS)).as_required(),
        ]),
    ),
    Parameter::member("management_info", Kind::object(&[Parameter::member("managed", Kind::BOOL).as_required()])),
    Parameter::member(
        "preview_image",
        Kind::object(&[Parameter::member("media_key", Kind::object(PREVIEW_IMAGE)).as_required()]),
    ),
    Parameter::member(
        "sensitive_media_warning",
        Kind::object(&[
            Parameter::member("adult_content", Kind::BOOL),
            Parameter::member("graphic_violence", Kind::BOOL),
            Parameter::member("other", Kind::BOOL),
        ]),
    ),
    Parameter::member("shared_info", Kind::object(&[Parameter::member("shared", Kind::BOOL).as_required()])),
    Parameter::member(
        "sticker_info",
        Kind::object(&[Parameter::member("stickers", Kind::object(STICKER).list(0, MAX_ITEMS)).as_required()]),
    ),
    Parameter::member("upload_source", Kind::object(&[Parameter::member("upload_source", TEXT).as_required()])),
];
const ANY: Kind = Kind::one_of(&["Any"]);
const COUNTRY: Kind = Kind::text(2, 2);
/// No bound is published.
const MAX_ITEMS: usize = 300;
const PREVIEW_IMAGE: &[Parameter] =
    &[Parameter::member("media", Kind::ID), Parameter::member("media_category", Kind::one_of(&["TweetImage"]))];
/// Numbers with fractions have no kind.
const STICKER: &[Parameter] = &[
    Parameter::member("aspect_ratio", Kind::JSON),
    Parameter::member("group_annotation_id", Kind::JSON),
    Parameter::member("id", TEXT),
    Parameter::member("sticker_set_annotation_id", Kind::JSON),
    Parameter::member("transform_a", Kind::JSON),
    Parameter::member("transform_b", Kind::JSON),
    Parameter::member("transform_c", Kind::JSON),
    Parameter::member("transform_d", Kind::JSON),
    Parameter::member("transform_tx", Kind::JSON),
    Parameter::member("transform_ty", Kind::JSON),
];

const ANALYTICS: &[Parameter] = &[
    START_TIME.as_required(),
    END_TIME.as_required(),
    Parameter::query("granularity", Kind::one_of(&["hourly", "daily", "total"]), "The length of each time bucket.")
        .default_word("daily"),
    plain_fields_param(
        "media_analytics.fields",
        &[
            "cta_url_clicks",
            "cta_watch_clicks",
            "media_key",
            "play_from_tap",
            "playback25",
            "playback50",
            "playback75",
            "playback_complete",
            "playback_start",
            "timestamp",
            "timestamped_metrics",
            "video_views",
            "watch_time_ms",
        ],
    ),
];
