//! What an app was given: its fields, and an answer of it.

use base::{Time, VocabularyWord};

use crate::out::Out;
use crate::shown::{Json, Member, Shown, Write};
use crate::{Answer, Object, Spoken, Wants};

/// What an app was given. Every app is a project of its own.
#[derive(Clone, Debug)]
pub struct UsageShown {
    /// The app.
    pub app: i64,
    /// The most in a month.
    pub cap: i64,
    /// Since the month began.
    pub this_month: i64,
    /// Day of the month on which counting starts anew.
    pub reset_day: i64,
    /// Day by day.
    pub days: Vec<(Time, i64)>,
}

/// What an app was given; `data` is an object.
pub fn usage(shown: &UsageShown, wants: &Wants, spoken: Spoken) -> Answer {
    let mask = wants.of_included(Object::Usage);
    let mut out = Out::new(spoken, 512);
    out.record(USAGE_FIELDS, mask, |out, write| {
        if let Write::Usage(write) = write {
            write(out, shown);
        }
    });
    Answer {
        data: out.finish(),
        count: 1,
        ..Answer::default()
    }
}

// Figures are texts here, as in the contract.
const DAY: Json = Json::Object(&[
    Member::new("date", Json::Time),
    Member::new("usage", Json::Text),
]);

const APP_DAYS: Json = Json::Object(&[
    Member::new("client_app_id", Json::Id),
    Member::new("usage", Json::List(&DAY)),
    Member::new("usage_result_count", Json::Int),
]);

pub(crate) const USAGE_FIELDS: &[Shown] = &[
    Shown::always(
        "cap_reset_day",
        Json::Int,
        "Day of the month on which counting starts anew.",
    )
    .usage(|out, shown| out.int(shown.reset_day)),
    Shown::always(
        "daily_client_app_usage",
        Json::List(&APP_DAYS),
        "Posts a day by app.",
    )
    .usage(|out, shown| out.array([shown], app)),
    Shown::always(
        "daily_project_usage",
        Json::Object(&[
            Member::new("project_id", Json::Id),
            Member::new("usage", Json::List(&DAY)),
        ]),
        "Posts a day.",
    )
    .usage(|out, shown| {
        out.object(|out| {
            out.member(VocabularyWord::same_in_both("project_id"), |out| {
                out.id(shown.app)
            });
            out.member(VocabularyWord::same_in_both("usage"), |out| {
                days(out, shown)
            });
        });
    }),
    Shown::always("project_cap", Json::Text, "The most in a month.")
        .usage(|out, shown| out.id(shown.cap)),
    Shown::always("project_id", Json::Id, "Id of the project.")
        .usage(|out, shown| out.id(shown.app)),
    Shown::always("project_usage", Json::Text, "Posts this month.")
        .usage(|out, shown| out.id(shown.this_month)),
];

fn app(out: &mut Out, shown: &UsageShown) {
    let count = i64::try_from(shown.days.len()).unwrap_or(0);
    out.object(|out| {
        out.member(VocabularyWord::same_in_both("client_app_id"), |out| {
            out.id(shown.app)
        });
        out.member(VocabularyWord::same_in_both("usage"), |out| {
            days(out, shown)
        });
        out.member(VocabularyWord::same_in_both("usage_result_count"), |out| {
            out.int(count)
        });
    });
}

fn days(out: &mut Out, shown: &UsageShown) {
    out.array(&shown.days, |out, (date, usage)| {
        out.object(|out| {
            out.member(VocabularyWord::same_in_both("date"), |out| out.time(*date));
            out.member(VocabularyWord::same_in_both("usage"), |out| out.id(*usage));
        });
    });
}
