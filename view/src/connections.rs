//! Connections to streams, and how many rules there are: their fields, and answers of them.

use base::{Time, VocabularyWord};

use crate::out::Out;
use crate::shown::{Json, Member, Shown, Write};
use crate::{Answer, Object, Spoken, Wants};

/// A connection to a stream.
#[derive(Clone, Debug)]
pub struct ConnectionShown {
    /// Its name.
    pub uuid: String,
    /// What it is connected to.
    pub endpoint: String,
    /// When it began.
    pub connected_at: Time,
    /// When it ended, if it has.
    pub disconnected_at: Option<Time>,
    /// Why it ended; empty while it is open.
    pub reason: String,
    /// Where it came from, or empty.
    pub client: String,
}

/// How many rules an app has and may have. Every app is a project of its own.
#[derive(Clone, Copy, Debug)]
pub struct RulesShown {
    /// The app.
    pub app: i64,
    /// How many it has.
    pub count: i64,
    /// How many it may have.
    pub most: i64,
}

/// A page of connections.
pub fn connections(shown: &[ConnectionShown], wants: &Wants, spoken: Spoken) -> Answer {
    let mask = wants.of_root() | wants.of_included(Object::Connection);
    let mut out = Out::new(spoken, shown.len() * 256);
    if !shown.is_empty() {
        out.array(shown, |out, one| {
            out.record(CONNECTION_FIELDS, mask, |out, write| {
                if let Write::Connection(write) = write {
                    write(out, one);
                }
            });
        });
    }
    Answer {
        data: out.finish(),
        count: shown.len(),
        ..Answer::default()
    }
}

/// How many rules there are; `data` is an object.
pub fn rules_count(shown: RulesShown, wants: &Wants, spoken: Spoken) -> Answer {
    let mask = wants.of_included(Object::RulesCount);
    let mut out = Out::new(spoken, 256);
    out.record(RULES_COUNT_FIELDS, mask, |out, write| {
        if let Write::Rules(write) = write {
            write(out, shown);
        }
    });
    Answer {
        data: out.finish(),
        count: 1,
        ..Answer::default()
    }
}

pub(crate) const CONNECTION_FIELDS: &[Shown] = &[
    Shown::always("id", Json::Text, "Id of the connection.")
        .connection(|out, one| out.text(&one.uuid)),
    Shown::always("endpoint_name", Json::Text, "What it is connected to.")
        .connection(|out, one| out.text(&one.endpoint)),
    Shown::always("connected_at", Json::Time, "When it began.")
        .connection(|out, one| out.time(one.connected_at)),
    Shown::always("disconnected_at", Json::Time, "When it ended.").connection(|out, one| {
        if let Some(at) = one.disconnected_at {
            out.time(at);
        }
    }),
    Shown::always("disconnect_reason", Json::Text, "Why it ended.")
        .connection(|out, one| out.text(&one.reason)),
    Shown::always("client_ip", Json::Text, "Where it came from.")
        .connection(|out, one| out.text(&one.client)),
];

const APP_RULES: Json = Json::Object(&[
    Member::new("client_app_id", Json::Id),
    Member::new("rule_count", Json::Int),
]);

// Figures are texts here: the public library of the newer document reads nothing else.
pub(crate) const RULES_COUNT_FIELDS: &[Shown] = &[
    Shown::always(
        "all_project_client_apps",
        Json::List(&APP_RULES),
        "Rules by app.",
    )
    .rules(|out, shown| out.array([shown], of_app)),
    Shown::always("cap_per_client_app", Json::Text, "The most for an app.")
        .rules(|out, shown| out.id(shown.most)),
    Shown::always("cap_per_project", Json::Text, "The most for a project.")
        .rules(|out, shown| out.id(shown.most)),
    Shown::always("client_app_rules_count", APP_RULES, "Rules of this app.").rules(of_app),
    Shown::always("project_rules_count", Json::Text, "Rules of the project.")
        .rules(|out, shown| out.id(shown.count)),
];

fn of_app(out: &mut Out, shown: RulesShown) {
    out.object(|out| {
        out.member(VocabularyWord::same_in_both("client_app_id"), |out| {
            out.id(shown.app)
        });
        out.member(VocabularyWord::same_in_both("rule_count"), |out| {
            out.int(shown.count)
        });
    });
}
