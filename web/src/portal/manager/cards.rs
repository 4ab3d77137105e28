//! Cards: the list of them, one of them as a post shows it, and their forms.

use base::Error;
use pages::manager::{AdsManager, Block, Cell, Empty, Facts, Link, Preview, Previews};
use serde_json::{Value, json};
use store::Tx;

use super::ask::{Desk, items, text};
use super::campaigns::or_dash;
use super::creatives::{self, form};
use super::forms::{Ask, Plan, Then};
use super::media::{self, Kinds};
use super::stand::{Sent, offered};
use super::words::{day, said};

/// As many of each kind as a page shows.
const SHOWN: &str = "50";

/// A kind of card: the part of the path, the list's path, one's path, what a new one is called,
/// and whether it can be changed.
pub(super) struct Kind {
    pub(super) part: &'static str,
    pub(super) list: &'static str,
    pub(super) path: &'static str,
    changes: bool,
}

pub(super) const KINDS: &[Kind] = &[
    Kind {
        part: "cards",
        list: "cards",
        path: "cards/{}",
        changes: true,
    },
    Kind {
        part: "poll-cards",
        list: "cards/poll",
        path: "cards/poll/{}",
        changes: false,
    },
    Kind {
        part: "video-cards",
        list: "cards/video_conversation",
        path: "cards/video_conversation/{}",
        changes: true,
    },
    Kind {
        part: "image-cards",
        list: "cards/image_conversation",
        path: "cards/image_conversation/{}",
        changes: true,
    },
];

fn kind(part: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.part == part)
}

/// Whether a part of a path is about cards.
pub(super) fn is_part(part: &str) -> bool {
    kind(part).is_some()
}

/// All of them.
pub(super) fn list(tx: &mut Tx<'_>, desk: &Desk) -> Result<AdsManager, Error> {
    let count = [("count", SHOWN.to_owned())];
    let mut shown = Vec::new();
    for kind in KINDS {
        for card in &desk.list(tx, kind.list, &count)?.rows {
            shown.push(Preview {
                acts: acts(desk, kind, text(card, "id")),
                path: Some(desk.path(&format!("/{}/{}", kind.part, text(card, "id")))),
                ..creatives::card(desk, card)
            });
        }
    }
    let create = offered([
        desk.offer("POST", "cards", "Website card", "/cards/new/website")
            .map(|link| link.kind("primary")),
        desk.offer("POST", "cards", "App card", "/cards/new/app"),
        desk.offer("POST", "cards/poll", "Poll card", "/cards/new/poll"),
        desk.offer(
            "POST",
            "cards/image_conversation",
            "Conversation with an image",
            "/cards/new/image",
        ),
        desk.offer(
            "POST",
            "cards/video_conversation",
            "Conversation with a video",
            "/cards/new/video",
        ),
    ]);
    Ok(AdsManager {
        heading: "Cards".to_owned(),
        lead: "What a post shows below its text: a picture or video that leads somewhere, a poll, \
               or a hashtag to join in with."
            .to_owned(),
        actions: create,
        blocks: vec![Block::Previews(Previews {
            title: "All cards".to_owned(),
            items: shown,
            empty: Empty {
                title: "No card yet".to_owned(),
                text: "Upload a picture or a video to the media library first, then make a card \
                       of it here. A post or a scheduled post takes it."
                    .to_owned(),
                link: desk.offer("POST", "media_library", "Upload media", "/media/upload"),
            },
            ..Previews::default()
        })],
        ..AdsManager::default()
    })
}

fn acts(desk: &Desk, kind: &Kind, id: &str) -> Vec<pages::manager::Act> {
    let at = |act: &str| format!("/{}/{id}/{act}", kind.part);
    let edit = form(desk, ("PUT", kind.path), "Edit", &at("edit")).filter(|_| kind.changes);
    let delete = form(desk, ("DELETE", kind.path), "Delete", &at("delete"));
    edit.into_iter().chain(delete).collect()
}

/// One card, in a post.
pub(super) fn one(tx: &mut Tx<'_>, desk: &Desk, part: &str, id: &str) -> Result<AdsManager, Error> {
    let Some(kind) = kind(part) else {
        return Err(base::Fault::new("a card of no kind").into());
    };
    let card = desk.one(tx, kind.path, id)?;
    let here = format!("/{part}/{id}");
    let words = "What you write in the post stands here.";
    let shown = Preview {
        post: creatives::in_post(tx, desk, words)?,
        name: String::new(),
        kind: String::new(),
        ..creatives::card(desk, &card)
    };
    let edit = desk.offer("PUT", kind.path, "Edit", &format!("{here}/edit"));
    let delete = desk.offer("DELETE", kind.path, "Delete", &format!("{here}/delete"));
    Ok(AdsManager {
        trail: vec![Link::to("Cards", desk.path("/cards"))],
        heading: text(&card, "name").to_owned(),
        actions: offered([
            edit.filter(|_| kind.changes),
            delete.map(|link| link.kind("danger-quiet")),
        ]),
        blocks: vec![
            Block::Previews(Previews {
                title: "In a post".to_owned(),
                items: vec![shown],
                ..Previews::default()
            }),
            Block::Facts(Facts {
                title: "Card".to_owned(),
                actions: Vec::new(),
                rows: vec![
                    ("Kind", Cell::of(said(text(&card, "card_type")))),
                    ("Address", Cell::of(text(&card, "card_uri"))),
                    ("Leads to", Cell::of(leads_to(&card))),
                    ("Created", Cell::of(day(text(&card, "created_at")))),
                    ("ID", Cell::of(text(&card, "id"))),
                ],
            }),
        ],
        ..AdsManager::default()
    })
}

fn leads_to(card: &Value) -> String {
    let leads = |part: &Value| {
        if let Some(Value::String(url)) = part.pointer("/destination/url") {
            return Some(url.clone());
        }
        let names = ["googleplay_app_id", "ios_app_store_identifier"];
        let apps = part.get("destination")?;
        let apps = names.iter().map(|name| text(apps, name));
        let apps: Vec<&str> = apps.filter(|app| !app.is_empty()).collect();
        (!apps.is_empty()).then(|| apps.join(", "))
    };
    let slides = items(card, "slides").iter().filter_map(Value::as_array);
    let parts = items(card, "components").iter().chain(slides.flatten());
    let all: Vec<String> = parts.filter_map(leads).collect();
    match all.as_slice() {
        [] => or_dash(text(card, "thank_you_url")).to_owned(),
        all => all.join(", "),
    }
}

/// The cards that a post may show, each by its address.
pub(super) fn choices(tx: &mut Tx<'_>, desk: &Desk) -> Result<Vec<(String, String)>, Error> {
    let count = [("count", "200".to_owned())];
    let mut all = Vec::new();
    for kind in KINDS {
        for card in &desk.list(tx, kind.list, &count)?.rows {
            let said = format!("{} ({})", text(card, "name"), said(text(card, "card_type")));
            all.push((text(card, "card_uri").to_owned(), said));
        }
    }
    Ok(all)
}

/// The form of a new one.
pub(super) fn create(tx: &mut Tx<'_>, desk: &Desk, what: &str) -> Result<Option<Plan>, Error> {
    let none = Value::Null;
    let (heading, part) = match what {
        "website" => ("Create a website card", "cards"),
        "app" => ("Create an app card", "cards"),
        "poll" => ("Create a poll card", "poll-cards"),
        "image" => ("Create a conversation card with an image", "image-cards"),
        "video" => ("Create a conversation card with a video", "video-cards"),
        _ => return Ok(None),
    };
    let asks = match what {
        "website" => website(tx, desk, &none)?,
        "app" => app(tx, desk, &none)?,
        "poll" => poll(tx, desk)?,
        _ => conversation(tx, desk, part, &none)?,
    };
    let composed = matches!(what, "website" | "app");
    let found = kind(part).map(|kind| Plan {
        heading: heading.to_owned(),
        lead: "Posts that you write or schedule can show it.".to_owned(),
        trail: vec![Link::to("Cards", desk.path("/cards"))],
        path: kind.list,
        asks,
        submit: "Create card",
        action: desk.path(&format!("/cards/new/{what}")),
        then: Then::Made(desk.path(&format!("/{part}"))),
        done: "created",
        work: composed.then_some(compose),
        ..Plan::at(desk, "/cards")
    });
    Ok(found)
}

/// The form of a change.
pub(super) fn edit(
    tx: &mut Tx<'_>,
    desk: &Desk,
    part: &str,
    id: &str,
) -> Result<Option<Plan>, Error> {
    let Some(kind) = kind(part).filter(|kind| kind.changes) else {
        return Ok(None);
    };
    let now = desk.one(tx, kind.path, id)?;
    let here = format!("/{part}/{id}");
    let simple = component(&now, "MEDIA").is_some();
    let (asks, work): (_, Option<super::forms::Work>) = match part {
        "cards" if simple && component(&now, "BUTTON").is_some() => {
            (app(tx, desk, &now)?, Some(compose))
        }
        "cards" if simple => (website(tx, desk, &now)?, Some(compose)),
        // Of a carousel the name alone: its slides are made by apps.
        "cards" => (vec![name(&now)], Some(rename)),
        _ => (conversation(tx, desk, part, &now)?, None),
    };
    Ok(Some(Plan {
        heading: "Edit the card".to_owned(),
        lead: "Posts that show it already show it as it is then.".to_owned(),
        trail: vec![
            Link::to("Cards", desk.path("/cards")),
            Link::to(text(&now, "name"), desk.path(&here)),
        ],
        method: "PUT",
        path: kind.path,
        ids: vec![id.to_owned()],
        asks,
        submit: "Save changes",
        action: desk.path(&format!("{here}/edit")),
        work,
        ..Plan::at(desk, &here)
    }))
}

fn component<'v>(card: &'v Value, kind: &str) -> Option<&'v Value> {
    let mut parts = items(card, "components").iter();
    parts.find(|part| text(part, "type") == kind)
}

fn name(now: &Value) -> Ask {
    Ask::text("name", "Name")
        .at_first(text(now, "name"))
        .help("For yourself: nobody else sees it.")
}

/// The medium of a card with components.
fn picture(tx: &mut Tx<'_>, desk: &Desk, now: &Value) -> Result<Ask, Error> {
    let medium = component(now, "MEDIA").map(|part| text(part, "media_key"));
    let ask = Ask::choice(
        "media_key",
        "Image or video",
        media::choices(tx, desk, Kinds::All)?,
    );
    let ask = ask
        .answers(&["components", "components[0].media_key", "components[0]"])
        .help(
            "Of the media library: an image at least 800 pixels wide, 1.91:1 or square, of at \
             most 3 MB; or a video, 16:9 or square.",
        );
    Ok(match medium {
        Some(key) => ask.at_first(key),
        None => ask.or_nothing("Choose one"),
    })
}

fn website(tx: &mut Tx<'_>, desk: &Desk, now: &Value) -> Result<Vec<Ask>, Error> {
    let details = component(now, "DETAILS").cloned().unwrap_or_default();
    let url = details.pointer("/destination/url").and_then(Value::as_str);
    Ok(vec![
        name(now),
        picture(tx, desk, now)?,
        Ask::text("title", "Headline")
            .at_first(text(&details, "title"))
            .answers(&["components[1].title"]),
        Ask::text("website_url", "Website")
            .at_first(url.unwrap_or_default())
            .answers(&["components[1].destination.url", "components[1].destination"])
            .help("Where the card leads. It begins with https://"),
    ])
}

fn app(tx: &mut Tx<'_>, desk: &Desk, now: &Value) -> Result<Vec<Ask>, Error> {
    let button = component(now, "BUTTON").cloned().unwrap_or_default();
    let leads = button.get("destination").cloned().unwrap_or_default();
    let label = button.pointer("/label/value").and_then(Value::as_str);
    let field = |name: &'static str, label: &str, at: &'static [&'static str]| {
        Ask::text(name, label)
            .at_first(text(&leads, name))
            .answers(at)
    };
    Ok(vec![
        name(now),
        picture(tx, desk, now)?,
        Ask::words(
            "label",
            "Button",
            ads::resources::card_components::BUTTON_LABELS,
        )
        .at_first(label.unwrap_or("INSTALL"))
        .answers(&["components[1].label.value", "components[1].label"]),
        field(
            "country_code",
            "Country of the app stores",
            &["components[1].destination.country_code"],
        )
        .help("Two letters, as US."),
        field(
            "googleplay_app_id",
            "Android app",
            &["components[1].destination.googleplay_app_id"],
        )
        .help("Its package name, as com.example.bikes. One of the two stores is needed."),
        field(
            "ios_app_store_identifier",
            "iOS app",
            &["components[1].destination.ios_app_store_identifier"],
        )
        .help("Its number in the App Store."),
        field(
            "googleplay_deep_link",
            "Android deep link",
            &["components[1].destination.googleplay_deep_link"],
        )
        .rarely(),
        field(
            "ios_deep_link",
            "iOS deep link",
            &["components[1].destination.ios_deep_link"],
        )
        .rarely(),
    ])
}

/// Sends the components that the fields stand for.
fn compose(tx: &mut Tx<'_>, desk: &Desk, plan: &Plan, sent: &Sent) -> Result<Value, Error> {
    let typed = |name: &str| match sent.text(name) {
        "" => Value::Null,
        text => text.into(),
    };
    let leads = if plan.asks.iter().any(|ask| ask.name == "label") {
        let mut app = json!({ "type": "APP" });
        for name in [
            "country_code",
            "googleplay_app_id",
            "googleplay_deep_link",
            "ios_app_store_identifier",
            "ios_deep_link",
        ] {
            if let Some(members) = app.as_object_mut() {
                members.insert(name.to_owned(), typed(name));
            }
        }
        let label = json!({ "type": "ENUM", "value": typed("label") });
        json!({ "type": "BUTTON", "label": label, "destination": app })
    } else {
        let site = json!({ "type": "WEBSITE", "url": typed("website_url") });
        json!({ "type": "DETAILS", "title": typed("title"), "destination": site })
    };
    let medium = json!({ "type": "MEDIA", "media_key": typed("media_key") });
    let card = json!({ "name": typed("name"), "components": [medium, leads] });
    desk.tell(tx, plan.method, plan.path, &plan.ids(), card)
}

fn rename(tx: &mut Tx<'_>, desk: &Desk, plan: &Plan, sent: &Sent) -> Result<Value, Error> {
    let card = json!({ "name": sent.text("name") });
    desk.tell(tx, plan.method, plan.path, &plan.ids(), card)
}

fn poll(tx: &mut Tx<'_>, desk: &Desk) -> Result<Vec<Ask>, Error> {
    let spans = [
        ("1440", "One day"),
        ("60", "One hour"),
        ("360", "Six hours"),
        ("4320", "Three days"),
        ("10080", "Seven days"),
    ];
    let spans = spans.map(|(minutes, text)| (minutes.to_owned(), text.to_owned()));
    Ok(vec![
        name(&Value::Null),
        Ask::text("first_choice", "First choice").help("Up to 25 characters, as all of them."),
        Ask::text("second_choice", "Second choice"),
        Ask::text("third_choice", "Third choice"),
        Ask::text("fourth_choice", "Fourth choice"),
        Ask::choice("duration_in_minutes", "People vote for", spans.into()),
        Ask::choice(
            "media_key",
            "Image or video",
            media::choices(tx, desk, Kinds::All)?,
        )
        .or_nothing("None")
        .help("An image of 1.91:1, or a video of 16:9, if the account may use them in polls.")
        .rarely(),
    ])
}

fn conversation(tx: &mut Tx<'_>, desk: &Desk, part: &str, now: &Value) -> Result<Vec<Ask>, Error> {
    let film = part == "video-cards";
    let (kinds, label, help) = if film {
        (Kinds::Films, "Video", "Of the media library: 16:9.")
    } else {
        (
            Kinds::Images,
            "Image",
            "Of the media library: 1.91:1, at least 800 pixels wide.",
        )
    };
    let medium = Ask::choice("media_key", label, media::choices(tx, desk, kinds)?).help(help);
    let medium = match text(now, "media_key") {
        "" => medium.or_nothing("Choose one"),
        key => medium.at_first(key),
    };
    let plain = |name: &'static str, label: &str| Ask::text(name, label).at_first(text(now, name));
    let words = |name: &'static str, older: &'static [&'static str], label: &str| {
        let said = older.iter().map(|name| text(now, name));
        let said = said.chain([text(now, name)]).find(|said| !said.is_empty());
        let ask = Ask::area(name, label).at_first(said.unwrap_or_default());
        ask.answers(older)
    };
    Ok(vec![
        name(now),
        medium,
        plain("title", "Title").help("Up to 23 characters. Needed where there is one hashtag."),
        plain("first_cta", "Hashtag").help("Up to 20 characters."),
        words(
            "first_cta_post",
            &["first_cta_tweet"],
            "Post for the hashtag",
        )
        .help("What people find in the box when they choose it."),
        plain("thank_you_text", "Thanks").help("Said when they posted: up to 23 characters."),
        plain("thank_you_url", "Where that leads"),
        plain("second_cta", "Second hashtag").rarely(),
        words(
            "second_cta_post",
            &["second_cta_tweet"],
            "Post for the second",
        )
        .rarely(),
        plain("third_cta", "Third hashtag").rarely(),
        words("third_cta_post", &["third_cta_tweet"], "Post for the third").rarely(),
        plain("fourth_cta", "Fourth hashtag").rarely(),
        words(
            "fourth_cta_post",
            &["fourth_cta_tweet"],
            "Post for the fourth",
        )
        .rarely(),
    ])
}
