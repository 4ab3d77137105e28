use super::members::{feed, person_card, varied_posts};
use super::{HOSTILE, hostile_frame, signed_in_frame, signed_out_frame};
use pages::members::{
    AddToListPage, DeleteListPage, EditListPage, ListCard, ListForm, ListMembersPage, ListRelationship,
    ListTimelinePage, ListsPage, ListsTab, NewListPage,
};
use pages::{FormField, Pager};

fn list_card(name: &str, is_private: bool) -> ListCard {
    ListCard {
        id: "7".to_owned(),
        name: name.to_owned(),
        description: name.to_owned(),
        owner: name.to_owned(),
        is_private,
        members: 3,
        followers: 1,
    }
}

fn sample_pager() -> Pager {
    Pager { previous: None, next: Some("/lists?before=17".to_owned()) }
}

pub(crate) fn lists_states() -> Vec<(&'static str, ListsPage)> {
    let of = |frame, tab, lists| ListsPage { frame, tab, pinned: Vec::new(), lists, pager: sample_pager() };
    let lists = || vec![list_card("Harbours", false), list_card("Boats", true)];
    let pinned =
        ListsPage { pinned: vec![list_card("Harbours", false)], ..of(signed_in_frame(), ListsTab::Own, lists()) };
    vec![
        ("plain", of(signed_in_frame(), ListsTab::Own, lists())),
        ("pinned", pinned),
        ("followed", of(signed_in_frame(), ListsTab::Followed, lists())),
        ("empty", of(signed_in_frame(), ListsTab::Own, Vec::new())),
        ("empty_followed", of(signed_in_frame(), ListsTab::Followed, Vec::new())),
        ("hostile", of(hostile_frame(), ListsTab::Own, vec![list_card(HOSTILE, true)])),
    ]
}

fn list_form(name: FormField) -> ListForm {
    ListForm { description: name.clone(), name, is_private: true, form_id: "f0rm".to_owned() }
}

pub(crate) fn new_list_states() -> Vec<(&'static str, NewListPage)> {
    let of = |frame, form| NewListPage { frame, form };
    vec![
        ("plain", of(signed_in_frame(), ListForm::default())),
        ("refused", of(signed_in_frame(), list_form(FormField::invalid("…", "Enter a name.")))),
        ("hostile", of(hostile_frame(), list_form(FormField::invalid(HOSTILE, HOSTILE)))),
    ]
}

pub(crate) fn edit_list_states() -> Vec<(&'static str, EditListPage)> {
    let of = |frame, form| EditListPage { frame, path: "/lists/7".to_owned(), form };
    vec![
        ("plain", of(signed_in_frame(), list_form(FormField::new("Harbours")))),
        ("hostile", of(hostile_frame(), list_form(FormField::invalid(HOSTILE, HOSTILE)))),
    ]
}

pub(crate) fn delete_list_states() -> Vec<(&'static str, DeleteListPage)> {
    let of = |frame, name| DeleteListPage { frame, list: list_card(name, false), form_id: "f0rm".to_owned() };
    vec![("plain", of(signed_in_frame(), "Harbours")), ("hostile", of(hostile_frame(), HOSTILE))]
}

pub(crate) fn list_timeline_states() -> Vec<(&'static str, ListTimelinePage)> {
    let of = |frame, list, relationship| ListTimelinePage { frame, list, relationship, feed: feed(varied_posts()) };
    let plain = ListRelationship::default();
    let own = ListRelationship { is_own: true, is_pinned: true, ..plain };
    let empty =
        ListTimelinePage { feed: feed(Vec::new()), ..of(signed_in_frame(), list_card("Boats", true), Some(own)) };
    let followed = ListRelationship { is_following: true, ..plain };
    vec![
        ("visitor", of(signed_out_frame(), list_card("Harbours", false), None)),
        ("plain", of(signed_in_frame(), list_card("Harbours", false), Some(plain))),
        ("followed", of(signed_in_frame(), list_card("Harbours", false), Some(followed))),
        ("empty", empty),
        ("hostile", of(hostile_frame(), list_card(HOSTILE, false), Some(own))),
    ]
}

pub(crate) fn list_members_states() -> Vec<(&'static str, ListMembersPage)> {
    let of = |frame, name, people, username| ListMembersPage {
        frame,
        list: list_card(name, false),
        is_own: true,
        username,
        people,
        pager: sample_pager(),
    };
    let remove = || vec![("unlist 7", "Remove")];
    let refused = FormField::invalid("eve", "There is no account called @eve.");
    let visitor = ListMembersPage {
        is_own: false,
        ..of(signed_out_frame(), "Harbours", vec![person_card("ada", Vec::new())], FormField::default())
    };
    let hostile = FormField::invalid(HOSTILE, HOSTILE);
    vec![
        ("plain", of(signed_in_frame(), "Harbours", vec![person_card("ada", remove())], FormField::default())),
        ("visitor", visitor),
        ("empty", of(signed_in_frame(), "Harbours", Vec::new(), FormField::default())),
        ("refused", of(signed_in_frame(), "Harbours", vec![person_card("ada", remove())], refused)),
        ("hostile", of(hostile_frame(), HOSTILE, vec![person_card(HOSTILE, remove())], hostile)),
    ]
}

pub(crate) fn add_to_list_states() -> Vec<(&'static str, AddToListPage)> {
    let of = |frame, username: &str, lists| AddToListPage {
        frame,
        user_id: "8".to_owned(),
        username: username.to_owned(),
        lists,
        pager: sample_pager(),
    };
    let lists = |name: &str| vec![(list_card(name, false), true), (list_card(name, true), false)];
    vec![
        ("plain", of(signed_in_frame(), "bob", lists("Harbours"))),
        ("empty", of(signed_in_frame(), "bob", Vec::new())),
        ("hostile", of(hostile_frame(), HOSTILE, lists(HOSTILE))),
    ]
}
