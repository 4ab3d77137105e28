//! The sections of the Ads Manager: the part of a path, the resource behind it, and how it is deleted.

use ads::resources::account_media::ACCOUNT_MEDIA;
use ads::resources::campaigns::CAMPAIGN;
use ads::resources::cards::CARD;
use ads::resources::conversation_cards::{IMAGE_CONVERSATION_CARD, VIDEO_CONVERSATION_CARD};
use ads::resources::custom_audiences::CUSTOM_AUDIENCE;
use ads::resources::draft_posts::DRAFT_POST;
use ads::resources::line_item_curated_categories::LINE_ITEM_CURATED_CATEGORY;
use ads::resources::line_items::LINE_ITEM;
use ads::resources::media_creatives::MEDIA_CREATIVE;
use ads::resources::media_library::LIBRARY_MEDIA;
use ads::resources::poll_cards::POLL_CARD;
use ads::resources::preroll_call_to_actions::PREROLL_CALL_TO_ACTION;
use ads::resources::promoted_accounts::PROMOTED_ACCOUNT;
use ads::resources::promoted_posts::PROMOTED_POST;
use ads::resources::scheduled_posts::SCHEDULED_POST;
use ads::resources::scheduled_promoted_posts::SCHEDULED_PROMOTED_POST;
use ads::resources::targeting_criteria::TARGETING_CRITERION;
use ads::resources::tracking_tags::TRACKING_TAG;
use ads::resources::web_event_tags::WEB_EVENT_TAG;
use ads_engine::Resource;

pub(super) struct Section {
    pub(super) name: &'static str,
    pub(super) resource: &'static Resource,
    pub(super) label: &'static str,
    /// The tab that is current on its pages, which is also the page to return to after a deletion unless the record
    /// has a parent.
    pub(super) tab: &'static str,
    /// What deleting a record means.
    pub(super) delete_lead: &'static str,
    /// Whether deleting a record is called to stop promoting.
    pub(super) is_promotion: bool,
}

const FINAL: &str = "This can’t be undone.";
const PROMOTION: &str = "Nothing else is deleted. Statistics are kept.";

const fn section(name: &'static str, resource: &'static Resource, label: &'static str, tab: &'static str) -> Section {
    Section { name, resource, label, tab, delete_lead: FINAL, is_promotion: false }
}

impl Section {
    const fn delete_lead(self, delete_lead: &'static str) -> Self {
        Self { delete_lead, ..self }
    }

    const fn promotion(self, delete_lead: &'static str) -> Self {
        Self { delete_lead, is_promotion: true, ..self }
    }

    pub(super) fn find(name: &str) -> Option<&'static Self> {
        SECTIONS.iter().find(|section| section.name == name)
    }

    pub(super) fn is_cards(&self) -> bool {
        self.tab == "cards"
    }
}

pub(super) static SECTIONS: &[Section] = &[
    section("campaigns", &CAMPAIGN, "campaign", "campaigns")
        .delete_lead("This also deletes its line items. Statistics are kept. This can’t be undone."),
    section("line-items", &LINE_ITEM, "line item", "campaigns")
        .delete_lead("This also stops everything it promotes. Statistics are kept. This can’t be undone."),
    section("promoted-posts", &PROMOTED_POST, "promoted post", "campaigns").promotion(PROMOTION),
    section("promoted-accounts", &PROMOTED_ACCOUNT, "promoted account", "campaigns").promotion(PROMOTION),
    section("targeting", &TARGETING_CRITERION, "targeting criterion", "campaigns"),
    section("tracking-tags", &TRACKING_TAG, "tracking tag", "campaigns"),
    section("scheduled-promoted", &SCHEDULED_PROMOTED_POST, "scheduled promotion", "campaigns")
        .promotion("The scheduled post is kept and will be published without promotion."),
    section("media-creatives", &MEDIA_CREATIVE, "media creative", "campaigns"),
    section("calls-to-action", &PREROLL_CALL_TO_ACTION, "call to action", "campaigns"),
    section("categories", &LINE_ITEM_CURATED_CATEGORY, "curated category", "campaigns"),
    section("scheduled", &SCHEDULED_POST, "scheduled post", "posts"),
    section("drafts", &DRAFT_POST, "draft", "posts"),
    section("cards", &CARD, "card", "cards"),
    section("poll-cards", &POLL_CARD, "poll card", "cards"),
    section("video-cards", &VIDEO_CONVERSATION_CARD, "conversation card", "cards"),
    section("image-cards", &IMAGE_CONVERSATION_CARD, "conversation card", "cards"),
    section("media", &LIBRARY_MEDIA, "media file", "media")
        .delete_lead("Cards and posts that already use it are not affected."),
    section("account-media", &ACCOUNT_MEDIA, "account media", "media"),
    section("conversions", &WEB_EVENT_TAG, "tag", "conversions")
        .delete_lead("Its events are no longer counted. Statistics are kept. This can’t be undone."),
    section("audiences", &CUSTOM_AUDIENCE, "audience", "audiences")
        .delete_lead("It can no longer be targeted. This can’t be undone."),
];

pub(super) fn card_sections() -> impl Iterator<Item = &'static Section> {
    SECTIONS.iter().filter(|section| section.is_cards())
}
