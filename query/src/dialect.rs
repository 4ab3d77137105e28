//! For which product, and at which level, a query is written.

/// What a query is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Product {
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

impl Product {
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

    pub(crate) const fn bit(self) -> u8 {
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
pub enum Level {
    /// By the call, without a contract.
    SelfServe,
    /// With a contract.
    Enterprise,
}

/// The language as one caller may use it for one product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dialect {
    /// What it is for.
    pub product: Product,
    /// Who asks.
    pub level: Level,
    /// Whether search knows `min_likes:`, `min_replies:` and `min_reposts:`.
    pub engagement: bool,
}

impl Dialect {
    /// The language of a product at a level, counters of posts included.
    pub const fn new(product: Product, level: Level) -> Self {
        Self {
            product,
            level,
            engagement: true,
        }
    }

    /// The most characters (code points) of one query.
    pub const fn longest(self) -> usize {
        let enterprise = matches!(self.level, Level::Enterprise);
        match self.product {
            Product::RecentSearch | Product::RecentCounts => {
                if enterprise {
                    4_096
                } else {
                    512
                }
            }
            Product::FullArchive | Product::FullCounts => {
                if enterprise {
                    4_096
                } else {
                    1_024
                }
            }
            Product::Stream => {
                if enterprise {
                    2_048
                } else {
                    1_024
                }
            }
            Product::Powerstream => 2_048,
            Product::Activity => 150,
        }
    }

    /// How many queries a caller may keep; one a call where nothing is kept.
    pub const fn rules(self) -> usize {
        match (self.product, self.level) {
            (Product::Stream, Level::SelfServe) | (Product::Powerstream, _) => 1_000,
            (Product::Stream, Level::Enterprise) => 25_000,
            (Product::Activity, Level::SelfServe) => 1_500,
            (Product::Activity, Level::Enterprise) => 75_000,
            _ => 1,
        }
    }
}
