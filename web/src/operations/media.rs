//! Media: uploaded, described, looked up, measured.

use base::{Scope, Scopes};

use super::shared::{ANY_LENGTH, END_TIME, MEDIA_FIELD, MEDIA_KEY, START_TIME, plain_fields_param};
use crate::endpoint::{
    BodyMember, BodySpec, Endpoint, EndpointParam, ErrorFormat, MemberShape, ParamType, per_day, per_quarter_hour,
};
use crate::v2::media::{self, serve, upload};

/// Uploads.
pub static UPLOADS: &[Endpoint] = &[
    Endpoint::new("initializeMediaUpload", "POST", "/2/media/upload/initialize")
        .summary("Begins an upload in segments.")
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
        .summary("Uploads a segment.")
        .permit("12", WRITE)
        .limits(&[per_day(180_000)], &[per_quarter_hour(1_875)])
        .params(&[MEDIA])
        .body(BodySpec::Multipart(&[
            BodyMember::new("media", MemberShape::Any).as_required(),
            BodyMember::new("segment_index", MemberShape::Int(0, 999)).as_required(),
        ]))
        .handler(upload::append),
    Endpoint::new("finalizeMediaUpload", "POST", "/2/media/upload/{id}/finalize")
        .summary("Ends an upload in segments.")
        .permit("12", WRITE)
        .limits(&[per_day(180_000)], &[per_quarter_hour(1_875)])
        .params(&[MEDIA])
        .handler(upload::finalize),
    Endpoint::new("getMediaUploadStatus", "GET", "/2/media/upload")
        .summary("How far the processing of an upload is.")
        .permit("12", WRITE)
        .limits(&[per_day(100_000)], &[per_quarter_hour(1_000)])
        .params(&[STATUS_PARAMS])
        .handler(upload::status),
    // The older form steps through an upload by `command`, so that nothing is required here.
    Endpoint::new("mediaUpload", "POST", "/2/media/upload")
        .summary("Uploads a media in one step, or steps through an upload by `command`.")
        .permit("12", WRITE)
        .limits(&[per_day(50_000)], &[per_quarter_hour(500)])
        .params(&[STEP_PARAMS])
        .body(BodySpec::Multipart(STEP))
        .handler(upload::upload),
    Endpoint::new("uploadMediaV1", "POST", "/1.1/media/upload.json")
        .summary("Uploads a media as the older interface does.")
        .permit("1", Scopes::NONE)
        .params(&[STEP_PARAMS])
        .body(BodySpec::Multipart(STEP))
        .error_format(ErrorFormat::Legacy)
        .aliases(&["/1.1/media/upload"])
        .handler(upload::upload),
    Endpoint::new("getMediaUploadStatusV1", "GET", "/1.1/media/upload.json")
        .summary("How far the processing of an upload is, in the older interface.")
        .permit("1", Scopes::NONE)
        .params(&[STATUS_PARAMS])
        .error_format(ErrorFormat::Legacy)
        .aliases(&["/1.1/media/upload"])
        .handler(upload::status),
    Endpoint::new("createMediaMetadataV1", "POST", "/1.1/media/metadata/create.json")
        .summary("Describes a media of the authenticated user in the older interface.")
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

/// The files themselves.
pub static MEDIA_FILES: &[Endpoint] = &[Endpoint::new("getMediaFile", "GET", "/media/{file}")
    .allow_anonymous()
    .summary("The bytes of a media, or a part of them.")
    .limits(&[per_quarter_hour(100_000)], &[])
    .params(&[&[
        EndpointParam::path("file", ParamType::Text(1, 200), "The name of the file."),
        EndpointParam::query(
            "name",
            ParamType::OneOf(&["thumb", "small", "medium", "large", "orig"]),
            "The size of a photo; the photo itself where there is none.",
        ),
        EndpointParam::query("format", ParamType::Text(1, 10), "Read and not followed."),
    ]])
    .handler(serve::serve_file)];

/// What is known about media.
pub static MEDIA_DETAILS: &[Endpoint] = &[
    Endpoint::new("createMediaMetadata", "POST", "/2/media/metadata")
        .summary("Describes a media of the authenticated user.")
        .permit("12", WRITE)
        .limits(&[per_day(50_000)], &[per_quarter_hour(500)])
        .body(BodySpec::Json(&[
            BodyMember::new("id", MemberShape::Id).as_required(),
            BodyMember::new("metadata", MemberShape::Object(METADATA)),
        ]))
        .handler(media::set_metadata),
    Endpoint::new("getMediaByMediaKeys", "GET", "/2/media")
        .summary("Media of these keys.")
        .permit("1A2", SEE)
        .params(&[KEYS, &[MEDIA_FIELD]])
        .handler(media::get_many),
    Endpoint::new("getMediaByMediaKey", "GET", "/2/media/{media_key}")
        .summary("The media of this key.")
        .permit("1A2", SEE)
        .params(&[&[
            EndpointParam::path("media_key", ParamType::Pattern(&MEDIA_KEY), "The key of the media."),
            MEDIA_FIELD,
        ]])
        .handler(media::get),
    Endpoint::new("getMediaAnalytics", "GET", "/2/media/analytics")
        .summary("Counters of the authenticated user's own media over time.")
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
    EndpointParam::query("command", ParamType::OneOf(&["STATUS"]), "What to do."),
];

const MEDIA: &[EndpointParam] = &[EndpointParam::path_id("id", "The id of the media.")];
const KEYS: &[EndpointParam] = &[EndpointParam::query(
    "media_keys",
    ParamType::Patterns(&MEDIA_KEY, 1, 100),
    "The keys of the media.",
)
.as_required()];

const CATEGORIES: &[&str] = &[
    "amplify_video",
    "tweet_gif",
    "tweet_image",
    "tweet_video",
    "dm_gif",
    "dm_image",
    "dm_video",
    "subtitles",
];

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
    EndpointParam::query("command", ParamType::OneOf(COMMANDS), "The step to take."),
    EndpointParam::query("media_id", ParamType::Id, "The id of the media."),
    EndpointParam::query("segment_index", ParamType::Int(0, 999, 0), "Which segment."),
    EndpointParam::query("media_type", ParamType::Text(1, 100), "The type of the media."),
    EndpointParam::query(
        "total_bytes",
        ParamType::Int(0, 17_179_869_184, 0),
        "The size of the media.",
    ),
    EndpointParam::query("media_category", ParamType::Text(1, 100), "What it is for."),
    EndpointParam::query(
        "additional_owners",
        ParamType::Ids(0, 100),
        "Users who may use the media too.",
    ),
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
        "How long each counted span is; `daily` when absent.",
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
