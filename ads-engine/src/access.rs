//! Roles on an account and what each may do (contract ads §1.9).

use base::Vocabulary;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdsRole {
    Admin,
    AdManager,
    CreativeManager,
    CampaignAnalyst,
    Analyst,
    PartnerAudienceManager,
}

impl AdsRole {
    pub const ALL: [Self; 6] = [
        Self::Admin,
        Self::AdManager,
        Self::CreativeManager,
        Self::CampaignAnalyst,
        Self::Analyst,
        Self::PartnerAudienceManager,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Admin => "ACCOUNT_ADMIN",
            Self::AdManager => "AD_MANAGER",
            Self::CreativeManager => "CREATIVE_MANAGER",
            Self::CampaignAnalyst => "CAMPAIGN_ANALYST",
            Self::Analyst => "ANALYST",
            Self::PartnerAudienceManager => "PARTNER_AUDIENCE_MANAGER",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    pub const fn may_compose_posts(self) -> bool {
        matches!(self, Self::Admin | Self::AdManager | Self::CreativeManager)
    }
}

/// The permission name that clients see for composing posts.
pub const fn composer_permission(vocabulary: Vocabulary) -> &'static str {
    match vocabulary {
        Vocabulary::Post => "POST_COMPOSER",
        Vocabulary::Tweet => "TWEET_COMPOSER",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredRole {
    /// Any user of an app with Ads API access; the request names no account.
    Anyone,
    Member,
    CampaignReader,
    CampaignWriter,
    CreativeReader,
    CreativeWriter,
    /// Users who may edit creatives and compose posts, and authors for their own posts.
    PostWriter,
    AudienceReader,
    Planner,
    AudienceWriter,
    /// Any role that may read statistics; the operation itself limits analysts to posts.
    StatsReader,
    Admin,
}

impl RequiredRole {
    /// Every variant that depends on a role, that is, all but `Anyone`.
    pub const ALL: [Self; 11] = [
        Self::Member,
        Self::CampaignReader,
        Self::CampaignWriter,
        Self::CreativeReader,
        Self::CreativeWriter,
        Self::PostWriter,
        Self::AudienceReader,
        Self::Planner,
        Self::AudienceWriter,
        Self::StatsReader,
        Self::Admin,
    ];

    pub const fn allows_role(self, role: AdsRole) -> bool {
        use AdsRole::{AdManager, Admin, CampaignAnalyst, CreativeManager, PartnerAudienceManager};
        match self {
            // The operation itself checks that the caller is the author.
            Self::Anyone | Self::Member | Self::PostWriter => true,
            Self::CampaignReader | Self::CreativeReader => {
                matches!(role, Admin | AdManager | CreativeManager | CampaignAnalyst)
            }
            Self::CampaignWriter => matches!(role, Admin | AdManager),
            Self::CreativeWriter => matches!(role, Admin | AdManager | CreativeManager),
            Self::StatsReader => !matches!(role, PartnerAudienceManager),
            Self::AudienceReader => matches!(role, Admin | AdManager | CampaignAnalyst | PartnerAudienceManager),
            Self::Planner => !matches!(role, AdsRole::Analyst),
            Self::AudienceWriter => matches!(role, Admin | AdManager | PartnerAudienceManager),
            Self::Admin => matches!(role, Admin),
        }
    }
}
