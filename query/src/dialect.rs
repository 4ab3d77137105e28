//! For which product, and at which level, a query is written.

/// What a query is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueryProduct {
    /// Search over the last seven days.
    RecentSearch,
    /// Search over all time.
    FullArchive,
    /// Counts over the last seven days.
    RecentCounts,
    /// Counts over all time.
    FullCounts,
    /// A rule of the filtered stream.
    Stream,
    /// A rule of the powerstream.
    Powerstream,
    /// The keyword of an activity subscription.
    Activity,
}

impl QueryProduct {
    /// Every one of them.
    pub const ALL: [Self; 7] = [
        Self::RecentSearch,
        Self::FullArchive,
        Self::RecentCounts,
        Self::FullCounts,
        Self::Stream,
        Self::Powerstream,
        Self::Activity,
    ];

    /// Whether it looks for posts that are there, rather than waiting for those to come.
    pub const fn is_search(self) -> bool {
        matches!(
            self,
            Self::RecentSearch | Self::FullArchive | Self::RecentCounts | Self::FullCounts
        )
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

/// What the caller's contract allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessTier {
    /// By the call, without a contract.
    SelfServe,
    /// With a contract.
    Enterprise,
}

/// The language as one caller may use it for one product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueryDialect {
    /// What it is for.
    pub product: QueryProduct,
    /// Who asks.
    pub tier: AccessTier,
    /// Whether search knows `min_likes:`, `min_replies:` and `min_reposts:`.
    pub engagement_operators: bool,
}

impl QueryDialect {
    /// The language of a product at a level, counters of posts included.
    pub const fn new(product: QueryProduct, tier: AccessTier) -> Self {
        Self {
            product,
            tier,
            engagement_operators: true,
        }
    }

    /// The most characters (code points) of one query.
    pub const fn max_length(self) -> usize {
        let enterprise = matches!(self.tier, AccessTier::Enterprise);
        match self.product {
            QueryProduct::RecentSearch | QueryProduct::RecentCounts => {
                if enterprise {
                    4_096
                } else {
                    512
                }
            }
            QueryProduct::FullArchive | QueryProduct::FullCounts => {
                if enterprise {
                    4_096
                } else {
                    1_024
                }
            }
            QueryProduct::Stream => {
                if enterprise {
                    2_048
                } else {
                    1_024
                }
            }
            QueryProduct::Powerstream => 2_048,
            QueryProduct::Activity => 150,
        }
    }

    /// How many queries a caller may keep; one a call where nothing is kept.
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
