//! Posts: texts, private metrics, lookups and expansions.

use base::refusal::ResourceRef;
use base::{PostId, Refusal, UserId};
use network::visibility::{Viewer, Visibility};
use serde_json::json as value;
use store::posts::{Post, PostState};

use super::{POSTS, TWEETS, data, field_selection, json, loaded_objects, media, post, post_id, render_request, user};
use crate::loaded_objects::LoadedObjects;
use crate::response::{LookupKeys, render_post_page, render_requested_posts};
use crate::{FieldSelection, ObjectKind, ResponsePayload};

const ANYONE: Viewer = Viewer::anonymous();

fn shown(post: Post, names: &str) -> serde_json::Value {
    let selection = field_selection(ObjectKind::POST, &[(ObjectKind::POST, names)], "");
    let users = vec![user(1, "ana"), user(2, "bob")];
    let objects = loaded_objects(ANYONE, &selection, 1, vec![post], users, Vec::new());
    data(&render_post_page(&objects, &render_request(selection, TWEETS)))[0].take()
}

#[test]
fn what_comes_unasked() {
    let answer = shown(post(PostId::new(20), 1, "a <b> & \"c\"\n"), "id");
    let wanted = r#"{"id":"20","text":"a &lt;b&gt; &amp; \"c\"\n","edit_history_tweet_ids":["20"]}"#;
    assert_eq!(answer, json(wanted));
}

#[test]
fn a_long_text_is_sent_in_part_and_whole_as_a_note() {
    let text = "Words & more words. ".repeat(30);
    let mut long = post(post_id(1), 1, &text);
    long.entities = r#"{"hashtags":[{"start":0,"end":2,"tag":"w"}]}"#.to_owned();
    let answer = shown(long.clone(), "note_tweet,entities,display_text_range");
    let part = answer["text"].as_str().unwrap();
    assert!(part.ends_with("words.…") || part.ends_with('…'), "{part}");
    let plain = part.replace("&amp;", "&");
    assert!(text.starts_with(plain.trim_end_matches('…')) && plain.chars().count() <= 256);
    assert_eq!(answer["note_tweet"]["text"], base::text::escape_html(&text).as_ref());
    assert_eq!(answer["note_tweet"]["entities"]["hashtags"][0]["tag"], "w");
    assert!(answer.get("entities").is_none());
    assert_eq!(answer["display_text_range"], value!([0, part.chars().count()]));

    let short = shown(post(post_id(1), 1, &"x".repeat(280)), "note_tweet,display_text_range");
    assert_eq!(short["text"], "x".repeat(280));
    assert!(short.get("note_tweet").is_none());
    assert_eq!(short["display_text_range"], value!([0, 280]));
}

#[test]
fn addresses_decide_what_is_long_and_leading_mentions_do_not() {
    for (text, start, long) in [
        ("a.co ".repeat(20), 0, true),
        ("a.co ".repeat(11), 0, false),
        (format!("https://example.com/{}", "x".repeat(400)), 0, false),
        ("日".repeat(140), 0, false),
        ("日".repeat(141), 0, true),
        (format!("@bob {}", "x".repeat(280)), 5, false),
        (format!("@bob {}", "x".repeat(281)), 5, true),
        ("word ".repeat(5_000), 0, true),
        (format!("{} {}", "https://e.co/yyyy".repeat(80), "z".repeat(300)), 0, true),
    ] {
        let mut subject = post(post_id(1), 1, &text);
        subject.display_start = start;
        let answer = shown(subject, "note_tweet");
        assert_eq!(answer.get("note_tweet").is_some(), long, "{text}");
    }
}

#[test]
fn the_first_part_is_found_in_the_beginning() {
    for text in ["word ", "日本語。", "👩‍🚀", "https://example.com/some/long/path ", "e\u{301} a.co #tag "] {
        let text = base::text::normalize(&text.repeat(300)).into_owned();
        let part = crate::posts::short_text(&post(post_id(1), 1, &text));
        assert_eq!(part, base::text::truncate_with_ellipsis(&text), "{text}");
    }
}

fn repost_of(text: &str, stored: &str) -> serde_json::Value {
    let selection = FieldSelection::defaults(ObjectKind::POST);
    let mut repost = post(post_id(1), 1, stored);
    repost.repost_of_id = Some(post_id(9));
    let posts = vec![repost, post(post_id(9), 2, text)];
    let objects = loaded_objects(ANYONE, &selection, 1, posts, vec![user(1, "ana"), user(2, "bob")], Vec::new());
    data(&render_post_page(&objects, &render_request(selection, POSTS)))[0]["text"].take()
}

#[test]
fn a_repost_names_whom_it_reposts() {
    assert_eq!(repost_of("a < b", ""), "RT @bob: a &lt; b");
    assert_eq!(repost_of("gone", "RT @carol: as imported"), "RT @carol: as imported");
    let exact = "y".repeat(140 - "RT @bob: ".len());
    assert_eq!(repost_of(&exact, ""), format!("RT @bob: {exact}"));
    let cut = repost_of(&format!("{exact}é"), "");
    let cut = cut.as_str().unwrap();
    assert_eq!(cut.chars().count(), 140);
    assert!(cut.ends_with("y…"));
}

#[test]
fn edits_are_told_by_the_first_version() {
    let mut edited = post(post_id(1), 1, "new");
    edited.edit_root_id = Some(post_id(30));
    edited.edits_remaining = 4;
    let until = post_id(30).created_at().plus_ms(3_600_000).to_string();
    let wanted = value!({"edits_remaining": 4, "is_edit_eligible": true, "editable_until": until});
    assert_eq!(shown(edited.clone(), "edit_controls")["edit_controls"], wanted);
    edited.in_reply_to_user_id = Some(UserId::new(2));
    assert_eq!(shown(edited, "edit_controls")["edit_controls"]["is_edit_eligible"], false);
}

const PRIVATE: &[&str] = &["impression_count", "url_link_clicks", "user_profile_clicks", "engagements"];

fn private_figures(viewer: Viewer, minutes: i64) -> ResponsePayload {
    let selection = field_selection(ObjectKind::POST, &[(ObjectKind::POST, "non_public_metrics")], "");
    let id = post_id(minutes);
    let objects = loaded_objects(viewer, &selection, 1, vec![post(id, 1, "x")], vec![user(1, "ana")], Vec::new());
    render_requested_posts(&objects, &render_request(selection, POSTS), LookupKeys { parameter: "ids", values: &[id] })
}

#[test]
fn private_figures_are_for_the_author_for_thirty_days() {
    let own = Viewer::user(UserId::new(1));
    let month = 30 * 24 * 60;
    let answer = private_figures(own, month);
    assert_eq!(data(&answer)[0]["non_public_metrics"]["engagements"], 15);
    for (viewer, minutes) in [(own, month + 1), (Viewer::user(UserId::new(2)), 5), (ANYONE, 5)] {
        let answer = private_figures(viewer, minutes);
        assert_eq!((answer.data.as_str(), answer.count), ("", 0));
        let wanted = PRIVATE.iter().map(|name| Refusal::FieldNotVisible {
            field: format!("non_public_metrics.{name}").into(),
            subject: ResourceRef::new("tweet", "ids", post_id(minutes)),
        });
        assert_eq!(answer.errors, wanted.collect::<Vec<_>>());
    }
}

fn mixed(selection: &FieldSelection) -> LoadedObjects {
    let mut deleted = post(post_id(3), 1, "");
    deleted.state = PostState::Deleted;
    let posts = vec![
        post(post_id(1), 1, "one"),
        post(post_id(2), 2, "two"),
        deleted,
        post(post_id(4), 3, "hidden"),
        post(post_id(5), 4, "suspended"),
    ];
    let users = vec![user(1, "ana"), user(2, "bob"), user(3, "carol"), user(4, "dave")];
    let mut objects = loaded_objects(ANYONE, selection, 5, posts, users, Vec::new());
    objects.hidden_posts.insert(post_id(3), Visibility::Missing);
    objects.hidden_posts.insert(post_id(4), Visibility::Forbidden);
    objects.hidden_posts.insert(post_id(5), Visibility::Suspended);
    objects
}

#[test]
fn what_was_asked_for_comes_in_order_or_is_refused_once() {
    let selection = FieldSelection::defaults(ObjectKind::POST);
    let objects = mixed(&selection);
    let ids = [6, 2, 1, 3, 4, 5, 2, 3].map(post_id);
    let answer = render_requested_posts(
        &objects,
        &render_request(selection, POSTS),
        LookupKeys { parameter: "ids", values: &ids },
    );
    let texts: Vec<_> = data(&answer).as_array().unwrap().iter().map(|post| post["text"].clone()).collect();
    assert_eq!(texts, ["two", "one"]);
    assert_eq!((answer.count, answer.newest_id, answer.oldest_id), (2, Some(post_id(1)), Some(post_id(2))));
    let subject = |minutes| ResourceRef::new("tweet", "ids", post_id(minutes));
    assert_eq!(
        answer.errors,
        [
            Refusal::NotFound(subject(6)),
            Refusal::NotFound(subject(3)),
            Refusal::NotVisible(subject(4)),
            Refusal::NotVisible(subject(5)),
        ]
    );
}

#[test]
fn a_page_leaves_out_what_may_not_be_seen() {
    let selection = FieldSelection::defaults(ObjectKind::POST);
    let answer = render_post_page(&mixed(&selection), &render_request(selection, POSTS));
    assert_eq!((answer.count, answer.errors.len()), (2, 0));
    assert_eq!(answer.includes, "");
    let objects = loaded_objects(ANYONE, &selection, 0, Vec::new(), Vec::new(), Vec::new());
    assert_eq!(render_post_page(&objects, &render_request(selection, POSTS)).data, "");
}

#[test]
fn one_thing_is_an_object() {
    let selection = FieldSelection::defaults(ObjectKind::POST);
    let values = [post_id(1)];
    let asked = LookupKeys { parameter: "id", values: &values };
    let single = render_requested_posts(&mixed(&selection), &render_request(selection, POSTS), asked).into_single();
    assert_eq!(data(&single)["text"], "one");
    let values = [post_id(3)];
    let none = render_requested_posts(
        &mixed(&selection),
        &render_request(selection, POSTS),
        LookupKeys { values: &values, ..asked },
    )
    .into_single();
    assert_eq!((none.data.as_str(), none.errors.len()), ("", 1));
}

const EXPANDED: &str = "author_id,in_reply_to_user_id,referenced_tweets.id,\
    referenced_tweets.id.author_id,attachments.media_keys,entities.mentions.username,\
    edit_history_tweet_ids";

/// Two posts that refer to the same objects, some of them missing or hidden.
fn leading_on() -> ResponsePayload {
    let asked = [(ObjectKind::USER, "verified"), (ObjectKind::POST, "lang")];
    let selection = field_selection(ObjectKind::POST, &asked, EXPANDED);
    let mut first = post(post_id(1), 1, "one");
    first.in_reply_to_user_id = Some(UserId::new(2));
    first.in_reply_to_post_id = Some(post_id(8));
    first.quoted_post_id = Some(post_id(9));
    first.media_keys = "3_70,3_99".to_owned();
    let mut second = first.clone();
    second.id = post_id(2);
    second.entities = r#"{"mentions":[{"username":"x","id":"5"},{"username":"y"}]}"#.to_owned();
    second.quoted_post_id = Some(post_id(7));
    let posts = vec![first, second, post(post_id(8), 3, "eight"), post(post_id(7), 2, "seven")];
    let users = vec![user(1, "ana"), user(2, "bob"), user(3, "carol")];
    let mut objects = loaded_objects(ANYONE, &selection, 2, posts, users, vec![media(70, "photo", 1)]);
    objects.hidden_posts.insert(post_id(7), Visibility::Forbidden);
    render_post_page(&objects, &render_request(selection, TWEETS))
}

#[test]
fn expansions_lead_to_each_thing_once() {
    let answer = leading_on();
    let includes = json(&answer.includes);
    let ids = |list: &str, key: &str| {
        let list = includes[list].as_array().unwrap().iter();
        list.map(|thing| thing[key].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids("users", "username"), ["ana", "bob", "carol"]);
    assert_eq!(ids("tweets", "text"), ["eight"]);
    assert_eq!(ids("tweets", "author_id"), ["3"]);
    assert_eq!(ids("media", "media_key"), ["3_70"]);
    assert_eq!(includes["users"][0]["verified"], false);
    assert_eq!(data(&answer)[0]["attachments"]["media_keys"], value!(["3_70", "3_99"]));
}

#[test]
fn what_expansions_do_not_find_is_told_once() {
    let included = |resource, expansion, id: String| ResourceRef::from_expansion(resource, expansion, id);
    let reference = |minutes| included("tweet", "referenced_tweets.id", post_id(minutes).to_string());
    assert_eq!(
        leading_on().errors,
        [
            Refusal::NotFound(reference(9)),
            Refusal::NotVisible(reference(7)),
            Refusal::NotFound(included("user", "entities.mentions.username", "5".to_owned())),
            Refusal::NotFound(included("media", "attachments.media_keys", "3_99".to_owned())),
        ]
    );
}

#[test]
fn a_withheld_notice_names_the_post_in_the_answers_words() {
    let mut subject = post(post_id(1), 1, "x");
    for (scope, wanted) in [("post", "tweet"), ("tweet", "tweet"), ("user", "user")] {
        subject.withheld = format!(r#"{{"copyright":true,"country_codes":["XY"],"scope":"{scope}"}}"#);
        assert_eq!(shown(subject.clone(), "withheld")["withheld"]["scope"], wanted);
    }
    subject.withheld = "{".to_owned();
    assert!(shown(subject, "withheld").get("withheld").is_none());
}
