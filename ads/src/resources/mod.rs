//! The resources, one file each. Add new ones here.

pub mod ab_tests;
pub mod account_apps;
pub mod account_history;
pub mod account_media;
pub mod account_posts;
pub mod accounts;
pub mod all_cards;
pub mod app_event_providers;
pub mod app_event_tags;
pub mod app_lists;
pub mod audience_permissions;
pub mod audience_targeting;
pub mod audience_users;
pub mod bidding_rules;
pub mod campaigns;
pub mod card_components;
pub mod card_media;
pub mod cards;
pub mod categories;
pub mod compositions;
pub mod conversation_cards;
pub mod create_post;
pub mod curated_categories;
pub mod custom_audiences;
pub mod do_not_reach_lists;
pub mod draft_posts;
pub mod event_audiences;
pub mod features;
pub mod funding_instruments;
pub mod legacy_cards;
pub mod line_item_apps;
pub mod line_item_curated_categories;
pub mod line_items;
pub mod media_creatives;
pub mod media_library;
pub mod poll_cards;
pub mod posts;
pub mod preroll_call_to_actions;
pub mod product_catalogs;
pub mod promotable_users;
pub mod promoted_accounts;
pub mod promoted_posts;
pub mod publishers;
pub mod recommendations;
pub mod scheduled_posts;
pub mod scheduled_promoted_posts;
pub mod servability;
pub mod targeting_criteria;
pub mod tax_settings;
pub mod tracking_tags;
pub mod user_access;
pub mod user_settings;
pub mod web_event_tags;

use ads_engine::{CustomOperation, ReferenceList, Resource};
use store::records::RecordIndex;

pub static RESOURCES: &[&Resource] = &[
    &accounts::ACCOUNT,
    &funding_instruments::FUNDING_INSTRUMENT,
    &campaigns::CAMPAIGN,
    &line_items::LINE_ITEM,
    &promotable_users::PROMOTABLE_USER,
    &promoted_posts::PROMOTED_POST,
    &promoted_accounts::PROMOTED_ACCOUNT,
    &targeting_criteria::TARGETING_CRITERION,
    &tracking_tags::TRACKING_TAG,
    &publishers::PUBLISHER,
    &curated_categories::CURATED_CATEGORY,
    &line_item_curated_categories::LINE_ITEM_CURATED_CATEGORY,
    &account_apps::ACCOUNT_APP,
    &account_media::ACCOUNT_MEDIA,
    &media_creatives::MEDIA_CREATIVE,
    &preroll_call_to_actions::PREROLL_CALL_TO_ACTION,
    &cards::CARD,
    &poll_cards::POLL_CARD,
    &conversation_cards::VIDEO_CONVERSATION_CARD,
    &conversation_cards::IMAGE_CONVERSATION_CARD,
    &legacy_cards::WEBSITE_CARD,
    &legacy_cards::VIDEO_WEBSITE_CARD,
    &legacy_cards::IMAGE_APP_DOWNLOAD_CARD,
    &legacy_cards::VIDEO_APP_DOWNLOAD_CARD,
    &legacy_cards::IMAGE_MESSAGE_CARD,
    &legacy_cards::VIDEO_MESSAGE_CARD,
    &account_posts::ACCOUNT_POST,
    &draft_posts::DRAFT_POST,
    &scheduled_posts::SCHEDULED_POST,
    &scheduled_promoted_posts::SCHEDULED_PROMOTED_POST,
    &media_library::LIBRARY_MEDIA,
    &custom_audiences::CUSTOM_AUDIENCE,
    &audience_permissions::AUDIENCE_PERMISSION,
    &do_not_reach_lists::DO_NOT_REACH_LIST,
    &recommendations::RECOMMENDATION,
    &tax_settings::TAX_SETTINGS,
    &user_settings::USER_SETTINGS,
    &web_event_tags::WEB_EVENT_TAG,
    &app_event_tags::APP_EVENT_TAG,
    &app_event_providers::APP_EVENT_PROVIDER_CONFIGURATION,
    &app_lists::APP_LIST,
    &line_item_apps::LINE_ITEM_APP,
    &ab_tests::AB_TEST,
];

pub static CUSTOM_OPERATIONS: &[&[CustomOperation]] = &[
    accounts::OPERATIONS,
    user_access::OPERATIONS,
    account_history::OPERATIONS,
    features::OPERATIONS,
    all_cards::OPERATIONS,
    legacy_cards::OPERATIONS,
    app_lists::OPERATIONS,
    campaigns::OPERATIONS,
    line_items::OPERATIONS,
    categories::OPERATIONS,
    publishers::OPERATIONS,
    curated_categories::OPERATIONS,
    promoted_posts::OPERATIONS,
    draft_posts::OPERATIONS,
    create_post::OPERATIONS,
    posts::OPERATIONS,
    scheduled_posts::OPERATIONS,
    media_library::OPERATIONS,
    custom_audiences::OPERATIONS,
    audience_permissions::OPERATIONS,
    do_not_reach_lists::OPERATIONS,
    recommendations::OPERATIONS,
    tax_settings::OPERATIONS,
    user_settings::OPERATIONS,
    product_catalogs::OPERATIONS,
    product_catalogs::products::OPERATIONS,
    product_catalogs::product_sets::OPERATIONS,
    product_catalogs::scheduled_feeds::OPERATIONS,
];

pub static REFERENCES: &[&[ReferenceList]] = &[bidding_rules::REFERENCES, categories::REFERENCES];

/// Indexes in addition to those of filters and sort orders.
pub static INDEXES: &[RecordIndex] = &[
    RecordIndex::Sort("campaign", "ends"),
    RecordIndex::Filter("targeting_criterion", "same"),
    RecordIndex::Filter("targeting_criterion", "alike"),
    RecordIndex::Filter("promoted_post", "post_id"),
    RecordIndex::Filter("account_post", "post_id"),
    RecordIndex::Filter("account_post", "repost_of_id"),
    RecordIndex::Filter("promoted_account", "user_id"),
    RecordIndex::GlobalSort("line_item", "serves"),
    RecordIndex::Filter("poll_card", "uri"),
    RecordIndex::Filter("video_conversation_card", "uri"),
    RecordIndex::Filter("image_conversation_card", "uri"),
    RecordIndex::Filter("website_card", "uri"),
    RecordIndex::Filter("video_website_card", "uri"),
    RecordIndex::Filter("image_app_download_card", "uri"),
    RecordIndex::Filter("video_app_download_card", "uri"),
    RecordIndex::Filter("image_direct_message_card", "uri"),
    RecordIndex::Filter("video_direct_message_card", "uri"),
    RecordIndex::GlobalSort("scheduled_post", "due_at"),
    RecordIndex::Filter("scheduled_post", "due_at"),
    RecordIndex::Filter("scheduled_promoted_post", "scheduled_post_id"),
    RecordIndex::Filter("library_media", "media_id"),
    RecordIndex::Filter("targeting_criterion", "audience"),
    RecordIndex::GlobalSort("custom_audience", "due_at"),
    RecordIndex::GlobalSort("do_not_reach_list", "due_at"),
    RecordIndex::GlobalSort("funding_instrument", "advise_at"),
    RecordIndex::GlobalSort("user_settings", "digest_at"),
    RecordIndex::Filter("custom_audience_permission", "pair"),
    RecordIndex::Filter("app_event_tag", "app"),
    RecordIndex::Sort("ab_test", "end_time"),
];

/// A hash of some texts, used to look up duplicates.
pub fn hash_key(texts: &[&str]) -> i64 {
    let digest = base::secret::digest(&texts.join("\u{0}"));
    let bytes = digest.first_chunk::<8>().copied().unwrap_or_default();
    i64::from_be_bytes(bytes) & i64::MAX
}
