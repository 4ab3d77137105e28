//! Random actions of users: each is sent, its response is compared with the model's, and the model
//! model changed.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::group::Group;
use super::model::{Life, See, State};
use crate::harness::TestRequest;

/// An act or a look of one of a group's people, and how often it comes.
pub(super) type Kinds = &'static [(usize, fn(&mut Group<'_>, usize))];

const ACTS: Kinds = &[
    (16, publish),
    (3, edit),
    (5, delete),
    (9, like),
    (4, unlike),
    (4, bookmark),
    (2, unbookmark),
    (6, repost),
    (3, undo),
    (9, follow),
    (3, unfollow),
    (3, answer_request),
    (2, block),
    (2, unblock),
    (2, mute),
    (2, unmute),
    (2, protect),
    (2, vote),
    (2, hide),
    (1, leave_the_stage),
];

/// One act of somebody.
pub(super) fn act(group: &mut Group<'_>) {
    let actor = group.somebody();
    if !group.model.is_active(actor) {
        return from_behind(group, actor);
    }
    pick(group, ACTS)(group, actor);
}

/// One of some kinds.
pub(super) fn pick<T: Copy>(group: &mut Group<'_>, kinds: &[(usize, T)]) -> T {
    let mut left = group.dice.below(kinds.iter().map(|(often, _)| often).sum());
    for (often, kind) in kinds {
        if left < *often {
            return *kind;
        }
        left -= often;
    }
    kinds[0].1
}

/// Somebody who is suspended or deleted does nothing until they are brought back.
fn from_behind(group: &mut Group<'_>, actor: usize) {
    if group.dice.below(3) > 0 {
        return group.move_to(actor, State::Active);
    }
    let status = match group.model.people[actor].state {
        State::Suspended => 403,
        _ => 401,
    };
    group.post(actor, "/2/tweets", &json!({ "text": "from behind" }), status);
}

/// An operator takes an account away.
fn leave_the_stage(group: &mut Group<'_>, actor: usize) {
    let state = *group.dice.pick(&[State::Suspended, State::Suspended, State::Deleted]);
    group.move_to(actor, state);
}

fn publish(group: &mut Group<'_>, actor: usize) {
    let mut note = group.model.blank(actor);
    let number = group.model.notes.len();
    let mut body = json!({ "text": format!("{} {}", group.mark(number), group.dice.below(1_000_000)) });
    let mut status = 201;
    match group.dice.below(10) {
        0..=2 => {
            let parent = group.some_note();
            body["reply"] = json!({ "in_reply_to_tweet_id": group.notes[parent] });
            status = reply(group, actor, parent, &mut note);
        }
        3 => {
            let quoted = group.some_note();
            body["quote_tweet_id"] = json!(group.notes[quoted]);
            match group.model.target(actor, quoted) {
                Ok(quoted) => note.quote = Some(quoted),
                Err(_) => status = 403,
            }
        }
        4 => {
            body["poll"] = json!({ "options": ["one", "two"], "duration_minutes": 10_080 });
            note.poll = Some(BTreeMap::new());
        }
        5 => {
            body["reply_settings"] = json!("following");
            note.reserved = true;
        }
        6 | 7 => {
            if let Some(club) = group.one_of(group.clubs.len()) {
                body["community_id"] = json!(group.clubs[club]);
                note.community = Some(club);
                if !group.model.clubs[club].members.contains(&actor) {
                    status = 403;
                }
            }
        }
        _ => {}
    }
    let created = group.post(actor, "/2/tweets", &body, status);
    if status == 201 {
        group.notes.push(created["data"]["id"].as_str().unwrap().to_owned());
        group.model.notes.push(note);
    }
}

/// What a reply becomes, and the status of the answer.
fn reply(group: &Group<'_>, actor: usize, parent: usize, note: &mut super::model::Note) -> u16 {
    let model = &group.model;
    let Ok(parent) = model.target(actor, parent) else {
        return 403;
    };
    let to = &model.notes[parent];
    let root = &model.notes[to.conversation];
    if model.blocks.contains(&(root.author, actor)) {
        return 403;
    }
    let reserved = root.reserved && root.author != actor && to.author != actor;
    if reserved && !model.follows.contains(&(root.author, actor)) {
        return 403;
    }
    note.reply_to = Some(parent);
    note.conversation = to.conversation;
    note.community = to.community.filter(|club| model.clubs[*club].closed);
    let outside = |club: usize| !model.clubs[club].members.contains(&actor);
    if note.community.is_some_and(outside) {
        return 403;
    }
    201
}

fn edit(group: &mut Group<'_>, actor: usize) {
    let previous = if group.dice.below(3) == 0 {
        group.some_note()
    } else {
        let own = group.model.live(|note| note.author == actor);
        match group.one_of(own.len()) {
            Some(place) => *own.iter().nth(place).unwrap(),
            None => return,
        }
    };
    let model = &group.model;
    let before = &model.notes[previous];
    let to_others = before.reply_to.is_some_and(|parent| model.notes[parent].author != actor);
    let special = to_others || before.repost_of.is_some() || before.poll.is_some() || before.community.is_some();
    let refused = !model.people[actor].premium || before.life == Life::Old || special;
    let status = match before {
        _ if model.sees(Some(actor), previous) != See::Yes => 400,
        note if note.author != actor => 403,
        _ if refused || before.edits == 0 => 403,
        _ => 201,
    };
    let number = model.notes.len();
    let mut after = before.clone();
    after.edits = after.edits.saturating_sub(1);
    let body = json!({
        "text": format!("{} edited", group.mark(number)),
        "edit_options": { "previous_post_id": group.notes[previous] },
    });
    let created = group.post(actor, "/2/posts", &body, status);
    if status == 201 {
        group.model.notes[previous].life = Life::Old;
        group.notes.push(created["data"]["id"].as_str().unwrap().to_owned());
        group.model.notes.push(after);
    }
}

fn delete(group: &mut Group<'_>, actor: usize) {
    let note = group.some_note();
    let status = match &group.model.notes[note] {
        note if note.life == Life::Gone => 404,
        note if note.author != actor => 403,
        _ => 200,
    };
    let path = format!("/2/tweets/{}", group.notes[note]);
    group.delete(actor, &path, status);
    if status == 200 {
        group.model.erase(note);
    }
}

/// The post that is liked, bookmarked or reposted by naming one, or the status of the refusal.
fn touched(group: &Group<'_>, actor: usize, note: usize) -> Result<usize, u16> {
    let of = group.model.target(actor, note)?;
    group.model.newest_version(of).ok_or(404)
}

fn like(group: &mut Group<'_>, actor: usize) {
    let note = group.some_note();
    let target = touched(group, actor, note);
    let path = group.user_path(actor, "/likes");
    let body = json!({ "tweet_id": group.notes[note] });
    let response = group.post(actor, &path, &body, target.err().unwrap_or(200));
    if let Ok(of) = target {
        assert_eq!(response, json!({ "data": { "liked": true } }));
        group.model.likes.insert((actor, of));
    }
}

/// The posts to which what is taken back may have been applied: the version that is named, and later ones.
fn undo_targets(group: &Group<'_>, note: usize) -> Vec<usize> {
    let notes = &group.model.notes;
    let of = notes[note].repost_of.unwrap_or(note);
    let later = (of + 1..notes.len()).rev().filter(|other| notes[*other].first == notes[of].first);
    [of].into_iter().chain(later).collect()
}

fn unlike(group: &mut Group<'_>, actor: usize) {
    let note = group.some_note();
    let path = group.user_path(actor, &format!("/likes/{}", group.notes[note]));
    let response = group.delete(actor, &path, 200);
    assert_eq!(response, json!({ "data": { "liked": false } }));
    let _found = undo_targets(group, note).into_iter().any(|of| group.model.likes.remove(&(actor, of)));
}

fn bookmark(group: &mut Group<'_>, actor: usize) {
    let note = group.some_note();
    let target = touched(group, actor, note);
    let path = group.user_path(actor, "/bookmarks");
    let body = json!({ "tweet_id": group.notes[note] });
    group.post(actor, &path, &body, target.err().unwrap_or(200));
    if let Ok(of) = target {
        group.model.bookmarks.insert((actor, of));
    }
}

fn unbookmark(group: &mut Group<'_>, actor: usize) {
    let note = group.some_note();
    let path = group.user_path(actor, &format!("/bookmarks/{}", group.notes[note]));
    group.delete(actor, &path, 200);
    let _found = undo_targets(group, note).into_iter().any(|of| group.model.bookmarks.remove(&(actor, of)));
}

fn repost(group: &mut Group<'_>, actor: usize) {
    let note = group.some_note();
    let target = touched(group, actor, note).and_then(|of| {
        let author = group.model.notes[of].author;
        if author != actor && group.model.people[author].protected { Err(403) } else { Ok(of) }
    });
    let path = group.user_path(actor, "/retweets");
    let body = json!({ "tweet_id": group.notes[note] });
    let created = group.post(actor, &path, &body, target.err().unwrap_or(200));
    let Ok(of) = target else { return };
    assert_eq!(created["data"]["rest_id"], group.notes[of]);
    let id = created["data"]["id"].as_str().unwrap().to_owned();
    if let Some(already) = group.model.repost_of(actor, of) {
        assert_eq!(group.notes[already], id, "{}", group.context());
    } else {
        let mut repost = group.model.blank(actor);
        repost.repost_of = Some(of);
        group.notes.push(id);
        group.model.notes.push(repost);
    }
}

fn undo(group: &mut Group<'_>, actor: usize) {
    let note = group.some_note();
    let path = group.user_path(actor, &format!("/retweets/{}", group.notes[note]));
    group.delete(actor, &path, 200);
    let repost = undo_targets(group, note).into_iter().find_map(|of| group.model.repost_of(actor, of));
    if let Some(repost) = repost {
        group.model.erase(repost);
    }
}

fn follow(group: &mut Group<'_>, actor: usize) {
    let other = group.anybody();
    let model = &group.model;
    let status = match model.reaches(actor, other) {
        _ if actor == other || model.blocks.contains(&(actor, other)) => match model.reaches(actor, other) {
            Err(404) if actor != other => 404,
            _ => 403,
        },
        Err(status) => status,
        Ok(()) => 200,
    };
    let path = group.user_path(actor, "/following");
    let body = json!({ "target_user_id": group.people[other].id });
    let response = group.post(actor, &path, &body, status);
    if status != 200 {
        return;
    }
    let pair = (actor, other);
    let follows = group.model.follows.contains(&pair) || !group.model.people[other].protected;
    if follows {
        group.model.follows.insert(pair);
    } else {
        group.model.requests.insert(pair);
    }
    let message = json!({ "data": { "following": follows, "pending_follow": !follows } });
    assert_eq!(response, message, "{}", group.context());
}

fn unfollow(group: &mut Group<'_>, actor: usize) {
    let other = group.anybody();
    let path = group.user_path(actor, &format!("/following/{}", group.people[other].id));
    group.delete(actor, &path, 200);
    group.model.follows.remove(&(actor, other));
    group.model.requests.remove(&(actor, other));
}

/// A protected user lets somebody follow, or does not.
fn answer_request(group: &mut Group<'_>, actor: usize) {
    let requested: Vec<(usize, usize)> = group.model.requests.iter().copied().collect();
    let pair = match group.one_of(requested.len()) {
        Some(place) => requested[place],
        None => (group.somebody(), actor),
    };
    let known = |user: usize| group.model.people[user].state != State::Deleted;
    let allowed = known(pair.0) && known(pair.1) && group.model.requests.contains(&pair);
    let approves = group.dice.below(4) > 0;
    let word = if approves { "approve" } else { "deny" };
    let [follower, user] = [pair.0, pair.1].map(|one| group.people[one].id.clone());
    group.command(&["follow", word, &user, &follower], allowed);
    if allowed {
        group.model.requests.remove(&pair);
        if approves {
            group.model.follows.insert(pair);
        }
    }
}

/// The status of a block or a mute.
fn silencing(group: &Group<'_>, actor: usize, other: usize) -> u16 {
    match group.model.people[other].state {
        _ if actor == other => 403,
        State::Active => 200,
        State::Suspended => 403,
        State::Deleted => 404,
    }
}

fn block(group: &mut Group<'_>, actor: usize) {
    let other = group.anybody();
    let status = silencing(group, actor, other);
    let path = group.user_path(actor, "/blocking");
    group.post(actor, &path, &json!({ "target_user_id": group.people[other].id }), status);
    if status == 200 {
        group.model.blocks.insert((actor, other));
        for pair in [(actor, other), (other, actor)] {
            group.model.follows.remove(&pair);
            group.model.requests.remove(&pair);
        }
    }
}

fn unblock(group: &mut Group<'_>, actor: usize) {
    let other = match group.model.blocks.iter().find(|pair| pair.0 == actor) {
        Some((_, blocked)) => *blocked,
        None => group.anybody(),
    };
    let path = group.user_path(actor, &format!("/blocking/{}", group.people[other].id));
    group.delete(actor, &path, 200);
    group.model.blocks.remove(&(actor, other));
}

fn mute(group: &mut Group<'_>, actor: usize) {
    let other = group.anybody();
    let status = silencing(group, actor, other);
    let path = group.user_path(actor, "/muting");
    group.post(actor, &path, &json!({ "target_user_id": group.people[other].id }), status);
    if status == 200 {
        group.model.mutes.insert((actor, other));
    }
}

fn unmute(group: &mut Group<'_>, actor: usize) {
    let other = group.anybody();
    let path = group.user_path(actor, &format!("/muting/{}", group.people[other].id));
    group.delete(actor, &path, 200);
    group.model.mutes.remove(&(actor, other));
}

fn protect(group: &mut Group<'_>, actor: usize) {
    let protect = group.dice.below(2) == 0;
    let word = if protect { "protect" } else { "unprotect" };
    let id = group.people[actor].id.clone();
    group.command(&["user", word, &id], true);
    group.model.people[actor].protected = protect;
    if !protect {
        group.model.requests.retain(|(_, to)| *to != actor);
    }
}

fn vote(group: &mut Group<'_>, actor: usize) {
    let polls = group.model.live(|note| note.poll.is_some());
    let note = match group.one_of(polls.len()) {
        Some(place) if group.dice.below(5) > 0 => *polls.iter().nth(place).unwrap(),
        _ => group.some_note(),
    };
    let of = group.model.target(actor, note);
    let choice = 1 + group.dice.below(3);
    let poll = of.ok().and_then(|of| group.model.notes[of].poll.as_ref());
    let allowed = choice < 3 && poll.is_some_and(|votes| !votes.contains_key(&actor));
    let (post, user) = (group.notes[note].clone(), group.people[actor].id.clone());
    group.command(&["poll", "vote", &post, &choice.to_string(), "--as", &user], allowed);
    if allowed {
        let votes = group.model.notes[of.unwrap()].poll.as_mut();
        votes.unwrap().insert(actor, choice);
    }
}

fn hide(group: &mut Group<'_>, actor: usize) {
    let replies = group.model.live(|note| note.reply_to.is_some());
    let note = match group.one_of(replies.len()) {
        Some(place) => *replies.iter().nth(place).unwrap(),
        None => group.some_note(),
    };
    let model = &group.model;
    let reply = &model.notes[note];
    let root = &model.notes[reply.conversation];
    let owns = root.author == actor && root.life != Life::Gone && reply.reply_to.is_some();
    let status = match reply.life {
        Life::Gone => 404,
        _ if owns => 200,
        _ => 403,
    };
    let hidden = group.dice.below(2) == 0;
    let path = format!("/2/tweets/{}/hidden", group.notes[note]);
    let request = TestRequest::new("PUT", path).json(&json!({ "hidden": hidden }));
    let response = group.send(Some(actor), request, status).json();
    if status == 200 {
        assert_eq!(response, json!({ "data": { "hidden": hidden } }));
    }
}

/// A post is seen with what the model counts, and by nobody else.
pub(super) fn look_at_post(group: &mut Group<'_>, actor: usize) {
    let note = group.some_note();
    let viewer = (group.dice.below(6) > 0).then_some(actor);
    check_post(group, viewer, note);
}

pub(super) fn check_post(group: &mut Group<'_>, viewer: Option<usize>, note: usize) {
    let path = format!(
        "/2/tweets/{}?tweet.fields=public_metrics,referenced_tweets,text,note_tweet&expansions=author_id,\
         referenced_tweets.id,referenced_tweets.id.author_id,edit_history_tweet_ids,attachments.poll_ids",
        group.notes[note]
    );
    let response = group.get(viewer, &path);
    let seen = response.get("data").is_some();
    assert_eq!(seen, group.model.shown(viewer, note), "{}", group.context());
    if !seen {
        assert!(response["errors"][0]["type"].is_string(), "{response}");
        return;
    }
    let post = &response["data"];
    if group.model.notes[note].repost_of.is_none() && note >= group.shared {
        let names = ["like_count", "reply_count", "retweet_count", "quote_count", "bookmark_count"];
        check_figures(group, &post["public_metrics"], &names, group.model.counts(note));
    }
    let Some(votes) = &group.model.notes[note].poll else {
        return;
    };
    for option in response["includes"]["polls"][0]["options"].as_array().unwrap() {
        let cast = votes.values().filter(|choice| option["position"] == **choice);
        assert_eq!(option["votes"], cast.count(), "{}", group.context());
    }
}

pub(super) fn check_figures(group: &Group<'_>, message: &Value, names: &[&str], counted: [usize; 5]) {
    for (name, count) in names.iter().zip(counted) {
        assert_eq!(message[name], count, "{name}: {message} {}", group.context());
    }
}

/// Whether a page of somebody is shown to a viewer.
pub(super) fn is_shown(group: &Group<'_>, viewer: Option<usize>, user: usize) -> bool {
    group.model.reads(viewer, user) == See::Yes
}
