//! Media lookup, alt text and subtitles.

pub(crate) mod serve;
pub(crate) mod upload;

use base::{Error, Id, MediaId, Refusal};
use network::media;
use serde_json::{Value, json};
use view::{LookupKeys, ObjectKind};
use web::body::BodyMembers;
use web::reply::HttpReply;
use web::request_context::RequestContext;

pub(crate) async fn get_many(call: RequestContext) -> Result<HttpReply, Error> {
    let keys = call.query_texts("media_keys");
    let request = call.render_request(ObjectKind::MEDIA);
    let found = call.read(move |tx| {
        let lookup = LookupKeys { parameter: "media_keys", values: &keys };
        Ok(view::render_media_lookup(tx, &request, lookup)?)
    });
    call.respond(&found.await?)
}

pub(crate) async fn get(call: RequestContext) -> Result<HttpReply, Error> {
    let key = call.path_text("media_key")?.to_owned();
    let request = call.render_request(ObjectKind::MEDIA);
    let found = call.read(move |tx| {
        let lookup = LookupKeys { parameter: "media_key", values: std::slice::from_ref(&key) };
        Ok(view::render_media(tx, &request, lookup)?)
    });
    call.respond(&found.await?)
}

const ALT_TEXT: &str = "alt_text";
const ID: &str = "id";

pub(crate) async fn set_metadata(call: RequestContext) -> Result<HttpReply, Error> {
    let id: MediaId = call.body().required_id(ID)?;
    let metadata = call.body().optional_object("metadata");
    let alt_text = metadata.and_then(|metadata| metadata.optional_object(ALT_TEXT));
    let text = alt_text.map(|alt_text| alt_text.required_text("text")).transpose()?.map(str::to_owned);
    let mut associated = metadata.map(|metadata| metadata.as_map().clone()).unwrap_or_default();
    associated.retain(|_, value| !value.is_null());
    let (user, mut others) = (call.require_user()?, associated.clone());
    others.remove(ALT_TEXT);
    let write = call.write(move |tx| {
        // It locks the user, whom a new post locks before its media.
        if !others.is_empty() {
            media::set_metadata(tx, user, id, &others)?;
        }
        if let Some(text) = &text {
            media::set_alt_text(tx, user, id, text)?;
        }
        Ok(())
    });
    write.await?;
    call.respond_data(json!({ "id": id.to_string(), "associated_metadata": associated }))
}

pub(crate) async fn set_metadata_v1(call: RequestContext) -> Result<HttpReply, Error> {
    let body = call.body();
    let id = parse_media_id(body)?;
    let alt_text = body.optional_object(ALT_TEXT);
    let text = alt_text.map(|alt_text| alt_text.required_text("text"));
    store_alt_text(&call, id, text.transpose()?.map(str::to_owned)).await?;
    Ok(HttpReply::empty(200))
}

/// A number or a text, as released v1.1 clients send it.
fn parse_media_id(body: BodyMembers<'_>) -> Result<MediaId, Error> {
    let id = match body.get("media_id") {
        Some(Value::Number(number)) => Id::parse(&number.to_string()),
        Some(Value::String(text)) => Id::parse(text),
        _ => None,
    };
    Ok(id.ok_or_else(|| Refusal::invalid_value("media_id", "?"))?)
}

async fn store_alt_text(call: &RequestContext, id: MediaId, text: Option<String>) -> Result<(), Error> {
    let user = call.require_user()?;
    let Some(text) = text else { return Ok(()) };
    call.write(move |tx| media::set_alt_text(tx, user, id, &text)).await
}

pub(crate) async fn add_subtitles(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, body) = (call.require_user()?, call.body());
    let video: MediaId = body.required_id(ID)?;
    let subtitles = body.optional_object("subtitles");
    let subtitles = subtitles.ok_or_else(|| Refusal::missing_parameter("subtitles"))?;
    let file: MediaId = subtitles.required_id(ID)?;
    let language = parse_language(subtitles.required_text(LANGUAGE)?)?;
    let display_name = subtitles.optional_text("display_name");
    let display_name = display_name.unwrap_or_default().to_owned();
    let category = body.optional_text("media_category").unwrap_or("TweetVideo");
    let data = json!({
        "id": video.to_string(),
        "media_category": category,
        "associated_subtitles": [{
            "id": file.to_string(),
            "language_code": language,
            "display_name": display_name,
        }],
    });
    call.write(move |tx| media::add_subtitles(tx, user, video, &language, file, &display_name)).await?;
    call.respond_data(data)
}

pub(crate) async fn remove_subtitles(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, body) = (call.require_user()?, call.body());
    let video: MediaId = body.required_id(ID)?;
    let language = parse_language(body.required_text(LANGUAGE)?)?;
    call.write(move |tx| media::remove_subtitles(tx, user, video, &language)).await?;
    call.respond_data(json!({ "deleted": true }))
}

pub(crate) async fn add_subtitles_v1(call: RequestContext) -> Result<HttpReply, Error> {
    let user = call.require_user()?;
    let video = parse_media_id(call.body())?;
    let files = subtitles_v1(&call)?.into_iter().map(|of| {
        let display_name = of.optional_text("display_name").unwrap_or_default().to_owned();
        Ok((parse_media_id(of)?, parse_language(of.required_text(LANGUAGE)?)?, display_name))
    });
    let files = files.collect::<Result<Vec<_>, Error>>()?;
    let write = call.write(move |tx| {
        for (file, language, display_name) in &files {
            media::add_subtitles(tx, user, video, language, *file, display_name)?;
        }
        Ok(())
    });
    write.await?;
    Ok(HttpReply::empty(200))
}

pub(crate) async fn remove_subtitles_v1(call: RequestContext) -> Result<HttpReply, Error> {
    let user = call.require_user()?;
    let video = parse_media_id(call.body())?;
    let languages = subtitles_v1(&call)?.into_iter().map(|of| Ok(parse_language(of.required_text(LANGUAGE)?)?));
    let languages = languages.collect::<Result<Vec<_>, Error>>()?;
    let write = call.write(move |tx| {
        for language in &languages {
            media::remove_subtitles(tx, user, video, language)?;
        }
        Ok(())
    });
    write.await?;
    Ok(HttpReply::empty(200))
}

fn subtitles_v1(call: &RequestContext) -> Result<Vec<BodyMembers<'_>>, Error> {
    let info = call.body().optional_object("subtitle_info");
    let info = info.ok_or_else(|| Refusal::missing_parameter("subtitle_info"))?;
    Ok(info.object_array("subtitles").collect())
}

const LANGUAGE: &str = "language_code";

/// Two letters, returned in upper case.
fn parse_language(code: &str) -> Result<String, Refusal> {
    if code.len() == 2 && code.bytes().all(|letter| letter.is_ascii_alphabetic()) {
        return Ok(code.to_ascii_uppercase());
    }
    let message = "$.language_code: does not match the regex pattern ^[A-Z]{2}$";
    Err(Refusal::invalid_parameter("language_code", code, message))
}
