//! Nobody reads or changes what is another's: every built operation that names a thing, under every
//! kind of stranger.

use serde_json::{Value, json};

use super::owner::Owner;
use super::{Deed, Thing, Things, deeds, differences};
use crate::harness::{TestRequest, TestResponse, TestUser, shared_server, unique_number};

/// Whom the owner keeps out, and how.
struct Stranger<'s> {
    kind: &'static str,
    /// Nobody where an app calls for itself.
    person: Option<TestUser<'s>>,
}

impl Stranger<'_> {
    /// What is answered to an operation with somebody's things; nothing where it takes no such
    /// credential. What only reads is asked for all that it can show, too.
    fn call(&self, deed: &Deed, things: &Things) -> Vec<TestResponse> {
        if self.person.is_some() && !deed.for_users {
            return Vec::new();
        }
        let path = deed.filled(things);
        let bodies = deed.bodies(things);
        let query = deed.query(things);
        let mut asks: Vec<_> = bodies.iter().map(|body| deed.ask(&path, &query, body.as_ref())).collect();
        if !deed.writes() {
            asks.push(deed.ask(&path, &deed.query_for_all(things), None));
        }
        let send = |request: TestRequest| match &self.person {
            Some(person) => person.send(request),
            None => shared_server().send(request.bearer(&shared_server().default_app().bearer)),
        };
        asks.into_iter().map(send).collect()
    }
}

/// What went wrong in one case.
fn judge(deed: &Deed, stranger: &Stranger<'_>, response: &TestResponse, secret: &str, theirs: bool) -> Option<String> {
    let text = response.text();
    let own = "must be the same as the authenticating user";
    let why = match () {
        () if text.contains(secret) && response.status < 400 => "shows what is another's",
        () if response.status >= 500 => "breaks",
        () if response.header("content-type").starts_with("image/") => "gives what is another's",
        () if stranger.person.is_none() && !deed.for_apps && response.status != 403 => "lets an app in",
        () if stranger.person.is_some() && theirs && deed.is_ones_own() && !text.contains(own) => "acts for another",
        () => return None,
    };
    let message: String = text.chars().take(300).collect();
    Some(format!("{} [{}] {why}: {} {message}", deed.id, stranger.kind, response.status))
}

/// Every operation of a stranger on what is an owner's; what went wrong.
fn try_all(deeds: &[Deed], owner: &Owner<'_>, secret: &str, strangers: &[Stranger<'_>]) -> (Vec<String>, usize) {
    let (mut wrong, mut tried) = (Vec::new(), 0);
    let mut before = owner.state(deeds);
    for deed in deeds {
        for stranger in strangers {
            let mut all = owner.things.clone();
            all.insert(Thing::Peer, owner.person.id.clone());
            let mut mine = all.clone();
            if let Some(person) = &stranger.person {
                mine.insert(Thing::Own, person.id.clone());
            }
            for (things, theirs) in [(&all, true), (&mine, false)] {
                for response in stranger.call(deed, things) {
                    tried += 1;
                    wrong.extend(judge(deed, stranger, &response, secret, theirs));
                }
            }
        }
        if deed.writes() {
            let after = owner.state(deeds);
            let changed = differences(&before, &after);
            let changed = changed.iter();
            wrong.extend(changed.map(|what| format!("{} changes what is another's: {what}", deed.id)));
            before = after;
        }
    }
    assert!(tried > 250 * strangers.len(), "{tried}");
    (wrong, tried)
}

/// The owner's own requests of the same kinds do something, or the others prove nothing.
fn control(deeds: &[Deed], owner: &Owner<'_>, secret: &str, friend: &TestUser<'_>) {
    let mut things = owner.things.clone();
    let (mut shown, mut done, mut refused) = (0, 0, Vec::new());
    for deed in deeds.iter().filter(|deed| !deed.writes()) {
        let path = deed.filled(&things);
        let response = owner.send(deed, deed.ask(&path, &deed.query(&things), None));
        let whole = owner.send(deed, deed.ask(&path, &deed.query_for_all(&things), None));
        shown += usize::from(whole.text().contains(secret));
        if response.status != 200 {
            refused.push(format!("{} {} {}", deed.id, response.status, response.text()));
        }
    }
    things.insert(Thing::User, friend.id.clone());
    // What takes things away comes last.
    let mut writes: Vec<&Deed> = deeds.iter().filter(|deed| deed.writes()).collect();
    writes.sort_by_key(|deed| {
        (deed.method == "DELETE" || deed.id == "blockUsersDms", !deed.is_ones_own(), deed.id.clone())
    });
    for deed in &writes {
        let path = deed.filled(&things);
        let request = |body: Option<Value>| {
            let body = body.map(|mut body| {
                if body.get("text").is_some() {
                    body["text"] = json!(format!("once more {}", unique_number()));
                }
                body
            });
            owner.send(deed, deed.ask(&path, &deed.query(&things), body.as_ref()))
        };
        // Of some members only one may be there.
        let mut bodies = deed.bodies(&things).into_iter();
        let mut response = request(bodies.next().unwrap());
        while response.status >= 400 {
            let Some(body) = bodies.next() else { break };
            response = request(body);
        }
        match response.status {
            200 | 201 => done += 1,
            _ => refused.push(format!("{} {} {}", deed.id, response.status, response.text())),
        }
    }
    let refused_all = refused.join("\n");
    assert!(shown >= 25, "only {shown} show what is one's own:\n{refused_all}");
    assert!(done * 10 >= writes.len() * 7, "{done} of {}:\n{refused_all}", writes.len());
}

#[test]
fn no_operation_discloses_or_changes_private_data_of_others() {
    let server = shared_server();
    let deeds = deeds();
    let stranger = |kind, name| Stranger { kind, person: Some(server.new_user(name)) };
    let friend = server.new_user("friend");
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for protected in [true, false] {
        let secret = format!("secret{}", unique_number());
        let owner = Owner::settle(server, "owner", &secret, &friend);
        let blocked = stranger("blocked", "blocked");
        let path = format!("/2/users/{}/blocking", owner.person.id);
        let target = &blocked.person.as_ref().unwrap().id;
        owner.person.post(path, &json!({ "target_user_id": target })).assert_status(200);
        let mut strangers = vec![blocked];
        if protected {
            server.run_cli(&["user", "protect", &owner.person.id]).assert_success();
            strangers.push(stranger("not a follower", "stranger"));
            strangers.push(Stranger { kind: "app", person: None });
        }
        let (found, times) = try_all(&deeds, &owner, &secret, &strangers);
        wrong.extend(found);
        tried += times;
        control(&deeds, &owner, &secret, &friend);
    }
    let some = wrong.iter().take(30).map(String::as_str).collect::<Vec<_>>();
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), some.join("\n"));
    println!("{tried} requests of strangers to {} operations", deeds.len());
}

#[test]
fn every_operation_refuses_the_path_of_another_user() {
    let server = shared_server();
    let (user, other) = (server.new_user("own"), server.new_user("other"));
    let things = Owner::settle(server, "owner", "nothing secret", &other).things;
    let own: Vec<Deed> = deeds().into_iter().filter(Deed::is_ones_own).collect();
    assert!(own.len() > 20, "{}", own.len());
    for deed in own {
        let name = deed.params.iter().find(|param| param.thing() == Thing::Own).unwrap();
        let body = deed.bodies(&things).swap_remove(0);
        let request = deed.ask(&deed.filled(&things), &deed.query(&things), body.as_ref());
        let sentence = format!(
            "The `{}` query parameter value [{}] must be the same as the authenticating user [{}]",
            name.name,
            things[&Thing::Own],
            user.id
        );
        user.send(request).assert_error(400, &sentence);
    }
}
