//! The product and the access tier for which a query is written.

use crate::MatchMode;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueryProduct {
    RecentSearch,
    FullArchive,
    RecentCounts,
    FullCounts,
    Stream,
    Powerstream,
    Activity,
}

impl QueryProduct {
    pub const ALL: [Self; 7] = [
        Self::RecentSearch,
        Self::FullArchive,
        Self::RecentCounts,
        Self::FullCounts,
        Self::Stream,
        Self::Powerstream,
        Self::Activity,
    ];

    /// Whether it queries existing posts rather than matching new ones.
    pub const fn is_search(self) -> bool {
        matches!(self, Self::RecentSearch | Self::FullArchive | Self::RecentCounts | Self::FullCounts)
    }

    pub(crate) const fn bit_mask(self) -> u8 {
        match self {
            Self::RecentSearch => 1,
            Self::FullArchive => 2,
            Self::RecentCounts => 4,
            Self::FullCounts => 8,
            Self::Stream => 16,
            Self::Powerstream => 32,
            Self::Activity => 64,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessTier {
    SelfServe,
    Enterprise,
}

/// The variant of the language for one product and tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueryDialect {
    pub product: QueryProduct,
    pub tier: AccessTier,
    /// Whether searches may use `min_likes:`, `min_replies:` and `min_reposts:`.
    pub engagement_operators: bool,
}

impl QueryDialect {
    pub const fn new(product: QueryProduct, tier: AccessTier) -> Self {
        Self { product, tier, engagement_operators: true }
    }

    /// The maximum number of characters (code points) of a query.
    pub const fn max_length(self) -> usize {
        use QueryProduct::{Activity, FullArchive, FullCounts, Powerstream, RecentCounts, RecentSearch, Stream};
        match (self.product, self.tier) {
            (RecentSearch | RecentCounts, AccessTier::SelfServe) => 512,
            (FullArchive | FullCounts | Stream, AccessTier::SelfServe) => 1_024,
            (RecentSearch | RecentCounts | FullArchive | FullCounts, AccessTier::Enterprise) => 4_096,
            (Stream, AccessTier::Enterprise) | (Powerstream, _) => 2_048,
            (Activity, _) => 150,
        }
    }

    /// The mode in which a post must be analysed to be compared with a query of this dialect.
    pub const fn match_mode(self) -> MatchMode {
        if self.product.is_search() { MatchMode::Search } else { MatchMode::Stream }
    }

    /// The maximum number of stored rules; 1 for products without stored rules.
    pub const fn max_rules(self) -> usize {
        match (self.product, self.tier) {
            (QueryProduct::Stream, AccessTier::SelfServe) | (QueryProduct::Powerstream, _) => 1_000,
            (QueryProduct::Stream, AccessTier::Enterprise) => 25_000,
            (QueryProduct::Activity, AccessTier::SelfServe) => 1_500,
            (QueryProduct::Activity, AccessTier::Enterprise) => 75_000,
            _ => 1,
        }
    }
}
