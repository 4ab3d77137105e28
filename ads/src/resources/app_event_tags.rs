//! App event tags: what an advertiser's app reports through its measurement provider, and how it is attributed
//! (contract ads §4.16).

use ads_engine::{
    AccountContext, AdsRecord, FieldSpec, Kind, ListFilter, RecordChange, Resource, ResourceVerb, ValidationRule,
};
use base::refusal::AdsProblem;
use base::{Error, VocabularyWord};
use store::ledger::ConversionKind;

use crate::resources::web_event_tags::{EVENT_TAG_SEQUENCE, TAG_STATES, check_windows};
use crate::resources::{account_apps, event_audiences};

pub static APP_EVENT_TAG: Resource = Resource {
    name: "app_event_tag",
    id: VocabularyWord::same_in_both("app_event_tag_id"),
    path: "app_event_tags",
    label: "app event tag",
    sequence: EVENT_TAG_SEQUENCE,
    not_found: "APP_EVENT_TAG_NOT_FOUND",
    fields: &[
        FieldSpec::text("app_store_identifier", 1, 255).required(),
        FieldSpec::one_of("os_type", OS_TYPES).required(),
        FieldSpec::one_of("conversion_type", CONVERSION_TYPES).required(),
        FieldSpec::text("provider_app_event_id", 1, 255).required(),
        FieldSpec::text("provider_app_event_name", 1, 255).required(),
        FieldSpec::text("deep_link_scheme", 1, 2048),
        FieldSpec::new("post_view_attribution_window", Kind::int(0, 30)).default_number(1),
        FieldSpec::new("post_engagement_attribution_window", Kind::int(1, 30)).default_number(14),
        FieldSpec::new("retargeting_enabled", Kind::BOOL).default_flag(false),
        FieldSpec::one_of("status", TAG_STATES).set_by_server().default_word("UNVERIFIED"),
        FieldSpec::new("last_tracked_at", Kind::TIME).set_by_server(),
        // The custom audience of the people who caused events.
        FieldSpec::new("audience_id", Kind::int(0, i64::MAX)).set_by_server().hidden(),
        // What events of an app are looked up by.
        FieldSpec::new("app", Kind::int(0, i64::MAX)).set_by_server().hidden(),
    ],
    filters: &[ListFilter::ids("app_event_tag_ids", "id", &APP_EVENT_TAG)],
    sort_fields: &["post_view_attribution_window", "post_engagement_attribution_window"],
    constant_sorts: &["assisted_conversion"],
    name_field: "provider_app_event_name",
    verbs: &[ResourceVerb::List, ResourceVerb::Get, ResourceVerb::Create, ResourceVerb::Delete],
    rules: &[
        ValidationRule::OnRecord(validate_windows),
        ValidationRule::InContext(|_, change| {
            set_app(&mut change.record);
            Ok(())
        }),
    ],
    after_change: Some(sync_app_and_audience),
    ..Resource::DEFAULT
};

pub const OS_TYPES: &[&str] = &["ANDROID", "IOS"];

pub const CONVERSION_TYPES: &[&str] = &[
    "PURCHASE",
    "SIGN_UP",
    "INSTALL",
    "RE_ENGAGE",
    "UPDATE",
    "TUTORIAL_COMPLETE",
    "RESERVATION",
    "ADD_TO_CART",
    "ADD_TO_WISHLIST",
    "LOGIN",
    "CHECKOUT_INITIATED",
    "SEARCH",
    "LEVEL_ACHIEVED",
    "ACHIEVEMENT_UNLOCKED",
    "CONTENT_VIEW",
    "SHARE",
    "INVITE",
    "ADDED_PAYMENT_INFO",
    "SPENT_CREDITS",
    "RATED",
    "DOWNLOAD",
    "KEY_PAGE_VIEW",
    "SITE_VISIT",
];

/// What events of a type count as; `None` for a type that does not exist.
pub fn conversion_kind(conversion_type: &str) -> Option<ConversionKind> {
    Some(match conversion_type {
        "PURCHASE" => ConversionKind::Purchase,
        "SIGN_UP" => ConversionKind::SignUp,
        "INSTALL" => ConversionKind::Install,
        "RE_ENGAGE" => ConversionKind::ReEngagement,
        "UPDATE" => ConversionKind::Update,
        "TUTORIAL_COMPLETE" => ConversionKind::TutorialCompleted,
        "RESERVATION" => ConversionKind::Reservation,
        "ADD_TO_CART" => ConversionKind::AddToCart,
        "ADD_TO_WISHLIST" => ConversionKind::AddToWishlist,
        "LOGIN" => ConversionKind::Login,
        "CHECKOUT_INITIATED" => ConversionKind::CheckoutInitiated,
        "SEARCH" => ConversionKind::Search,
        "LEVEL_ACHIEVED" => ConversionKind::LevelAchieved,
        "ACHIEVEMENT_UNLOCKED" => ConversionKind::AchievementUnlocked,
        "CONTENT_VIEW" => ConversionKind::ContentView,
        "SHARE" => ConversionKind::Share,
        "INVITE" => ConversionKind::Invite,
        "ADDED_PAYMENT_INFO" => ConversionKind::PaymentInfoAddition,
        "SPENT_CREDITS" => ConversionKind::SpentCredits,
        "RATED" => ConversionKind::Rating,
        "DOWNLOAD" => ConversionKind::Download,
        "KEY_PAGE_VIEW" => ConversionKind::KeyPageView,
        "SITE_VISIT" => ConversionKind::SiteVisit,
        _ => return None,
    })
}

fn validate_windows(change: &RecordChange) -> Result<(), AdsProblem> {
    let window = |name: &'static str| (name, change.record.int(name).unwrap_or(0));
    check_windows(window("post_engagement_attribution_window"), window("post_view_attribution_window"))
}

/// An app of a system, as a number.
pub fn app_key(os_type: &str, identifier: &str) -> i64 {
    super::hash_key(&[os_type, identifier])
}

fn set_app(tag: &mut AdsRecord) {
    let app = app_key(tag.text("os_type"), tag.text("app_store_identifier"));
    tag.set("app", app);
}

/// The spelling of an operating system in lists of apps.
pub fn system_name(os_type: &str) -> &'static str {
    if os_type == "IOS" { "iOS" } else { "Android" }
}

fn sync_app_and_audience(ctx: &mut AccountContext<'_, '_>, change: &RecordChange) -> Result<(), Error> {
    let tag: &AdsRecord = &change.record;
    let (system, app) = (system_name(tag.text("os_type")), tag.text("app_store_identifier"));
    if change.verb == ResourceVerb::Delete {
        let others = ctx.list_visible_records(&APP_EVENT_TAG, "app", tag.int("app").unwrap_or(0))?;
        let tracked = others.iter().any(|other| other.id != tag.id && !other.deleted);
        return account_apps::set_tracking(ctx, (system, app), tracked);
    }
    account_apps::ensure_app(ctx, system, app)?;
    account_apps::set_tracking(ctx, (system, app), true)?;
    event_audiences::ensure_audience(ctx, tag, "MOBILE")
}
