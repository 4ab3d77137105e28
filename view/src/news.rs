//! News stories: their fields.

use crate::shown::{Json, Member, Shown};

const TEXTS: Json = Json::List(&Json::Text);

const CONTEXTS: &[Member] = &[
    Member::new("topics", TEXTS),
    Member::new(
        "entities",
        Json::Object(&[
            Member::new("events", TEXTS),
            Member::new("organizations", TEXTS),
            Member::new("people", TEXTS),
            Member::new("places", TEXTS),
            Member::new("products", TEXTS),
        ]),
    ),
    Member::new("finance", Json::Object(&[Member::new("tickers", TEXTS)])),
    Member::new("sports", Json::Object(&[Member::new("teams", TEXTS)])),
];

const CLUSTER_POST: Json = Json::Object(&[Member::new("post_id", Json::Id)]);

pub(crate) const FIELDS: &[Shown] = &[
    Shown::always("id", Json::Id, "Id of the story.").tweet("rest_id"),
    Shown::always("name", Json::Text, "Its headline."),
    Shown::asked("category", Json::Text, "Its category."),
    Shown::asked(
        "cluster_posts_results",
        Json::List(&CLUSTER_POST),
        "Posts that it is made from.",
    ),
    Shown::asked("contexts", Json::Object(CONTEXTS), "What it is about."),
    Shown::asked("disclaimer", Json::Text, "A word of caution."),
    Shown::asked("hook", Json::Text, "Its first sentence."),
    Shown::asked("keywords", TEXTS, "Its keywords."),
    Shown::asked("summary", Json::Text, "What happened."),
    Shown::asked("updated_at", Json::Time, "When it last changed.").tweet("last_updated_at_ms"),
];
