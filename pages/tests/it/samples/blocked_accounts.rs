use super::members::person_card;
use super::{HOSTILE, hostile_frame, signed_in_frame};
use pages::Pager;
use pages::members::{BlockedAccountsPage, BlockedAccountsTab};

pub(crate) fn blocked_accounts_states() -> Vec<(&'static str, BlockedAccountsPage)> {
    let of = |frame, tab: BlockedAccountsTab, people| {
        let next = Some(format!("{}?before=17", tab.path()));
        BlockedAccountsPage { frame, tab, people, pager: Pager { previous: None, next } }
    };
    let none = |tab| BlockedAccountsPage { pager: Pager::default(), ..of(signed_in_frame(), tab, Vec::new()) };
    let (blocked, muted) = (BlockedAccountsTab::Blocked, BlockedAccountsTab::Muted);
    let person = |name| vec![person_card(name, vec![("unblock", "Unblock")])];
    vec![
        ("several", of(signed_in_frame(), blocked, person("eve"))),
        ("none_blocked", none(blocked)),
        ("none_muted", none(muted)),
        ("hostile", of(hostile_frame(), muted, person(HOSTILE))),
    ]
}
