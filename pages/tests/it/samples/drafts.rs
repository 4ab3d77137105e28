use super::{HOSTILE, hostile_frame, minutes_ago, signed_in_frame};
use pages::Pager;
use pages::members::{DraftItem, DraftsPage, DraftsTab};

fn draft_item(text: &str, contents: &[&str]) -> DraftItem {
    DraftItem {
        id: "17".to_owned(),
        text: text.to_owned(),
        community: None,
        contents: contents.iter().map(|one| (*one).to_owned()).collect(),
        scheduled_at: None,
        problem: String::new(),
    }
}

pub(crate) fn drafts_states() -> Vec<(&'static str, DraftsPage)> {
    let of = |frame, tab, items| DraftsPage { frame, tab, items, pager: Pager::default() };
    let scheduled = |id: &str, text: &str| DraftItem {
        id: id.to_owned(),
        scheduled_at: Some(minutes_ago(-90)),
        ..draft_item(text, &["A reply", "2 files", "A poll"])
    };
    let refused = |text: &str| DraftItem {
        scheduled_at: Some(minutes_ago(5)),
        problem: text.to_owned(),
        ..draft_item(text, &[])
    };
    let community = Some(("Boat owners".to_owned(), "/communities/7".to_owned()));
    let drafts = vec![
        DraftItem { community, ..draft_item("The harbour", &[]) },
        DraftItem { id: "18".to_owned(), ..draft_item("", &["1 file"]) },
    ];
    let waiting = vec![refused("The text is too long."), scheduled("18", "The harbour opens")];
    let community = Some((HOSTILE.to_owned(), "/communities/7".to_owned()));
    let hostile = vec![DraftItem { problem: HOSTILE.to_owned(), community, ..scheduled("18", HOSTILE) }];
    vec![
        ("drafts", of(signed_in_frame(), DraftsTab::Drafts, drafts)),
        ("no drafts", of(signed_in_frame(), DraftsTab::Drafts, Vec::new())),
        ("scheduled", of(signed_in_frame(), DraftsTab::Scheduled, waiting)),
        ("nothing scheduled", of(signed_in_frame(), DraftsTab::Scheduled, Vec::new())),
        ("hostile", of(hostile_frame(), DraftsTab::Scheduled, hostile)),
    ]
}
