//! Webhooks.

use base::Scopes;
use web::endpoint::{BodySpec, Endpoint, Kind, Parameter, per_quarter_hour};

use super::shared::{WEBHOOK, app_endpoint, plain_fields_param};
use crate::v2::webhooks;

pub static WEBHOOKS: &[Endpoint] = &[
    Endpoint::post("createWebhooks", "/2/webhooks", &webhooks::create)
        .summary("Registers a webhook once it has passed the challenge.")
        .permit("1A", Scopes::NONE)
        .limits(&[per_quarter_hour(450)], &[per_quarter_hour(450)])
        .body(BodySpec::Json(&[Parameter::member("url", Kind::text(1, 200)).as_required()])),
    app_endpoint("getWebhooks", "GET", "/2/webhooks", &webhooks::list)
        .summary("The app's webhooks.")
        .limits(&[per_quarter_hour(450)], &[])
        .params(&[&[plain_fields_param("webhook_config.fields", &["created_at", "id", "url", "valid"])]]),
    Endpoint::put("validateWebhooks", "/2/webhooks/{webhook_id}", &webhooks::validate)
        .summary("Challenges a webhook and re-enables it if it passes.")
        .permit("1A", Scopes::NONE)
        .limits(&[per_quarter_hour(450)], &[per_quarter_hour(450)])
        .params(&[WEBHOOK]),
    Endpoint::delete("deleteWebhooks", "/2/webhooks/{webhook_id}", &webhooks::delete)
        .summary("Removes a webhook with its links and subscriptions.")
        .permit("1A", Scopes::NONE)
        .limits(&[per_quarter_hour(450)], &[per_quarter_hour(450)])
        .params(&[WEBHOOK]),
    app_endpoint("createWebhookReplayJob", "POST", "/2/webhooks/replay", &webhooks::start_replay_job)
        .summary("Replays the events of a time range to a webhook.")
        .limits(&[per_quarter_hour(100)], &[])
        .body(BodySpec::Json(&[Parameter::member("webhook_id", Kind::ID).as_required(), FROM, TO])),
    // The dates may be in the query or in the body, so neither requires them.
    app_endpoint(
        "createAccountActivityReplayJob",
        "POST",
        "/2/account_activity/replay/webhooks/{webhook_id}/subscriptions/all",
        &webhooks::start_replay_job_deprecated,
    )
    .summary("Deprecated; use `POST /2/webhooks/replay`.")
    .deprecated()
    .limits(&[per_quarter_hour(100)], &[])
    .params(&[
        WEBHOOK,
        &[
            Parameter::query("from_date", Kind::text(0, 200), "The first minute, `yyyymmddHHMM`, inclusive."),
            Parameter::query("to_date", Kind::text(0, 200), "The last minute, `yyyymmddHHMM`, exclusive."),
        ],
    ])
    .body(BodySpec::Json(&[
        Parameter::member("from_date", Kind::text(0, 200)),
        Parameter::member("to_date", Kind::text(0, 200)),
    ])),
];

const FROM: Parameter = Parameter::member("from_date", Kind::text(0, 200)).as_required();
const TO: Parameter = Parameter::member("to_date", Kind::text(0, 200)).as_required();
