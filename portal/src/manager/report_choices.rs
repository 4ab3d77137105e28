//! What a report may be about, and how it may be broken down.

use ads::resources::campaigns::CAMPAIGN;
use ads::resources::line_items::LINE_ITEM;
use ads::resources::promoted_posts::PROMOTED_POST;
use ads_engine::Resource;
use store::ledger::AdEntity;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Breakdown {
    Nothing,
    Day,
    Placement,
    /// By a segmentation type of the API.
    Segment(&'static str),
}

impl Breakdown {
    pub(super) const fn is_segment(self) -> bool {
        matches!(self, Self::Segment(_))
    }
}

/// A choice of the form, by its name in the query.
pub(super) struct BreakdownChoice {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) by: Breakdown,
}

/// The first is the default.
pub(super) static BREAKDOWNS: [BreakdownChoice; 6] = [
    BreakdownChoice { name: "", label: "None", by: Breakdown::Nothing },
    BreakdownChoice { name: "day", label: "Day", by: Breakdown::Day },
    BreakdownChoice { name: "placement", label: "Placement", by: Breakdown::Placement },
    BreakdownChoice { name: "platform", label: "Platform", by: Breakdown::Segment("PLATFORMS") },
    BreakdownChoice { name: "age", label: "Age", by: Breakdown::Segment("AGE") },
    BreakdownChoice { name: "gender", label: "Gender", by: Breakdown::Segment("GENDER") },
];

/// A choice of the form, by its name in the query, which is its path in the Ads Manager too.
pub(super) struct LevelChoice {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) entity: AdEntity,
    pub(super) resource: &'static Resource,
}

/// The first is the default.
pub(super) static LEVELS: [LevelChoice; 3] = [
    LevelChoice { name: "campaigns", label: "Campaigns", entity: AdEntity::Campaign, resource: &CAMPAIGN },
    LevelChoice { name: "line-items", label: "Line items", entity: AdEntity::LineItem, resource: &LINE_ITEM },
    LevelChoice { name: "posts", label: "Promoted posts", entity: AdEntity::PromotedPost, resource: &PROMOTED_POST },
];
