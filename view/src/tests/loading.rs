//! Responses from a store: the effects of relations, edits and reposts.

use base::encryption::{Keyring, MasterKey};
use base::{Clock, PostId, Rng, UserId};
use network::visibility::Viewer;
use store::graph::RelationKind;
use store::posts::{NewPostDetails, PostState};
use store::{DatabaseLocation, Store, StoreOptions, Tx, follows, graph, users};
use tempfile::TempDir;

use super::{NOW, POSTS, data, field_selection, json, post, post_id, render_request, user};
use crate::{FieldSelection, LookupKeys, ObjectKind, RenderRequest, ResponsePayload};

pub(super) async fn store() -> (Store, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let key = MasterKey::generate(&Rng::from_seed(1)).unwrap();
    let store = Store::open(StoreOptions {
        location: DatabaseLocation::File(folder.path().join("locum.db")),
        data_dir: folder.path().to_owned(),
        connections: 1,
        node: 0,
        purpose: store::NodePurpose::Server(store::NodeRoles::ALL),
        migrate: true,
        clock: Clock::frozen_at(NOW),
        rng: Rng::from_seed(2),
        keyring: Keyring::new(key, Vec::new()),
    });
    (store.await.unwrap(), folder)
}

/// Ana follows protected Bob, is blocked by Carol; Dave is suspended, Erin protected.
fn people(tx: &mut Tx<'_>) {
    for (number, name) in (1..).zip(["ana", "bob", "carol", "dave", "erin"]) {
        let mut one = user(number, name);
        one.protected = matches!(name, "bob" | "erin");
        if name == "dave" {
            one.state = users::UserState::Suspended;
        }
        users::insert(tx, &one, "").unwrap();
    }
    let [ana, bob, carol] = [1, 2, 3].map(UserId::new);
    follows::insert(tx, ana, bob, 1).unwrap();
    follows::insert(tx, bob, ana, 2).unwrap();
    graph::insert(tx, RelationKind::Block, carol, ana, 3).unwrap();
    graph::insert(tx, RelationKind::Mute, ana, bob, 4).unwrap();
}

fn put(tx: &mut Tx<'_>, post: &store::posts::Post) {
    assert!(store::posts::insert(tx, post, &NewPostDetails::default()).unwrap());
}

fn texts(answer: &ResponsePayload) -> Vec<String> {
    if answer.data.is_empty() {
        return Vec::new();
    }
    let data = data(answer);
    let posts = data.as_array().unwrap().iter();
    posts.map(|post| post["text"].as_str().unwrap().to_owned()).collect()
}

fn render(tx: &mut Tx<'_>, viewer: Viewer, ids: &[PostId], selection: &FieldSelection) -> ResponsePayload {
    let found = store::posts::find_by_ids(tx, ids).unwrap();
    let asked = LookupKeys { parameter: "ids", values: ids };
    crate::render_post_lookup(tx, &RenderRequest { viewer, ..render_request(*selection, POSTS) }, found, asked).unwrap()
}

#[tokio::test]
async fn a_viewers_ties_decide_what_is_seen() {
    let (store, _folder) = store().await;
    let work = |tx: &mut Tx<'_>| {
        people(tx);
        for author in 1..=5 {
            put(tx, &post(post_id(author), author, &format!("by {author}")));
        }
        let ids = [1, 2, 3, 4, 5].map(post_id);
        let selection = FieldSelection::defaults(ObjectKind::POST);
        let ana = Viewer::user(UserId::new(1));
        assert_eq!(texts(&render(tx, ana, &ids, &selection)), ["by 1", "by 2"]);
        assert_eq!(texts(&render(tx, Viewer::anonymous(), &ids, &selection)), ["by 1", "by 3"]);
        let own = render(tx, Viewer::user(UserId::new(5)), &ids, &selection);
        assert_eq!(texts(&own), ["by 1", "by 3", "by 5"]);
        assert_eq!(own.errors.len(), 2);
        let page = store::posts::find_by_ids(tx, &ids).unwrap();
        let page =
            crate::render_posts(tx, &RenderRequest { viewer: ana, ..render_request(selection, POSTS) }, page).unwrap();
        assert_eq!((page.count, page.errors.len()), (2, 0));
        Ok(())
    };
    store.write(work).await.unwrap();
    store.close();
}

#[tokio::test]
async fn a_repost_is_seen_by_those_who_see_what_it_reposts() {
    let (store, _folder) = store().await;
    let work = |tx: &mut Tx<'_>| {
        people(tx);
        put(tx, &post(post_id(9), 2, "protected"));
        put(tx, &post(post_id(8), 3, "open"));
        let mut known_by_id = post(post_id(7), 3, "");
        known_by_id.state = PostState::Placeholder;
        put(tx, &known_by_id);
        for (minutes, of, text) in [(1, 9, ""), (2, 8, ""), (3, 7, ""), (4, 7, "RT @carol: imported"), (5, 6, "")] {
            let mut repost = post(post_id(minutes), 1, text);
            repost.repost_of_id = Some(post_id(of));
            repost.author_id = UserId::new(if minutes == 4 { 2 } else { 1 });
            if minutes == 4 {
                repost.author_id = UserId::new(3);
            }
            put(tx, &repost);
        }
        let ids = [1, 2, 3, 4, 5, 7].map(post_id);
        let selection = FieldSelection::defaults(ObjectKind::POST);
        let anyone = render(tx, Viewer::anonymous(), &ids, &selection);
        assert_eq!(texts(&anyone), ["RT @carol: open", "RT @carol: imported"]);
        let ana = render(tx, Viewer::user(UserId::new(1)), &ids, &selection);
        assert_eq!(texts(&ana), ["RT @bob: protected"]);
        Ok(())
    };
    store.write(work).await.unwrap();
    store.close();
}

#[tokio::test]
async fn versions_references_and_ties_come_along() {
    let (store, _folder) = store().await;
    let work = |tx: &mut Tx<'_>| {
        people(tx);
        let mut first = post(post_id(30), 2, "before");
        put(tx, &first);
        first.id = post_id(29);
        first.text = "after".to_owned();
        first.edit_root_id = Some(post_id(30));
        let beside = NewPostDetails { replaces: Some(post_id(30)), ..NewPostDetails::default() };
        store::posts::insert(tx, &first, &beside).unwrap();
        let mut quote = post(post_id(1), 1, "quote");
        quote.quoted_post_id = Some(post_id(29));
        put(tx, &quote);

        let asked = [(ObjectKind::USER, "connection_status,receives_your_dm")];
        let selection =
            field_selection(ObjectKind::POST, &asked, "referenced_tweets.id,referenced_tweets.id.author_id");
        let ana = Viewer::user(UserId::new(1));
        let answer = render(tx, ana, &[post_id(1)], &selection);
        assert_eq!(answer.errors, []);
        let includes = json(&answer.includes);
        let versions = serde_json::json!([post_id(30).to_string(), post_id(29).to_string()]);
        assert_eq!(includes["posts"][0]["edit_history_post_ids"], versions);
        let ties = serde_json::json!(["followed_by", "following", "muting"]);
        assert_eq!(includes["users"][0]["connection_status"], ties);
        let stranger = render(tx, Viewer::anonymous(), &[post_id(1)], &selection);
        // Mentions and authors of hidden posts must not be disclosed.
        assert_eq!((stranger.errors.len(), stranger.includes.as_str()), (1, ""));

        let selection = field_selection(ObjectKind::USER, &[], "most_recent_post_id");
        let bob = users::find_by_id(tx, UserId::new(2)).unwrap();
        let names = ["BOB".to_owned()];
        let mut render_bob = |viewer| {
            let asked = LookupKeys { parameter: "username", values: &names };
            let request = RenderRequest { viewer, ..render_request(selection, POSTS) };
            crate::render_user(tx, &request, bob.clone(), asked).unwrap()
        };
        let answer = render_bob(ana);
        assert_eq!(data(&answer)["most_recent_post_id"], post_id(29).to_string());
        assert_eq!(json(&answer.includes)["posts"][0]["text"], "after");
        let stranger = render_bob(Viewer::anonymous());
        assert_eq!((stranger.errors.len(), stranger.includes.as_str()), (0, ""));
        assert!(data(&stranger).get("most_recent_post_id").is_none(), "{}", stranger.data);
        // As an author who is included, whose repost depends on two.
        let mut repost = post(post_id(28), 3, "");
        repost.repost_of_id = Some(post_id(29));
        put(tx, &repost);
        put(tx, &post(post_id(40), 3, "older"));
        let selection = field_selection(ObjectKind::POST, &[(ObjectKind::USER, "most_recent_post_id")], "author_id");
        let mut author_of = |viewer| json(&render(tx, viewer, &[post_id(40)], &selection).includes)["users"][0].clone();
        assert_eq!(author_of(Viewer::user(UserId::new(3))).get("most_recent_post_id"), None);
        assert_eq!(author_of(Viewer::anonymous()).get("most_recent_post_id"), None);
        put(tx, &post(post_id(27), 3, "newer"));
        let newest = render(tx, Viewer::anonymous(), &[post_id(40)], &selection);
        assert_eq!(json(&newest.includes)["users"][0]["most_recent_post_id"], post_id(27).to_string());
        Ok(())
    };
    store.write(work).await.unwrap();
    store.close();
}

#[tokio::test]
async fn posts_that_are_loaded_together_are_rendered_as_alone() {
    let (store, _folder) = store().await;
    let work = |tx: &mut Tx<'_>| {
        people(tx);
        put(tx, &post(post_id(30), 2, "protected"));
        put(tx, &post(post_id(20), 3, "open"));
        for (id, quoted) in [(4, 30), (3, 20), (2, 3), (1, 99)] {
            let mut quote = post(post_id(id), 1, "quote");
            quote.quoted_post_id = Some(post_id(quoted));
            put(tx, &quote);
        }
        let selection =
            field_selection(ObjectKind::POST, &[], "author_id,referenced_tweets.id,referenced_tweets.id.author_id");
        let request = RenderRequest { viewer: Viewer::anonymous(), ..render_request(selection, POSTS) };
        let ids = [30, 20, 4, 3, 2, 1].map(post_id);
        let found = store::posts::find_by_ids(tx, &ids).unwrap();
        let together = crate::render_each_post(tx, &request, found.clone()).unwrap();
        assert_eq!(together.len(), found.len());
        for (row, (id, response)) in found.into_iter().zip(together) {
            let keys = LookupKeys { parameter: "id", values: &[id] };
            let alone = crate::render_post(tx, &request, Some(row), keys).unwrap();
            assert_eq!(
                (&response.data, &response.includes, &response.errors),
                (&alone.data, &alone.includes, &alone.errors)
            );
        }
        Ok(())
    };
    store.write(work).await.unwrap();
    store.close();
}
