//! A group of people on a server, and what the model says of them. Groups know one celebrity in
//! common, the first of the people, whose posts all of them act on at once.

use serde_json::{Value, json};

use super::model::{Model, See, State, Viewer};
use crate::harness::{TestRequest, TestResponse, TestRng, TestServer, TestUser};

/// What a group has of the celebrity's.
#[derive(Clone)]
pub(super) struct Star<'s> {
    pub(super) person: TestUser<'s>,
    pub(super) posts: Vec<String>,
}

pub(super) struct Group<'s> {
    pub(super) server: &'s TestServer,
    pub(super) number: usize,
    pub(super) people: Vec<TestUser<'s>>,
    pub(super) model: Model,
    pub(super) dice: TestRng,
    /// Ids of posts, lists, communities and spaces, as the model numbers them.
    pub(super) notes: Vec<String>,
    pub(super) lists: Vec<String>,
    pub(super) clubs: Vec<String>,
    pub(super) rooms: Vec<String>,
    /// So many of the posts are the celebrity's.
    pub(super) shared: usize,
    /// What was asked last, and what was answered, with numbers for ids.
    pub(super) told: Vec<String>,
}

impl<'s> Group<'s> {
    /// A group of so many people with the celebrity among them.
    pub(super) fn gather(server: &'s TestServer, number: usize, seed: u64, star: &Star<'s>, size: usize) -> Self {
        let mut group = Self {
            server,
            number,
            people: vec![star.person.clone()],
            model: Model::default(),
            dice: TestRng(seed ^ u64::try_from(number).unwrap().wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            notes: Vec::new(),
            lists: Vec::new(),
            clubs: Vec::new(),
            rooms: Vec::new(),
            shared: star.posts.len(),
            told: Vec::new(),
        };
        group.model.add_person(false);
        for id in &star.posts {
            let note = group.model.blank(0);
            group.model.notes.push(note);
            group.notes.push(id.clone());
        }
        let began = base::clock::wall_time().ms() - 60_000;
        // No two groups begin with the same id, whenever they come together.
        let low = i64::try_from(number).unwrap();
        let ids: Vec<i64> =
            (1..i64::try_from(size).unwrap()).map(|place| ((began + place - 1_288_834_974_657) << 22) + low).collect();
        let name = |place: usize| format!("g{number}p{place}");
        let line = |(id, place): (&i64, usize)| json!({ "kind": "user", "id": id.to_string(), "handle": name(place), "name": "A person", "created_at_ms": began });
        let lines: Vec<Value> = ids.iter().zip(1..).map(line).collect();
        server.import_lines(&lines).assert_success();
        for (id, place) in ids.iter().zip(1..) {
            let premium = place % 2 == 0;
            group.model.add_person(premium);
            if premium {
                group.execute_command(&["user", "premium", &id.to_string()]).unwrap();
            }
            let names = (id.to_string(), name(place));
            let user = TestUser::with_token(server, &star.person.app, names, "");
            group.people.push(user);
            group.renew(place);
        }
        group
    }

    /// Gives somebody a new token.
    pub(super) fn renew(&mut self, user: usize) {
        let (app, id) = (&self.people[user].app.id, &self.people[user].id);
        let created = self.execute_command(&["token", "mint", "--app", app, "--user", id]);
        let created = created.unwrap();
        let token = created["token"].as_str().unwrap();
        token.clone_into(&mut self.people[user].token);
    }

    pub(super) fn execute_command(&self, arguments: &[&str]) -> Result<Value, String> {
        self.server.execute_command(arguments)
    }

    /// An operator's command, which is carried out if the model says so.
    #[track_caller]
    pub(super) fn command(&mut self, arguments: &[&str], allowed: bool) -> Value {
        let answer = self.execute_command(arguments);
        let response = format!("{arguments:?} {:?}", answer.is_ok());
        self.tell(&response);
        assert_eq!(answer.is_ok(), allowed, "{}: {answer:?}", self.context());
        answer.unwrap_or_default()
    }

    /// Sends a request of somebody and expects a status.
    #[track_caller]
    pub(super) fn send(&mut self, viewer: Viewer, request: TestRequest, status: u16) -> TestResponse {
        let shown = format!("{} {}", request.method, request.target);
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let answer = match viewer {
            Some(user) => self.people[user].send(request),
            None => self.server.send(request.bearer(&self.people[0].app.bearer)),
        };
        let response = format!("{viewer:?} {shown} {body} -> {} {}", answer.status, common(&answer));
        self.tell(&response);
        assert_eq!(answer.status, status, "{}", self.context());
        self.check_leaks(viewer, &answer);
        answer
    }

    #[track_caller]
    pub(super) fn get(&mut self, viewer: Viewer, path: &str) -> Value {
        self.send(viewer, TestRequest::get(path), 200).json()
    }

    pub(super) fn post(&mut self, actor: usize, path: &str, body: &Value, status: u16) -> Value {
        self.send(Some(actor), TestRequest::post(path).json(body), status).json()
    }

    pub(super) fn delete(&mut self, actor: usize, path: &str, status: u16) -> Value {
        self.send(Some(actor), TestRequest::delete(path), status).json()
    }

    /// Notes a line with numbers for ids.
    fn tell(&mut self, line: &str) {
        let mut text = String::new();
        let mut digits = String::new();
        for email in line.chars().chain([' ']) {
            if email.is_ascii_alphanumeric() {
                digits.push(email);
                continue;
            }
            text.push_str(&self.label(&digits));
            digits.clear();
            text.push(email);
        }
        self.told.push(text);
    }

    fn label(&self, word: &str) -> String {
        if word == self.people[0].username {
            return "<star>".to_owned();
        }
        if word.len() < 9 {
            return word.to_owned();
        }
        let kinds = [("post", &self.notes), ("list", &self.lists), ("club", &self.clubs)];
        for (kind, ids) in kinds.into_iter().chain([("room", &self.rooms)]) {
            if let Some(place) = ids.iter().rposition(|id| id == word) {
                return format!("<{kind} {place}>");
            }
        }
        match self.people.iter().position(|user| user.id == word) {
            Some(place) => format!("<user {place}>"),
            None if word.bytes().all(|byte| byte.is_ascii_digit()) => "<id>".to_owned(),
            None => word.to_owned(),
        }
    }

    /// What has gone on lately, for whoever looks for a fault.
    pub(super) fn context(&self) -> String {
        let last = self.told.len().saturating_sub(4);
        let cut = |line: &String| line.chars().take(500).collect::<String>();
        let lines: Vec<String> = self.told[last..].iter().map(cut).collect();
        let posts = self.told.last().map_or("", String::as_str).split("<post ");
        let named = posts.skip(1).filter_map(|rest| rest.split('>').next()?.parse().ok());
        let notes: Vec<String> =
            named.take(4).map(|note: usize| format!("{note}: {:?}", self.model.notes[note])).collect();
        format!("group {}:\n{}\n{}\n", self.number, lines.join("\n"), notes.join("\n"))
    }

    pub(super) fn user_path(&self, user: usize, rest: &str) -> String {
        format!("/2/users/{}{rest}", self.people[user].id)
    }

    /// What stands in a post and in no other.
    pub(super) fn mark(&self, note: usize) -> String {
        format!("g{}n{note}z", self.number)
    }

    /// No text of a post is in an answer to somebody who may not see it.
    #[track_caller]
    fn check_leaks(&self, viewer: Viewer, response: &TestResponse) {
        let text = response.text();
        let begin = format!("g{}n", self.number);
        for (at, _) in text.match_indices(&begin) {
            let rest = &text[at + begin.len()..];
            let Some((number, _)) = rest.split_once('z') else {
                continue;
            };
            let Ok(note) = number.parse::<usize>() else {
                continue;
            };
            if note < self.model.notes.len() {
                let sight = self.model.sees(viewer, note);
                assert_eq!(
                    sight,
                    See::Yes,
                    "{viewer:?} sees post {note}, {:?}: {}",
                    self.model.notes[note],
                    self.context()
                );
            }
        }
    }

    /// Somebody other than the celebrity.
    pub(super) fn somebody(&mut self) -> usize {
        1 + self.dice.below(self.people.len() - 1)
    }

    pub(super) fn anybody(&mut self) -> usize {
        self.dice.below(self.people.len())
    }

    /// A post: one of the latest, or the celebrity's, or any.
    pub(super) fn some_note(&mut self) -> usize {
        let all = self.model.notes.len();
        match self.dice.below(8) {
            0 => self.dice.below(self.shared),
            1 => self.dice.below(all),
            _ => all - 1 - self.dice.below(all.min(40)),
        }
    }

    pub(super) fn one_of(&mut self, count: usize) -> Option<usize> {
        (count > 0).then(|| self.dice.below(count))
    }

    /// An account is taken away or brought back.
    pub(super) fn move_to(&mut self, user: usize, state: State) {
        let was = self.model.people[user].state;
        let act = match state {
            State::Active => "restore",
            State::Suspended => "suspend",
            State::Deleted => "delete",
        };
        let allowed = state == State::Active || was != State::Deleted;
        let id = self.people[user].id.clone();
        self.command(&["user", act, &id], allowed);
        if allowed {
            self.model.people[user].state = state;
        }
        if was == State::Deleted && state == State::Active {
            self.renew(user);
        }
    }
}

/// An answer without what is another's at another time or place.
fn common(response: &TestResponse) -> String {
    let Ok(mut value) = serde_json::from_slice(&response.body) else {
        return response.text();
    };
    forget(&mut value);
    value.to_string()
}

fn forget(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(forget),
        Value::Object(members) => {
            // Views are stored later.
            let given = ["next_token", "previous_token", "created_at", "editable_until", "impression_count"];
            members.retain(|name, _| !given.contains(&name.as_str()));
            members.values_mut().for_each(forget);
        }
        _ => {}
    }
}
