//! The media library, and what of it creatives of line items show.

use base::Error;
use pages::Pager;
use pages::manager::{AdsManager, Block, Cell, Empty, Link, Preview, Previews, Row, Table};
use serde_json::Value;
use store::Tx;

use super::ask::{Desk, text};
use super::column;
use super::creatives::{self, form};
use super::forms::{Ask, Plan};
use super::stand::Stand;
use super::words::{badge, day, said};

const SHOWN: usize = 24;

/// Which media are offered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kinds {
    /// Of any kind.
    All,
    /// Pictures that stand still.
    Images,
    /// What plays.
    Films,
}

/// The newest media of the library, each by its key.
pub(super) fn choices(
    tx: &mut Tx<'_>,
    desk: &Desk,
    kinds: Kinds,
) -> Result<Vec<(String, String)>, Error> {
    let found = desk.list(tx, "media_library", &[("count", "50".to_owned())])?;
    let fits = |one: &&Value| match kinds {
        Kinds::All => true,
        Kinds::Images => text(one, "media_type") == "IMAGE",
        Kinds::Films => text(one, "media_type") != "IMAGE",
    };
    let all = found.rows.iter().filter(fits).map(|one| {
        let kind = said(text(one, "media_type"));
        let named = format!("{} ({kind})", creatives::called(one));
        (text(one, "media_key").to_owned(), named)
    });
    Ok(all.collect())
}

/// All of it.
pub(super) fn list(tx: &mut Tx<'_>, desk: &Desk, stand: &Stand) -> Result<AdsManager, Error> {
    let mut pairs = vec![("count", SHOWN.to_string())];
    pairs.extend(stand.cursor.clone().map(|cursor| ("cursor", cursor)));
    let found = desk.list(tx, "media_library", &pairs)?;
    let items = found.rows.iter().map(|medium| {
        let key = text(medium, "media_key");
        let at = |act: &str| format!("/media/{key}/{act}");
        let one = "media_library/{}";
        let edit = form(desk, ("PUT", one), "Edit", &at("edit"));
        let delete = form(desk, ("DELETE", one), "Delete", &at("delete"));
        let state = badge(text(medium, "media_status")).text;
        let shown = creatives::medium(desk, medium);
        Preview {
            kind: format!("{} · {state}", shown.kind),
            acts: edit.into_iter().chain(delete).collect(),
            ..shown
        }
    });
    let upload = desk.offer("POST", "media_library", "Upload media", "/media/upload");
    let upload = upload.map(|link| link.kind("primary"));
    let library = Previews {
        title: "Library".to_owned(),
        items: items.collect(),
        empty: Empty {
            title: "The library is empty".to_owned(),
            text: "Upload a picture, an animated GIF or a video: cards and posts show it."
                .to_owned(),
            link: upload.clone(),
        },
        pager: Pager {
            previous: None,
            next: found.next.map(|next| {
                let next = base::percent::encode(&next);
                desk.path(&format!("/media?cursor={next}"))
            }),
        },
        ..Previews::default()
    };
    Ok(AdsManager {
        heading: "Media".to_owned(),
        lead: "Pictures and videos that the account may show.".to_owned(),
        actions: upload
            .filter(|_| !library.items.is_empty())
            .into_iter()
            .collect(),
        blocks: vec![Block::Previews(library), account_media(tx, desk)?],
        ..AdsManager::default()
    })
}

fn account_media(tx: &mut Tx<'_>, desk: &Desk) -> Result<Block, Error> {
    let found = desk.list(tx, "account_media", &[("count", "200".to_owned())])?;
    let rows = found.rows.iter().map(|one| {
        let id = text(one, "id");
        let rest = format!("/account-media/{id}/delete");
        let delete = form(desk, ("DELETE", "account_media/{}"), "Delete", &rest);
        Row {
            name: id.to_owned(),
            cells: vec![
                Cell::of(said(text(one, "creative_type"))).below(id),
                Cell::of(text(one, "media_key")),
                Cell::of(day(text(one, "created_at"))),
            ],
            acts: delete.into_iter().collect(),
        }
    });
    Ok(Block::Table(Table {
        title: "Before videos and in other apps".to_owned(),
        lead: "What line items of the kind Media show.".to_owned(),
        columns: ["Shown as", "Medium", "Since"].map(column).into(),
        rows: rows.collect(),
        empty: Empty {
            title: "None of the library is fit for it".to_owned(),
            text: "A video uploaded for advertisements is shown before videos; a picture of the \
                   measures of a banner, as 320 × 50 or 300 × 250, in other apps."
                .to_owned(),
            link: None,
        },
        ..Table::default()
    }))
}

/// The account's media that line items show, each by its id.
pub(super) fn of_account(tx: &mut Tx<'_>, desk: &Desk) -> Result<Vec<(String, String)>, Error> {
    let found = desk.list(tx, "account_media", &[("count", "200".to_owned())])?;
    let all = found.rows.iter().map(|one| {
        let kind = said(text(one, "creative_type"));
        let named = format!("{kind}: {}", text(one, "media_key"));
        (text(one, "id").to_owned(), named)
    });
    Ok(all.collect())
}

/// What browsers are to offer.
const TYPES: &str = "image/jpeg,image/png,image/webp,image/gif,video/mp4";

/// The form that uploads.
pub(super) fn upload(desk: &Desk) -> Plan {
    let uses = [
        ("", "Posts and cards"),
        ("amplify_video", "Before other people’s videos"),
    ];
    let uses = uses.map(|(value, text)| (value.to_owned(), text.to_owned()));
    Plan {
        heading: "Upload media".to_owned(),
        lead: "The picture or video is in the library as soon as it was looked at.".to_owned(),
        trail: vec![Link::to("Media", desk.path("/media"))],
        path: "media_library",
        asks: vec![
            Ask::file("media", "File", TYPES).help(
                "JPEG, PNG or WebP of at most 5 MB, GIF of at most 15 MB, MP4 of at most 512 MB.",
            ),
            Ask::text("name", "Name").help("For yourself. It may stay empty."),
            Ask::choice("media_category", "A video is for", uses.into()).apart(),
        ],
        submit: "Upload",
        action: desk.path("/media/upload"),
        done: "uploaded",
        ..Plan::at(desk, "/media")
    }
}

/// The form of what is said of a medium.
pub(super) fn edit(tx: &mut Tx<'_>, desk: &Desk, key: &str) -> Result<Option<Plan>, Error> {
    let now = desk.one(tx, "media_library/{}", key)?;
    let plain = |name: &'static str, label: &str| Ask::text(name, label).at_first(text(&now, name));
    let mut asks = vec![plain("name", "Name").help("For yourself: up to 100 characters.")];
    if text(&now, "media_type") != "IMAGE" {
        let poster = "poster_media_key";
        let posters = Ask::choice(poster, "Poster", choices(tx, desk, Kinds::Images)?);
        asks.extend([
            plain("title", "Title").help("Shown with the video: up to 70 characters."),
            Ask::area("description", "Description")
                .at_first(text(&now, "description"))
                .help("Up to 200 characters."),
            posters
                .or_nothing("A picture of the video")
                .at_first(text(&now, poster)),
        ]);
    }
    Ok(Some(Plan {
        heading: "Edit the medium".to_owned(),
        trail: vec![Link::to("Media", desk.path("/media"))],
        method: "PUT",
        path: "media_library/{}",
        ids: vec![key.to_owned()],
        asks,
        submit: "Save changes",
        action: desk.path(&format!("/media/{key}/edit")),
        above: vec![Block::Previews(Previews {
            title: "Medium".to_owned(),
            items: vec![creatives::medium(desk, &now)],
            ..Previews::default()
        })],
        ..Plan::at(desk, "/media")
    }))
}
