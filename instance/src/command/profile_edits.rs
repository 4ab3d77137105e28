//! The `locum user` commands that edit profiles.

use base::{Error, UserId};
use clap::Args;
use network::audit::AuditActor;
use network::{private_profiles, profiles};
use store::Tx;

use super::find;

#[derive(Args, Clone, Debug)]
#[group(id = "profile-texts")]
pub struct ProfileEditArgs {
    /// The username: 1–15 characters of A–Z a–z 0–9 _
    #[arg(long)]
    username: Option<String>,
    /// The display name
    #[arg(long)]
    name: Option<String>,
    /// The bio
    #[arg(long)]
    description: Option<String>,
    /// The location
    #[arg(long)]
    location: Option<String>,
    /// The website URL
    #[arg(long, value_name = "URL")]
    website: Option<String>,
    /// The profile picture URL
    #[arg(long, value_name = "URL")]
    picture: Option<String>,
    /// The banner URL
    #[arg(long, value_name = "URL")]
    banner: Option<String>,
    /// The date of birth, never shown to anyone: 1990-12-31; empty for unknown
    #[arg(long, value_name = "DAY")]
    birthday: Option<String>,
    /// The gender, never shown to anyone: male or female; empty for unknown
    #[arg(long)]
    gender: Option<String>,
    /// A verified phone number, matched against advertisers' lists: +351200000000
    #[arg(long, value_name = "NUMBER")]
    phone: Option<String>,
}

impl ProfileEditArgs {
    pub(super) fn apply(&self, tx: &mut Tx<'_>, id: UserId) -> Result<(), Error> {
        let edit = profiles::ProfileChanges {
            username: self.username.clone(),
            name: self.name.clone(),
            description: self.description.clone(),
            location: self.location.clone(),
            url: self.website.clone(),
            profile_image_url: self.picture.clone(),
            profile_banner_url: self.banner.clone(),
        };
        let told = private_profiles::PrivateProfileChanges {
            born_on: self.birthday.clone(),
            gender: self.gender.clone(),
            phone: self.phone.clone(),
        };
        profiles::update(tx, &AuditActor::operator(), id, &edit)?;
        private_profiles::update(tx, &AuditActor::operator(), id, &told).map(drop)
    }
}

#[derive(Args, Clone, Debug)]
pub struct AffiliationArgs {
    /// The organization: @username or id
    organization: String,
    /// The badge's image URL
    #[arg(long, value_name = "URL", default_value = "", hide_default_value = true)]
    badge_url: String,
    /// The badge's description
    #[arg(long, default_value = "", hide_default_value = true)]
    description: String,
    /// The URL the badge links to
    #[arg(long, value_name = "URL", default_value = "", hide_default_value = true)]
    website: String,
}

impl AffiliationArgs {
    pub(super) fn apply(&self, tx: &mut Tx<'_>, id: UserId) -> Result<(), Error> {
        let organization = find::user(tx, &self.organization)?;
        let badge = profiles::AffiliateBadge {
            badge_url: self.badge_url.clone(),
            description: self.description.clone(),
            url: self.website.clone(),
        };
        let affiliation = Some((organization.id, &badge));
        profiles::set_affiliation(tx, &AuditActor::operator(), id, affiliation).map(drop)
    }
}
