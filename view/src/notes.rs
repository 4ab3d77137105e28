//! Community notes: their fields.

use crate::shown::{Json, Member, Shown};

const STATUSES: &[&str] = &[
    "currently_rated_helpful",
    "currently_rated_not_helpful",
    "firm_reject",
    "insufficient_consensus",
    "minimum_ratings_not_met",
    "needs_more_ratings",
    "needs_your_help",
];

const OUTCOME: Json = Json::Object(&[
    Member::new("evaluator_type", Json::Text),
    Member::new("evaluator_score_bucket", Json::Text),
]);

pub(crate) const FIELDS: &[Shown] = &[
    Shown::always("id", Json::Id, "Id of the note."),
    Shown::always(
        "info",
        Json::Object(&[
            Member::new("text", Json::Text),
            Member::new("classification", Json::Text),
            Member::new("misleading_tags", Json::List(&Json::Text)),
            Member::new("post_id", Json::Id),
            Member::new("trustworthy_sources", Json::Bool),
            Member::new("rating_status", Json::OneOf(STATUSES)),
        ]),
        "What it says.",
    ),
    Shown::asked("status", Json::OneOf(STATUSES), "How it is rated."),
    Shown::asked(
        "scoring_status",
        Json::Object(&[
            Member::new("has_access", Json::Bool),
            Member::new("rating_counts_per_model", Json::List(&Json::Any)),
        ]),
        "How it was rated.",
    ),
    Shown::asked(
        "test_result",
        Json::Object(&[Member::new("evaluation_outcome", Json::List(&OUTCOME))]),
        "How a machine judges it.",
    ),
];
