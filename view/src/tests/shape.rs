//! Output matches the declared tables in both vocabularies, and members are never null.

use base::{Vocabulary, VocabularyWord};
use network::visibility::Viewer;
use serde_json::Value;
use store::users::User;

use super::{
    ALL_KINDS, NOW, POSTS, TWEETS, data, full_field_selection, json, loaded_objects, media, post, post_id,
    render_request, user,
};
use crate::json_writer::JsonWriter;
use crate::loaded_objects::LoadedObjects;
use crate::response::{render_post_page, render_user_page};
use crate::{FieldDefinition, FieldSelection, JsonFieldType, JsonMember, ObjectKind, RenderOptions, ResponsePayload};

const ENTITIES: &str = r#"{"urls":[{"start":0,"end":5,"url":"https://t.co/a"}],"mentions":[{"start":6,"end":9,"username":"bob","id":"2"}]}"#;

fn full_user(number: i64, username: &str) -> User {
    User {
        description: "says <b>".to_owned(),
        location: "here".to_owned(),
        url: "https://example.com".to_owned(),
        profile_image_url: "https://example.com/a_normal.jpg".to_owned(),
        profile_banner_url: "https://example.com/b".to_owned(),
        entities: format!("{{\"description\":{ENTITIES}}}"),
        affiliation: r#"{"description":"Org","user_id":["2"]}"#.to_owned(),
        withheld: r#"{"country_codes":["XY"],"scope":"user"}"#.to_owned(),
        pinned_post_id: Some(post_id(1)),
        most_recent_post_id: Some(post_id(2)),
        email: "ana@example.com".to_owned(),
        email_confirmed: true,
        subscription_type: "Premium".to_owned(),
        ..user(number, username)
    }
}

fn poll() -> store::polls::Poll {
    let option = |choice, label: &str| store::polls::PollChoice { number: choice, label: label.to_owned(), votes: 3 };
    store::polls::Poll {
        id: 9,
        post_id: post_id(1),
        duration_minutes: 5,
        ends_at: NOW,
        options: vec![option(1, "yes"), option(2, "no")],
    }
}

fn place() -> store::places::Place {
    store::places::Place {
        id: 0xa1,
        name: "Here".to_owned(),
        full_name: "Here, There".to_owned(),
        country: "Land".to_owned(),
        country_code: "XY".to_owned(),
        kind: "city".to_owned(),
        bbox: "[-1.5,2.0,3.0,4.5]".to_owned(),
        contained_within: "00000000000000a2".to_owned(),
    }
}

/// Posts that together have every field, requested by their author.
fn full_world(selection: &FieldSelection) -> LoadedObjects {
    let long = "A long text with many words. ".repeat(20);
    let mut first = post(post_id(1), 1, &long);
    first.in_reply_to_post_id = Some(post_id(8));
    first.in_reply_to_user_id = Some(base::UserId::new(2));
    first.quoted_post_id = Some(post_id(2));
    first.entities = ENTITIES.to_owned();
    first.short_entities = ENTITIES.to_owned();
    first.media_keys = "3_70,3_71".to_owned();
    first.poll_id = Some(9);
    first.place_id = Some("00000000000000a1".to_owned());
    let (domain, entity) =
        (r#""id":"156","name":"Cities","description":"c""#, r#""id":"1","name":"Quito","description":"q""#);
    first.context_annotations = format!(r#"[{{"domain":{{{domain}}},"entity":{{{entity}}}}}]"#);
    first.geo = r#"{"type":"Point","coordinates":[-1.5,2.5]}"#.to_owned();
    first.withheld = r#"{"copyright":false,"country_codes":["XY"],"scope":"tweet"}"#.to_owned();
    first.community_id = Some(77);
    first.followers_only = true;
    first.card_uri = "card://1".to_owned();
    first.edit_root_id = Some(post_id(3));
    let mut repost = post(post_id(2), 1, "");
    repost.repost_of_id = Some(post_id(8));
    let other = post(post_id(8), 2, "a & b");
    let mut video = media(70, "video", 1);
    video.alt_text = "a \"cat\"".to_owned();
    video.variants = r#"[{"bit_rate":1,"content_type":"video/mp4","url":"https://x/v"}]"#.to_owned();
    (video.width, video.height, video.duration_ms) = (1, 2, 3);
    video.preview_image_url = "https://x/p".to_owned();
    let mut photo = media(71, "photo", 1);
    photo.url = "https://x/i".to_owned();
    let users = vec![full_user(1, "ana"), full_user(2, "bob")];
    let viewer = Viewer::user(base::UserId::new(1));
    let mut objects = loaded_objects(viewer, selection, 2, vec![first, repost, other], users, vec![video, photo]);
    objects.edit_versions.insert(post_id(3), vec![post_id(3), post_id(1)]);
    objects.relations.following.insert(base::UserId::new(2));
    objects.promoted_totals.insert(post_id(1), store::ledger::MetricSums::default());
    objects.polls.extend_distinct(vec![poll()], |poll| poll.id);
    objects.places.extend_distinct(vec![place()], |place| place.id);
    objects
}

fn full_answers(options: RenderOptions) -> [ResponsePayload; 2] {
    let selection = full_field_selection(ObjectKind::POST);
    let mut posts = full_world(&selection);
    posts.posts.extend_distinct(vec![post(post_id(3), 1, "before")], |post| post.id);
    let users = full_field_selection(ObjectKind::USER);
    let mut objects = full_world(&users);
    objects.root_count = 2;
    // Private metrics of posts by others would remove them from `includes`.
    [
        render_post_page(&posts, &render_request(selection, options)),
        render_user_page(&objects, &render_request(users, options)),
    ]
}

fn members(json: &JsonFieldType, words: &mut Vec<VocabularyWord>) {
    match json {
        JsonFieldType::List(inside) => members(inside, words),
        JsonFieldType::Object(inside) => inside.iter().for_each(|member| {
            words.push(member.name);
            members(&member.json_type, words);
        }),
        _ => {}
    }
}

fn all_words() -> Vec<VocabularyWord> {
    let mut words: Vec<_> = ALL_KINDS.into_iter().filter_map(ObjectKind::include_key).collect();
    for field in ALL_KINDS.into_iter().flat_map(ObjectKind::fields) {
        words.push(field.name);
        members(&field.json_type, &mut words);
    }
    words
}

/// Translates keys into the posts vocabulary.
fn translated(value: Value, words: &[VocabularyWord]) -> Value {
    match value {
        Value::Object(inside) => inside
            .into_iter()
            .map(|(key, value)| {
                let word = words.iter().find(|word| word.tweet == key);
                let word = word.unwrap_or_else(|| panic!("no table has {key}"));
                (word.post.to_owned(), translated(value, words))
            })
            .collect(),
        Value::Array(items) => items.into_iter().map(|item| translated(item, words)).collect(),
        Value::String(text) if text == "tweet" => Value::String("post".to_owned()),
        other => other,
    }
}

#[test]
fn the_vocabularies_are_images_of_each_other() {
    let words = all_words();
    for (post, tweet) in full_answers(POSTS).iter().zip(&full_answers(TWEETS)) {
        assert_ne!(post.data, tweet.data);
        assert_eq!(data(post), translated(data(tweet), &words));
        assert_eq!(json(&post.includes), translated(json(&tweet.includes), &words));
        for (text, other) in [(&post.data, "tweet"), (&post.includes, "tweet")] {
            let text = text.replace("media_source_tweet", "").replace("retweeted", "");
            assert!(!text.contains(&format!("{other}_")), "{text}");
        }
        assert!(!tweet.data.contains("post_") && !tweet.data.contains("_post"), "{}", tweet.data);
    }
}

fn matches_schema(value: &Value, json: &JsonFieldType, vocabulary: Vocabulary, path: &str) {
    let fits = match json {
        JsonFieldType::Text => value.is_string(),
        JsonFieldType::Id => value.as_str().is_some_and(|id| id.bytes().all(|byte| byte.is_ascii_digit())),
        JsonFieldType::Time => value.as_str().is_some_and(|time| base::Time::parse(time).is_some() && time.len() == 24),
        JsonFieldType::CountText if vocabulary == Vocabulary::Post => value.is_string(),
        JsonFieldType::Int | JsonFieldType::CountText => value.is_i64(),
        JsonFieldType::Real => value.is_number(),
        JsonFieldType::Bool => value.is_boolean(),
        JsonFieldType::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        JsonFieldType::Any => value.is_object(),
        JsonFieldType::List(inside) => {
            let items = value.as_array().unwrap_or_else(|| panic!("{path}"));
            for item in items {
                matches_schema(item, inside, vocabulary, path);
            }
            !items.is_empty()
        }
        JsonFieldType::Object(inside) => {
            has_members(value, inside, vocabulary, path);
            true
        }
    };
    assert!(fits, "{path} is {value}");
}

fn has_members(value: &Value, members: &[JsonMember], vocabulary: Vocabulary, path: &str) {
    for (key, value) in value.as_object().unwrap_or_else(|| panic!("{path}")) {
        let path = format!("{path}.{key}");
        let member = members.iter().find(|member| member.name.name_in(vocabulary) == key);
        matches_schema(value, &member.unwrap_or_else(|| panic!("{path}")).json_type, vocabulary, &path);
    }
}

fn check_records(list: &Value, object: ObjectKind, vocabulary: Vocabulary) -> Vec<&'static str> {
    let mut seen = Vec::new();
    for record in list.as_array().unwrap() {
        for (key, value) in record.as_object().unwrap() {
            let is = |field: &&FieldDefinition| field.name.name_in(vocabulary) == key;
            let field = object.fields().find(is).unwrap_or_else(|| panic!("{key}"));
            matches_schema(value, &field.json_type, vocabulary, key);
            seen.push(field.name.post);
        }
    }
    seen
}

#[test]
fn everything_written_is_declared_and_everything_declared_is_written() {
    for options in [POSTS, TWEETS] {
        let [posts, users] = full_answers(options);
        let speech = options.vocabulary;
        let mut post = check_records(&data(&posts), ObjectKind::POST, speech);
        let mut user = check_records(&data(&users), ObjectKind::USER, speech);
        let (included, more) = (json(&posts.includes), json(&users.includes));
        let key = |object: ObjectKind| object.include_key().unwrap().name_in(speech);
        post.extend(check_records(&included[key(ObjectKind::POST)], ObjectKind::POST, speech));
        post.extend(check_records(&more[key(ObjectKind::POST)], ObjectKind::POST, speech));
        user.extend(check_records(&included["users"], ObjectKind::USER, speech));
        user.extend(check_records(&more["users"], ObjectKind::USER, speech));
        let media = check_records(&included["media"], ObjectKind::MEDIA, speech);
        let poll = check_records(&included["polls"], ObjectKind::POLL, speech);
        let place = check_records(&included["places"], ObjectKind::PLACE, speech);
        let never = ["source"];
        for (object, seen) in [
            (ObjectKind::POST, post),
            (ObjectKind::USER, user),
            (ObjectKind::MEDIA, media),
            (ObjectKind::POLL, poll),
            (ObjectKind::PLACE, place),
        ] {
            for field in object.fields() {
                let name = field.name.post;
                let known = seen.contains(&name);
                let unknown = object == ObjectKind::MEDIA && name == "promoted_metrics";
                let silent = unknown || never.contains(&name) || field.description.starts_with("Accepted");
                assert_eq!(known, !silent, "{object:?} {name}");
            }
        }
    }
}

#[test]
fn what_is_not_there_is_left_out() {
    fn no_blanks(value: &Value, path: &str) {
        match value {
            Value::Null => panic!("null at {path}"),
            Value::Array(items) => {
                assert!(!items.is_empty(), "{path}");
                for item in items {
                    no_blanks(item, path);
                }
            }
            Value::Object(inside) => {
                assert!(!inside.is_empty() || path.ends_with(".properties"), "{path}");
                inside.iter().for_each(|(key, value)| no_blanks(value, &format!("{path}.{key}")));
            }
            Value::String(text) => assert!(!text.is_empty(), "{path}"),
            Value::Bool(_) | Value::Number(_) => {}
        }
    }
    for options in [POSTS, TWEETS] {
        let selection = full_field_selection(ObjectKind::POST);
        let mut bare = post(post_id(1), 1, "x");
        bare.lang = String::new();
        let viewer = Viewer::user(base::UserId::new(1));
        let objects =
            loaded_objects(viewer, &selection, 1, vec![bare], vec![user(1, "ana")], vec![media(3, "photo", 1)]);
        let answer = render_post_page(&objects, &render_request(selection, options));
        no_blanks(&data(&answer), "");
        no_blanks(&json(&answer.includes), "");
        for answer in full_answers(options) {
            no_blanks(&data(&answer), "");
            no_blanks(&json(&answer.includes), "");
        }
    }
}

#[test]
fn figures_come_under_both_names_when_the_request_did_not_tell() {
    for options in [POSTS, TWEETS] {
        let [posts, users] = full_answers(RenderOptions { both_metric_names: true, ..options });
        for name in ["public_metrics", "organic_metrics"] {
            let figures = &data(&posts)[0][name];
            assert_eq!((&figures["repost_count"], &figures["retweet_count"]), (&3.into(), &3.into()));
        }
        let figures = &data(&users)[0]["public_metrics"];
        assert!(figures["post_count"].is_i64() && figures["tweet_count"].is_i64());
    }
}

proptest::proptest! {
    #[test]
    fn text_is_escaped_as_by_serde(text in proptest::prelude::any::<String>(), control in "[\\x00-\\x7f&<>\u{2028}\u{7f}é]{0,40}") {
        for text in [text, control] {
            let mut out = JsonWriter::new(POSTS, 0);
            out.write_text(&text);
            proptest::prop_assert_eq!(out.finish(), serde_json::to_string(&text).unwrap());
            let mut out = JsonWriter::new(POSTS, 0);
            out.write_html_escaped(&text);
            let wanted = serde_json::to_string(&base::text::escape_html(&text)).unwrap();
            proptest::prop_assert_eq!(out.finish(), wanted);
        }
    }
}

#[test]
fn times_have_fractions() {
    let mut out = JsonWriter::new(POSTS, 0);
    out.write_time(NOW);
    assert_eq!(out.finish(), "\"2026-11-21T04:05:06.789Z\"");
}
