//! Tests that are made from the table of operations, by way of the document that the binary writes
//! of itself.

mod isolation;
mod sweep;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::harness::{Ask, Person, Server, encode, shared};

/// A built operation, as the document has it.
#[derive(Clone, Debug)]
struct Deed {
    id: String,
    method: &'static str,
    path: String,
    /// Takes a user's token.
    for_users: bool,
    /// Takes an app's.
    for_apps: bool,
    params: Vec<Param>,
    /// The schema of its JSON body.
    body: Option<Value>,
}

#[derive(Clone, Debug)]
struct Param {
    name: String,
    in_path: bool,
    required: bool,
    about: String,
    schema: Value,
}

/// What an id, wherever it stands, is the id of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Thing {
    /// The user who must be the one who calls.
    Own,
    User,
    Username,
    Post,
    List,
    Folder,
    Upload,
    MediaKey,
    Community,
    Space,
    /// Not a thing of anybody's: a text, a number.
    Other,
}

/// An example of each thing.
type Things = BTreeMap<Thing, String>;

/// Groups whose things are not made here yet; each has tests of its own for who may do what.
const LATER: [&str; 6] = [
    "/2/dm_",
    "/2/notes",
    "/2/news",
    "/2/trends",
    "/2/powerstream",
    "/2/usage",
];

/// The built operations of v2, in the order of the document.
fn deeds() -> Vec<Deed> {
    let document = shared().cli(&["openapi"]).json();
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, facts) in item.as_object().unwrap() {
            let deed = Deed::read(path, method, facts);
            if path.starts_with("/2/")
                && !LATER.iter().any(|group| path.starts_with(group))
                && (deed.for_users || deed.for_apps)
            {
                all.push(deed);
            }
        }
    }
    assert!(all.len() > 60, "{}", all.len());
    all
}

impl Deed {
    fn read(path: &str, method: &str, facts: &Value) -> Self {
        let kinds = facts["security"].as_array().unwrap();
        let takes = |name: &str| kinds.iter().any(|kind| kind.get(name).is_some());
        let param = |facts: &Value| Param {
            name: facts["name"].as_str().unwrap().to_owned(),
            in_path: facts["in"] == "path",
            required: facts["required"] == true,
            about: facts["description"].as_str().unwrap_or_default().to_owned(),
            schema: facts["schema"].clone(),
        };
        let params = facts["parameters"].as_array().into_iter().flatten();
        let body = &facts["requestBody"]["content"]["application/json"]["schema"];
        Self {
            id: facts["operationId"].as_str().unwrap().to_owned(),
            method: match method {
                "get" => "GET",
                "post" => "POST",
                "put" => "PUT",
                "delete" => "DELETE",
                other => panic!("{other}"),
            },
            path: path.to_owned(),
            for_users: takes("OAuth2UserToken"),
            for_apps: takes("BearerToken"),
            params: params.map(param).collect(),
            body: body.is_object().then(|| body.clone()),
        }
    }

    fn writes(&self) -> bool {
        self.method != "GET"
    }

    /// The path with these things in it.
    fn filled(&self, things: &Things) -> String {
        self.filled_but(things, None)
    }

    /// The same with one parameter given.
    fn filled_but(&self, things: &Things, given: Option<(&str, &str)>) -> String {
        let mut path = self.path.clone();
        for param in self.params.iter().filter(|param| param.in_path) {
            let value = match given {
                Some((name, value)) if name == param.name => value,
                _ => &things[&param.thing()],
            };
            path = path.replace(&format!("{{{}}}", param.name), value);
        }
        path
    }

    /// What the query must hold, with these things in it.
    fn query(&self, things: &Things) -> Vec<(String, String)> {
        let needed = self
            .params
            .iter()
            .filter(|param| !param.in_path && param.required);
        let pair = |param: &Param| {
            let value = match param.thing() {
                Thing::Other => example(&param.schema),
                thing => things[&thing].clone(),
            };
            (param.name.clone(), encode(&value))
        };
        needed.map(pair).collect()
    }

    fn ask(&self, path: &str, query: &[(String, String)], body: Option<&Value>) -> Ask {
        let pairs: Vec<String> = query
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let mark = if pairs.is_empty() { "" } else { "?" };
        let ask = Ask::new(self.method, format!("{path}{mark}{}", pairs.join("&")));
        match body {
            Some(body) => ask.json(body),
            None => ask,
        }
    }

    /// Whether a path parameter must be the one who calls.
    fn is_ones_own(&self) -> bool {
        self.params.iter().any(|param| param.thing() == Thing::Own)
    }

    /// Bodies that are right: with what must be there alone, and with each further member that
    /// names a thing.
    fn bodies(&self, things: &Things) -> Vec<Option<Value>> {
        let Some(schema) = &self.body else {
            return vec![None];
        };
        let base = least(self, schema, things);
        let mut all = vec![Some(base.clone())];
        for (name, of) in schema["properties"].as_object().into_iter().flatten() {
            if base.get(name).is_some() || !names_a_thing(of) {
                continue;
            }
            let mut body = base.clone();
            body[name] = member(self, name, of, things);
            all.push(Some(body));
        }
        all
    }
}

impl Param {
    fn thing(&self) -> Thing {
        let about = &self.about;
        let is = |words: &str| about.contains(words);
        match () {
            () if is("must be the authenticated user") => Thing::Own,
            () if is("username") => Thing::Username,
            () if is("key of the media") || is("keys of the media") => Thing::MediaKey,
            () if !is_id(&self.schema) && !self.name.ends_with("ids") && !self.in_path => {
                Thing::Other
            }
            () if is("of the user") || is("Users who") => Thing::User,
            () if is("of the post") || is("of the reply") || is("Only posts") => Thing::Post,
            () if is("of the list") => Thing::List,
            () if is("of the folder") => Thing::Folder,
            () if is("of the media") => Thing::Upload,
            () if is("of the community") => Thing::Community,
            () if is("of the space") => Thing::Space,
            () => panic!("what is {}: {about:?}? Say here how to make one", self.name),
        }
    }
}

fn is_id(schema: &Value) -> bool {
    schema["pattern"] == "^[0-9]{1,19}$"
}

fn names_a_thing(schema: &Value) -> bool {
    let members = schema["properties"].as_object().into_iter().flatten();
    is_id(schema) || is_id(&schema["items"]) || members.into_iter().any(|(_, of)| names_a_thing(of))
}

/// What a member of a body is the id of.
fn thing_of(deed: &Deed, name: &str) -> Thing {
    match name {
        name if name.contains("user_id") || name == "additional_owners" => Thing::User,
        name if name.contains("media_id") => Thing::Upload,
        "id" if deed.path.contains("media") => Thing::Upload,
        name if name.contains("post_id") => Thing::Post,
        "list_id" => Thing::List,
        "folder_id" => Thing::Folder,
        "community_id" => Thing::Community,
        _ => panic!("what is {name} in {}? Say here how to make one", deed.id),
    }
}

/// An object with what it must have, and a text where it may have one.
fn least(deed: &Deed, schema: &Value, things: &Things) -> Value {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let mut body = Map::new();
    for (name, of) in schema["properties"].as_object().into_iter().flatten() {
        if required.contains(&json!(name)) || name == "text" {
            body.insert(name.clone(), member(deed, name, of, things));
        }
    }
    // One of several must be there: all of them are.
    if body.is_empty() {
        for (name, of) in schema["properties"].as_object().into_iter().flatten() {
            body.insert(name.clone(), member(deed, name, of, things));
        }
    }
    Value::Object(body)
}

fn member(deed: &Deed, name: &str, schema: &Value, things: &Things) -> Value {
    if is_id(schema) {
        return json!(things[&thing_of(deed, name)]);
    }
    match schema["type"].as_str() {
        Some("boolean") => json!(true),
        Some("integer") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("object") => {
            let mut whole = least(deed, schema, things);
            for (name, of) in schema["properties"].as_object().into_iter().flatten() {
                if is_id(of) {
                    whole[name] = member(deed, name, of, things);
                }
            }
            whole
        }
        Some("array") => {
            let count = schema["minItems"].as_u64().unwrap_or(1).max(1);
            let items = (0..count).map(|_| member(deed, name, &schema["items"], things));
            items.collect()
        }
        _ => json!(example(schema)),
    }
}

/// A text that a schema allows.
fn example(schema: &Value) -> String {
    let word = &schema["enum"][0];
    match word.as_str() {
        Some(word) => word.to_owned(),
        None if schema["format"] == "date-time" => "2026-01-01T00:00:00Z".to_owned(),
        None => "an example".to_owned(),
    }
}

/// Somebody with one of everything. `secret` stands in all that is for their eyes alone, or for
/// those of whom they let in.
struct Owner<'s> {
    person: Person<'s>,
    things: Things,
}

impl<'s> Owner<'s> {
    #[expect(clippy::too_many_lines, reason = "one story")]
    fn settle(server: &'s Server, name: &str, secret: &str, friend: &Person<'_>) -> Self {
        let person = server.person(name);
        let id = |answer: Value| answer["data"]["id"].as_str().unwrap().to_owned();
        let text = |text: &str| json!({ "text": format!("{secret} {text}") });
        let own = |rest: &str| format!("/2/users/{}/{rest}", person.id);
        let community = [
            "community",
            "create",
            "Behind doors",
            "--owner",
            &person.id,
            "--access",
            "Closed",
        ];
        let community = server.cli(&community).json()["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let space = server
            .cli(&["space", "create", &person.id, "--title", "Open to all"])
            .json();
        let post = id(person.publish(&text("post")).is(201));
        let mut reply = text("reply");
        reply["reply"] = json!({ "in_reply_to_post_id": post });
        let reply = id(person.publish(&reply).is(201));
        let list = json!({ "name": secret, "private": true });
        let list = id(person.post("/2/lists", &list).is(201));
        let members = format!("/2/lists/{list}/members");
        for user in [&person, friend] {
            person
                .post(&members, &json!({ "user_id": user.id }))
                .is(200);
        }
        person
            .post(own("pinned_lists"), &json!({ "list_id": list }))
            .is(200);
        let folder = json!({ "name": secret });
        let folder = id(person.post(own("bookmarks/folders"), &folder).is(201));
        let bookmark = json!({ "post_id": reply, "folder_id": folder });
        person.post(own("bookmarks"), &bookmark).is(200);
        for (path, user) in [("following", friend), ("muting", friend)] {
            person
                .post(own(path), &json!({ "target_user_id": user.id }))
                .is(200);
        }
        person
            .post(own("likes"), &json!({ "post_id": reply }))
            .is(200);
        person
            .post(own("reposts"), &json!({ "post_id": reply }))
            .is(200);
        let upload = json!({ "media_type": "image/png", "total_bytes": 1_000, "media_category": "tweet_image" });
        let upload = id(person.post("/2/media/upload/initialize", &upload).is(200));
        let things = Things::from([
            (Thing::Own, person.id.clone()),
            (Thing::User, person.id.clone()),
            (Thing::Username, person.username.clone()),
            (Thing::Post, reply),
            (Thing::List, list),
            (Thing::Folder, folder),
            (Thing::Upload, upload),
            (Thing::MediaKey, "3_1".to_owned()),
            (Thing::Community, community),
            (Thing::Space, space["id"].as_str().unwrap().to_owned()),
        ]);
        Self { person, things }
    }

    /// All that they see of their own.
    fn state(&self, deeds: &[Deed]) -> BTreeMap<String, String> {
        let reads = deeds.iter().filter(|deed| !deed.writes() && deed.for_users);
        let seen = reads.map(|deed| {
            let query = deed.query(&self.things);
            let mut ask = deed.ask(&deed.filled(&self.things), &query, None);
            if deed.id == "getUsersMe" {
                ask.target
                    .push_str("?user.fields=public_metrics,protected,description");
            }
            (
                deed.id.clone(),
                without_ages(self.person.send(ask).json()).to_string(),
            )
        });
        seen.collect()
    }
}

/// What grows older by itself.
fn without_ages(mut value: Value) -> Value {
    if let Some(data) = value["data"].as_object_mut() {
        data.retain(|name, _| name != "expires_after_secs");
    }
    value
}

/// What differs between two states.
fn differences(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let changed = before
        .iter()
        .filter(|(id, text)| after.get(*id) != Some(*text));
    changed
        .map(|(id, text)| format!("{id}: {text}\n  -> {:?}", after.get(id)))
        .collect()
}
