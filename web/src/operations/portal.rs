//! The developer portal: pages for people, not operations of the public contract.

use super::shared::ANY_LENGTH;
use crate::endpoint::{
    BodyMember, BodySpec, Endpoint, EndpointParam, ErrorFormat, MemberShape, ParamType, RateWindow, per_quarter_hour,
};
use crate::portal::{
    apps, callbacks, keys, live, mailbox, manager, search_console, signature, stream, usage, webhooks,
};

/// A developer's apps.
pub static PORTAL: &[Endpoint] = &[
    portal_page("developerStart", "GET", "/developer")
        .handler(apps::redirect_to_apps)
        .summary("Leads to the developer's apps."),
    portal_page("developerApps", "GET", "/developer/apps")
        .handler(apps::list)
        .summary("The developer's apps."),
    portal_page("developerNewApp", "GET", "/developer/apps/new")
        .handler(apps::show_new_app)
        .summary("The form that registers an app."),
    portal_page("developerCreateApp", "POST", "/developer/apps")
        .handler(apps::create)
        .summary("Registers an app and shows its keys this once.")
        .body(APP),
    portal_page("developerApp", "GET", "/developer/apps/{id}")
        .handler(apps::show_settings)
        .summary("The settings of an app.")
        .params(&[ID]),
    portal_page("developerSaveApp", "POST", "/developer/apps/{id}")
        .handler(apps::save_settings)
        .summary("Changes the settings of an app.")
        .params(&[ID])
        .body(APP),
    portal_page("developerKeys", "GET", "/developer/apps/{id}/keys")
        .handler(keys::list)
        .summary("An app's credentials, without what is secret.")
        .params(&[ID]),
    portal_page("developerAskKey", "GET", REGENERATE)
        .handler(keys::show_regenerate)
        .summary("Asks before a credential is made anew.")
        .params(&[ID, KIND]),
    portal_page("developerMakeKey", "POST", REGENERATE)
        .handler(keys::regenerate)
        .summary("Makes a credential anew and shows it this once.")
        .params(&[ID, KIND])
        .body(NOTHING),
    portal_page("developerCallbacks", "GET", CALLBACKS)
        .handler(callbacks::show_tester)
        .summary("The form that tests a callback address.")
        .params(&[ID]),
    portal_page("developerTestCallback", "POST", CALLBACKS)
        .handler(callbacks::test)
        .summary("Says whether a callback address would be accepted.")
        .params(&[ID])
        .body(BodySpec::Form(&[CSRF, BodyMember::new("url", WORDS)])),
    portal_page("developerStream", "GET", STREAM)
        .handler(stream::list)
        .summary("The rules of an app's filtered stream.")
        .params(&[ID]),
    portal_page("developerSendRule", "POST", STREAM)
        .handler(stream::submit_rule)
        .summary("Tries a rule on stored posts, or adds it.")
        .params(&[ID])
        .body(BodySpec::Form(&[
            CSRF,
            BodyMember::new("value", WORDS),
            BodyMember::new("tag", WORDS),
            BodyMember::new("do", WORDS),
        ])),
    portal_page("developerDeleteRule", "POST", "/developer/apps/{id}/stream/delete")
        .handler(stream::delete)
        .summary("Deletes a rule.")
        .params(&[ID])
        .body(BodySpec::Form(&[CSRF, BodyMember::new("rule", WORDS)])),
    portal_page("developerLive", "GET", "/developer/apps/{id}/stream/live")
        .handler(live::show)
        .summary("Shows what comes on an app's filtered stream.")
        .params(&[ID]),
    portal_page("developerEvents", "GET", "/developer/apps/{id}/stream/events")
        .handler(live::events)
        .summary("An app's filtered stream, for its owner in a browser.")
        .params(&[ID]),
    portal_page("developerWebhooks", "GET", WEBHOOKS)
        .handler(webhooks::show)
        .summary("An app's webhooks, their challenges and their deliveries.")
        .params(&[ID]),
    portal_page("developerActOnWebhook", "POST", WEBHOOKS)
        .handler(webhooks::submit_action)
        .summary("Challenges a receiver, or sends something to it again.")
        .params(&[ID])
        .body(BodySpec::Form(&[
            CSRF,
            BodyMember::new("act", WORDS),
            BodyMember::new("webhook", WORDS),
            BodyMember::new("delivery", WORDS),
            BodyMember::new("from", WORDS),
            BodyMember::new("to", WORDS),
        ])),
    portal_page("developerUsage", "GET", "/developer/apps/{id}/usage")
        .handler(usage::show)
        .summary("What an app has used of its limits.")
        .params(&[ID]),
    portal_page("developerAskDelete", "GET", DELETE)
        .handler(apps::show_delete)
        .summary("Asks before an app is deleted.")
        .params(&[ID]),
    portal_page("developerDeleteApp", "POST", DELETE)
        .handler(apps::delete)
        .summary("Deletes an app whose name was typed.")
        .params(&[ID])
        .body(BodySpec::Form(&[CSRF, BodyMember::new("name", WORDS)])),
    portal_page("developerSearch", "GET", "/developer/search")
        .handler(search_console::show_console)
        .summary("The form that takes a query apart."),
    portal_page("developerLook", "POST", "/developer/search")
        .handler(search_console::run_query)
        .summary("Says how a query is read, what it finds, and why a post meets it or not.")
        .body(BodySpec::Form(&[
            CSRF,
            BodyMember::new("query", WORDS),
            BodyMember::new("product", WORDS),
            BodyMember::new("post", WORDS),
        ])),
];

/// The Ads Manager.
pub static MANAGER: &[Endpoint] = &[
    portal_page("adsManager", "GET", "/ads")
        .handler(manager::choose_account)
        .summary("The advertising accounts that a person has a role on."),
    portal_page("adsManagerAccount", "GET", "/ads/{account}")
        .handler(manager::show_page)
        .summary("An advertising account's campaigns.")
        .params(&[&[ACCOUNT]]),
    portal_page("adsManagerPart", "GET", "/ads/{account}/{part}")
        .handler(manager::show_page)
        .summary("A part of an advertising account.")
        .params(&[&[ACCOUNT, PART]]),
    portal_page("adsManagerOne", "GET", ONE)
        .handler(manager::show_page)
        .summary("One thing of an advertising account.")
        .params(&[&[ACCOUNT, PART, ENTITY]]),
    portal_page("adsManagerMake", "POST", ONE)
        .handler(manager::submit_form)
        .summary("Makes something in an advertising account.")
        .params(&[&[ACCOUNT, PART, ENTITY]])
        .body(ADS),
    portal_page("adsManagerForm", "GET", FORM)
        .handler(manager::show_page)
        .summary("A form that changes something of an advertising account.")
        .params(&[&[ACCOUNT, PART, ENTITY, ACT]]),
    portal_page("adsManagerAct", "POST", FORM)
        .handler(manager::submit_form)
        .summary("Changes something of an advertising account.")
        .params(&[&[ACCOUNT, PART, ENTITY, ACT]])
        .body(ADS),
];

const ONE: &str = "/ads/{account}/{part}/{id}";
const FORM: &str = "/ads/{account}/{part}/{id}/{act}";
const ACCOUNT: EndpointParam = EndpointParam::path("account", TEXT, "The advertising account.");
const PART: EndpointParam = EndpointParam::path("part", TEXT, "Which part of it.");
const ENTITY: EndpointParam = EndpointParam::path("id", TEXT, "The id.");
const ACT: EndpointParam = EndpointParam::path("act", TEXT, "What is done.");

/// Pages that a development world has and no other.
pub static DEVELOPMENT: &[Endpoint] = &[
    portal_page("developerExplainer", "GET", "/developer/explain")
        .handler(signature::show_explainer)
        .summary("The form that explains a signature."),
    portal_page("developerExplain", "POST", "/developer/explain")
        .handler(signature::explain_request)
        .summary("Says why a signature holds or does not.")
        .body(BodySpec::Form(&[
            CSRF,
            BodyMember::new("method", WORDS),
            BodyMember::new("url", WORDS),
            BodyMember::new("authorization", WORDS),
            BodyMember::new("body", WORDS),
            BodyMember::new("base_string", WORDS),
        ])),
    portal_page("webhookSinkChallenge", "GET", SINK)
        .handler(webhooks::answer_sink_challenge)
        .summary("The built-in receiver answers a challenge.")
        .params(&[ID, CHALLENGE]),
    portal_page("webhookSink", "POST", SINK)
        .handler(webhooks::receive_sink_event)
        .summary("The built-in receiver takes everything.")
        .params(&[ID]),
    portal_page("developerMailbox", "GET", "/mailbox")
        .handler(mailbox::list)
        .summary("Letters that a real server would have sent."),
    portal_page("developerLetter", "GET", "/mailbox/{id}")
        .handler(mailbox::show)
        .summary("One of these letters.")
        .params(&[ID]),
];

const REGENERATE: &str = "/developer/apps/{id}/keys/{kind}/regenerate";
const CALLBACKS: &str = "/developer/apps/{id}/callbacks";
const STREAM: &str = "/developer/apps/{id}/stream";
const WEBHOOKS: &str = "/developer/apps/{id}/webhooks";
const SINK: &str = "/webhook-sink/{id}";
const DELETE: &str = "/developer/apps/{id}/delete";
const TEXT: ParamType = ParamType::Text(0, ANY_LENGTH);
const WORDS: MemberShape = MemberShape::Text(0, ANY_LENGTH);
const PER_ADDRESS: &[RateWindow] = &[per_quarter_hour(500)];
const CSRF: BodyMember = BodyMember::new("csrf", WORDS);
const NOTHING: BodySpec = BodySpec::Form(&[CSRF]);
/// What is no id is not found, as any other that is not there.
const ID: &[EndpointParam] = &[EndpointParam::path("id", TEXT, "The id.")];
const CHALLENGE: &[EndpointParam] = &[
    EndpointParam::query("crc_token", TEXT, "What is to be signed."),
    EndpointParam::query("nonce", TEXT, "Random."),
];
const KIND: &[EndpointParam] = &[EndpointParam::path("kind", TEXT, "Which credential.")];

const APP: BodySpec = BodySpec::Form(&[
    CSRF,
    BodyMember::new("name", WORDS),
    BodyMember::new("description", WORDS),
    BodyMember::new("website", WORDS),
    BodyMember::new("kind", WORDS),
    BodyMember::new("permission", WORDS),
    BodyMember::new("callbacks", WORDS),
    BodyMember::new("sign_in", WORDS),
    BodyMember::new("email", WORDS),
]);

/// What any form of the Ads Manager may send: some send a file, as parts.
const ADS: BodySpec = BodySpec::Multipart(&[
    CSRF,
    BodyMember::new("next", WORDS),
    BodyMember::new("account_media_id", WORDS),
    BodyMember::new("advertiser_domain", WORDS),
    BodyMember::new("android_app_store_identifier", WORDS),
    BodyMember::new("audience", WORDS),
    BodyMember::new("bid_amount_local_micro", WORDS),
    BodyMember::new("bid_strategy", WORDS),
    BodyMember::new("budget_optimization", WORDS),
    BodyMember::new("call_to_action", WORDS),
    BodyMember::new("call_to_action_url", WORDS),
    BodyMember::new("card_uri", WORDS),
    BodyMember::new("categories", WORDS),
    BodyMember::new("composes", WORDS),
    BodyMember::new("country_code", WORDS),
    BodyMember::new("curated_category_id", WORDS),
    BodyMember::new("daily_budget_amount_local_micro", WORDS),
    BodyMember::new("description", WORDS),
    BodyMember::new("duration_in_days", WORDS),
    BodyMember::new("duration_in_minutes", WORDS),
    BodyMember::new("end_time", WORDS),
    BodyMember::new("entity_status", WORDS),
    BodyMember::new("first_choice", WORDS),
    BodyMember::new("first_cta", WORDS),
    BodyMember::new("first_cta_post", WORDS),
    BodyMember::new("fourth_choice", WORDS),
    BodyMember::new("fourth_cta", WORDS),
    BodyMember::new("fourth_cta_post", WORDS),
    BodyMember::new("frequency_cap", WORDS),
    BodyMember::new("funding_instrument_id", WORDS),
    BodyMember::new("goal", WORDS),
    BodyMember::new("googleplay_app_id", WORDS),
    BodyMember::new("googleplay_deep_link", WORDS),
    BodyMember::new("granted_account_id", WORDS),
    BodyMember::new("identifier", WORDS),
    BodyMember::new("ios_app_store_identifier", WORDS),
    BodyMember::new("ios_deep_link", WORDS),
    BodyMember::new("label", WORDS),
    BodyMember::new("landing_url", WORDS),
    BodyMember::new("list", WORDS),
    BodyMember::new("media", WORDS),
    BodyMember::new("media_1", WORDS),
    BodyMember::new("media_2", WORDS),
    BodyMember::new("media_3", WORDS),
    BodyMember::new("media_4", WORDS),
    BodyMember::new("media_category", WORDS),
    BodyMember::new("media_key", WORDS),
    BodyMember::new("name", WORDS),
    BodyMember::new("nullcast", WORDS),
    BodyMember::new("objective", WORDS),
    BodyMember::new("operation_type", WORDS),
    BodyMember::new("operator_type", WORDS),
    BodyMember::new("pay_by", WORDS),
    BodyMember::new("permission_id", WORDS),
    BodyMember::new("permission_level", WORDS),
    BodyMember::new("pick", WORDS),
    BodyMember::new("placements", WORDS),
    BodyMember::new("post_ids", WORDS),
    BodyMember::new("poster_media_key", WORDS),
    BodyMember::new("primary_web_event_tag", WORDS),
    BodyMember::new("product_type", WORDS),
    BodyMember::new("purchase_order_number", WORDS),
    BodyMember::new("role", WORDS),
    BodyMember::new("scheduled_at", WORDS),
    BodyMember::new("scheduled_post_id", WORDS),
    BodyMember::new("second_choice", WORDS),
    BodyMember::new("second_cta", WORDS),
    BodyMember::new("second_cta_post", WORDS),
    BodyMember::new("standard_delivery", WORDS),
    BodyMember::new("start_time", WORDS),
    BodyMember::new("targeting_type", WORDS),
    BodyMember::new("targeting_value", WORDS),
    BodyMember::new("text", WORDS),
    BodyMember::new("thank_you_text", WORDS),
    BodyMember::new("thank_you_url", WORDS),
    BodyMember::new("third_choice", WORDS),
    BodyMember::new("third_cta", WORDS),
    BodyMember::new("third_cta_post", WORDS),
    BodyMember::new("title", WORDS),
    BodyMember::new("total_budget_amount_local_micro", WORDS),
    BodyMember::new("tracking_tag_type", WORDS),
    BodyMember::new("tracking_tag_url", WORDS),
    BodyMember::new("user_id", WORDS),
    BodyMember::new("username", WORDS),
    BodyMember::new("website_url", WORDS),
]);

/// A page: who may see it is the session's to say.
const fn portal_page(id: &'static str, method: &'static str, path: &'static str) -> Endpoint {
    Endpoint::new(id, method, path)
        .allow_anonymous()
        .limits(PER_ADDRESS, &[])
        .error_format(ErrorFormat::Page)
}
