//! Card components, in the order in which they are rendered.

use ads_engine::{Kind, MediaKeyText, RawParam, parse_value};
use base::refusal::AdsProblem;
use serde_json::{Map, Value, json};

use crate::gazetteer::CountryCode;

const TITLE: Kind = Kind::text(1, 255);
const SWIPEABLE_MEDIA_COUNT: std::ops::RangeInclusive<usize> = 2..=6;
const SLIDE_COUNT: std::ops::RangeInclusive<usize> = 2..=6;
pub const BUTTON_LABELS: &[&str] = &["BOOK", "CONNECT", "INSTALL", "OPEN", "ORDER", "PLAY", "SHOP"];

/// A JSON object within a request, and its path.
struct JsonObjectAtPath<'v> {
    path: String,
    members: &'v Map<String, Value>,
}

impl<'v> JsonObjectAtPath<'v> {
    fn parse(path: String, value: &'v Value) -> Result<Self, AdsProblem> {
        match value {
            Value::Object(members) => Ok(Self { path, members }),
            other => Err(unexpected_value(&path, other, "a JSON object")),
        }
    }

    fn member_path(&self, member: &str) -> String {
        format!("{}.{member}", self.path)
    }

    fn optional_member(&self, member: &str, kind: Kind) -> Result<Option<Value>, AdsProblem> {
        match self.members.get(member).map(RawParam::Json) {
            Some(raw) if !raw.is_empty() => parse_value(kind, &self.member_path(member), raw).map(Some),
            _ => Ok(None),
        }
    }

    fn required_member(&self, member: &str, kind: Kind) -> Result<Value, AdsProblem> {
        let read = self.optional_member(member, kind)?;
        read.ok_or_else(|| AdsProblem::missing_parameter(self.member_path(member)))
    }

    fn required_object(&self, member: &str) -> Result<JsonObjectAtPath<'v>, AdsProblem> {
        let name = self.member_path(member);
        match self.members.get(member) {
            None | Some(Value::Null) => Err(AdsProblem::missing_parameter(name)),
            Some(value) => JsonObjectAtPath::parse(name, value),
        }
    }
}

fn unexpected_value(name: &str, value: &Value, expected: &str) -> AdsProblem {
    let shown = RawParam::Json(value).display_text();
    let message = format!("Expected {expected}, got \"{shown}\" for {name}");
    AdsProblem::invalid_parameter(name.to_owned(), shown, message)
}

pub fn parse_card_components(value: &Value) -> Result<Value, AdsProblem> {
    let all = parse_components("components", value)?;
    validate_components("components", &all)?;
    Ok(all.into())
}

/// The components of each slide, for carousels with several destinations.
pub fn parse_slides(value: &Value) -> Result<Value, AdsProblem> {
    let slides = value.as_array().filter(|slides| SLIDE_COUNT.contains(&slides.len()));
    let slides = slides.ok_or_else(|| unexpected_value("slides", value, "an array of 2 to 6 slides"))?;
    let mut all = Vec::with_capacity(slides.len());
    for (place, slide) in slides.iter().enumerate() {
        let path = format!("slides[{place}]");
        let parts = parse_components(&path, slide)?;
        validate_components(&path, &parts)?;
        if parts.iter().any(|part| !matches!(component_type(part), "MEDIA" | "DETAILS")) {
            let message = "A slide has one MEDIA and one DETAILS component";
            return Err(AdsProblem::invalid_attribute("slides", message));
        }
        all.push(Value::from(parts));
    }
    Ok(all.into())
}

fn component_type(component: &Value) -> &str {
    let kind = component.get("type").and_then(Value::as_str);
    kind.unwrap_or_default()
}

/// Requires one media component, and one with a destination.
fn validate_components(path: &str, components: &[Value]) -> Result<(), AdsProblem> {
    let count = |kinds: [&str; 2]| {
        let found = components.iter().filter(|part| kinds.contains(&component_type(part)));
        found.count()
    };
    let media = count(["MEDIA", "SWIPEABLE_MEDIA"]);
    if media == 1 && count(["DETAILS", "BUTTON"]) == 1 {
        return Ok(());
    }
    let message = "A card has one media component, and either a DETAILS or a BUTTON component";
    Err(AdsProblem::invalid_attribute(path.to_owned(), message))
}

fn parse_components(path: &str, value: &Value) -> Result<Vec<Value>, AdsProblem> {
    let items = value.as_array();
    let items = items.ok_or_else(|| unexpected_value(path, value, "an array of components"))?;
    let items = items.iter().enumerate();
    items.map(|(place, item)| parse_component(&JsonObjectAtPath::parse(format!("{path}[{place}]"), item)?)).collect()
}

/// Parses a component; unknown members are ignored, since clients send back what they received.
fn parse_component(part: &JsonObjectAtPath<'_>) -> Result<Value, AdsProblem> {
    let kind = part.required_member("type", Kind::text(1, 64))?;
    match kind.as_str().unwrap_or_default() {
        "MEDIA" => {
            let key = part.required_member("media_key", Kind::custom(&MediaKeyText))?;
            Ok(json!({ "type": kind, "media_key": key }))
        }
        "SWIPEABLE_MEDIA" => Ok(json!({ "type": kind, "media_keys": parse_swipeable_media(part)? })),
        "DETAILS" => {
            let title = part.required_member("title", TITLE)?;
            let destination = parse_website(&part.required_object("destination")?)?;
            Ok(json!({ "type": kind, "title": title, "destination": destination }))
        }
        "BUTTON" => {
            let label = parse_label(&part.required_object("label")?)?;
            let destination = parse_app(&part.required_object("destination")?)?;
            Ok(json!({ "type": kind, "label": label, "destination": destination }))
        }
        other => {
            let message = format!("There is no component of the type {other}");
            let problem = AdsProblem::invalid_parameter(part.member_path("type"), other, message);
            Err(problem.with_code("UNKNOWN_CARD_TYPE"))
        }
    }
}

/// The media keys in their order; one may occur more than once.
fn parse_swipeable_media(part: &JsonObjectAtPath<'_>) -> Result<Vec<Value>, AdsProblem> {
    let name = part.member_path("media_keys");
    let keys = match part.members.get("media_keys") {
        None | Some(Value::Null) => return Err(AdsProblem::missing_parameter(name)),
        Some(Value::Array(keys)) if SWIPEABLE_MEDIA_COUNT.contains(&keys.len()) => keys,
        Some(other) => return Err(unexpected_value(&name, other, "an array of 2 to 6 media keys")),
    };
    let keys = keys.iter().map(|key| parse_value(Kind::custom(&MediaKeyText), &name, RawParam::Json(key)));
    keys.collect()
}

fn parse_label(part: &JsonObjectAtPath<'_>) -> Result<Value, AdsProblem> {
    let kind = part.required_member("type", Kind::one_of(&["ENUM"]))?;
    let value = part.required_member("value", Kind::one_of(BUTTON_LABELS))?;
    Ok(json!({ "type": kind, "value": value }))
}

fn parse_website(part: &JsonObjectAtPath<'_>) -> Result<Value, AdsProblem> {
    let kind = part.required_member("type", Kind::one_of(&["WEBSITE"]))?;
    let url = part.required_member("url", Kind::URL)?;
    Ok(json!({ "type": kind, "url": url }))
}

fn parse_app(part: &JsonObjectAtPath<'_>) -> Result<Value, AdsProblem> {
    let kind = part.required_member("type", Kind::one_of(&["APP"]))?;
    let code = part.required_member("country_code", Kind::custom(&CountryCode))?;
    let mut made = Map::new();
    made.insert("type".to_owned(), kind);
    made.insert("country_code".to_owned(), code);
    let stores = [
        ("googleplay_app_id", "googleplay_app_id", "googleplay_deep_link"),
        // The second name is an alias used by older clients.
        ("ios_app_store_identifier", "iphone_app_id", "ios_deep_link"),
    ];
    for (id, older, link) in stores {
        let text = Kind::text(1, 255);
        let app = part.optional_member(id, text)?;
        let app = app.map_or_else(|| part.optional_member(older, text), |app| Ok(Some(app)))?;
        let deep = part.optional_member(link, Kind::text(1, 2048))?;
        if deep.is_some() && app.is_none() {
            let message = format!("{link} needs {id}");
            return Err(AdsProblem::at_parameter(part.member_path(link), "INCLUSIVE_PARAMETERS", message));
        }
        made.extend(app.map(|app| (id.to_owned(), app)));
        made.extend(deep.map(|deep| (link.to_owned(), deep)));
    }
    if stores.iter().all(|(id, ..)| !made.contains_key(*id)) {
        return Err(AdsProblem::missing_parameter(part.member_path("googleplay_app_id")));
    }
    Ok(made.into())
}

/// All components, including those of slides.
pub fn iter_components(card: &[Value]) -> impl Iterator<Item = &Value> {
    card.iter().flat_map(|part| match part {
        Value::Array(slide) => slide.iter(),
        other => std::slice::from_ref(other).iter(),
    })
}

pub fn media_keys(component: &Value) -> Vec<&str> {
    let several = component.get("media_keys").and_then(Value::as_array);
    let several = several.map(Vec::as_slice).unwrap_or_default();
    let one = component.get("media_key");
    one.into_iter().chain(several).filter_map(Value::as_str).collect()
}

/// The card type, by the types of its media.
pub fn card_type(components: &[Value], slides: bool, media: &str) -> String {
    let has = |kind: &str| components.iter().any(|part| component_type(part) == kind);
    let leads = if has("BUTTON") { "APP" } else { "WEBSITE" };
    match (slides, has("SWIPEABLE_MEDIA")) {
        (true, _) => format!("{media}_MULTI_DEST_CAROUSEL_WEBSITE"),
        (false, true) if media == "MIXED_MEDIA" => format!("{media}_SINGLE_DEST_CAROUSEL_{leads}"),
        (false, true) => format!("{media}_CAROUSEL_{leads}"),
        (false, false) => format!("{media}_{leads}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{card_type, parse_card_components, parse_slides};

    fn site() -> Value {
        json!({ "type": "WEBSITE", "url": "https://bikes.example/" })
    }

    #[test]
    fn what_clients_were_told_is_left_out_when_they_send_it_back() {
        let sent = json!([
            { "type": "MEDIA", "media_key": "3_1", "media_metadata": { "3_1": {} } },
            { "type": "DETAILS", "title": "Ride", "destination": site(), "more": 1 },
        ]);
        let stored = json!([
            { "type": "MEDIA", "media_key": "3_1" },
            { "type": "DETAILS", "title": "Ride", "destination": site() },
        ]);
        assert_eq!(parse_card_components(&sent).unwrap(), stored);
        let slides = json!([sent, sent]);
        assert_eq!(parse_slides(&slides).unwrap(), json!([stored, stored]));
        assert!(parse_slides(&json!([sent])).is_err());
    }

    #[test]
    fn cards_are_called_by_their_parts() {
        let button = json!({ "type": "BUTTON" });
        let details = json!({ "type": "DETAILS" });
        let one = json!({ "type": "MEDIA" });
        let many = json!({ "type": "SWIPEABLE_MEDIA" });
        for (parts, slides, media, name) in [
            ([&one, &details], false, "IMAGE", "IMAGE_WEBSITE"),
            ([&one, &button], false, "VIDEO", "VIDEO_APP"),
            ([&many, &details], false, "IMAGE", "IMAGE_CAROUSEL_WEBSITE"),
            ([&many, &button], false, "MIXED_MEDIA", "MIXED_MEDIA_SINGLE_DEST_CAROUSEL_APP"),
            ([&one, &details], true, "VIDEO", "VIDEO_MULTI_DEST_CAROUSEL_WEBSITE"),
        ] {
            let parts: Vec<Value> = parts.into_iter().cloned().collect();
            assert_eq!(card_type(&parts, slides, media), name);
        }
    }
}
