//! Categories of content and of business (contract §9.2, §9.3), and where line items may be shown.

use base::{Error, VocabularyWord};
use serde_json::{Value, json};

use crate::access::Who;
use crate::answer::Answer;
use crate::declare::{Custom, Field, Need, Often, Reference};
use crate::desk::Desk;
use crate::engine::checked;
use crate::given::Given;
use crate::kind::Kind;
use crate::resources::line_items::PRODUCTS;
use crate::resources::publishers;

const IAB: &str = include_str!("../../data/iab_categories.tsv");
const BUSINESS: &str = include_str!("../../data/business_categories.tsv");
const CONTENT: &str = include_str!("../../data/content_categories.tsv");

/// The lists of them.
pub static REFERENCES: &[Reference] = &[
    Reference {
        id: "getAdsBusinessCategories",
        path: "/advertiser_business_categories",
        about: "Business categories of advertisers.",
        rows: business,
        ..Reference::DEFAULT
    },
    Reference {
        id: "getAdsIabCategories",
        path: "/iab_categories",
        about: "Categories of content of the industry's own taxonomy.",
        rows: iab,
        pages: Some((200, 1000)),
        ..Reference::DEFAULT
    },
];

/// Where line items may be shown.
pub static OPERATIONS: &[Custom] = &[
    Custom::get(
        "getAdsPlacements",
        "/line_items/placements",
        "Placements that line items may have.",
        placements,
    )
    .who(Who::Anyone)
    .often(Often::Rarely)
    .params(&[Field::new("product_type", Kind::Word(PRODUCTS)).update(Need::No)]),
    Custom::get(
        "getAdsContentCategories",
        "/content_categories",
        "Categories of content.",
        content,
    )
    .who(Who::Anyone)
    .often(Often::Rarely),
];

const PLACEMENTS: &[(VocabularyWord, &[&[&str]])] = &[
    (
        VocabularyWord::same_in_both("PROMOTED_ACCOUNT"),
        &[&["ALL_ON_TWITTER"], &["TWITTER_TIMELINE"]],
    ),
    (
        VocabularyWord::new("PROMOTED_POSTS", "PROMOTED_TWEETS"),
        &[
            &["ALL_ON_TWITTER"],
            &["ALL_ON_TWITTER", "PUBLISHER_NETWORK"],
            &["PUBLISHER_NETWORK"],
            &["PUBLISHER_NETWORK", "TWITTER_TIMELINE"],
            &["TWITTER_SEARCH"],
            &["TWITTER_TIMELINE"],
            &["TWITTER_PROFILE", "TWITTER_TIMELINE"],
        ],
    ),
    (
        VocabularyWord::same_in_both("MEDIA"),
        &[
            &["ALL_ON_TWITTER"],
            &["PUBLISHER_NETWORK"],
            &["TWITTER_TIMELINE"],
        ],
    ),
];

fn placements(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let asked = given.text("product_type");
    let speech = desk.caller.speech;
    let rows = PLACEMENTS.iter();
    let rows = rows.filter(|(product, _)| asked.is_none_or(|asked| asked == product.post));
    let rows: Vec<Value> = rows
        .map(|(product, legal)| {
            json!({ "product_type": product.name_in(speech), "placements": legal })
        })
        .collect();
    Ok(Answer::one(&rows.into()))
}

fn content(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let counts = publishers::by_category(desk)?;
    let rows: Vec<Value> = lines(CONTENT)
        .map(|(id, name, categories)| {
            let (publishers, videos) = counts.get(id).copied().unwrap_or((0, 0));
            json!({
                "id": id,
                "name": name,
                "iab_categories": categories,
                "publishers_in_last_thirty_days": publishers,
                "videos_monetized_in_last_thirty_days": videos,
            })
        })
        .collect();
    let count = rows.len();
    Ok(Answer::one(&rows.into()).last_page().total(count))
}

fn lines(
    text: &'static str,
) -> impl Iterator<Item = (&'static str, &'static str, Vec<&'static str>)> {
    text.lines().filter_map(|line| {
        let mut cells = line.split('\t');
        let (id, name) = (cells.next()?, cells.next()?);
        let categories = cells.next().unwrap_or_default().split(',').collect();
        Some((id, name, categories))
    })
}

fn business() -> Vec<Value> {
    let rows = lines(BUSINESS);
    rows.map(
        |(id, name, categories)| json!({ "id": id, "name": name, "iab_categories": categories }),
    )
    .collect()
}

fn iab() -> Vec<Value> {
    let row = |(id, name, _): (&'static str, &'static str, Vec<&'static str>)| {
        let parent = id.split_once('-').map(|(parent, _)| parent);
        json!({ "id": id, "parent_id": parent, "name": name })
    };
    lines(IAB).map(row).collect()
}

/// The ids and names of all categories of content.
pub fn iab_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    lines(IAB).map(|(id, name, _)| (id, name))
}

/// The categories of a line item that shows itself before videos: all of one or two businesses.
/// Part of a business's set stands for the whole; none where that cannot be done.
pub fn of_businesses(asked: &[&str]) -> Option<Vec<&'static str>> {
    let touched: Vec<Vec<&'static str>> = lines(BUSINESS)
        .map(|(_, _, categories)| categories)
        .filter(|categories| categories.iter().any(|one| asked.contains(one)))
        .collect();
    let all: Vec<&'static str> = touched.iter().flatten().copied().collect();
    let known = asked.iter().all(|one| all.contains(one));
    (known && (1..=2).contains(&touched.len())).then_some(all)
}

/// Those of some categories that are not there with the whole set of a kind of content.
pub fn astray<'a>(asked: &[&'a str]) -> Vec<&'a str> {
    let whole: Vec<&'static str> = lines(CONTENT)
        .map(|(_, _, categories)| categories)
        .filter(|categories| categories.iter().all(|one| asked.contains(one)))
        .flatten()
        .collect();
    let mut astray = asked.to_vec();
    astray.retain(|one| !whole.contains(one));
    astray
}

/// The categories that a category of content stands for.
pub fn of_content(id: &str) -> Option<Vec<&'static str>> {
    let mut all = lines(CONTENT);
    all.find(|(known, _, _)| *known == id)
        .map(|(_, _, categories)| categories)
}

/// Whether a category of content is one.
pub fn is_content(id: &str) -> bool {
    lines(CONTENT).any(|(known, _, _)| known == id)
}

/// Whether a category is one.
pub fn is_iab(id: &str) -> bool {
    lines(IAB).any(|(known, _, _)| known == id)
}
