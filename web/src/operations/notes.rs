//! Community notes.

use base::{Scope, Scopes};
use view::ObjectKind;

use super::shared::{ANY_LENGTH, POST_FIELDS, POST_ID, object_fields, page};
use crate::endpoint::{Body, Endpoint, Kind, Member, Param, Shape, day, quarter};
use crate::v2;

/// Notes, written, evaluated, deleted and listed.
pub static NOTES: &[Endpoint] = &[
    Endpoint::new(
        "searchEligiblePosts",
        "GET",
        "/2/notes/search/posts_eligible_for_notes",
    )
    .act(v2::notes::eligible)
    .about("Posts that the authenticated user may write a note on.")
    .permit("12", SEE)
    .limits(&[quarter(300)], &[quarter(90)])
    .params(&[
        &[
            TEST_MODE,
            Param::query(
                "post_selection",
                Kind::Text(1, 256),
                "Which posts, as `feed_size: small, feed_lang: en`.",
            ),
        ],
        &page(1, 100, 10),
        POST_FIELDS,
    ]),
    Endpoint::new(
        "searchCommunityNotesWritten",
        "GET",
        "/2/notes/search/notes_written",
    )
    .act(v2::notes::written)
    .about("Notes that the authenticated user wrote.")
    .permit("12", SEE)
    .limits(&[quarter(300)], &[quarter(90)])
    .params(&[
        &[TEST_MODE, object_fields("note.fields", ObjectKind::Note)],
        &page(1, 100, 10),
    ]),
    Endpoint::new("createCommunityNotes", "POST", "/2/notes")
        .act(v2::notes::create)
        .about("Writes a note on a post as the authenticated user.")
        .permit("12", WRITE)
        .limits(&[quarter(300)], &[quarter(90), day(250)])
        .body(Body::Json(&[
            POST_ID,
            Member::new("test_mode", Shape::Bool).required(),
            Member::new("info", Shape::Object(INFO)).required(),
        ]))
        .success(201),
    Endpoint::new("evaluateCommunityNotes", "POST", "/2/notes/evaluate")
        .aliases(&["/2/evaluate_note"])
        .act(v2::notes::evaluate)
        .about("Scores a drafted note before it is written.")
        .permit("12", WRITE)
        .limits(&[quarter(300)], &[quarter(90)])
        .body(Body::Json(&[
            POST_ID,
            Member::new("note_text", Shape::Text(0, ANY_LENGTH)).required(),
        ])),
    Endpoint::new("deleteCommunityNotes", "DELETE", "/2/notes/{id}")
        .act(v2::notes::delete)
        .about("Deletes a note of the authenticated user.")
        .permit("12", WRITE)
        .limits(&[quarter(300)], &[quarter(90)])
        .params(&[&[Param::id("id", "The id of the note.")]]),
];

const SEE: Scopes = Scopes::from_slice(&[Scope::TweetRead]);
const WRITE: Scopes = Scopes::from_slice(&[Scope::TweetWrite]);

const TEST_MODE: Param = Param::query(
    "test_mode",
    Kind::Bool,
    "Whether the test pool is meant instead of the public one.",
)
.required();

const INFO: &[Member] = &[
    Member::new("text", Shape::Text(0, ANY_LENGTH)).required(),
    Member::new(
        "classification",
        Shape::OneOf(&["misinformed_or_potentially_misleading", "not_misleading"]),
    )
    .required(),
    Member::new(
        "misleading_tags",
        Shape::Array(
            &Shape::OneOf(&[
                "disputed_claim_as_fact",
                "factual_error",
                "manipulated_media",
                "misinterpreted_satire",
                "missing_important_context",
                "other",
                "outdated_information",
            ]),
            0,
            7,
        ),
    ),
    Member::new("trustworthy_sources", Shape::Bool).required(),
    Member::new("is_media_note", Shape::Bool),
];
