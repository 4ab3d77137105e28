//! Short links in rendered texts: every entity is where it says.

use base::short_links::{LinkSource, ShortLinkCodec, ShortLinkTarget};
use base::text::escape_html;
use base::{PostId, SiteLinks, UserId};
use network::compose::PostTextDraft;
use network::visibility::Viewer;
use proptest::prelude::*;
use serde_json::Value;
use store::ads::card_links::CardLink;
use store::media::Media;
use store::posts::Post;

use super::{TWEETS, data, field_selection, media, post, post_id, render_request, user};
use crate::loaded_objects::LoadedObjects;
use crate::posts::PostRenderContext;
use crate::response::render_post_page;
use crate::{FieldSelection, ObjectKind};

const URL: &str = "https://social.com";

pub(super) fn site() -> SiteLinks {
    let codec: &'static ShortLinkCodec = Box::leak(Box::new(ShortLinkCodec::new(&[9; 32])));
    SiteLinks { url: URL, files_url: URL, short_link_prefix: "https://social.com/t/", codec: Some(codec) }
}

fn selection() -> FieldSelection {
    let mut selection =
        field_selection(ObjectKind::POST, &[(ObjectKind::POST, "entities,note_tweet,display_text_range")], "");
    selection.set_site(site());
    selection
}

/// A post as it is stored.
pub(super) fn written(id: PostId, text: &str) -> Post {
    let known = [("ana".to_owned(), UserId::new(1)), ("bob".to_owned(), UserId::new(2))];
    let composed = PostTextDraft::parse(text).compose(&known, false, "und");
    Post {
        entities: composed.entities,
        short_entities: composed.short_entities,
        display_start: composed.display_start,
        display_end: composed.display_end,
        ..post(id, 2, &composed.text)
    }
}

fn objects_of(posts: Vec<Post>, attached: Vec<Media>, cards: Vec<CardLink>) -> LoadedObjects {
    let mut objects = LoadedObjects::new(Viewer::anonymous(), super::NOW, &selection());
    objects.posts.extend_distinct(posts, |post| post.id);
    objects.users.extend_distinct(vec![user(1, "ana"), user(2, "bob")], |user| user.id);
    objects.media.extend_distinct(attached, |media| media.id.get());
    for link in cards {
        objects.card_links.entry(link.card_id).or_default().push(link);
    }
    objects.root_count = 1;
    objects.compute_texts();
    objects
}

fn shown(posts: Vec<Post>, attached: Vec<Media>, cards: Vec<CardLink>) -> Value {
    data(&render_post_page(&objects_of(posts, attached, cards), &render_request(selection(), TWEETS)))[0].take()
}

/// What entities say about a text as returned is so.
fn check_entities(text: &Value, entities: &Value) {
    let text: Vec<char> = text.as_str().unwrap().chars().collect();
    let part = |entity: &Value| -> String {
        let at = |name: &str| usize::try_from(entity[name].as_u64().unwrap()).unwrap();
        text.get(at("start")..at("end")).unwrap_or_default().iter().collect()
    };
    let list = |name: &str| entities[name].as_array().cloned().unwrap_or_default();
    for url in list("urls") {
        assert_eq!(part(&url), escape_html(url["url"].as_str().unwrap()), "{text:?} {entities}");
    }
    for mention in list("mentions") {
        let found = part(&mention).to_ascii_lowercase();
        assert!(found.strip_prefix(['@', '＠']) == mention["username"].as_str(), "{text:?} {entities}");
    }
    for tag in list("hashtags") {
        assert_eq!(part(&tag).strip_prefix(['#', '＃']), tag["tag"].as_str(), "{text:?} {entities}");
    }
    for tag in list("cashtags") {
        assert_eq!(part(&tag).strip_prefix('$'), tag["tag"].as_str(), "{text:?} {entities}");
    }
}

fn check_post(shown: &Value) {
    check_entities(&shown["text"], &shown["entities"]);
    if let Some(note) = shown.get("note_tweet") {
        check_entities(&note["text"], &note["entities"]);
    }
}

#[test]
fn a_link_is_replaced_and_says_where_it_leads() {
    let id = post_id(1);
    let shown = shown(vec![written(id, "👩‍🚀 & see docs.rs, then https://a.com/b?c=1&d #x")], vec![], vec![]);
    let links = [0, 1].map(|number| site().short_link(LinkSource::Post(id), ShortLinkTarget::Link(number)).unwrap());
    assert_eq!(shown["text"], format!("👩‍🚀 &amp; see {}, then {} #x", links[0], links[1]));
    let urls = &shown["entities"]["urls"];
    assert_eq!([&urls[0]["url"], &urls[1]["url"]], [&links[0], &links[1]]);
    assert_eq!([&urls[0]["expanded_url"], &urls[1]["expanded_url"]], ["http://docs.rs", "https://a.com/b?c=1&d"]);
    assert_eq!([&urls[0]["display_url"], &urls[1]["display_url"]], ["docs.rs", "a.com/b?c=1&d"]);
    let length = shown["text"].as_str().unwrap().chars().count();
    assert_eq!(shown["display_text_range"], serde_json::json!([0, length]));
    check_post(&shown);
}

#[test]
fn display_range_counts_in_the_escaped_text() {
    let rendered = |text: &str| {
        let post = shown(vec![written(post_id(1), text)], vec![], vec![]);
        check_post(&post);
        post
    };
    let short = rendered("R&D <b> #x @ana");
    assert_eq!(short["text"], "R&amp;D &lt;b&gt; #x @ana");
    assert_eq!(short["display_text_range"], serde_json::json!([0, 25]));
    assert_eq!(short["entities"]["hashtags"][0]["start"], 18);
    let long = rendered(&"a & b #x ".repeat(60));
    let length = long["text"].as_str().unwrap().chars().count();
    assert_eq!(long["display_text_range"], serde_json::json!([0, length]));
    assert_eq!(long["note_tweet"]["entities"]["hashtags"][1]["start"], 13 + 10);
}

#[test]
fn links_of_imports_stay() {
    let mut imported = post(post_id(1), 1, "see https://t.example/x and https://b.example");
    imported.entities = r#"{"urls":[{"start":4,"end":23,"url":"https://t.example/x",
        "expanded_url":"https://a.example/long","display_url":"a.example/long"},{"start":28,"end":45,
        "url":"https://b.example","expanded_url":"https://b.example","display_url":"b.example"}]}"#
        .to_owned();
    let shown = shown(vec![imported], vec![], vec![]);
    let own = site().short_link(LinkSource::Post(post_id(1)), ShortLinkTarget::Link(1)).unwrap();
    assert_eq!(shown["text"], format!("see https://t.example/x and {own}"));
    assert_eq!(shown["entities"]["urls"][0]["url"], "https://t.example/x");
    check_post(&shown);
}

#[test]
fn indices_outside_of_the_text_change_nothing() {
    let mut odd = post(post_id(1), 1, "short");
    odd.entities = r#"{"urls":[{"start":2,"end":99,"url":"http://a.b","expanded_url":"http://a.b","display_url":"a.b"},
        {"start":9,"end":3,"url":"http://a.b","expanded_url":"http://a.b","display_url":"a.b"}]}"#
        .to_owned();
    assert_eq!(shown(vec![odd], vec![], vec![])["text"], "short");
}

#[test]
fn truncated_text_ends_with_a_link_to_the_post() {
    let id = post_id(1);
    let text = format!("https://a.com {} https://b.com", "word ".repeat(80));
    let shown = shown(vec![written(id, &text)], vec![], vec![]);
    let link = site().short_link(LinkSource::Post(id), ShortLinkTarget::Post).unwrap();
    let part = shown["text"].as_str().unwrap();
    assert!(part.ends_with(&format!("word… {link}")), "{part}");
    assert!(base::text::weigh_text(part, 0..0).weight <= 280, "{part}");
    let urls = shown["entities"]["urls"].as_array().unwrap();
    assert_eq!(urls.len(), 2);
    assert_eq!(urls[1]["url"], link);
    assert_eq!(urls[1]["expanded_url"], format!("{URL}/i/web/status/{id}"));
    assert_eq!(urls[1]["display_url"], display(&format!("social.com/i/web/status/{id}")));
    assert_eq!(shown["note_tweet"]["entities"]["urls"][1]["expanded_url"], "https://b.com");
    assert_eq!(shown["display_text_range"], serde_json::json!([0, part.chars().count()]));
    check_post(&shown);
}

fn display(plain: &str) -> String {
    plain.chars().take(30).chain(['…']).collect()
}

#[test]
fn posts_without_links_are_rendered_as_stored() {
    let tags = written(post_id(1), "#urls and @ana");
    let objects = objects_of(vec![tags.clone()], vec![], vec![]);
    assert!(objects.full_texts.is_empty() && objects.short_texts.is_empty());
    let ctx = PostRenderContext { post: &tags, objects: &objects };
    assert!(matches!(crate::posts::sent_text(ctx), std::borrow::Cow::Borrowed(_)));
    assert!(matches!(crate::posts::sent_entities(ctx), std::borrow::Cow::Borrowed(_)));
}

/// The kinds of posts whose texts end with something, and what else they need.
fn variants(text: &str) -> Vec<(Vec<Post>, Vec<Media>, Vec<CardLink>)> {
    let plain = written(post_id(1), text);
    let mut picture = media(7, "photo", 2);
    picture.path = "ab/cd.jpg".to_owned();
    picture.uses = Some(1);
    let with_media = Post { media_keys: "3_7".to_owned(), ..plain.clone() };
    let card = CardLink {
        url: "https://shop.example/?a=1&b=2".to_owned(),
        title: "Shop".to_owned(),
        media_key: String::new(),
        id: 5,
        card_id: 4,
    };
    let with_card = Post { card_uri: "card://4".to_owned(), ..plain.clone() };
    let quote = Post { quoted_post_id: Some(post_id(30)), ..plain.clone() };
    let original = written(post_id(9), text);
    let repost = Post { repost_of_id: Some(original.id), ..post(post_id(1), 1, "") };
    vec![
        (vec![plain], vec![], vec![]),
        (vec![with_media], vec![picture], vec![]),
        (vec![with_card], vec![], vec![card]),
        (vec![quote], vec![], vec![]),
        (vec![repost, original], vec![], vec![]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_entity_is_where_it_says(text in
        r"(https://x\.co/[a-z]{1,30}( |, )|https://same\.com/a |docs\.rs |http://bücher\.com/%C3%A9\?a=1&b=<2> |#tag |@ana |\$CASH |👩‍🚀|日本|e\u{301}|a < b & c |\PC){0,60}"
    ) {
        for (posts, attached, cards) in variants(&text) {
            check_post(&shown(posts, attached, cards));
        }
    }
}
