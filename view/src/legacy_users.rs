//! Users in the format of the legacy API (contract core §7.15): a fixed object with ids as numbers
//! and strings.

use serde_json::{Map, Value, json};
use store::users::User;

use crate::legacy_statuses::legacy_url_json;

/// `email` determines whether the member is present: the confirmed address or `null`.
pub fn legacy_user_json(user: &User, email: bool) -> Value {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let json = |stored: &str| serde_json::from_str(stored).unwrap_or(Value::Null);
    let mut whole: Map<String, Value> = Map::new();
    let mut set = |name: &str, value: Value| {
        whole.insert(name.to_owned(), value);
    };
    set("id", user.id.get().into());
    set("id_str", user.id.to_string().into());
    set("name", user.name.as_str().into());
    set("screen_name", user.username.as_str().into());
    set("location", user.location.as_str().into());
    set("description", user.description.as_str().into());
    set("url", text(&user.url).into());
    set("entities", legacy_profile_entities(&json(&user.entities)));
    set("protected", user.protected.into());
    set("followers_count", user.followers_count.into());
    set("friends_count", user.following_count.into());
    set("listed_count", user.listed_count.into());
    set("created_at", user.created_at.to_legacy_string().into());
    set("favourites_count", user.like_count.into());
    set("verified", user.verified.into());
    set("statuses_count", user.post_count.into());
    set("profile_image_url", text(&user.profile_image_url).into());
    let image = text(&user.profile_image_url);
    set("profile_image_url_https", image.clone().into());
    set("default_profile_image", image.is_none().into());
    if let Some(banner) = text(&user.profile_banner_url) {
        set("profile_banner_url", banner.into());
    }
    set("suspended", false.into());
    if email {
        let address = text(&user.email).filter(|_| user.email_confirmed);
        set("email", address.into());
    }
    Value::Object(whole)
}

/// `description` is present even if it has no links, and `url` if there is one.
fn legacy_profile_entities(stored: &Value) -> Value {
    let links = |part: &str| -> Option<Value> {
        let links = stored.get(part)?.get("urls")?.as_array()?;
        Some(links.iter().map(legacy_url_json).collect())
    };
    let mut all = Map::new();
    if let Some(links) = links("url") {
        all.insert("url".to_owned(), json!({ "urls": links }));
    }
    all.insert("description".to_owned(), json!({ "urls": links("description").unwrap_or_else(|| json!([])) }));
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use base::{Time, UserId};
    use serde_json::json;
    use store::users::User;

    use super::legacy_user_json;

    #[test]
    fn a_user_is_spoken_with_numbers_and_texts() {
        let mut user = User::new(UserId::new(1_234_567_890_123), "ada", Time::from_seconds(0));
        user.email = "ada@example.org".to_owned();
        let rendered = legacy_user_json(&user, true);
        assert_eq!(rendered["id"], 1_234_567_890_123_i64);
        assert_eq!(rendered["id_str"], "1234567890123");
        assert_eq!(rendered["created_at"], "Thu Jan 01 00:00:00 +0000 1970");
        assert_eq!(rendered["entities"], json!({ "description": { "urls": [] } }));
        user.entities = r#"{"url":{"urls":[{"start":0,"end":23,"url":"https://t/a","expanded_url":"https://a.example",
            "display_url":"a.example"}]},"description":{"hashtags":[{"start":0,"end":2,"tag":"x"}],"urls":[{"start":3,
            "end":20,"url":"https://t/b","expanded_url":"https://b.example","display_url":"b.example"}]}}"#
            .to_owned();
        let expected = json!({
            "url": { "urls": [{ "url": "https://t/a", "expanded_url": "https://a.example", "display_url": "a.example",
                "indices": [0, 23] }] },
            "description": { "urls": [{ "url": "https://t/b", "expanded_url": "https://b.example",
                "display_url": "b.example", "indices": [3, 20] }] },
        });
        assert_eq!(legacy_user_json(&user, false)["entities"], expected);
        assert_eq!(rendered["email"], json!(null), "not confirmed");
        user.email_confirmed = true;
        assert_eq!(legacy_user_json(&user, true)["email"], "ada@example.org");
        assert!(legacy_user_json(&user, false).get("email").is_none());
    }
}
