//! Creatives: cards as they look, the media library, scheduled posts and drafts.

use base::Stop;
use pages::manager::{Act, AdsManager, Block, Cell, Empty, Preview, Previews, Row, Table};
use serde_json::Value;
use store::Tx;

use super::ask::{Desk, items, text};
use super::column;
use super::stand::Stand;
use super::words::{badge, day, said};

/// All of them.
pub(super) fn list(tx: &mut Tx<'_>, desk: &Desk, _: &Stand) -> Result<AdsManager, Stop> {
    if !desk.may("GET", "cards") {
        return Ok(AdsManager {
            heading: "Creatives".to_owned(),
            lead: "Your role on this account does not show creatives.".to_owned(),
            ..AdsManager::default()
        });
    }
    let schedule = desk.offer(
        "POST",
        "scheduled_<posts>",
        "Schedule a post",
        "/scheduled/new",
    );
    Ok(AdsManager {
        heading: "Creatives".to_owned(),
        blocks: vec![
            scheduled(tx, desk, schedule)?,
            drafts(tx, desk)?,
            cards(tx, desk)?,
            media(tx, desk)?,
        ],
        ..AdsManager::default()
    })
}

/// As many of each kind as a page shows.
const SHOWN: &str = "50";

fn cards(tx: &mut Tx<'_>, desk: &Desk) -> Result<Block, Stop> {
    let count = [("count", SHOWN.to_owned())];
    let mut items = Vec::new();
    for path in [
        "cards",
        "cards/poll",
        "cards/video_conversation",
        "cards/image_conversation",
    ] {
        let found = desk.list(tx, path, &count)?;
        items.extend(found.rows.iter().map(|card| preview(desk, card)));
    }
    Ok(Block::Previews(Previews {
        title: "Cards".to_owned(),
        lead: "What a post shows below its text.".to_owned(),
        items,
        empty: Empty {
            title: "No card yet".to_owned(),
            text: "Apps make cards with POST /12/accounts/:account_id/cards.".to_owned(),
            link: None,
        },
        ..Previews::default()
    }))
}

/// A card as it looks: its picture, its words, its buttons.
fn preview(desk: &Desk, card: &Value) -> Preview {
    let mut shown = Preview {
        name: text(card, "name").to_owned(),
        kind: said(text(card, "card_type")),
        below: text(card, "card_uri").to_owned(),
        ..Preview::default()
    };
    let slides = items(card, "slides").iter();
    let parts = slides.filter_map(Value::as_array).flatten();
    for part in items(card, "components").iter().chain(parts) {
        component(desk, part, &mut shown);
    }
    for name in [
        "title",
        "text",
        "first_choice",
        "second_choice",
        "third_choice",
        "fourth_choice",
    ] {
        match (name, text(card, name)) {
            (_, "") => {}
            ("title" | "text", words) => shown.lines.push(words.to_owned()),
            (_, choice) => shown.buttons.push(choice.to_owned()),
        }
    }
    let ctas = ["first_cta", "second_cta", "third_cta", "fourth_cta"];
    let ctas = ctas.iter().map(|name| text(card, name));
    let ctas = ctas.filter(|cta| !cta.is_empty()).map(str::to_owned);
    shown.buttons.extend(ctas);
    if shown.picture.is_none() {
        let names = ["image_url", "media_url", "poster_media_url", "image"];
        let found = names.iter().map(|name| text(card, name));
        show(
            desk,
            found.into_iter().find(|url| !url.is_empty()),
            &mut shown,
        );
    }
    shown
}

fn component(desk: &Desk, part: &Value, shown: &mut Preview) {
    let word = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => text(other, "value").to_owned(),
    };
    let texts = ["title", "label", "text"].map(|name| part.get(name).map(word));
    let texts = texts.into_iter().flatten().filter(|text| !text.is_empty());
    match text(part, "type") {
        "BUTTON" => shown.buttons.extend(texts.map(|text| said(&text))),
        _ => shown.lines.extend(texts),
    }
    let metadata = part.get("media_metadata").and_then(Value::as_object);
    let mut media = metadata.into_iter().flat_map(serde_json::Map::values);
    if let Some(medium) = media.next().filter(|_| shown.picture.is_none()) {
        let poster = medium.get("poster_url").and_then(Value::as_str);
        let url = poster.unwrap_or_else(|| text(medium, "url"));
        show(desk, Some(url), shown);
    }
}

/// Shows a picture that we have; of another place only that there is one.
fn show(desk: &Desk, url: Option<&str>, shown: &mut Preview) {
    let Some(url) = url.filter(|url| !url.is_empty()) else {
        return;
    };
    let own = url.strip_prefix(desk.asking.site).unwrap_or(url);
    let kind = std::path::Path::new(own).extension();
    let still = kind.is_none_or(|kind| !kind.eq_ignore_ascii_case("mp4"));
    shown.picture = Some(own.to_owned()).filter(|path| path.starts_with("/media/") && still);
    shown.shows = if still {
        "Picture of the card".to_owned()
    } else {
        "A video".to_owned()
    };
}

fn media(tx: &mut Tx<'_>, desk: &Desk) -> Result<Block, Stop> {
    let found = desk.list(tx, "media_library", &[("count", SHOWN.to_owned())])?;
    let items = found.rows.iter().map(|medium| {
        let names = ["name", "title", "file_name", "media_key"];
        let name = names.iter().map(|name| text(medium, name));
        let name = name.into_iter().find(|name| !name.is_empty());
        let mut shown = Preview {
            name: name.unwrap_or_default().to_owned(),
            kind: said(text(medium, "media_type")),
            below: text(medium, "media_key").to_owned(),
            ..Preview::default()
        };
        let poster = text(medium, "poster_media_url");
        let url = if poster.is_empty() {
            text(medium, "media_url")
        } else {
            poster
        };
        show(desk, Some(url), &mut shown);
        let about = text(medium, "description");
        shown
            .lines
            .extend(Some(about.to_owned()).filter(|about| !about.is_empty()));
        shown
    });
    Ok(Block::Previews(Previews {
        title: "Media library".to_owned(),
        lead: "Pictures and videos that the account may show.".to_owned(),
        items: items.collect(),
        empty: Empty {
            title: "The library is empty".to_owned(),
            text: "What the account’s user uploads can be added to it.".to_owned(),
            link: None,
        },
        ..Previews::default()
    }))
}

fn scheduled(
    tx: &mut Tx<'_>,
    desk: &Desk,
    add: Option<pages::manager::Link>,
) -> Result<Block, Stop> {
    let found = desk.list(tx, "scheduled_<posts>", &[])?;
    let rows = found.rows.iter().map(|post| {
        let open = text(post, "scheduled_status") == "SCHEDULED";
        Row {
            name: text(post, "id").to_owned(),
            cells: vec![
                words_of(post),
                Cell::of(day(text(post, "scheduled_at"))),
                Cell::badge(badge(text(post, "scheduled_status"))),
            ],
            acts: remove(desk, "scheduled_<posts>/{}", "scheduled", post, open),
        }
    });
    let rows: Vec<Row> = rows.collect();
    Ok(Block::Table(Table {
        title: "Scheduled posts".to_owned(),
        columns: ["Post", "When", "Status"].map(column).into(),
        empty: Empty {
            title: "Nothing is scheduled".to_owned(),
            text: "A post may be written now and published later.".to_owned(),
            link: add.clone(),
        },
        actions: add.filter(|_| !rows.is_empty()).into_iter().collect(),
        rows,
        ..Table::default()
    }))
}

fn drafts(tx: &mut Tx<'_>, desk: &Desk) -> Result<Block, Stop> {
    let found = desk.list(tx, "draft_<posts>", &[])?;
    let rows = found.rows.iter().map(|post| Row {
        name: text(post, "id").to_owned(),
        cells: vec![words_of(post), Cell::of(day(text(post, "updated_at")))],
        acts: remove(desk, "draft_<posts>/{}", "drafts", post, true),
    });
    Ok(Block::Table(Table {
        title: "Drafts".to_owned(),
        columns: ["Post", "Changed"].map(column).into(),
        rows: rows.collect(),
        empty: Empty {
            title: "No draft".to_owned(),
            text: "Apps keep unfinished posts here.".to_owned(),
            link: None,
        },
        ..Table::default()
    }))
}

fn words_of(post: &Value) -> Cell {
    let words: String = text(post, "text").chars().take(140).collect();
    let words = if words.is_empty() {
        "A post without words".to_owned()
    } else {
        words
    };
    Cell::of(words).below(text(post, "name"))
}

fn remove(desk: &Desk, path: &str, part: &str, post: &Value, open: bool) -> Vec<Act> {
    let act = Act {
        text: "Delete",
        path: desk.path(&format!("/{part}/{}/delete", text(post, "id"))),
        sends: Vec::new(),
    };
    let may = open && desk.may("DELETE", path);
    may.then_some(act).into_iter().collect()
}
