//! Communities: their fields, and answers of them.

use base::Refusal;
use base::refusal::ResourceRef;
use store::communities::Community;

use crate::out::Out;
use crate::shown::{Json, Shown, Write};
use crate::{Answer, Object, Spoken, Wants};

/// A page of communities, in their order.
pub fn communities(page: &[Community], wants: &Wants, spoken: Spoken) -> Answer {
    let mask = wants.of_included(Object::Community);
    Answer::of_rows(spoken, page, 256, |out, community| {
        write(out, community, mask);
    })
}

/// One community that was asked for by its id; `data` is an object.
pub fn community(found: Option<&Community>, id: i64, wants: &Wants, spoken: Spoken) -> Answer {
    match found {
        Some(community) => communities(std::slice::from_ref(community), wants, spoken).single(),
        None => Answer {
            errors: vec![Refusal::NotFound(ResourceRef::new("community", "id", id))],
            ..Answer::default()
        },
    }
}

fn write(out: &mut Out, community: &Community, mask: u64) {
    out.record(FIELDS, mask, |out, write| {
        if let Write::Community(write) = write {
            write(out, community);
        }
    });
}

const JOINING: &[&str] = &[
    "Open",
    "RestrictedJoinRequestsDisabled",
    "RestrictedJoinRequestsRequireAdminApproval",
    "RestrictedJoinRequestsRequireModeratorApproval",
    "SuperFollowRequired",
];

pub(crate) const FIELDS: &[Shown] = &[
    Shown::always("id", Json::Id, "Id of the community.")
        .community(|out, community| out.id(community.id)),
    Shown::always("name", Json::Text, "Its name.")
        .community(|out, community| out.text(&community.name)),
    Shown::asked(
        "access",
        Json::OneOf(&["Public", "Closed"]),
        "Who sees its posts.",
    )
    .community(|out, community| out.text(&community.access)),
    Shown::asked("created_at", Json::Time, "When it was made.")
        .community(|out, community| out.time(community.created_at)),
    Shown::asked("description", Json::Text, "What it is for.")
        .community(|out, community| out.text(&community.description)),
    Shown::asked("join_policy", Json::OneOf(JOINING), "Who may join.")
        .community(|out, community| out.text(&community.join_policy)),
    Shown::asked("member_count", Json::Int, "Its members.")
        .community(|out, community| out.int(community.member_count)),
];
