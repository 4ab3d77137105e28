//! How creatives look: cards, media and the posts that show them.

use base::{Error, UserId};
use pages::manager::{Act, Preview, Said};
use serde_json::Value;
use store::Tx;

use super::ask::{Desk, items, text};
use super::words::said;

/// The account's own user: in whose name posts are written.
pub(super) fn own_user(tx: &mut Tx<'_>, desk: &Desk) -> Result<Option<UserId>, Error> {
    let all = desk.list(tx, "promotable_users", &[])?;
    let own = |one: &&Value| text(one, "promotable_user_type") == "FULL";
    let id = all.rows.iter().find(own);
    Ok(id.and_then(|one| UserId::parse(text(one, "user_id"))))
}

/// A post of the account's own user with these words.
pub(super) fn in_post(tx: &mut Tx<'_>, desk: &Desk, words: &str) -> Result<Option<Said>, Error> {
    let Some(id) = own_user(tx, desk)? else {
        return Ok(None);
    };
    let user = store::users::find_by_id(tx, id)?;
    Ok(user.map(|user| Said {
        name: user.name,
        username: user.username,
        text: words.to_owned(),
    }))
}

/// A card as it looks: its picture, its words, its buttons.
pub(super) fn card(desk: &Desk, card: &Value) -> Preview {
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
        let names = [
            "image_url",
            "poster_media_url",
            "media_url",
            "image",
            "video_poster_url",
        ];
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
    let site = part.pointer("/destination/url").and_then(Value::as_str);
    let site = site.and_then(|url| url.split("//").nth(1)?.split('/').next());
    if let Some(host) = site.filter(|_| shown.host.is_empty()) {
        host.clone_into(&mut shown.host);
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
pub(super) fn show(desk: &Desk, url: Option<&str>, shown: &mut Preview) {
    let Some(url) = url.filter(|url| !url.is_empty()) else {
        return;
    };
    let own = url.strip_prefix(desk.asking.site).unwrap_or(url);
    let file = own.split('?').next().unwrap_or_default();
    let kind = std::path::Path::new(file).extension();
    let film = kind.is_some_and(|kind| kind.eq_ignore_ascii_case("mp4"));
    let still = !film || own.contains("?name=");
    shown.picture = Some(own.to_owned()).filter(|path| path.starts_with("/media/") && still);
    shown.shows = if still {
        "Picture of the creative".to_owned()
    } else {
        "A video".to_owned()
    };
}

/// A medium of the library.
pub(super) fn medium(desk: &Desk, medium: &Value) -> Preview {
    let mut shown = Preview {
        name: called(medium).to_owned(),
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
    let about = Some(about.to_owned()).filter(|about| !about.is_empty());
    shown.lines.extend(about);
    shown
}

/// What a medium is called; its key where nobody named it.
pub(super) fn called(medium: &Value) -> &str {
    let names = ["name", "title", "file_name", "media_key"];
    let names = names.iter().map(|name| text(medium, name));
    let mut names = names.filter(|name| !name.is_empty());
    names.next().unwrap_or_default()
}

/// A link to a form about something, where the role may send it.
pub(super) fn form(
    desk: &Desk,
    (method, path): (&str, &str),
    text: &'static str,
    rest: &str,
) -> Option<Act> {
    let act = Act {
        text,
        path: desk.path(rest),
        ..Act::default()
    };
    desk.may(method, path).then_some(act)
}
