//! The developer portal: pages for people, not operations of the public contract.

use super::shared::ANY_LENGTH;
use crate::endpoint::{Accent, Body, Endpoint, Kind, Member, Param, Shape, Window, quarter};
use crate::portal::{
    apps, callbacks, console, keys, live, mailbox, manager, signature, stream, usage, webhooks,
};

/// A developer's apps.
pub static PORTAL: &[Endpoint] = &[
    page("developerStart", "GET", "/developer")
        .act(apps::start)
        .about("Leads to the developer's apps."),
    page("developerApps", "GET", "/developer/apps")
        .act(apps::list)
        .about("The developer's apps."),
    page("developerNewApp", "GET", "/developer/apps/new")
        .act(apps::blank)
        .about("The form that registers an app."),
    page("developerCreateApp", "POST", "/developer/apps")
        .act(apps::create)
        .about("Registers an app and shows its keys this once.")
        .body(APP),
    page("developerApp", "GET", "/developer/apps/{id}")
        .act(apps::settings)
        .about("The settings of an app.")
        .params(&[ID]),
    page("developerSaveApp", "POST", "/developer/apps/{id}")
        .act(apps::save)
        .about("Changes the settings of an app.")
        .params(&[ID])
        .body(APP),
    page("developerKeys", "GET", "/developer/apps/{id}/keys")
        .act(keys::list)
        .about("An app's credentials, without what is secret.")
        .params(&[ID]),
    page("developerAskKey", "GET", REGENERATE)
        .act(keys::ask)
        .about("Asks before a credential is made anew.")
        .params(&[ID, KIND]),
    page("developerMakeKey", "POST", REGENERATE)
        .act(keys::regenerate)
        .about("Makes a credential anew and shows it this once.")
        .params(&[ID, KIND])
        .body(NOTHING),
    page("developerCallbacks", "GET", CALLBACKS)
        .act(callbacks::ask)
        .about("The form that tests a callback address.")
        .params(&[ID]),
    page("developerTestCallback", "POST", CALLBACKS)
        .act(callbacks::test)
        .about("Says whether a callback address would be accepted.")
        .params(&[ID])
        .body(Body::Form(&[CSRF, Member::new("url", WORDS)])),
    page("developerStream", "GET", STREAM)
        .act(stream::list)
        .about("The rules of an app's filtered stream.")
        .params(&[ID]),
    page("developerSendRule", "POST", STREAM)
        .act(stream::send)
        .about("Tries a rule on stored posts, or adds it.")
        .params(&[ID])
        .body(Body::Form(&[
            CSRF,
            Member::new("value", WORDS),
            Member::new("tag", WORDS),
            Member::new("do", WORDS),
        ])),
    page(
        "developerDeleteRule",
        "POST",
        "/developer/apps/{id}/stream/delete",
    )
    .act(stream::delete)
    .about("Deletes a rule.")
    .params(&[ID])
    .body(Body::Form(&[CSRF, Member::new("rule", WORDS)])),
    page("developerLive", "GET", "/developer/apps/{id}/stream/live")
        .act(live::show)
        .about("Shows what comes on an app's filtered stream.")
        .params(&[ID]),
    page(
        "developerEvents",
        "GET",
        "/developer/apps/{id}/stream/events",
    )
    .act(live::events)
    .about("An app's filtered stream, for its owner in a browser.")
    .params(&[ID]),
    page("developerWebhooks", "GET", WEBHOOKS)
        .act(webhooks::show)
        .about("An app's webhooks, their challenges and their deliveries.")
        .params(&[ID]),
    page("developerActOnWebhook", "POST", WEBHOOKS)
        .act(webhooks::act)
        .about("Challenges a receiver, or sends something to it again.")
        .params(&[ID])
        .body(Body::Form(&[
            CSRF,
            Member::new("act", WORDS),
            Member::new("webhook", WORDS),
            Member::new("delivery", WORDS),
            Member::new("from", WORDS),
            Member::new("to", WORDS),
        ])),
    page("developerUsage", "GET", "/developer/apps/{id}/usage")
        .act(usage::show)
        .about("What an app has used of its limits.")
        .params(&[ID]),
    page("developerAskDelete", "GET", DELETE)
        .act(apps::ask_end)
        .about("Asks before an app is deleted.")
        .params(&[ID]),
    page("developerDeleteApp", "POST", DELETE)
        .act(apps::end)
        .about("Deletes an app whose name was typed.")
        .params(&[ID])
        .body(Body::Form(&[CSRF, Member::new("name", WORDS)])),
    page("developerSearch", "GET", "/developer/search")
        .act(console::ask)
        .about("The form that takes a query apart."),
    page("developerLook", "POST", "/developer/search")
        .act(console::answer)
        .about("Says how a query is read, what it finds, and why a post meets it or not.")
        .body(Body::Form(&[
            CSRF,
            Member::new("query", WORDS),
            Member::new("product", WORDS),
            Member::new("post", WORDS),
        ])),
];

/// The Ads Manager.
pub static MANAGER: &[Endpoint] = &[
    page("adsManager", "GET", "/ads")
        .act(manager::choose)
        .about("The advertising accounts that a person has a role on."),
    page("adsManagerAccount", "GET", "/ads/{account}")
        .act(manager::show)
        .about("An advertising account's campaigns.")
        .params(&[&[ACCOUNT]]),
    page("adsManagerPart", "GET", "/ads/{account}/{part}")
        .act(manager::show)
        .about("A part of an advertising account.")
        .params(&[&[ACCOUNT, PART]]),
    page("adsManagerOne", "GET", ONE)
        .act(manager::show)
        .about("One thing of an advertising account.")
        .params(&[&[ACCOUNT, PART, ENTITY]]),
    page("adsManagerMake", "POST", ONE)
        .act(manager::act)
        .about("Makes something in an advertising account.")
        .params(&[&[ACCOUNT, PART, ENTITY]])
        .body(ADS),
    page("adsManagerForm", "GET", FORM)
        .act(manager::show)
        .about("A form that changes something of an advertising account.")
        .params(&[&[ACCOUNT, PART, ENTITY, ACT]]),
    page("adsManagerAct", "POST", FORM)
        .act(manager::act)
        .about("Changes something of an advertising account.")
        .params(&[&[ACCOUNT, PART, ENTITY, ACT]])
        .body(ADS),
];

const ONE: &str = "/ads/{account}/{part}/{id}";
const FORM: &str = "/ads/{account}/{part}/{id}/{act}";
const ACCOUNT: Param = Param::path("account", TEXT, "The advertising account.");
const PART: Param = Param::path("part", TEXT, "Which part of it.");
const ENTITY: Param = Param::path("id", TEXT, "The id.");
const ACT: Param = Param::path("act", TEXT, "What is done.");

/// Pages that a development world has and no other.
pub static DEVELOPMENT: &[Endpoint] = &[
    page("developerExplainer", "GET", "/developer/explain")
        .act(signature::ask)
        .about("The form that explains a signature."),
    page("developerExplain", "POST", "/developer/explain")
        .act(signature::answer)
        .about("Says why a signature holds or does not.")
        .body(Body::Form(&[
            CSRF,
            Member::new("method", WORDS),
            Member::new("url", WORDS),
            Member::new("authorization", WORDS),
            Member::new("body", WORDS),
            Member::new("base_string", WORDS),
        ])),
    page("webhookSinkChallenge", "GET", SINK)
        .act(webhooks::answer)
        .about("The built-in receiver answers a challenge.")
        .params(&[ID, CHALLENGE]),
    page("webhookSink", "POST", SINK)
        .act(webhooks::take)
        .about("The built-in receiver takes everything.")
        .params(&[ID]),
    page("developerMailbox", "GET", "/mailbox")
        .act(mailbox::list)
        .about("Letters that a real server would have sent."),
    page("developerLetter", "GET", "/mailbox/{id}")
        .act(mailbox::letter)
        .about("One of these letters.")
        .params(&[ID]),
];

const REGENERATE: &str = "/developer/apps/{id}/keys/{kind}/regenerate";
const CALLBACKS: &str = "/developer/apps/{id}/callbacks";
const STREAM: &str = "/developer/apps/{id}/stream";
const WEBHOOKS: &str = "/developer/apps/{id}/webhooks";
const SINK: &str = "/webhook-sink/{id}";
const DELETE: &str = "/developer/apps/{id}/delete";
const TEXT: Kind = Kind::Text(0, ANY_LENGTH);
const WORDS: Shape = Shape::Text(0, ANY_LENGTH);
const PER_ADDRESS: &[Window] = &[quarter(500)];
const CSRF: Member = Member::new("csrf", WORDS);
const NOTHING: Body = Body::Form(&[CSRF]);
/// What is no id is not found, as any other that is not there.
const ID: &[Param] = &[Param::path("id", TEXT, "The id.")];
const CHALLENGE: &[Param] = &[
    Param::query("crc_token", TEXT, "What is to be signed."),
    Param::query("nonce", TEXT, "Random."),
];
const KIND: &[Param] = &[Param::path("kind", TEXT, "Which credential.")];

const APP: Body = Body::Form(&[
    CSRF,
    Member::new("name", WORDS),
    Member::new("description", WORDS),
    Member::new("website", WORDS),
    Member::new("kind", WORDS),
    Member::new("permission", WORDS),
    Member::new("callbacks", WORDS),
    Member::new("sign_in", WORDS),
    Member::new("email", WORDS),
]);

/// What any form of the Ads Manager may send: some send a file, as parts.
const ADS: Body = Body::Parts(&[
    CSRF,
    Member::new("next", WORDS),
    Member::new("account_media_id", WORDS),
    Member::new("advertiser_domain", WORDS),
    Member::new("android_app_store_identifier", WORDS),
    Member::new("audience", WORDS),
    Member::new("bid_amount_local_micro", WORDS),
    Member::new("bid_strategy", WORDS),
    Member::new("budget_optimization", WORDS),
    Member::new("call_to_action", WORDS),
    Member::new("call_to_action_url", WORDS),
    Member::new("card_uri", WORDS),
    Member::new("categories", WORDS),
    Member::new("composes", WORDS),
    Member::new("country_code", WORDS),
    Member::new("curated_category_id", WORDS),
    Member::new("daily_budget_amount_local_micro", WORDS),
    Member::new("description", WORDS),
    Member::new("duration_in_days", WORDS),
    Member::new("duration_in_minutes", WORDS),
    Member::new("end_time", WORDS),
    Member::new("entity_status", WORDS),
    Member::new("first_choice", WORDS),
    Member::new("first_cta", WORDS),
    Member::new("first_cta_post", WORDS),
    Member::new("fourth_choice", WORDS),
    Member::new("fourth_cta", WORDS),
    Member::new("fourth_cta_post", WORDS),
    Member::new("frequency_cap", WORDS),
    Member::new("funding_instrument_id", WORDS),
    Member::new("goal", WORDS),
    Member::new("googleplay_app_id", WORDS),
    Member::new("googleplay_deep_link", WORDS),
    Member::new("granted_account_id", WORDS),
    Member::new("identifier", WORDS),
    Member::new("ios_app_store_identifier", WORDS),
    Member::new("ios_deep_link", WORDS),
    Member::new("label", WORDS),
    Member::new("landing_url", WORDS),
    Member::new("list", WORDS),
    Member::new("media", WORDS),
    Member::new("media_1", WORDS),
    Member::new("media_2", WORDS),
    Member::new("media_3", WORDS),
    Member::new("media_4", WORDS),
    Member::new("media_category", WORDS),
    Member::new("media_key", WORDS),
    Member::new("name", WORDS),
    Member::new("nullcast", WORDS),
    Member::new("objective", WORDS),
    Member::new("operation_type", WORDS),
    Member::new("operator_type", WORDS),
    Member::new("pay_by", WORDS),
    Member::new("permission_id", WORDS),
    Member::new("permission_level", WORDS),
    Member::new("pick", WORDS),
    Member::new("placements", WORDS),
    Member::new("post_ids", WORDS),
    Member::new("poster_media_key", WORDS),
    Member::new("primary_web_event_tag", WORDS),
    Member::new("product_type", WORDS),
    Member::new("purchase_order_number", WORDS),
    Member::new("role", WORDS),
    Member::new("scheduled_at", WORDS),
    Member::new("scheduled_post_id", WORDS),
    Member::new("second_choice", WORDS),
    Member::new("second_cta", WORDS),
    Member::new("second_cta_post", WORDS),
    Member::new("standard_delivery", WORDS),
    Member::new("start_time", WORDS),
    Member::new("targeting_type", WORDS),
    Member::new("targeting_value", WORDS),
    Member::new("text", WORDS),
    Member::new("thank_you_text", WORDS),
    Member::new("thank_you_url", WORDS),
    Member::new("third_choice", WORDS),
    Member::new("third_cta", WORDS),
    Member::new("third_cta_post", WORDS),
    Member::new("title", WORDS),
    Member::new("total_budget_amount_local_micro", WORDS),
    Member::new("tracking_tag_type", WORDS),
    Member::new("tracking_tag_url", WORDS),
    Member::new("user_id", WORDS),
    Member::new("username", WORDS),
    Member::new("website_url", WORDS),
]);

/// A page: who may see it is the session's to say.
const fn page(id: &'static str, method: &'static str, path: &'static str) -> Endpoint {
    Endpoint::new(id, method, path)
        .open()
        .limits(PER_ADDRESS, &[])
        .accent(Accent::Page)
}
