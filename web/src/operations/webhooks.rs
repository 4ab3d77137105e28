//! Webhooks.

use base::Scopes;

use super::shared::{WEBHOOK, plain_fields};
use crate::endpoint::{Body, Endpoint, Kind, Member, Param, Shape, quarter};
use crate::v2;

/// Webhooks, registered, checked, removed and replayed to.
pub static WEBHOOKS: &[Endpoint] = &[
    Endpoint::new("createWebhooks", "POST", "/2/webhooks")
        .about("Registers a webhook after checking that it answers the challenge.")
        .permit("1A", Scopes::NONE)
        .limits(&[quarter(450)], &[quarter(450)])
        .body(Body::Json(&[
            Member::new("url", Shape::Text(1, 200)).required()
        ]))
        .act(v2::webhooks::create),
    Endpoint::new("getWebhooks", "GET", "/2/webhooks")
        .about("The app's webhooks.")
        .permit("A", Scopes::NONE)
        .limits(&[quarter(450)], &[])
        .params(&[&[plain_fields(
            "webhook_config.fields",
            &["created_at", "id", "url", "valid"],
        )]])
        .act(v2::webhooks::list),
    Endpoint::new("validateWebhooks", "PUT", "/2/webhooks/{webhook_id}")
        .about("Challenges a webhook now and enables it again if it answers.")
        .permit("1A", Scopes::NONE)
        .limits(&[quarter(450)], &[quarter(450)])
        .params(&[WEBHOOK])
        .act(v2::webhooks::validate),
    Endpoint::new("deleteWebhooks", "DELETE", "/2/webhooks/{webhook_id}")
        .about("Removes a webhook with its links and subscriptions.")
        .permit("1A", Scopes::NONE)
        .limits(&[quarter(450)], &[quarter(450)])
        .params(&[WEBHOOK])
        .act(v2::webhooks::delete),
    Endpoint::new("createWebhookReplayJob", "POST", "/2/webhooks/replay")
        .about("Sends the events of a past span to a webhook again.")
        .permit("A", Scopes::NONE)
        .limits(&[quarter(100)], &[])
        .body(Body::Json(&[
            Member::new("webhook_id", Shape::Id).required(),
            FROM,
            TO,
        ]))
        .act(v2::webhooks::replay),
    // The dates may stand in the query or in the body, so that neither is required in either.
    Endpoint::new(
        "createAccountActivityReplayJob",
        "POST",
        "/2/account_activity/replay/webhooks/{webhook_id}/subscriptions/all",
    )
    .about("Deprecated; does what `POST /2/webhooks/replay` does.")
    .permit("A", Scopes::NONE)
    .limits(&[quarter(100)], &[])
    .params(&[
        WEBHOOK,
        &[
            Param::query(
                "from_date",
                Kind::Text(0, 200),
                "The first minute, `yyyymmddHHMM`, included.",
            ),
            Param::query(
                "to_date",
                Kind::Text(0, 200),
                "The last minute, `yyyymmddHHMM`, excluded.",
            ),
        ],
    ])
    .body(Body::Json(&[
        Member::new("from_date", Shape::Text(0, 200)),
        Member::new("to_date", Shape::Text(0, 200)),
    ]))
    .act(v2::webhooks::replay_older),
];

const FROM: Member = Member::new("from_date", Shape::Text(0, 200)).required();
const TO: Member = Member::new("to_date", Shape::Text(0, 200)).required();
