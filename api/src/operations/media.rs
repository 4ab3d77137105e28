//! Media uploads, files, metadata and analytics.

use base::{Scope, Scopes};
use web::endpoint::{
    ANY_LENGTH, BodyMember, BodySpec, Endpoint, EndpointParam, ErrorFormat, MemberShape, ParamType, per_day,
    per_quarter_hour,
};

use super::shared::{END_TIME, MEDIA_FIELD, MEDIA_KEY, START_TIME, plain_fields_param};
use crate::v2::media::{self, serve, upload};

pub static UPLOADS: &[Endpoint] = &[
    Endpoint::new("initializeMediaUpload", "POST", "/2/media/upload/initialize")
        .summary("Initializes a chunked upload.")
        .permit("12", WRITE)
        .limits(&[per_day(180_000)], &[per_quarter_hour(1_875)])
        .body(BodySpec::Json(&[
            BodyMember::new("media_type", MemberShape::OneOf(TYPES)),
            BodyMember::new("total_bytes", MemberShape::Int(0, 17_179_869_184)),
            BodyMember::new("media_category", MemberShape::OneOf(CATEGORIES)),
            BodyMember::new("additional_owners", MemberShape::Array(&MemberShape::Id, 0, 100)),
            BodyMember::new("shared", MemberShape::Bool),
        ]))
        .handler(upload::initialize),
    Endpoint::new("appendMediaUpload", "POST", "/2/media/upload/{id}/append")
        .summary("Uploads a chunk.")
        .permit("12", WRITE)
        .limits(&[per_day(180_000)], &[per_quarter_hour(1_875)])
        .params(&[MEDIA])
        .body(BodySpec::Multipart(&[
            BodyMember::new("media", MemberShape::Any).as_required(),
            BodyMember::new("segment_index", MemberShape::Int(0, 999)).as_required(),
        ]))
        .handler(upload::append),
    Endpoint::new("finalizeMediaUpload", "POST", "/2/media/upload/{id}/finalize")
        .summary("Finalizes a chunked upload.")
        .permit("12", WRITE)
        .limits(&[per_day(180_000)], &[per_quarter_hour(1_875)])
        .params(&[MEDIA])
        .handler(upload::finalize),
    Endpoint::new("getMediaUploadStatus", "GET", "/2/media/upload")
        .summary("The processing status of an upload.")
        .permit("12", WRITE)
        .limits(&[per_day(100_000)], &[per_quarter_hour(1_000)])
        .params(&[STATUS_PARAMS])
        .handler(upload::status),
    // What is required depends on `command`.
    Endpoint::new("mediaUpload", "POST", "/2/media/upload")
        .summary("Uploads media in one request, or in steps selected by `command`.")
        .permit("12", WRITE)
        .limits(&[per_day(50_000)], &[per_quarter_hour(500)])
        .params(&[STEP_PARAMS])
        .body(BodySpec::Multipart(STEP))
        .handler(upload::upload),
    Endpoint::new("uploadMediaV1", "POST", "/1.1/media/upload.json")
        .summary("Uploads media (v1.1).")
        .permit("1", Scopes::NONE)
        .params(&[STEP_PARAMS])
        .body(BodySpec::Multipart(STEP))
        .error_format(ErrorFormat::Legacy)
        .aliases(&["/1.1/media/upload"])
        .handler(upload::upload),
    Endpoint::new("getMediaUploadStatusV1", "GET", "/1.1/media/upload.json")
        .summary("The processing status of an upload (v1.1).")
        .permit("1", Scopes::NONE)
        .params(&[STATUS_PARAMS])
        .error_format(ErrorFormat::Legacy)
        .aliases(&["/1.1/media/upload"])
        .handler(upload::status),
    Endpoint::new("createMediaMetadataV1", "POST", "/1.1/media/metadata/create.json")
        .summary("Sets the alt text of the authenticated user's media (v1.1).")
        .permit("1", Scopes::NONE)
        .body(BodySpec::Json(&[
            BodyMember::new("media_id", MemberShape::Any).as_required(),
            BodyMember::new(
                "alt_text",
                MemberShape::Object(&[BodyMember::new("text", MemberShape::Text(0, 1_000)).as_required()]),
            ),
        ]))
        .error_format(ErrorFormat::Legacy)
        .handler(media::set_metadata_v1),
];

pub static MEDIA_FILES: &[Endpoint] = &[Endpoint::new("getMediaFile", "GET", "/media/{file}")
    .allow_anonymous()
    .summary("A media file, or a range of its bytes.")
    .limits(&[per_quarter_hour(100_000)], &[])
    .params(&[&[
        EndpointParam::path("file", ParamType::Text(1, 200), "The name of the file."),
        EndpointParam::query(
            "name",
            ParamType::OneOf(&["thumb", "small", "medium", "large", "orig"]),
            "The size of a photo; the original if that size does not exist.",
        ),
        EndpointParam::query("format", ParamType::Text(1, 10), "Accepted and ignored."),
    ]])
    .handler(serve::serve_file)];

pub static MEDIA_DETAILS: &[Endpoint] = &[
    Endpoint::new("createMediaMetadata", "POST", "/2/media/metadata")
        .summary("Sets metadata of the authenticated user's media.")
        .permit("12", WRITE)
        .limits(&[per_day(50_000)], &[per_quarter_hour(500)])
        .body(BodySpec::Json(&[
            BodyMember::new("id", MemberShape::Id).as_required(),
            BodyMember::new("metadata", MemberShape::Object(METADATA)),
        ]))
        .handler(media::set_metadata),
    Endpoint::new("getMediaByMediaKeys", "GET", "/2/media")
        .summary("Media by keys.")
        .permit("1A2", SEE)
        .params(&[KEYS, &[MEDIA_FIELD]])
        .handler(media::get_many),
    Endpoint::new("getMediaByMediaKey", "GET", "/2/media/{media_key}")
        .summary("Media by key.")
        .permit("1A2", SEE)
        .params(&[&[
            EndpointParam::path("media_key", ParamType::Pattern(&MEDIA_KEY), "The key of the media."),
            MEDIA_FIELD,
        ]])
        .handler(media::get),
    Endpoint::new("getMediaAnalytics", "GET", "/2/media/analytics")
        .summary("Metrics of the authenticated user's own media over time.")
        .permit("12", SEE)
        .params(&[KEYS, ANALYTICS]),
    Endpoint::new("createMediaSubtitles", "POST", "/2/media/subtitles")
        .summary("Adds subtitles to a video.")
        .permit("12", WRITE)
        .body(BodySpec::Json(&[
            BodyMember::new("id", MemberShape::Id),
            BodyMember::new("media_category", VIDEO),
            BodyMember::new(
                "subtitles",
                MemberShape::Object(&[
                    BodyMember::new("id", MemberShape::Id),
                    BodyMember::new("language_code", MemberShape::Text(2, 2)),
                    BodyMember::new("display_name", TEXT),
                ]),
            ),
        ]))
        .handler(media::add_subtitles),
    Endpoint::new("deleteMediaSubtitles", "DELETE", "/2/media/subtitles")
        .summary("Removes subtitles from a video.")
        .permit("12", WRITE)
        .body(BodySpec::Json(&[
            BodyMember::new("id", MemberShape::Id).as_required(),
            BodyMember::new("media_category", TEXT).as_required(),
            BodyMember::new("language_code", MemberShape::Text(2, 2)).as_required(),
        ]))
        .handler(media::remove_subtitles),
];

const WRITE: Scopes = Scopes::from_slice(&[Scope::MediaWrite]);
const SEE: Scopes = Scopes::from_slice(&[Scope::TweetRead]);
const TEXT: MemberShape = MemberShape::Text(0, ANY_LENGTH);
const VIDEO: MemberShape = MemberShape::OneOf(&["AmplifyVideo", "TweetVideo"]);

const STATUS_PARAMS: &[EndpointParam] = &[
    EndpointParam::query("media_id", ParamType::Id, "The id of the media.").as_required(),
    EndpointParam::query("command", ParamType::OneOf(&["STATUS"]), "The command."),
];

const MEDIA: &[EndpointParam] = &[EndpointParam::path_id("id", "The id of the media.")];
const KEYS: &[EndpointParam] =
    &[EndpointParam::query("media_keys", ParamType::Patterns(&MEDIA_KEY, 1, 100), "The keys of the media.")
        .as_required()];

const CATEGORIES: &[&str] =
    &["amplify_video", "tweet_gif", "tweet_image", "tweet_video", "dm_gif", "dm_image", "dm_video", "subtitles"];

const TYPES: &[&str] = &[
    "video/mp4",
    "video/webm",
    "video/mp2t",
    "video/quicktime",
    "text/srt",
    "text/vtt",
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

const STEP_PARAMS: &[EndpointParam] = &[
    EndpointParam::query("command", ParamType::OneOf(COMMANDS), "The upload step."),
    EndpointParam::query("media_id", ParamType::Id, "The id of the media."),
    EndpointParam::query("segment_index", ParamType::Int(0, 999, 0), "The index of the chunk."),
    EndpointParam::query("media_type", ParamType::Text(1, 100), "The type of the media."),
    EndpointParam::query("total_bytes", ParamType::Int(0, 17_179_869_184, 0), "The size of the media."),
    EndpointParam::query("media_category", ParamType::Text(1, 100), "The category of the media."),
    EndpointParam::query("additional_owners", ParamType::Ids(0, 100), "Users who may also use the media."),
];

const STEP: &[BodyMember] = &[
    BodyMember::new("command", MemberShape::OneOf(COMMANDS)),
    BodyMember::new("media", MemberShape::Any),
    BodyMember::new("media_data", MemberShape::Any),
    BodyMember::new("media_id", MemberShape::Id),
    BodyMember::new("segment_index", MemberShape::Int(0, 999)),
    BodyMember::new("media_type", TEXT),
    BodyMember::new("total_bytes", MemberShape::Int(0, 17_179_869_184)),
    BodyMember::new("media_category", TEXT),
    BodyMember::new("additional_owners", TEXT),
    BodyMember::new("shared", MemberShape::Bool),
];

const METADATA: &[BodyMember] = &[
    BodyMember::new(
        "alt_text",
        MemberShape::Object(&[BodyMember::new("text", MemberShape::Text(0, 1_000)).as_required()]),
    ),
    BodyMember::new("allow_download_status", MemberShape::Any),
    BodyMember::new("audience_policy", MemberShape::Any),
    BodyMember::new("content_expiration", MemberShape::Any),
    BodyMember::new("domain_restrictions", MemberShape::Any),
    BodyMember::new("found_media_origin", MemberShape::Any),
    BodyMember::new("geo_restrictions", MemberShape::Any),
    BodyMember::new("management_info", MemberShape::Any),
    BodyMember::new("preview_image", MemberShape::Any),
    BodyMember::new("sensitive_media_warning", MemberShape::Any),
    BodyMember::new("shared_info", MemberShape::Any),
    BodyMember::new("sticker_info", MemberShape::Any),
    BodyMember::new("upload_source", MemberShape::Any),
];

const ANALYTICS: &[EndpointParam] = &[
    START_TIME.as_required(),
    END_TIME.as_required(),
    EndpointParam::query(
        "granularity",
        ParamType::OneOf(&["hourly", "daily", "total"]),
        "The length of each time bucket; `daily` by default.",
    ),
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
