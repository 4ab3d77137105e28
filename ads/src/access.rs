//! Roles on an account, and what each may do (contract §1.9).

use base::Vocabulary;

/// What a user is on an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdsRole {
    /// Everything, users and settings included.
    Admin,
    /// All work on campaigns.
    AdManager,
    /// Creatives and previews.
    CreativeManager,
    /// Looks at campaigns and figures.
    CampaignAnalyst,
    /// Looks at figures of posts.
    Analyst,
    /// Audiences that it brought itself.
    PartnerAudienceManager,
}

impl AdsRole {
    /// Every one of them.
    pub const ALL: [Self; 6] = [
        Self::Admin,
        Self::AdManager,
        Self::CreativeManager,
        Self::CampaignAnalyst,
        Self::Analyst,
        Self::PartnerAudienceManager,
    ];

    /// As stored and as answered.
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

    /// The one with a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Whether it may be allowed to make posts for promotion.
    pub const fn may_compose_posts(self) -> bool {
        matches!(self, Self::Admin | Self::AdManager | Self::CreativeManager)
    }
}

/// The permission to make posts, in a vocabulary.
pub const fn composer_permission(speech: Vocabulary) -> &'static str {
    match speech {
        Vocabulary::Post => "POST_COMPOSER",
        Vocabulary::Tweet => "TWEET_COMPOSER",
    }
}

/// Who may do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredRole {
    /// Any user of an app with access to advertising; no account is named.
    Anyone,
    /// Whoever has a role.
    Member,
    /// Whoever may look at campaigns.
    CampaignReader,
    /// Whoever works on campaigns.
    CampaignWriter,
    /// Whoever may look at creatives.
    CreativeReader,
    /// Whoever works on creatives.
    CreativeWriter,
    /// Whoever works on creatives and may make posts; an author for their own posts.
    PostWriter,
    /// Whoever may look at audiences.
    AudienceReader,
    /// Whoever may look at campaigns or at audiences.
    Planner,
    /// Whoever works on audiences.
    AudienceWriter,
    /// Whoever may look at figures; what analysts of posts may see, the operation looks at.
    StatsReader,
    /// Administrators.
    Admin,
}

impl RequiredRole {
    /// Every one of them that is about a role.
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

    /// Whether a role suffices.
    pub const fn allows_role(self, role: AdsRole) -> bool {
        use AdsRole::{AdManager, Admin, CampaignAnalyst, CreativeManager, PartnerAudienceManager};
        match self {
            // An author's own posts are looked at by the operation itself.
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
