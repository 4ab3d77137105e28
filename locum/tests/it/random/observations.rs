//! What users see: every collection, read to its end, has exactly the entries of the model.

use std::collections::BTreeSet;

use serde_json::Value;

use super::actions::{Kinds, check_figures, check_post, is_shown, look_at_post, pick};
use super::group::Group;
use super::model::{See, Viewer};

/// Looks that do not go to the end.
const LOOKS: Kinds = &[
    (6, look_at_post),
    (3, look_at_user),
    (2, glance_at_timeline),
    (2, glance_home),
    (2, glance_at_list),
    (2, glance_at_quotes),
    (1, glance_at_reposts),
    (1, glance_at_bookmarks),
];

/// One look of somebody.
pub(super) fn look(group: &mut Group<'_>) {
    let actor = group.somebody();
    if group.model.is_active(actor) {
        pick(group, LOOKS)(group, actor);
    }
}

/// Everything that an answer can show of posts.
const MORE: &str = "tweet.fields=referenced_tweets,public_metrics,note_tweet&expansions=referenced_tweets.id,\
    author_id,referenced_tweets.id.author_id,attachments.poll_ids,in_reply_to_user_id&user.fields=pinned_tweet_id";

fn look_at_user(group: &mut Group<'_>, actor: usize) {
    let user = group.somebody();
    check_user(group, Some(actor), user);
}

fn check_user(group: &mut Group<'_>, viewer: Viewer, user: usize) {
    let path = group.user_path(user, "?user.fields=public_metrics,most_recent_tweet_id,protected");
    let response = group.get(viewer, &path);
    let data = &response["data"];
    assert_eq!(data.is_object(), group.model.is_active(user), "{}", group.context());
    if data.is_object() {
        let names = ["followers_count", "following_count", "tweet_count", "listed_count", "like_count"];
        check_figures(group, &data["public_metrics"], &names, group.model.standing(user));
        assert_eq!(data["protected"], group.model.people[user].protected);
    }
}

fn glance_at_timeline(group: &mut Group<'_>, actor: usize) {
    let user = group.anybody();
    let viewer = (group.dice.below(4) > 0).then_some(actor);
    let path = group.user_path(user, &format!("/tweets?max_results=20&{MORE}"));
    group.get(viewer, &path);
}

fn glance_home(group: &mut Group<'_>, actor: usize) {
    let path = format!("/timelines/reverse_chronological?max_results=20&{MORE}");
    let path = group.user_path(actor, &path);
    group.get(Some(actor), &path);
}

fn glance_at_list(group: &mut Group<'_>, actor: usize) {
    if let Some(list) = group.one_of(group.lists.len()) {
        let path = format!("/2/lists/{}/tweets?max_results=20&{MORE}", group.lists[list]);
        group.get(Some(actor), &path);
    }
}

fn glance_at_quotes(group: &mut Group<'_>, actor: usize) {
    let note = group.some_note();
    let path = format!("/2/tweets/{}/quote_tweets?max_results=20&{MORE}", group.notes[note]);
    group.get(Some(actor), &path);
}

fn glance_at_reposts(group: &mut Group<'_>, actor: usize) {
    let note = group.some_note();
    let path = format!("/2/tweets/{}/retweets?max_results=20&{MORE}", group.notes[note]);
    group.get(Some(actor), &path);
}

fn glance_at_bookmarks(group: &mut Group<'_>, actor: usize) {
    let path = group.user_path(actor, &format!("/bookmarks?max_results=20&{MORE}"));
    group.get(Some(actor), &path);
}

/// The ids on all pages; nothing where the answer has no page.
fn walk(group: &mut Group<'_>, viewer: Viewer, path: &str) -> Option<Vec<String>> {
    let (mut all, mut token) = (Vec::new(), String::new());
    let mark = if path.contains('?') { '&' } else { '?' };
    for _ in 0..500 {
        let page = group.get(viewer, &format!("{path}{token}"));
        page.get("meta")?;
        let rows = page["data"].as_array().cloned().unwrap_or_default();
        all.extend(rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()));
        match page["meta"]["next_token"].as_str() {
            Some(next) => token = format!("{mark}pagination_token={next}"),
            None => return Some(all),
        }
    }
    panic!("{path} does not end")
}

/// A collection is what it should be; nothing at all where it is not for the viewer.
#[track_caller]
fn holds(group: &mut Group<'_>, viewer: Viewer, path: &str, expected: Option<BTreeSet<String>>) {
    let found = walk(group, viewer, path);
    let Some(expected) = expected else {
        let context = group.context();
        assert!(found.is_none(), "{path} is for others: {found:?} {context}");
        return;
    };
    let context = group.context();
    let found = found.unwrap_or_else(|| panic!("{path} is not shown: {context}"));
    let set: BTreeSet<String> = found.iter().cloned().collect();
    assert_eq!(set.len(), found.len(), "{path}: twice the same: {found:?}");
    let (missing, surplus) = (&expected - &set, &set - &expected);
    assert!(
        missing.is_empty() && surplus.is_empty(),
        "{path} for {viewer:?}: missing {missing:?}, surplus {surplus:?}; posts {:?} {context}",
        group
            .notes
            .iter()
            .enumerate()
            .filter(|(_, id)| missing.contains(*id) || surplus.contains(*id))
            .map(|(number, _)| (number, &group.model.notes[number]))
            .collect::<Vec<_>>()
    );
}

fn ids(all: &[String], chosen: impl IntoIterator<Item = usize>) -> BTreeSet<String> {
    chosen.into_iter().map(|number| all[number].clone()).collect()
}

/// Compares so many pairs of a viewer and a thing with the model, and all counters.
pub(super) fn audit(group: &mut Group<'_>, pairs: usize) {
    for user in 1..group.people.len() {
        check_user(group, None, user);
    }
    for note in 0..group.notes.len() {
        if note % 3 == 0 || note + 40 > group.notes.len() {
            let viewer = Some(group.somebody()).filter(|user| group.model.is_active(*user));
            check_post(group, viewer, note);
        }
    }
    for _ in 0..pairs {
        let viewer = group.somebody();
        if group.model.is_active(viewer) {
            of_user(group, viewer);
            of_post(group, viewer);
            of_list(group, viewer);
        }
    }
}

fn of_user(group: &mut Group<'_>, viewer: usize) {
    let user = group.somebody();
    let by = |group: &Group<'_>, expected: BTreeSet<usize>| ids(&group.notes, expected);
    let mut own = group.model.live(|note| note.author == user);
    own.retain(|note| group.model.shown(Some(viewer), *note));
    let readable = is_shown(group, Some(viewer), user);
    let posts = readable.then(|| by(group, own));
    let path = group.user_path(user, "/tweets?max_results=100");
    holds(group, Some(viewer), &path, posts);
    let home = by(group, group.model.home(viewer));
    let path = group.user_path(viewer, "/timelines/reverse_chronological");
    holds(group, Some(viewer), &path, Some(home));
    for (word, likes) in [("liked_tweets", true), ("bookmarks", false)] {
        let pairs = if likes { &group.model.likes } else { &group.model.bookmarks };
        let of = pairs.iter().filter(|(who, _)| *who == viewer).map(|(_, of)| *of);
        let shown = of.filter(|note| group.model.shown(Some(viewer), *note));
        let shown = by(group, shown.collect());
        let path = group.user_path(viewer, &format!("/{word}"));
        holds(group, Some(viewer), &path, Some(shown));
    }
    ties(group, viewer, user, readable);
}

fn people(group: &Group<'_>, chosen: impl Iterator<Item = usize>) -> BTreeSet<String> {
    let present = group.model.present(chosen);
    present.iter().map(|user| group.people[*user].id.clone()).collect()
}

fn ties(group: &mut Group<'_>, viewer: usize, user: usize, readable: bool) {
    let follows = &group.model.follows;
    let followers = people(group, follows.iter().filter(|pair| pair.1 == user).map(|pair| pair.0));
    let followed = people(group, follows.iter().filter(|pair| pair.0 == user).map(|pair| pair.1));
    for (word, expected) in [("followers", followers), ("following", followed)] {
        let path = group.user_path(user, &format!("/{word}"));
        holds(group, Some(viewer), &path, readable.then_some(expected));
    }
    let of = |pairs: &super::model::Pairs| -> Vec<usize> {
        pairs.iter().filter(|pair| pair.0 == viewer).map(|pair| pair.1).collect()
    };
    let blocked = people(group, of(&group.model.blocks).into_iter());
    let muted = people(group, of(&group.model.mutes).into_iter());
    for (word, expected) in [("blocking", blocked), ("muting", muted)] {
        let path = group.user_path(viewer, &format!("/{word}"));
        holds(group, Some(viewer), &path, Some(expected));
    }
}

fn of_post(group: &mut Group<'_>, viewer: usize) {
    let note = group.some_note();
    if note < group.shared {
        return;
    }
    let model = &group.model;
    let seen = model.sees(Some(viewer), note) == See::Yes;
    let shown = |of: &dyn Fn(&super::model::Note) -> bool| {
        let mut all = model.live(of);
        all.retain(|one| model.shown(Some(viewer), *one));
        seen.then(|| ids(&group.notes, all))
    };
    let quotes = shown(&|one| one.quote == Some(note));
    let reposts = shown(&|one| one.repost_of == Some(note));
    let authors = model.live(|one| one.repost_of == Some(note));
    let authors = authors.iter().map(|repost| model.notes[*repost].author);
    let open = authors.filter(|author| !model.people[*author].protected && is_shown(group, Some(viewer), *author));
    let reposters = seen.then(|| people(group, open));
    let likers = model.likes.iter().filter(|pair| pair.1 == note);
    let own = seen && model.notes[note].author == viewer;
    let likers = own.then(|| people(group, likers.map(|pair| pair.0)));
    let id = group.notes[note].clone();
    for (word, expected) in [
        ("quote_tweets?max_results=100", quotes),
        ("retweets", reposts),
        ("retweeted_by", reposters),
        ("liking_users", likers),
    ] {
        holds(group, Some(viewer), &format!("/2/tweets/{id}/{word}"), expected);
    }
}

fn of_list(group: &mut Group<'_>, viewer: usize) {
    let user = group.somebody();
    let model = &group.model;
    let lists = |rule: &dyn Fn(&super::model::Listing) -> bool| {
        let numbers =
            (0..model.lists.len()).filter(|list| model.sees_list(Some(viewer), *list) && rule(&model.lists[*list]));
        model.is_active(user).then(|| ids(&group.lists, numbers))
    };
    let owned = lists(&|list| list.owner == user);
    let on = lists(&|list| list.members.contains(&user));
    let followed = lists(&|list| list.followers.contains(&user));
    let pinned = (0..model.lists.len())
        .filter(|list| model.sees_list(Some(viewer), *list) && model.lists[*list].pins.contains(&viewer));
    let pinned = Some(ids(&group.lists, pinned));
    for (word, of, expected) in [
        ("owned_lists", user, owned),
        ("list_memberships", user, on),
        ("followed_lists", user, followed),
        ("pinned_lists", viewer, pinned),
    ] {
        let path = group.user_path(of, &format!("/{word}"));
        holds(group, Some(viewer), &path, expected);
    }
    let Some(list) = group.one_of(group.lists.len()) else {
        return;
    };
    let seen = group.model.sees_list(Some(viewer), list);
    let known = group.model.lists[list].clone();
    let timeline = seen.then(|| ids(&group.notes, group.model.timeline(Some(viewer), list)));
    let members = seen.then(|| people(group, known.members.iter().copied()));
    let followers = seen.then(|| people(group, known.followers.iter().copied()));
    let id = group.lists[list].clone();
    // The timeline of a list reaches back 800 posts.
    let on = |author: usize| known.members.contains(&author);
    if group.model.live(|note| on(note.author)).len() < 800 {
        holds(group, Some(viewer), &format!("/2/lists/{id}/tweets"), timeline);
    }
    for (word, expected) in [("members", members), ("followers", followers)] {
        holds(group, Some(viewer), &format!("/2/lists/{id}/{word}"), expected);
    }
    let figures = group.get(Some(viewer), &format!("/2/lists/{id}?list.fields=member_count,follower_count,private"));
    assert_eq!(figures.get("data").is_some(), seen, "{}", group.context());
    if seen {
        let message: Value = figures["data"].clone();
        assert_eq!(message["member_count"], known.members.len(), "{}", group.context());
        assert_eq!(message["follower_count"], known.followers.len(), "{}", group.context());
    }
}
