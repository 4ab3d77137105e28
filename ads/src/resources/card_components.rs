//! What cards are made of: components, in the order in which they are rendered.

use base::refusal::AdsProblem;
use serde_json::{Map, Value, json};

use crate::kind::{Kind, Raw};

const TITLE: Kind = Kind::Text(1, 255);
const SWIPED: Kind = Kind::MediaKeys(6);
const SLIDES: std::ops::RangeInclusive<usize> = 2..=6;
/// What the button of an app card may say.
pub const LABELS: &[&str] = &[
    "BOOK", "CONNECT", "INSTALL", "OPEN", "ORDER", "PLAY", "SHOP",
];

/// A JSON object inside of a request, and where it stands.
struct Part<'v> {
    path: String,
    members: &'v Map<String, Value>,
}

impl<'v> Part<'v> {
    fn read(path: String, value: &'v Value) -> Result<Self, AdsProblem> {
        match value {
            Value::Object(members) => Ok(Self { path, members }),
            other => Err(wrong(&path, other, "a JSON object")),
        }
    }

    fn name(&self, member: &str) -> String {
        format!("{}.{member}", self.path)
    }

    /// A member that may be there.
    fn optional(&self, member: &str, kind: Kind) -> Result<Option<Value>, AdsProblem> {
        match self.members.get(member).map(Raw::Json) {
            Some(raw) if !raw.is_empty() => kind.read(&self.name(member), raw).map(Some),
            _ => Ok(None),
        }
    }

    /// A member that must be there.
    fn needed(&self, member: &str, kind: Kind) -> Result<Value, AdsProblem> {
        let read = self.optional(member, kind)?;
        read.ok_or_else(|| AdsProblem::missing_parameter(self.name(member)))
    }

    /// An object inside of it that must be there.
    fn inside(&self, member: &str) -> Result<Part<'v>, AdsProblem> {
        let name = self.name(member);
        match self.members.get(member) {
            None | Some(Value::Null) => Err(AdsProblem::missing_parameter(name)),
            Some(value) => Part::read(name, value),
        }
    }
}

fn wrong(name: &str, value: &Value, expected: &str) -> AdsProblem {
    let shown = Raw::Json(value).shown();
    let message = format!("Expected {expected}, got \"{shown}\" for {name}");
    AdsProblem::invalid_parameter(name.to_owned(), shown, message)
}

/// The components of a card.
pub fn of_card(value: &Value) -> Result<Value, AdsProblem> {
    let all = components("components", value)?;
    is_whole("components", &all)?;
    Ok(all.into())
}

/// The slides of a card whose media lead to different places: the components of each.
pub fn of_slides(value: &Value) -> Result<Value, AdsProblem> {
    let slides = value
        .as_array()
        .filter(|slides| SLIDES.contains(&slides.len()));
    let slides = slides.ok_or_else(|| wrong("slides", value, "an array of 2 to 6 slides"))?;
    let mut all = Vec::with_capacity(slides.len());
    for (place, slide) in slides.iter().enumerate() {
        let path = format!("slides[{place}]");
        let parts = components(&path, slide)?;
        is_whole(&path, &parts)?;
        if parts
            .iter()
            .any(|part| !matches!(type_of(part), "MEDIA" | "DETAILS"))
        {
            let message = "A slide has one MEDIA and one DETAILS component";
            return Err(AdsProblem::invalid_attribute("slides", message));
        }
        all.push(Value::from(parts));
    }
    Ok(all.into())
}

fn type_of(component: &Value) -> &str {
    let kind = component.get("type").and_then(Value::as_str);
    kind.unwrap_or_default()
}

/// One media component, and one that leads somewhere.
fn is_whole(path: &str, components: &[Value]) -> Result<(), AdsProblem> {
    let count = |kinds: [&str; 2]| {
        let found = components
            .iter()
            .filter(|part| kinds.contains(&type_of(part)));
        found.count()
    };
    let media = count(["MEDIA", "SWIPEABLE_MEDIA"]);
    if media == 1 && count(["DETAILS", "BUTTON"]) == 1 {
        return Ok(());
    }
    let message = "A card has one media component, and either a DETAILS or a BUTTON component";
    Err(AdsProblem::invalid_attribute(path.to_owned(), message))
}

fn components(path: &str, value: &Value) -> Result<Vec<Value>, AdsProblem> {
    let items = value.as_array();
    let items = items.ok_or_else(|| wrong(path, value, "an array of components"))?;
    let items = items.iter().enumerate();
    items
        .map(|(place, item)| component(&Part::read(format!("{path}[{place}]"), item)?))
        .collect()
}

/// A component with the members that it has: clients send back what they were told beside them.
fn component(part: &Part<'_>) -> Result<Value, AdsProblem> {
    let kind = part.needed("type", Kind::Text(1, 64))?;
    match kind.as_str().unwrap_or_default() {
        "MEDIA" => {
            let key = part.needed("media_key", Kind::MediaKey)?;
            Ok(json!({ "type": kind, "media_key": key }))
        }
        "SWIPEABLE_MEDIA" => {
            let keys = part.needed("media_keys", SWIPED)?;
            if keys.as_array().is_none_or(|keys| keys.len() < 2) {
                return Err(wrong(&part.name("media_keys"), &keys, "2 to 6 media keys"));
            }
            Ok(json!({ "type": kind, "media_keys": keys }))
        }
        "DETAILS" => {
            let title = part.needed("title", TITLE)?;
            let destination = website(&part.inside("destination")?)?;
            Ok(json!({ "type": kind, "title": title, "destination": destination }))
        }
        "BUTTON" => {
            let label = label(&part.inside("label")?)?;
            let destination = app(&part.inside("destination")?)?;
            Ok(json!({ "type": kind, "label": label, "destination": destination }))
        }
        other => {
            let message = format!("There is no component of the type {other}");
            let problem = AdsProblem::invalid_parameter(part.name("type"), other, message);
            Err(problem.with_code("UNKNOWN_CARD_TYPE"))
        }
    }
}

fn label(part: &Part<'_>) -> Result<Value, AdsProblem> {
    let kind = part.needed("type", Kind::OneOf(&["ENUM"]))?;
    let value = part.needed("value", Kind::OneOf(LABELS))?;
    Ok(json!({ "type": kind, "value": value }))
}

fn website(part: &Part<'_>) -> Result<Value, AdsProblem> {
    let kind = part.needed("type", Kind::OneOf(&["WEBSITE"]))?;
    let url = part.needed("url", Kind::Url)?;
    Ok(json!({ "type": kind, "url": url }))
}

fn app(part: &Part<'_>) -> Result<Value, AdsProblem> {
    let kind = part.needed("type", Kind::OneOf(&["APP"]))?;
    let country = part.needed("country_code", Kind::Text(1, 64))?;
    let code = country.as_str().unwrap_or_default().to_ascii_uppercase();
    if code.len() != 2 || !code.bytes().all(|letter| letter.is_ascii_uppercase()) {
        let name = part.name("country_code");
        return Err(wrong(&name, &country, "two letters of ISO 3166-1"));
    }
    let mut made = Map::new();
    made.insert("type".to_owned(), kind);
    made.insert("country_code".to_owned(), code.into());
    let stores = [
        (
            "googleplay_app_id",
            "googleplay_app_id",
            "googleplay_deep_link",
        ),
        // The second is what older clients call it.
        ("ios_app_store_identifier", "iphone_app_id", "ios_deep_link"),
    ];
    for (id, older, link) in stores {
        let text = Kind::Text(1, 255);
        let app = part.optional(id, text)?;
        let app = app.map_or_else(|| part.optional(older, text), |app| Ok(Some(app)))?;
        let deep = part.optional(link, Kind::Text(1, 2048))?;
        if deep.is_some() && app.is_none() {
            let message = format!("{link} needs {id}");
            return Err(AdsProblem {
                location: base::refusal::ProblemLocation::Parameter(part.name(link).into()),
                ..AdsProblem::new("INCLUSIVE_PARAMETERS", message)
            });
        }
        made.extend(app.map(|app| (id.to_owned(), app)));
        made.extend(deep.map(|deep| (link.to_owned(), deep)));
    }
    if stores.iter().all(|(id, ..)| !made.contains_key(*id)) {
        return Err(AdsProblem::missing_parameter(
            part.name("googleplay_app_id"),
        ));
    }
    Ok(made.into())
}

/// All components, those of slides included.
pub fn each(card: &[Value]) -> impl Iterator<Item = &Value> {
    card.iter().flat_map(|part| match part {
        Value::Array(slide) => slide.iter(),
        other => std::slice::from_ref(other).iter(),
    })
}

/// The media of a component.
pub fn media_keys(component: &Value) -> Vec<&str> {
    let several = component.get("media_keys").and_then(Value::as_array);
    let several = several.map(Vec::as_slice).unwrap_or_default();
    let one = component.get("media_key");
    one.into_iter()
        .chain(several)
        .filter_map(Value::as_str)
        .collect()
}

/// What a card with these components is called, by what its media are.
pub fn card_type(components: &[Value], slides: bool, media: &str) -> String {
    let has = |kind: &str| components.iter().any(|part| type_of(part) == kind);
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

    use super::{card_type, of_card, of_slides};

    fn site() -> Value {
        json!({ "type": "WEBSITE", "url": "https://bikes.example/" })
    }

    #[test]
    fn what_clients_were_told_is_left_out_when_they_send_it_back() {
        let sent = json!([
            { "type": "MEDIA", "media_key": "3_1", "media_metadata": { "3_1": {} } },
            { "type": "DETAILS", "title": "Ride", "destination": site(), "more": 1 },
        ]);
        let kept = json!([
            { "type": "MEDIA", "media_key": "3_1" },
            { "type": "DETAILS", "title": "Ride", "destination": site() },
        ]);
        assert_eq!(of_card(&sent).unwrap(), kept);
        let slides = json!([sent, sent]);
        assert_eq!(of_slides(&slides).unwrap(), json!([kept, kept]));
        assert!(of_slides(&json!([sent])).is_err());
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
            (
                [&many, &button],
                false,
                "MIXED_MEDIA",
                "MIXED_MEDIA_SINGLE_DEST_CAROUSEL_APP",
            ),
            (
                [&one, &details],
                true,
                "VIDEO",
                "VIDEO_MULTI_DEST_CAROUSEL_WEBSITE",
            ),
        ] {
            let parts: Vec<Value> = parts.into_iter().cloned().collect();
            assert_eq!(card_type(&parts, slides, media), name);
        }
    }
}
