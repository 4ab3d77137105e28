//! The commands of `locum user` that change what stands in a profile.

use base::{Error, UserId};
use clap::Args;
use network::audit::AuditActor;
use network::{private_profiles, profiles};
use serde::{Deserialize, Serialize};
use store::Tx;

use super::find;

/// What shall stand in a profile from now on.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[group(id = "profile-texts")]
pub(crate) struct ProfileEditArgs {
    /// The handle: 1–15 of A–Z a–z 0–9 _
    #[arg(long)]
    username: Option<String>,
    /// The display name
    #[arg(long)]
    name: Option<String>,
    /// The biography
    #[arg(long)]
    description: Option<String>,
    /// The place
    #[arg(long)]
    location: Option<String>,
    /// The address of a page
    #[arg(long, value_name = "URL")]
    website: Option<String>,
    /// The address of the picture
    #[arg(long, value_name = "URL")]
    picture: Option<String>,
    /// The address of the banner
    #[arg(long, value_name = "URL")]
    banner: Option<String>,
    /// The day of birth, which nobody is shown: 1990-12-31; empty: not known
    #[arg(long, value_name = "DAY")]
    birthday: Option<String>,
    /// The gender, which nobody is shown: male or female; empty: not known
    #[arg(long)]
    gender: Option<String>,
    /// A phone number that was checked, by which advertisers' lists find the user: +351200000000
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

/// An affiliation.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct AffiliationArgs {
    /// The organization: @username or id
    organization: String,
    /// The address of the badge's picture
    #[arg(long, value_name = "URL", default_value = "")]
    badge_url: String,
    /// What the badge says
    #[arg(long, default_value = "")]
    description: String,
    /// Where the badge leads
    #[arg(long, value_name = "URL", default_value = "")]
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
