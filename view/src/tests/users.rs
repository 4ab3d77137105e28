//! Users: which fields each viewer sees.

use base::refusal::ResourceRef;
use base::{Refusal, UserId};
use network::visibility::Viewer;
use serde_json::{Value, json as value};
use store::users::{User, UserState};

use super::{
    POSTS, TWEETS, data, field_selection, full_field_selection, json, loaded_objects, post, post_id, render_request,
    user,
};
use crate::loaded_objects::LoadedObjects;
use crate::response::{LookupKeys, render_requested_users, render_user_page};
use crate::{FieldSelection, ObjectKind};

fn ana() -> User {
    User {
        email: "ana@example.com".to_owned(),
        email_confirmed: true,
        subscription_type: "Premium".to_owned(),
        ..user(1, "ana")
    }
}

fn seen_by(viewer: Viewer, selection: &FieldSelection, prepare: impl Fn(&mut LoadedObjects)) -> Value {
    let mut objects = loaded_objects(viewer, selection, 1, Vec::new(), vec![ana()], Vec::new());
    prepare(&mut objects);
    data(&render_user_page(&objects, &render_request(*selection, POSTS)))[0].take()
}

#[test]
fn what_comes_unasked() {
    let selection = FieldSelection::defaults(ObjectKind::USER);
    let answer = seen_by(Viewer::anonymous(), &selection, |_| {});
    assert_eq!(answer, value!({"id": "1", "name": "ana", "username": "ana"}));
}

#[test]
fn ties_are_for_users_and_email_for_oneself() {
    let selection = full_field_selection(ObjectKind::USER);
    let own = seen_by(Viewer::user(UserId::new(1)), &selection, |_| {});
    assert_eq!(own["confirmed_email"], "ana@example.com");
    assert_eq!(own["subscription_type"], "Premium");
    assert!(own.get("connection_status").is_none());

    let other = seen_by(Viewer::user(UserId::new(2)), &selection, |objects| {
        objects.relations.following.insert(UserId::new(1));
        objects.relations.muting.insert(UserId::new(1));
    });
    assert!(other.get("confirmed_email").is_none());
    assert_eq!(other["subscription_type"], "None");
    assert_eq!(other["connection_status"], value!(["following", "muting"]));
    assert_eq!(other["receives_your_dm"], true);
    assert_eq!(other["subscription"]["subscribes_to_you"], false);

    let app = seen_by(Viewer::anonymous(), &selection, |_| {});
    for name in ["confirmed_email", "connection_status", "receives_your_dm", "subscription", "subscribes_to_you"] {
        assert!(app.get(name).is_none(), "{name}");
    }
    let scopeless = field_selection(ObjectKind::USER, &[(ObjectKind::USER, "confirmed_email")], "");
    let own = seen_by(Viewer::user(UserId::new(1)), &scopeless, |_| {});
    assert!(own.get("confirmed_email").is_none());
}

#[test]
fn messages_are_taken_from_those_one_follows_and_never_from_the_blocked() {
    let selection = field_selection(ObjectKind::USER, &[(ObjectKind::USER, "receives_your_dm")], "");
    let id = UserId::new(1);
    for (open, follows, blocks, wanted) in [
        (true, false, false, true),
        (false, false, false, false),
        (false, true, false, true),
        (true, true, true, false),
    ] {
        let subject = User { receives_dm: open, ..ana() };
        let mut objects =
            loaded_objects(Viewer::user(UserId::new(2)), &selection, 1, Vec::new(), vec![subject], Vec::new());
        objects.relations.followed_by.extend(follows.then_some(id));
        objects.relations.blocked_by.extend(blocks.then_some(id));
        let answer = render_user_page(&objects, &render_request(selection, POSTS));
        assert_eq!(data(&answer)[0]["receives_your_dm"], wanted);
    }
}

#[test]
fn users_come_in_the_order_of_asking() {
    let selection = FieldSelection::defaults(ObjectKind::USER);
    let mut suspended = user(3, "Carol");
    suspended.state = UserState::Suspended;
    let mut deleted = user(4, "dave");
    deleted.state = UserState::Deleted;
    let users = vec![user(1, "ana"), user(2, "Bob"), suspended, deleted];
    let objects = loaded_objects(Viewer::anonymous(), &selection, 4, Vec::new(), users, Vec::new());
    let names = ["bob", "nobody", "ANA", "carol", "dave", "Bob"].map(str::to_owned);
    let answer = render_requested_users(
        &objects,
        &render_request(selection, POSTS),
        LookupKeys { parameter: "usernames", values: &names },
    );
    assert_eq!(data(&answer)[0]["username"], "Bob");
    assert_eq!((&data(&answer)[1]["username"], answer.count), (&value!("ana"), 2));
    let subject = |name: &str| ResourceRef::new("user", "usernames", name);
    assert_eq!(
        answer.errors,
        [
            Refusal::NotFound(subject("nobody")),
            Refusal::Suspended(subject("carol")),
            Refusal::NotFound(subject("dave")),
        ]
    );
    let ids = [UserId::new(2), UserId::new(9)];
    let answer = render_requested_users(
        &objects,
        &render_request(selection, POSTS),
        LookupKeys { parameter: "ids", values: &ids },
    );
    assert_eq!((answer.count, answer.errors.len()), (1, 1));
    assert_eq!(render_user_page(&objects, &render_request(selection, POSTS)).count, 2);
}

#[test]
fn a_pinned_post_comes_along() {
    let selection = field_selection(ObjectKind::USER, &[], "pinned_tweet_id,most_recent_tweet_id");
    let mut subject = ana();
    subject.pinned_post_id = Some(post_id(1));
    subject.most_recent_post_id = Some(post_id(9));
    let objects = loaded_objects(
        Viewer::anonymous(),
        &selection,
        1,
        vec![post(post_id(1), 1, "pinned")],
        vec![subject],
        Vec::new(),
    );
    let answer = render_user_page(&objects, &render_request(selection, TWEETS));
    assert_eq!(data(&answer)[0]["pinned_tweet_id"], post_id(1).to_string());
    assert_eq!(json(&answer.includes)["tweets"][0]["text"], "pinned");
    let missing = ResourceRef::from_expansion("tweet", "most_recent_tweet_id", post_id(9));
    assert_eq!(answer.errors, [Refusal::NotFound(missing)]);
}
