//! Community notes.

use base::{Scope, Scopes};
use view::ObjectKind;
use web::endpoint::{BodySpec, Endpoint, FieldNames, Kind, MAX_TEXT, Parameter, per_day, per_quarter_hour};

use super::shared::{POST_FIELDS, POST_ID, object_fields_param, page_params};
use crate::v2::notes;

pub static NOTES: &[Endpoint] = &[
    Endpoint::get("searchEligiblePosts", "/2/notes/search/posts_eligible_for_notes", &notes::list_eligible_posts)
        .summary("Posts that the authenticated user may write a note on.")
        .permit("12", SEE)
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(90)])
        .params(&[
            &[
                TEST_MODE,
                Parameter::query(
                    "post_selection",
                    Kind::text(1, 256),
                    "Selects posts, such as `feed_size: small, feed_lang: en`.",
                ),
            ],
            &page_params(1, 100, 10),
            POST_FIELDS,
        ]),
    Endpoint::get("searchCommunityNotesWritten", "/2/notes/search/notes_written", &notes::list_written)
        .summary("Notes that the authenticated user wrote.")
        .permit("12", SEE)
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(90)])
        .params(&[
            &[TEST_MODE, object_fields_param("note.fields", &FieldNames(ObjectKind::NOTE))],
            &page_params(1, 100, 10),
        ]),
    Endpoint::post("createCommunityNotes", "/2/notes", &notes::create)
        .summary("Writes a note on a post as the authenticated user.")
        .permit("12", WRITE)
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(90), per_day(250)])
        .body(BodySpec::Json(&[
            POST_ID,
            Parameter::member("test_mode", Kind::BOOL).as_required(),
            Parameter::member("info", Kind::object(INFO)).as_required(),
        ]))
        .creates(),
    Endpoint::post("evaluateCommunityNotes", "/2/notes/evaluate", &notes::evaluate)
        .aliases(&["/2/evaluate_note"])
        .summary("Scores a note before it is submitted.")
        .permit("12", WRITE)
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(90)])
        .body(BodySpec::Json(&[POST_ID, Parameter::member("note_text", Kind::text(0, MAX_TEXT)).as_required()])),
    Endpoint::delete("deleteCommunityNotes", "/2/notes/{id}", &notes::delete)
        .summary("Deletes a note of the authenticated user.")
        .permit("12", WRITE)
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(90)])
        .params(&[&[Parameter::path_id("id", "The id of the note.")]]),
];

const SEE: Scopes = Scopes::from_slice(&[Scope::TweetRead]);
const WRITE: Scopes = Scopes::from_slice(&[Scope::TweetWrite]);

const TEST_MODE: Parameter =
    Parameter::query("test_mode", Kind::BOOL, "Whether to use the test pool instead of the public one.").as_required();

const INFO: &[Parameter] = &[
    Parameter::member("text", Kind::text(0, MAX_TEXT)).as_required(),
    Parameter::member("classification", Kind::one_of(&["misinformed_or_potentially_misleading", "not_misleading"]))
        .as_required(),
    Parameter::member(
        "misleading_tags",
        Kind::one_of(&[
            "disputed_claim_as_fact",
            "factual_error",
            "manipulated_media",
            "misinterpreted_satire",
            "missing_important_context",
            "other",
            "outdated_information",
        ])
        .list(0, 7),
    ),
    Parameter::member("trustworthy_sources", Kind::BOOL).as_required(),
    Parameter::member("is_media_note", Kind::BOOL),
];
