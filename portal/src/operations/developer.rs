//! The developer portal and the Ads Manager: pages, not part of the public API.

use web::endpoint::{
    BodySpec, Endpoint, EndpointHandler, ErrorFormat, Kind, MAX_SHORT_TEXT, MAX_TEXT, Parameter, RateWindow,
    per_quarter_hour,
};
use web::text_members;

use crate::developer::{apps, callbacks, keys, live, mailbox, search_console, signature, stream, usage, webhooks};
use crate::manager;

pub(super) static PORTAL: &[Endpoint] = &[
    portal_page("developerStart", "GET", "/developer", &apps::redirect_to_apps)
        .summary("Redirects to the developer's apps."),
    portal_page("developerApps", "GET", "/developer/apps", &apps::list).summary("The developer's apps."),
    portal_page("developerNewApp", "GET", "/developer/apps/new", &apps::show_new_app)
        .summary("The form that registers an app."),
    portal_page("developerCreateApp", "POST", "/developer/apps", &apps::create)
        .summary("Registers an app and shows its keys once.")
        .body(APP),
    portal_page("developerApp", "GET", "/developer/apps/{id}", &apps::show_settings)
        .summary("The settings of an app.")
        .params(&[ID]),
    portal_page("developerSaveApp", "POST", "/developer/apps/{id}", &apps::save_settings)
        .summary("Updates the settings of an app.")
        .params(&[ID])
        .body(APP),
    portal_page("developerKeys", "GET", "/developer/apps/{id}/keys", &keys::list)
        .summary("An app's credentials, without secrets.")
        .params(&[ID]),
    portal_page("developerAskKey", "GET", REGENERATE, &keys::show_regenerate)
        .summary("Asks to confirm regenerating a credential.")
        .params(&[ID, KIND]),
    portal_page("developerMakeKey", "POST", REGENERATE, &keys::regenerate)
        .summary("Regenerates a credential and shows it once.")
        .params(&[ID, KIND])
        .body(NOTHING),
    portal_page("developerCallbacks", "GET", CALLBACKS, &callbacks::show_tester)
        .summary("The form that tests a callback URL.")
        .params(&[ID]),
    portal_page("developerTestCallback", "POST", CALLBACKS, &callbacks::test)
        .summary("Tests whether a callback URL would be accepted.")
        .params(&[ID])
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf url })),
    portal_page("developerStream", "GET", STREAM, &stream::list)
        .summary("The rules of an app's filtered stream.")
        .params(&[ID]),
    portal_page("developerSendRule", "POST", STREAM, &stream::submit_rule)
        .summary("Tests a rule on stored posts, or adds it.")
        .params(&[ID])
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf form value tag do })),
    portal_page("developerDeleteRule", "POST", "/developer/apps/{id}/stream/delete", &stream::delete)
        .summary("Deletes a rule.")
        .params(&[ID])
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf rule })),
    portal_page("developerLive", "GET", "/developer/apps/{id}/stream/live", &live::show)
        .summary("Shows an app's filtered stream live.")
        .params(&[ID]),
    portal_page("developerEvents", "GET", "/developer/apps/{id}/stream/events", &live::events)
        .streaming()
        .summary("An app's filtered stream, for its owner in a browser.")
        .params(&[ID]),
    portal_page("developerWebhooks", "GET", WEBHOOKS, &webhooks::show)
        .summary("An app's webhooks, their challenges and their deliveries.")
        .params(&[ID]),
    portal_page("developerActOnWebhook", "POST", WEBHOOKS, &webhooks::submit_action)
        .summary("Challenges a webhook, or sends a delivery again.")
        .params(&[ID])
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf act webhook delivery from to })),
    portal_page("developerUsage", "GET", "/developer/apps/{id}/usage", &usage::show)
        .summary("An app's usage of its limits.")
        .params(&[ID]),
    portal_page("developerAskDelete", "GET", DELETE, &apps::show_delete)
        .summary("Asks to confirm deleting an app.")
        .params(&[ID]),
    portal_page("developerDeleteApp", "POST", DELETE, &apps::delete)
        .summary("Deletes an app after its name was typed.")
        .params(&[ID])
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf name })),
    portal_page("developerSearch", "GET", "/developer/search", &search_console::show_console)
        .summary("The search console."),
    portal_page("developerLook", "POST", "/developer/search", &search_console::run_query)
        .summary("Explains how a query is parsed, what it finds, and why a post matches or not.")
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf query product post })),
];

pub(super) static MANAGER: &[Endpoint] = &[
    portal_page("adsManager", "GET", "/ads", &manager::choose_account)
        .summary("The ads accounts that the user has access to."),
    portal_page("adsManagerAccount", "GET", "/ads/{account}", &manager::show_page)
        .summary("The campaigns of an ads account.")
        .params(&[&[ACCOUNT]]),
    portal_page("adsManagerPart", "GET", "/ads/{account}/{part}", &manager::show_page)
        .summary("A section of an ads account.")
        .params(&[&[ACCOUNT, PART]]),
    portal_page("adsManagerOne", "GET", ONE, &manager::show_page)
        .summary("An entity of an ads account.")
        .params(&[&[ACCOUNT, PART, ENTITY]]),
    portal_page("adsManagerMake", "POST", ONE, &manager::submit_form)
        .summary("Creates an entity in an ads account.")
        .params(&[&[ACCOUNT, PART, ENTITY]])
        .body(ADS),
    portal_page("adsManagerForm", "GET", FORM, &manager::show_page)
        .summary("A form that updates an entity of an ads account.")
        .params(&[&[ACCOUNT, PART, ENTITY, ACT]]),
    portal_page("adsManagerAct", "POST", FORM, &manager::submit_form)
        .summary("Updates an entity of an ads account.")
        .params(&[&[ACCOUNT, PART, ENTITY, ACT]])
        .body(ADS),
];

const ONE: &str = "/ads/{account}/{part}/{id}";
const FORM: &str = "/ads/{account}/{part}/{id}/{act}";
const ACCOUNT: Parameter = Parameter::path("account", TEXT, "The id of the ads account.");
const PART: Parameter = Parameter::path("part", TEXT, "The section.");
const ENTITY: Parameter = Parameter::path("id", TEXT, "The id.");
const ACT: Parameter = Parameter::path("act", TEXT, "The action.");

/// Mounted on development servers only.
pub static DEVELOPMENT: &[Endpoint] = &[
    portal_page("developerExplainer", "GET", "/developer/explain", &signature::show_explainer)
        .summary("The form that explains a signature."),
    portal_page("developerExplain", "POST", "/developer/explain", &signature::explain_request)
        .summary("Explains why a signature is valid or not.")
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf method url authorization body base_string })),
    portal_page("developerRefusedRequest", "GET", "/developer/explain/{id}", &signature::show_refused_request)
        .summary("Explains why the credentials of a request were refused.")
        .params(&[ID]),
    portal_page("webhookSinkChallenge", "GET", SINK, &webhooks::answer_sink_challenge)
        .summary("The built-in webhook receiver: answers a challenge.")
        .params(&[ID, CHALLENGE]),
    portal_page("webhookSink", "POST", SINK, &webhooks::receive_sink_event)
        .summary("The built-in webhook receiver: accepts every event.")
        .params(&[ID]),
    portal_page("developerMailbox", "GET", "/mailbox", &mailbox::list)
        .summary("Emails that a production server would have sent."),
    portal_page("developerLetter", "GET", "/mailbox/{id}", &mailbox::show)
        .summary("An email of the development mailbox.")
        .params(&[ID]),
];

const REGENERATE: &str = "/developer/apps/{id}/keys/{kind}/regenerate";
const CALLBACKS: &str = "/developer/apps/{id}/callbacks";
const STREAM: &str = "/developer/apps/{id}/stream";
const WEBHOOKS: &str = "/developer/apps/{id}/webhooks";
const SINK: &str = "/webhook-sink/{id}";
const DELETE: &str = "/developer/apps/{id}/delete";
const TEXT: Kind = Kind::text(0, MAX_SHORT_TEXT);
const PER_ADDRESS: &[RateWindow] = &[per_quarter_hour(500)];
const NOTHING: BodySpec = BodySpec::Form(text_members! { MAX_TEXT; csrf });
/// Any text, so that an invalid id is answered like an unknown one.
const ID: &[Parameter] = &[Parameter::path("id", TEXT, "The id.")];
const CHALLENGE: &[Parameter] =
    &[Parameter::query("crc_token", TEXT, "The token to sign."), Parameter::query("nonce", TEXT, "Random.")];
const KIND: &[Parameter] = &[Parameter::path("kind", TEXT, "The kind of credential.")];

const APP: BodySpec = BodySpec::Form(text_members! { MAX_TEXT;
    csrf name description website kind permission callbacks sign_in email
});

/// The members of all forms of the Ads Manager; some forms upload a file.
const ADS: BodySpec = BodySpec::Multipart(text_members! { MAX_TEXT;
    csrf next form shown account_media_id advertiser_domain android_app_store_identifier audience audience_1 audience_2
    audience_3 audience_4 bid_amount_local_micro bid_strategy boolean_operator budget_optimization call_to_action
    call_to_action_url card_uri categories click_window composes country_code curated_category_id
    daily_budget_amount_local_micro description duration_in_days duration_in_minutes end_time entity_status
    excluded_1 excluded_2 first_choice first_cta first_cta_post fourth_choice fourth_cta fourth_cta_post
    frequency_cap funding_instrument_id goal googleplay_app_id googleplay_deep_link granted_account_id identifier
    ios_app_store_identifier ios_deep_link label landing_url list lookback_window media media_1 media_2 media_3
    media_4 media_category media_key name nullcast objective operation_type operator_type pay_by permission_id
    permission_level pick placements post_ids poster_media_key primary_web_event_tag product_type
    purchase_order_number retargeting_enabled role scheduled_at scheduled_post_id second_choice second_cta
    second_cta_post standard_delivery start_time targeting_type targeting_value text thank_you_text thank_you_url
    third_choice third_cta third_cta_post title total_budget_amount_local_micro tracking_tag_type tracking_tag_url
    type user_id username view_through_window website_url
});

/// The session decides who may see the page.
pub const fn portal_page(
    id: &'static str,
    method: &'static str,
    path: &'static str,
    handler: &'static dyn EndpointHandler,
) -> Endpoint {
    Endpoint::new(id, method, path)
        .handler(handler)
        .allow_anonymous()
        .limits(PER_ADDRESS, &[])
        .error_format(ErrorFormat::Page)
}
