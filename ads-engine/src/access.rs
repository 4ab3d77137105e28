//! Roles on an account and what each may do (contract ads §1.9).

use base::refusal::AdsProblem;
use base::{Error, Vocabulary};

base::named_enum! {
    pub enum AdsRole {
        Admin = "ACCOUNT_ADMIN",
        AdManager = "AD_MANAGER",
        CreativeManager = "CREATIVE_MANAGER",
        CampaignAnalyst = "CAMPAIGN_ANALYST",
        Analyst = "ANALYST",
        PartnerAudienceManager = "PARTNER_AUDIENCE_MANAGER",
    }
}

impl AdsRole {
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

const NOT_ALLOWED: &str = "ACTION_NOT_ALLOWED";
const ROLE_NOT_ALLOWED: &str = "The role on this account does not allow this action";

/// The refusal of a caller whose role is not enough.
pub fn role_not_allowed() -> Error {
    AdsProblem::new(NOT_ALLOWED, ROLE_NOT_ALLOWED).into()
}

/// Whether a problem is [`role_not_allowed`]: other refusals have the same code.
pub fn is_role_not_allowed(problem: &AdsProblem) -> bool {
    problem.code == NOT_ALLOWED && problem.message == ROLE_NOT_ALLOWED
}
