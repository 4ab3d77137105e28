//! Web event tags: what an advertiser's site reports, and how it is attributed (contract ads §4.16).

use ads_engine::{
    AccountContext, AdsRecord, FieldSpec, Kind, ListFilter, RecordChange, Resource, ResourceVerb, ValidationRule,
};
use base::refusal::AdsProblem;
use base::{Error, Fault, VocabularyWord};
use serde_json::Value;
use store::ledger::ConversionKind;
use store::{Tx, records};

use crate::resources::event_audiences;

pub static WEB_EVENT_TAG: Resource = Resource {
    name: "web_event_tag",
    id: VocabularyWord::same_in_both("web_event_tag_id"),
    path: "web_event_tags",
    label: "web event tag",
    sequence: EVENT_TAG_SEQUENCE,
    not_found: "WEB_EVENT_TAG_NOT_FOUND",
    fields: &[
        FieldSpec::text("name", 1, 255).label("Name").required(),
        FieldSpec::one_of("type", TYPES).label("Event").required(),
        FieldSpec::new("click_window", Kind::int(1, 30)).label("Days after a click").help("1, 7, 14 or 30.").required(),
        FieldSpec::new("view_through_window", Kind::int(0, 30))
            .label("Days after a view")
            .help("0, 1, 7, 14 or 30.")
            .required(),
        FieldSpec::new("retargeting_enabled", Kind::BOOL).label("Collect an audience of visitors").required(),
        FieldSpec::one_of("status", TAG_STATES).set_by_server().default_word("UNVERIFIED"),
        FieldSpec::new("last_tracked_at", Kind::TIME).set_by_server(),
        // The custom audience of the people who caused events.
        FieldSpec::new("audience_id", Kind::int(0, i64::MAX)).set_by_server().hidden(),
    ],
    filters: &[ListFilter::ids("web_event_tag_ids", "id", &WEB_EVENT_TAG)],
    rules: &[ValidationRule::OnRecord(validate_windows)],
    compute_fields: Some(computed_fields),
    after_change: Some(sync_audience),
    ..Resource::DEFAULT
};

/// Shared by web and app event tags, so that a tag's id says which it is.
pub const EVENT_TAG_SEQUENCE: &str = "event_tag";
pub const TAG_STATES: &[&str] = &["TRACKING", "UNVERIFIED"];

const TYPES: &[&str] = &[
    "SITE_VISIT",
    "PURCHASE",
    "DOWNLOAD",
    "SIGN_UP",
    "CUSTOM",
    "ADD_TO_CART",
    "CHECKOUT_INITIATED",
    "CONTENT_VIEW",
    "ADDED_PAYMENT_INFO",
    "ADD_TO_WISHLIST",
    "SEARCH",
    "SUBSCRIBE",
    "LANDING_PAGE_VIEW",
];

/// What a tag's events count as.
pub fn conversion_kind(tag: &AdsRecord) -> ConversionKind {
    match tag.text("type") {
        "PURCHASE" => ConversionKind::Purchase,
        "DOWNLOAD" => ConversionKind::Download,
        "SIGN_UP" => ConversionKind::SignUp,
        "ADD_TO_CART" => ConversionKind::AddToCart,
        "CHECKOUT_INITIATED" => ConversionKind::CheckoutInitiated,
        "CONTENT_VIEW" => ConversionKind::ContentView,
        "ADDED_PAYMENT_INFO" => ConversionKind::PaymentInfoAddition,
        "ADD_TO_WISHLIST" => ConversionKind::AddToWishlist,
        "SEARCH" => ConversionKind::Search,
        "SUBSCRIBE" => ConversionKind::Subscription,
        "LANDING_PAGE_VIEW" => ConversionKind::LandingPageView,
        "SITE_VISIT" => ConversionKind::SiteVisit,
        _ => ConversionKind::Custom,
    }
}

/// Attribution windows in days; 0 is possible for views only.
pub const WINDOWS: [i64; 5] = [0, 1, 7, 14, 30];

/// Refuses windows that do not exist, and one for clicks that is shorter than the one for views.
pub fn check_windows(
    (click_name, click): (&'static str, i64),
    (view_name, view): (&'static str, i64),
) -> Result<(), AdsProblem> {
    let wrong = |name: &'static str, value: i64, expected: &str| {
        let message = format!("Expected {expected}, got \"{value}\" for {name}");
        Err(AdsProblem::invalid_parameter(name, value, message))
    };
    if click == 0 || !WINDOWS.contains(&click) {
        return wrong(click_name, click, "one of 1, 7, 14, 30");
    }
    if !WINDOWS.contains(&view) {
        return wrong(view_name, view, "one of 0, 1, 7, 14, 30");
    }
    if click < view {
        return wrong(click_name, click, &format!("at least {view}, as {view_name}"));
    }
    Ok(())
}

fn validate_windows(change: &RecordChange) -> Result<(), AdsProblem> {
    let window = |name: &'static str| (name, change.record.int(name).unwrap_or(0));
    check_windows(window("click_window"), window("view_through_window"))
}

/// The tag by which an account's site is known: that of its first tag.
pub fn find_website_tag(tx: &mut Tx<'_>, account: i64) -> Result<Option<i64>, Fault> {
    Ok(records::list_ids_by_account(tx, WEB_EVENT_TAG.name, account)?.first().copied())
}

fn computed_fields(
    ctx: &mut AccountContext<'_, '_>,
    tags: &[AdsRecord],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let account = ctx.account_id()?;
    let website = find_website_tag(ctx.tx, account)?;
    let fields = |tag: &AdsRecord| {
        let website = WEB_EVENT_TAG.id_format.format(website.unwrap_or(tag.id));
        let event = format!("tw-{website}-{}", tag.formatted_id());
        let code = format!("<script async src=\"{}{TAG_SCRIPT_PATH}\" data-event=\"{event}\"></script>", ctx.site.url);
        vec![("embed_code", code.into()), ("website_tag_id", website.into())]
    };
    Ok(tags.iter().map(fields).collect())
}

/// The script that sites embed, and the image by which it reports.
pub const TAG_SCRIPT_PATH: &str = "/ads/tag.js";
pub const TAG_IMAGE_PATH: &str = "/ads/tag.gif";

fn sync_audience(ctx: &mut AccountContext<'_, '_>, change: &RecordChange) -> Result<(), Error> {
    if change.verb == ResourceVerb::Delete {
        return Ok(());
    }
    event_audiences::ensure_audience(ctx, &change.record, "WEB")
}
