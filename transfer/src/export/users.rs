//! Users as lines.

use archive::{ArchiveRecord, ArchivedUser};
use base::{Error, PostId, UserId};
use store::Tx;
use store::users::{self, User, UserState};

use super::{ExportPage, PAGE_SIZE, build_page};

pub(super) fn load_users(tx: &mut Tx<'_>, after: i64) -> Result<ExportPage<i64>, Error> {
    let users = users::list(tx, UserId::new(after), PAGE_SIZE)?;
    let active = users.iter().filter(|user| user.state == UserState::Active);
    let records = active.map(|user| ArchiveRecord::User(Box::new(user_to_line(user))));
    Ok(build_page(&users, |user| user.id.get(), records))
}

fn user_to_line(user: &User) -> ArchivedUser {
    ArchivedUser {
        id: user.id.get(),
        handle: user.username.clone(),
        name: user.name.clone(),
        bio: user.description.clone(),
        location: user.location.clone(),
        website: user.url.clone(),
        created_at_ms: user.created_at.ms(),
        protected: user.protected,
        verified: user.verified,
        follower_count: user.followers_count,
        following_count: user.following_count,
        post_count: user.post_count,
        like_count: user.like_count,
        listed_count: user.listed_count,
        avatar_url: user.profile_image_url.clone(),
        banner_url: user.profile_banner_url.clone(),
        verified_type: user.verified_type.clone(),
        subscription_type: Some(user.subscription_type.clone()).filter(|level| level != "None").unwrap_or_default(),
        parody: user.parody,
        identity_verified: user.is_identity_verified,
        refuses_messages: !user.receives_dm,
        affiliation: user.affiliation.clone(),
        withheld: user.withheld.clone(),
        pinned_post: user.pinned_post_id.map(PostId::get),
    }
}
