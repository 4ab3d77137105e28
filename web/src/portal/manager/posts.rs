//! Posts of the account: written for later, kept as drafts, or published for promotion only.

use base::Error;
use pages::manager::{AdsManager, Block, Cell, Empty, Link, Preview, Previews, Row, Table};
use serde_json::Value;
use store::Tx;

use super::ask::{Desk, items, text};
use super::creatives::{self, form};
use super::forms::{Ask, Plan, Then};
use super::media::{self, Kinds};
use super::stand::{Sent, offered};
use super::words::{self, badge, day};
use super::{cards, column};

/// The media of a post: so many fields.
const MEDIA: [&str; 4] = ["media_1", "media_2", "media_3", "media_4"];

/// What is not published yet.
pub(super) fn list(tx: &mut Tx<'_>, desk: &Desk) -> Result<AdsManager, Error> {
    let schedule = desk.offer(
        "POST",
        "scheduled_<posts>",
        "Schedule a post",
        "/scheduled/new",
    );
    let draft = desk.offer("POST", "draft_<posts>", "Write a draft", "/drafts/new");
    let publish = desk.offer("POST", "<post>", "Publish a post", "/posts/new");
    Ok(AdsManager {
        heading: "Posts".to_owned(),
        lead: "Posts in the name of the account’s user. A line item promotes them.".to_owned(),
        actions: offered([
            publish.clone().map(|link| link.kind("primary")),
            schedule.clone(),
            draft.clone(),
        ]),
        blocks: vec![
            scheduled(tx, desk, schedule)?,
            drafts(tx, desk, draft)?,
            published(tx, desk, publish)?,
        ],
        ..AdsManager::default()
    })
}

fn acts(desk: &Desk, (path, part): (&str, &str), post: &Value) -> Vec<pages::manager::Act> {
    let id = text(post, "id");
    let open = matches!(text(post, "scheduled_status"), "" | "SCHEDULED");
    let at = |act: &str| format!("/{part}/{id}/{act}");
    let edit = form(desk, ("PUT", path), "Edit", &at("edit"));
    let delete = form(desk, ("DELETE", path), "Delete", &at("delete"));
    let all = edit.into_iter().chain(delete);
    all.filter(|_| open).collect()
}

fn scheduled(tx: &mut Tx<'_>, desk: &Desk, add: Option<Link>) -> Result<Block, Error> {
    let found = desk.list(tx, "scheduled_<posts>", &[])?;
    let rows = found.rows.iter().map(|post| Row {
        name: text(post, "id").to_owned(),
        cells: vec![
            words_of(desk, "scheduled", post),
            Cell::of(day(text(post, "scheduled_at"))),
            Cell::of(shown_to(post)),
            Cell::badge(badge(text(post, "scheduled_status"))),
        ],
        acts: acts(desk, ("scheduled_<posts>/{}", "scheduled"), post),
    });
    Ok(Block::Table(Table {
        title: "Scheduled posts".to_owned(),
        columns: ["Post", "When", "Shown", "Status"].map(column).into(),
        rows: rows.collect(),
        empty: Empty {
            title: "Nothing is scheduled".to_owned(),
            text: "A post may be written now and published later.".to_owned(),
            link: add,
        },
        ..Table::default()
    }))
}

fn drafts(tx: &mut Tx<'_>, desk: &Desk, add: Option<Link>) -> Result<Block, Error> {
    let found = desk.list(tx, "draft_<posts>", &[])?;
    let rows = found.rows.iter().map(|post| Row {
        name: text(post, "id").to_owned(),
        cells: vec![
            words_of(desk, "drafts", post),
            Cell::of(day(text(post, "updated_at"))),
            Cell::of(shown_to(post)),
        ],
        acts: acts(desk, ("draft_<posts>/{}", "drafts"), post),
    });
    Ok(Block::Table(Table {
        title: "Drafts".to_owned(),
        columns: ["Post", "Changed", "Shown"].map(column).into(),
        rows: rows.collect(),
        empty: Empty {
            title: "No draft".to_owned(),
            text: "What is not finished yet is kept here for everyone who works on the account."
                .to_owned(),
            link: add,
        },
        ..Table::default()
    }))
}

fn published(tx: &mut Tx<'_>, desk: &Desk, add: Option<Link>) -> Result<Block, Error> {
    let pairs = [
        ("post_type", "PUBLISHED".to_owned()),
        ("timeline_type", "ALL".to_owned()),
        ("count", "50".to_owned()),
    ];
    let found = desk.list(tx, "<posts>", &pairs)?;
    let rows = found.rows.iter().map(|post| Row {
        name: text(post, "id_str").to_owned(),
        cells: vec![
            Cell::of(beginning(text(post, "full_text"))).below(text(post, "name")),
            Cell::of(words::older_day(text(post, "created_at"))),
            Cell::of(shown_to(post)),
            Cell::of(text(post, "id_str")),
        ],
        acts: Vec::new(),
    });
    Ok(Block::Table(Table {
        title: "Published".to_owned(),
        columns: ["Post", "When", "Shown", "Post ID"].map(column).into(),
        rows: rows.collect(),
        empty: Empty {
            title: "Nothing was published".to_owned(),
            text: "What the account’s user posted can be promoted by line items.".to_owned(),
            link: add,
        },
        ..Table::default()
    }))
}

fn is_promoted_only(post: &Value) -> bool {
    post.get("nullcast").and_then(Value::as_bool) != Some(false)
}

fn shown_to(post: &Value) -> &'static str {
    if is_promoted_only(post) {
        "Promoted only"
    } else {
        "To followers"
    }
}

fn words_of(desk: &Desk, part: &str, post: &Value) -> Cell {
    Cell::of(beginning(text(post, "text")))
        .leads(desk.path(&format!("/{part}/{}", text(post, "id"))))
        .below(text(post, "name"))
}

fn beginning(words: &str) -> String {
    if words.is_empty() {
        return "A post without words".to_owned();
    }
    words.chars().take(140).collect()
}

/// One of them, as it will look.
pub(super) fn one(tx: &mut Tx<'_>, desk: &Desk, part: &str, id: &str) -> Result<AdsManager, Error> {
    let path = path_of(part);
    let post = desk.one(tx, path, id)?;
    let here = format!("/{part}/{id}");
    let state = text(&post, "scheduled_status");
    let open = matches!(state, "" | "SCHEDULED");
    let edit = desk.offer("PUT", path, "Edit", &format!("{here}/edit"));
    let delete = desk.offer("DELETE", path, "Delete", &format!("{here}/delete"));
    let when = match text(&post, "scheduled_at") {
        "" => String::new(),
        at if open => format!("To be published {}.", day(at)),
        at => format!("It was to be published {}.", day(at)),
    };
    Ok(AdsManager {
        trail: vec![Link::to("Posts", desk.path("/posts"))],
        heading: match (text(&post, "name"), part) {
            ("", "drafts") => "Draft".to_owned(),
            ("", _) => "Scheduled post".to_owned(),
            (name, _) => name.to_owned(),
        },
        badge: Some(badge(state)).filter(|_| !state.is_empty()),
        lead: format!("{when} {}.", shown_to(&post)).trim().to_owned(),
        actions: offered([
            edit.filter(|_| open),
            delete
                .filter(|_| open)
                .map(|link| link.kind("danger-quiet")),
        ]),
        blocks: vec![Block::Previews(Previews {
            title: "As it looks".to_owned(),
            items: vec![preview(tx, desk, &post)?],
            ..Previews::default()
        })],
        ..AdsManager::default()
    })
}

/// A post with its card or its first medium.
fn preview(tx: &mut Tx<'_>, desk: &Desk, post: &Value) -> Result<Preview, Error> {
    let mut shown = Preview::default();
    let uri = text(post, "card_uri");
    if !uri.is_empty() {
        let pairs = [("card_uris", uri.to_owned())];
        let found = desk.list(tx, "cards/all", &pairs)?.rows;
        if let Some(card) = found.first() {
            shown = creatives::card(desk, card);
        }
    } else if let Some(key) = items(post, "media_keys").first().and_then(Value::as_str) {
        match desk.one(tx, "media_library/{}", key) {
            Ok(medium) => shown = creatives::medium(desk, &medium),
            // It was taken out of the library meanwhile.
            Err(Error::Refused(_)) => {}
            Err(other) => return Err(other),
        }
    }
    Ok(Preview {
        post: creatives::in_post(tx, desk, text(post, "text"))?,
        name: String::new(),
        kind: String::new(),
        ..shown
    })
}

fn path_of(part: &str) -> &'static str {
    if part == "drafts" {
        "draft_<posts>/{}"
    } else {
        "scheduled_<posts>/{}"
    }
}

/// The form of a new one.
pub(super) fn create(tx: &mut Tx<'_>, desk: &Desk, part: &str) -> Result<Option<Plan>, Error> {
    let user = creatives::own_user(tx, desk)?.map(|user| user.to_string());
    let (heading, lead, path, submit, done) = match part {
        "drafts" => (
            "Write a draft",
            "It is kept, and not published.",
            "draft_<posts>",
            "Save draft",
            "created",
        ),
        "scheduled" => (
            "Schedule a post",
            "It is published in the name of the account’s user.",
            "scheduled_<posts>",
            "Schedule",
            "created",
        ),
        _ => (
            "Publish a post",
            "It is published at once, in the name of the account’s user. Then a line item can \
             promote it.",
            "<post>",
            "Publish",
            "published",
        ),
    };
    Ok(Some(Plan {
        heading: heading.to_owned(),
        lead: lead.to_owned(),
        trail: vec![Link::to("Posts", desk.path("/posts"))],
        path,
        fixed: vec![("as_user_id", user.unwrap_or_default())],
        asks: asks(tx, desk, part, &Value::Null)?,
        submit,
        action: desk.path(&format!("/{part}/new")),
        then: Then::Path(desk.path("/posts")),
        done,
        work: Some(send),
        ..Plan::at(desk, "/posts")
    }))
}

/// The form of a change.
pub(super) fn edit(
    tx: &mut Tx<'_>,
    desk: &Desk,
    part: &str,
    id: &str,
) -> Result<Option<Plan>, Error> {
    let now = desk.one(tx, path_of(part), id)?;
    let here = format!("/{part}/{id}");
    Ok(Some(Plan {
        heading: if part == "drafts" {
            "Edit the draft".to_owned()
        } else {
            "Edit the scheduled post".to_owned()
        },
        trail: vec![Link::to("Posts", desk.path("/posts"))],
        method: "PUT",
        path: path_of(part),
        ids: vec![id.to_owned()],
        asks: asks(tx, desk, part, &now)?,
        submit: "Save changes",
        action: desk.path(&format!("{here}/edit")),
        work: Some(send),
        ..Plan::at(desk, &here)
    }))
}

fn asks(tx: &mut Tx<'_>, desk: &Desk, part: &str, now: &Value) -> Result<Vec<Ask>, Error> {
    let promoted = vec![
        ("true".to_owned(), "Only where it is promoted".to_owned()),
        ("false".to_owned(), "To followers as well".to_owned()),
    ];
    let shown = Ask::choice("nullcast", "Shown", promoted);
    let shown = if now.is_null() {
        shown
    } else {
        shown.at_first(is_promoted_only(now).to_string())
    };
    let mut asks = vec![Ask::area("text", "Text").at_first(text(now, "text"))];
    if part == "scheduled" {
        let at = words::typed_moment(text(now, "scheduled_at"));
        asks.push(
            Ask::moment("scheduled_at", "When (UTC)")
                .at_first(at)
                .help("A full minute, within one year."),
        );
    }
    let cards = Ask::choice("card_uri", "Card", cards::choices(tx, desk)?);
    asks.push(
        cards
            .or_nothing("None")
            .at_first(text(now, "card_uri"))
            .help("A post has a card or media, and not both."),
    );
    let media = media::choices(tx, desk, Kinds::All)?;
    let keys = items(now, "media_keys");
    for (place, name) in MEDIA.into_iter().enumerate() {
        let key = keys.get(place).and_then(Value::as_str).unwrap_or_default();
        let label = match place {
            0 => "Image, GIF or video".to_owned(),
            place => format!("Image {}", place + 1),
        };
        let ask = Ask::choice(name, &label, media.clone());
        let ask = ask.or_nothing("None").at_first(key).apart();
        asks.push(match place {
            0 => ask.answers(&["media_keys"]),
            _ => ask.rarely(),
        });
    }
    asks.extend([
        shown,
        Ask::text("name", "Name")
            .at_first(text(now, "name"))
            .help("For yourself. It may stay empty."),
    ]);
    Ok(asks)
}

/// The fields of media are one parameter.
fn send(tx: &mut Tx<'_>, desk: &Desk, plan: &Plan, sent: &Sent) -> Result<Value, Error> {
    let joined = |of: &dyn Fn(&'static str) -> String| {
        let keys = MEDIA.map(of).into_iter().filter(|key| !key.is_empty());
        keys.collect::<Vec<_>>().join(",")
    };
    let before = joined(&|name| plan.at_first(name).to_owned());
    let keys = joined(&|name| sent.text(name).to_owned());
    let mut pairs = plan.pairs(sent)?;
    if keys != before {
        pairs.push(("media_keys", keys));
    }
    desk.ask(tx, plan.method, plan.path, &plan.ids(), &pairs)
}
