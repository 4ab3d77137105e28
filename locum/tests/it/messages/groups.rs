//! Group conversations and their participants.

use super::*;

#[test]
fn group_conversation_starts_with_its_first_message_and_participants() {
    let [ada, bob, cid] = people(["ada", "bob", "cid"]);
    let (group, first) = begin(&ada, &[&bob, &cid], "Hello all");
    assert!((15..=19).contains(&group.len()) && !group.contains('-'), "{group}");
    let list = format!("/2/dm_conversations/{group}/dm_events");
    let seen = |viewer: &TestUser<'_>| viewer.get(&list).assert_status(200)["data"].clone();
    let events = seen(&bob);
    assert_eq!(events[0]["id"], first);
    assert_eq!(events[0]["event_type"], "MessageCreate");
    assert!(events[0].get("participant_ids").is_none());
    assert_eq!(events[1]["event_type"], "ParticipantsJoin");
    assert!(events[1].get("text").is_none());
    let mut inside = vec![ada.id.clone(), bob.id.clone(), cid.id.clone()];
    inside.sort_by_key(|id| (*id != ada.id, id.parse::<i64>().unwrap()));
    assert_eq!(events[1]["participant_ids"], json!(inside));
}

#[test]
fn participant_who_joins_a_group_reads_what_follows() {
    let [ada, bob, cid, dan] = people(["ada", "bob", "cid", "dan"]);
    let (group, first) = begin(&ada, &[&bob, &cid], "Hello all");
    let list = format!("/2/dm_conversations/{group}/dm_events");
    refused(&["join", &group, &dan.id, "--by", &dan.id], "no dm conversation");
    assert_eq!(message(&["join", &group, &dan.id, "--by", &bob.id])["changed"], true);
    assert_eq!(message(&["join", &group, &dan.id, "--by", &bob.id])["changed"], false);
    let joined = dan.get(format!("{list}?dm_event.fields=sender_id&expansions=participant_ids"));
    let joined = joined.assert_status(200);
    assert_eq!(joined["meta"]["result_count"], 1, "nothing from before: {joined}");
    assert_eq!(joined["data"][0]["participant_ids"], json!([dan.id]));
    assert_eq!(joined["data"][0]["sender_id"], bob.id);
    assert_eq!(joined["includes"]["users"][0]["id"], dan.id);
    dan.get(format!("/2/dm_events/{first}")).assert_status(200)["errors"][0].as_object().unwrap();
    let (_, second) = write(&dan, &in_(&group), "Hello");
    for viewer in [&ada, &bob, &cid, &dan] {
        assert_eq!(listed(viewer, ALL)[0], second);
    }
}

#[test]
fn participant_who_leaves_a_group_reads_nothing_of_it() {
    let [ada, bob, cid, dan] = people(["ada", "bob", "cid", "dan"]);
    let (group, _) = begin(&ada, &[&bob, &cid], "Hello all");
    let list = format!("/2/dm_conversations/{group}/dm_events");
    let seen = |viewer: &TestUser<'_>| viewer.get(&list).assert_status(200)["data"].clone();
    message(&["join", &group, &dan.id, "--by", &bob.id]);
    write(&dan, &in_(&group), "Hello");
    assert_eq!(message(&["leave", &group, &bob.id])["changed"], true);
    assert_eq!(message(&["leave", &group, &bob.id])["changed"], false);
    bob.post(in_(&group), &json!({ "text": "x" })).assert_problem(404, "resource-not-found");
    assert!(listed(&bob, ALL).is_empty());
    assert!(bob.get(&list).assert_status(200).get("data").is_none());
    let left = &seen(&cid)[0];
    assert_eq!(left["event_type"], "ParticipantsLeave");
    assert_eq!(left["participant_ids"], json!([bob.id]));
    let only = |kinds: &str| listed(&cid, &format!("{list}?event_types={kinds}")).len();
    assert_eq!(only("ParticipantsLeave"), 1);
    assert_eq!(only("ParticipantsJoin"), 2);
    assert_eq!(only("MessageCreate,ParticipantsLeave"), 3);
    for user in [&ada, &cid, &dan] {
        message(&["leave", &group, &user.id]);
    }
    let show = message(&["show", &group]);
    assert_eq!(show["participants"], json!([]));
    let (two, _) = write(&ada, &to(&bob), "Still there?");
    refused(&["leave", &two, &bob.id], "is not a group");
    refused(&["join", &two, &cid.id, "--by", &bob.id], "is not a group");
}

#[test]
fn invalid_participants_of_a_group_are_refused() {
    let [ada, bob, cid] = people(["ada", "bob", "cid"]);
    let many: Vec<String> = (1..=50).map(|id: i64| id.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let (bob_id, cid_id) = (bob.id.as_str(), cid.id.as_str());
    let group = |ids: &[&str]| ada.post("/2/dm_conversations", &group_of(ids, "Hi"));
    for wrong in [&[][..], &[bob_id], &[bob_id, bob_id], &[bob_id, ada.id.as_str()], &[bob_id, "x"], &many] {
        group(wrong).assert_problem(400, "invalid-request");
    }
    group(&[bob_id, "1"]).assert_problem(404, "resource-not-found");
    for kind in [json!("group"), json!("OneToOne"), json!(null)] {
        let body = json!({ "conversation_type": kind, "participant_ids": [bob_id, cid_id],
                           "message": { "text": "Hi" } });
        ada.post("/2/dm_conversations", &body).assert_problem(400, "invalid-request");
    }
}

#[test]
fn group_conversation_is_limited_to_fifty_participants() {
    let server = shared_server();
    let ada = person("ada");
    let lines: Vec<Value> = (0..50)
        .map(|number| {
            let name = format!("crowd{}x{number}", crate::harness::unique_number());
            json!({ "kind": "user", "username": name, "name": name,
                    "id": (9_000_000 + number).to_string() })
        })
        .collect();
    server.import_lines(&lines).assert_success();
    let ids: Vec<String> = (0..50).map(|number| (9_000_000 + number).to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let created = ada.post("/2/dm_conversations", &group_of(&ids[..49], "All"));
    let (group, _) = sent(&created);
    refused(&["join", &group, ids[49], "--by", &ada.id], "at most 50");
    message(&["leave", &group, ids[0]]);
    assert_eq!(message(&["join", &group, ids[49], "--by", &ada.id])["changed"], true);
    server.run_cli(&["fsck"]).assert_success();
}
