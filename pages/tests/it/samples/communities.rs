use super::members::{feed, person_card, varied_posts};
use super::{HOSTILE, hostile_frame, signed_in_frame, signed_out_frame};
use pages::members::{
    CommunitiesPage, CommunitiesTab, CommunityCard, CommunityMembersPage, CommunityMembership, CommunityPage,
};
use pages::{FormField, Pager};

fn community_card(name: &str, is_closed: bool) -> CommunityCard {
    CommunityCard {
        id: "7".to_owned(),
        name: name.to_owned(),
        description: name.to_owned(),
        owner: name.to_owned(),
        is_closed,
        is_open: !is_closed,
        join_rule: if is_closed { "A moderator approves new members." } else { "Anyone may join." },
        members: 3,
    }
}

fn sample_pager() -> Pager {
    Pager { previous: None, next: Some("/communities?before=17".to_owned()) }
}

pub(crate) fn communities_states() -> Vec<(&'static str, CommunitiesPage)> {
    let of = |frame, tab, communities| CommunitiesPage {
        frame,
        tab,
        query: FormField::default(),
        communities,
        pager: sample_pager(),
    };
    let communities = || vec![community_card("Gardeners", false), community_card("Boat owners", true)];
    let found = CommunitiesPage {
        query: FormField::new("boat"),
        ..of(signed_in_frame(), CommunitiesTab::Found, vec![community_card("Boat owners", true)])
    };
    let nothing =
        CommunitiesPage { query: FormField::new("x"), ..of(signed_in_frame(), CommunitiesTab::Found, Vec::new()) };
    let hostile = CommunitiesPage {
        query: FormField::invalid(HOSTILE, HOSTILE),
        ..of(hostile_frame(), CommunitiesTab::Found, vec![community_card(HOSTILE, true)])
    };
    vec![
        ("plain", of(signed_in_frame(), CommunitiesTab::Joined, communities())),
        ("newest", of(signed_in_frame(), CommunitiesTab::Newest, communities())),
        ("found", found),
        ("nothing_found", nothing),
        ("empty", of(signed_in_frame(), CommunitiesTab::Joined, Vec::new())),
        ("empty_newest", of(signed_in_frame(), CommunitiesTab::Newest, Vec::new())),
        ("hostile", hostile),
    ]
}

pub(crate) fn community_states() -> Vec<(&'static str, CommunityPage)> {
    let of = |frame, community, membership| CommunityPage {
        frame,
        community,
        membership,
        is_readable: true,
        feed: feed(varied_posts()),
    };
    let public = || community_card("Gardeners", false);
    let closed = |frame, membership| CommunityPage {
        is_readable: false,
        feed: feed(Vec::new()),
        ..of(frame, community_card("Boat owners", true), membership)
    };
    let (owner, member) = (Some(CommunityMembership::Owner), Some(CommunityMembership::Member));
    let outsider = Some(CommunityMembership::Outsider);
    let empty = CommunityPage { feed: feed(Vec::new()), ..of(signed_in_frame(), public(), owner) };
    let hostile = of(hostile_frame(), community_card(HOSTILE, true), member);
    vec![
        ("visitor", of(signed_out_frame(), public(), None)),
        ("plain", of(signed_in_frame(), public(), outsider)),
        ("member", of(signed_in_frame(), public(), member)),
        ("closed", closed(signed_in_frame(), outsider)),
        ("empty", empty),
        ("hostile", hostile),
    ]
}

pub(crate) fn community_members_states() -> Vec<(&'static str, CommunityMembersPage)> {
    let of = |frame, name, people| CommunityMembersPage {
        frame,
        community: community_card(name, false),
        people,
        pager: sample_pager(),
    };
    let follow = || vec![("follow", "Follow")];
    vec![
        ("plain", of(signed_in_frame(), "Gardeners", vec![person_card("ada", follow())])),
        ("visitor", of(signed_out_frame(), "Gardeners", vec![person_card("ada", Vec::new())])),
        ("empty", of(signed_in_frame(), "Gardeners", Vec::new())),
        ("hostile", of(hostile_frame(), HOSTILE, vec![person_card(HOSTILE, follow())])),
    ]
}
