//! Media: uploaded, described, looked up, measured.

use base::{Scope, Scopes};

use super::shared::{ANY_LENGTH, END_TIME, MEDIA_FIELD, MEDIA_KEY, START_TIME, plain_fields};
use crate::endpoint::{Accent, Body, Endpoint, Kind, Member, Param, Shape, day, quarter};
use crate::v2::media::{self, serve, upload};

/// Uploads.
pub static UPLOADS: &[Endpoint] = &[
    Endpoint::new(
        "initializeMediaUpload",
        "POST",
        "/2/media/upload/initialize",
    )
    .about("Begins an upload in segments.")
    .permit("12", WRITE)
    .limits(&[day(180_000)], &[quarter(1_875)])
    .body(Body::Json(&[
        Member::new("media_type", Shape::OneOf(TYPES)),
        Member::new("total_bytes", Shape::Int(0, 17_179_869_184)),
        Member::new("media_category", Shape::OneOf(CATEGORIES)),
        Member::new("additional_owners", Shape::Array(&Shape::Id, 0, 100)),
        Member::new("shared", Shape::Bool),
    ]))
    .act(upload::initialize),
    Endpoint::new("appendMediaUpload", "POST", "/2/media/upload/{id}/append")
        .about("Uploads a segment.")
        .permit("12", WRITE)
        .limits(&[day(180_000)], &[quarter(1_875)])
        .params(&[MEDIA])
        .body(Body::Parts(&[
            Member::new("media", Shape::Any).required(),
            Member::new("segment_index", Shape::Int(0, 999)).required(),
        ]))
        .act(upload::append),
    Endpoint::new(
        "finalizeMediaUpload",
        "POST",
        "/2/media/upload/{id}/finalize",
    )
    .about("Ends an upload in segments.")
    .permit("12", WRITE)
    .limits(&[day(180_000)], &[quarter(1_875)])
    .params(&[MEDIA])
    .act(upload::finalize),
    Endpoint::new("getMediaUploadStatus", "GET", "/2/media/upload")
        .about("How far the processing of an upload is.")
        .permit("12", WRITE)
        .limits(&[day(100_000)], &[quarter(1_000)])
        .params(&[STATUS_PARAMS])
        .act(upload::status),
    // The older form steps through an upload by `command`, so that nothing is required here.
    Endpoint::new("mediaUpload", "POST", "/2/media/upload")
        .about("Uploads a media in one step, or steps through an upload by `command`.")
        .permit("12", WRITE)
        .limits(&[day(50_000)], &[quarter(500)])
        .params(&[STEP_PARAMS])
        .body(Body::Parts(STEP))
        .act(upload::upload),
    Endpoint::new("uploadMediaV1", "POST", "/1.1/media/upload.json")
        .about("Uploads a media as the older interface does.")
        .permit("1", Scopes::NONE)
        .params(&[STEP_PARAMS])
        .body(Body::Parts(STEP))
        .accent(Accent::Legacy)
        .aliases(&["/1.1/media/upload"])
        .act(upload::upload),
    Endpoint::new("getMediaUploadStatusV1", "GET", "/1.1/media/upload.json")
        .about("How far the processing of an upload is, in the older interface.")
        .permit("1", Scopes::NONE)
        .params(&[STATUS_PARAMS])
        .accent(Accent::Legacy)
        .aliases(&["/1.1/media/upload"])
        .act(upload::status),
    Endpoint::new(
        "createMediaMetadataV1",
        "POST",
        "/1.1/media/metadata/create.json",
    )
    .about("Describes a media of the authenticated user in the older interface.")
    .permit("1", Scopes::NONE)
    .body(Body::Json(&[
        Member::new("media_id", Shape::Any).required(),
        Member::new(
            "alt_text",
            Shape::Object(&[Member::new("text", Shape::Text(0, 1_000)).required()]),
        ),
    ]))
    .accent(Accent::Legacy)
    .act(media::describe_v1),
];

/// The files themselves.
pub static MEDIA_FILES: &[Endpoint] = &[Endpoint::new("getMediaFile", "GET", "/media/{file}")
    .open()
    .about("The bytes of a media, or a part of them.")
    .limits(&[quarter(100_000)], &[])
    .params(&[&[
        Param::path("file", Kind::Text(1, 200), "The name of the file."),
        Param::query(
            "name",
            Kind::OneOf(&["thumb", "small", "medium", "large", "orig"]),
            "The size of a photo; the photo itself where there is none.",
        ),
        Param::query("format", Kind::Text(1, 10), "Read and not followed."),
    ]])
    .act(serve::file)];

/// What is known about media.
pub static MEDIA_DETAILS: &[Endpoint] = &[
    Endpoint::new("createMediaMetadata", "POST", "/2/media/metadata")
        .about("Describes a media of the authenticated user.")
        .permit("12", WRITE)
        .limits(&[day(50_000)], &[quarter(500)])
        .body(Body::Json(&[
            Member::new("id", Shape::Id).required(),
            Member::new("metadata", Shape::Object(METADATA)),
        ]))
        .act(media::describe),
    Endpoint::new("getMediaByMediaKeys", "GET", "/2/media")
        .about("Media of these keys.")
        .permit("1A2", SEE)
        .params(&[KEYS, &[MEDIA_FIELD]])
        .act(media::by_keys),
    Endpoint::new("getMediaByMediaKey", "GET", "/2/media/{media_key}")
        .about("The media of this key.")
        .permit("1A2", SEE)
        .params(&[&[
            Param::path(
                "media_key",
                Kind::Pattern(&MEDIA_KEY),
                "The key of the media.",
            ),
            MEDIA_FIELD,
        ]])
        .act(media::by_key),
    Endpoint::new("getMediaAnalytics", "GET", "/2/media/analytics")
        .about("Counters of the authenticated user's own media over time.")
        .permit("12", SEE)
        .params(&[KEYS, ANALYTICS]),
    Endpoint::new("createMediaSubtitles", "POST", "/2/media/subtitles")
        .about("Adds subtitles to a video.")
        .permit("12", WRITE)
        .body(Body::Json(&[
            Member::new("id", Shape::Id),
            Member::new("media_category", VIDEO),
            Member::new(
                "subtitles",
                Shape::Object(&[
                    Member::new("id", Shape::Id),
                    Member::new("language_code", Shape::Text(2, 2)),
                    Member::new("display_name", TEXT),
                ]),
            ),
        ]))
        .act(media::add_subtitles),
    Endpoint::new("deleteMediaSubtitles", "DELETE", "/2/media/subtitles")
        .about("Removes subtitles from a video.")
        .permit("12", WRITE)
        .body(Body::Json(&[
            Member::new("id", Shape::Id).required(),
            Member::new("media_category", TEXT).required(),
            Member::new("language_code", Shape::Text(2, 2)).required(),
        ]))
        .act(media::remove_subtitles),
];

const WRITE: Scopes = Scopes::from_slice(&[Scope::MediaWrite]);
const SEE: Scopes = Scopes::from_slice(&[Scope::TweetRead]);
const TEXT: Shape = Shape::Text(0, ANY_LENGTH);
const VIDEO: Shape = Shape::OneOf(&["AmplifyVideo", "TweetVideo"]);

const STATUS_PARAMS: &[Param] = &[
    Param::query("media_id", Kind::Id, "The id of the media.").required(),
    Param::query("command", Kind::OneOf(&["STATUS"]), "What to do."),
];

const MEDIA: &[Param] = &[Param::id("id", "The id of the media.")];
const KEYS: &[Param] = &[Param::query(
    "media_keys",
    Kind::Patterns(&MEDIA_KEY, 1, 100),
    "The keys of the media.",
)
.required()];

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

const STEP_PARAMS: &[Param] = &[
    Param::query("command", Kind::OneOf(COMMANDS), "The step to take."),
    Param::query("media_id", Kind::Id, "The id of the media."),
    Param::query("segment_index", Kind::Int(0, 999, 0), "Which segment."),
    Param::query("media_type", Kind::Text(1, 100), "The type of the media."),
    Param::query(
        "total_bytes",
        Kind::Int(0, 17_179_869_184, 0),
        "The size of the media.",
    ),
    Param::query("media_category", Kind::Text(1, 100), "What it is for."),
    Param::query(
        "additional_owners",
        Kind::Ids(0, 100),
        "Users who may use the media too.",
    ),
];

const STEP: &[Member] = &[
    Member::new("command", Shape::OneOf(COMMANDS)),
    Member::new("media", Shape::Any),
    Member::new("media_data", Shape::Any),
    Member::new("media_id", Shape::Id),
    Member::new("segment_index", Shape::Int(0, 999)),
    Member::new("media_type", TEXT),
    Member::new("total_bytes", Shape::Int(0, 17_179_869_184)),
    Member::new("media_category", TEXT),
    Member::new("additional_owners", TEXT),
    Member::new("shared", Shape::Bool),
];

const METADATA: &[Member] = &[
    Member::new(
        "alt_text",
        Shape::Object(&[Member::new("text", Shape::Text(0, 1_000)).required()]),
    ),
    Member::new("allow_download_status", Shape::Any),
    Member::new("audience_policy", Shape::Any),
    Member::new("content_expiration", Shape::Any),
    Member::new("domain_restrictions", Shape::Any),
    Member::new("found_media_origin", Shape::Any),
    Member::new("geo_restrictions", Shape::Any),
    Member::new("management_info", Shape::Any),
    Member::new("preview_image", Shape::Any),
    Member::new("sensitive_media_warning", Shape::Any),
    Member::new("shared_info", Shape::Any),
    Member::new("sticker_info", Shape::Any),
    Member::new("upload_source", Shape::Any),
];

const ANALYTICS: &[Param] = &[
    START_TIME.required(),
    END_TIME.required(),
    Param::query(
        "granularity",
        Kind::OneOf(&["hourly", "daily", "total"]),
        "How long each counted span is; `daily` when absent.",
    ),
    plain_fields(
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
