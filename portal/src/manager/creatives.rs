//! Previews of cards, media and posts.

use ads_engine::RecordView;
use base::Error;
use pages::manager::{CreativePreview, EnclosingPost};
use serde_json::Value;
use store::Tx;

use super::choices::media_name;
use super::labels::word_label;
use super::request::{ManagerAccount, json_text};

pub(super) fn enclosing_post(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    words: &str,
) -> Result<Option<EnclosingPost>, Error> {
    let Some(id) = ctx.own_user(tx)? else {
        return Ok(None);
    };
    let user = store::users::find_by_id(tx, id)?;
    Ok(user.map(|user| EnclosingPost { name: user.name, username: user.username, text: words.to_owned() }))
}

pub(super) fn card_preview(ctx: &ManagerAccount, card: &RecordView) -> CreativePreview {
    let mut shown = CreativePreview {
        name: card.text("name").to_owned(),
        kind: word_label(card.text("card_type")),
        subtext: card.text("card_uri").to_owned(),
        ..CreativePreview::default()
    };
    let slides = card.items("slides").iter();
    let parts = slides.filter_map(Value::as_array).flatten();
    for part in card.items("components").iter().chain(parts) {
        add_component(ctx, part, &mut shown);
    }
    for name in ["title", "text", "first_choice", "second_choice", "third_choice", "fourth_choice"] {
        match (name, card.text(name)) {
            (_, "") => {}
            ("title" | "text", words) => shown.lines.push(words.to_owned()),
            (_, choice) => shown.buttons.push(choice.to_owned()),
        }
    }
    let ctas = ["first_cta", "second_cta", "third_cta", "fourth_cta"];
    let ctas = ctas.iter().map(|name| card.text(name));
    let ctas = ctas.filter(|cta| !cta.is_empty()).map(str::to_owned);
    shown.buttons.extend(ctas);
    if shown.picture.is_none() {
        let names = ["image_url", "poster_media_url", "media_url", "image", "video_poster_url"];
        let found = names.iter().map(|name| card.text(name));
        add_picture(ctx, found.into_iter().find(|url| !url.is_empty()), &mut shown);
    }
    shown
}

fn add_component(ctx: &ManagerAccount, part: &Value, shown: &mut CreativePreview) {
    let word = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => json_text(other, "value").to_owned(),
    };
    let texts = ["title", "label", "text"].map(|name| part.get(name).map(word));
    let texts = texts.into_iter().flatten().filter(|text| !text.is_empty());
    match json_text(part, "type") {
        "BUTTON" => shown.buttons.extend(texts.map(|text| word_label(&text))),
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
        let url = poster.unwrap_or_else(|| json_text(medium, "url"));
        add_picture(ctx, Some(url), shown);
    }
}

/// Shows images of this server only; for others, only that there is one.
pub(super) fn add_picture(ctx: &ManagerAccount, url: Option<&str>, shown: &mut CreativePreview) {
    let Some(url) = url.filter(|url| !url.is_empty()) else {
        return;
    };
    let own = url.strip_prefix(ctx.request.site.files_url).unwrap_or(url);
    let file = own.split('?').next().unwrap_or_default();
    let kind = std::path::Path::new(file).extension();
    let film = kind.is_some_and(|kind| kind.eq_ignore_ascii_case("mp4"));
    let still = !film || own.contains("?name=");
    shown.picture = Some(own.to_owned()).filter(|path| path.starts_with("/media/") && still);
    shown.alt_text = if still { "Image of the creative".to_owned() } else { "Video".to_owned() };
}

pub(super) fn media_preview(ctx: &ManagerAccount, medium: &RecordView) -> CreativePreview {
    let mut shown = CreativePreview {
        name: media_name(medium).to_owned(),
        kind: word_label(medium.text("media_type")),
        subtext: medium.text("media_key").to_owned(),
        ..CreativePreview::default()
    };
    let poster = medium.text("poster_media_url");
    let url = if poster.is_empty() { medium.text("media_url") } else { poster };
    add_picture(ctx, Some(url), &mut shown);
    let about = medium.text("description");
    let about = Some(about.to_owned()).filter(|about| !about.is_empty());
    shown.lines.extend(about);
    shown
}
