//! Tests that are made from the table of operations, by way of the document that the binary writes
//! of itself.

mod bounds;
mod fuzz;
mod isolation;
mod owner;
mod removal;
mod sweep;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::harness::{TestRequest, percent_encode, shared_server};

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
    /// Who is written to, and somebody beside them in a group.
    Peer,
    Guest,
    Conversation,
    Message,
    /// What a message carries: its media, and the name of the file.
    Carried,
    File,
    Note,
    Story,
    /// Rules of the powerstream and of the filtered stream.
    Rule,
    StreamRule,
    Subscription,
    Webhook,
    /// A compliance job.
    Job,
    /// The number of a place.
    Place,
    /// What is searched for.
    Words,
    /// Not a thing of anybody's: a text, a number.
    Other,
}

/// An example of each thing.
type Things = BTreeMap<Thing, String>;

/// Fields for whose sake a whole post is not shown to others.
const OWN: [&str; 3] = ["non_public_metrics", "organic_metrics", "promoted_metrics"];

/// What tells of everyone, and changes with whatever anyone does.
const OF_ALL: [&str; 5] =
    ["/2/news", "/2/trends", "/2/usage", "/2/users/personalized_trends", "/2/notes/search/posts_eligible_for_notes"];

/// The built operations of v2 that are answered once, in the order of the document, which leaves
/// out what is planned. A new one is tried by itself; where it names a thing that is not known
/// here, this says what to add.
fn deeds() -> Vec<Deed> {
    let document = shared_server().run_cli(&["openapi"]).json();
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, facts) in item.as_object().unwrap() {
            let deed = Deed::read(path, method, facts);
            if path.starts_with("/2/") && !deed.is_stream() && (deed.for_users || deed.for_apps) {
                all.push(deed);
            }
        }
    }
    assert!(all.len() > 100, "{}", all.len());
    let strange: Vec<String> = all.iter().flat_map(Deed::strange).collect();
    assert!(
        strange.is_empty(),
        "say in `Param::known`, `thing_of` and `Owner::settle` what these are, and how one is \
         made:\n{}",
        strange.join("\n")
    );
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

    /// Whether its answer does not end.
    fn is_stream(&self) -> bool {
        let stream = self.path.contains("/stream") && !self.path.contains("/rules");
        self.method == "GET" && (stream || self.path == "/2/powerstream")
    }

    /// Whether it tells of nobody in particular.
    fn is_of_all(&self) -> bool {
        let searched = self.params.iter().any(|param| param.name == "query");
        searched || OF_ALL.iter().any(|path| self.path.starts_with(path))
    }

    /// The things that it cannot be asked without.
    fn needs(&self) -> Vec<Thing> {
        let needed = self.params.iter().filter(|param| param.in_path || param.required);
        let things = needed.map(Param::thing);
        things.filter(|thing| *thing != Thing::Other).collect()
    }

    /// What of it is not known here.
    fn strange(&self) -> Vec<String> {
        let of = |name: &str, about: &str| format!("{} of {}: {about:?}", name, self.id);
        let params = self.params.iter().filter(|param| param.known().is_none());
        let mut all: Vec<String> = params.map(|param| of(&param.name, &param.about)).collect();
        let mut members = self.body.iter().flat_map(ids_in).collect::<Vec<_>>();
        members.retain(|name| thing_of(self, name).is_none());
        all.extend(members.iter().map(|name| of(name, "a member of its body")));
        all
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
                Some((name, value)) if name == param.name => value.to_owned(),
                _ => param.value(things),
            };
            path = path.replace(&format!("{{{}}}", param.name), &value);
        }
        path
    }

    /// What the query must hold, with these things in it.
    fn query(&self, things: &Things) -> Vec<(String, String)> {
        let needed = self.params.iter().filter(|param| !param.in_path && param.required);
        let pair = |param: &Param| (param.name.clone(), percent_encode(&param.value(things)));
        needed.map(pair).collect()
    }

    /// The same, with every field that is not its owner's alone, and every expansion.
    fn query_for_all(&self, things: &Things) -> Vec<(String, String)> {
        let mut query = self.query(things);
        let lists = self.params.iter().filter(|param| param.name.ends_with(".fields") || param.name == "expansions");
        query.extend(lists.filter_map(|param| {
            let words = param.schema["items"]["enum"].as_array()?;
            let words = words.iter().filter_map(Value::as_str);
            let words: Vec<&str> = words.filter(|word| !OWN.contains(word)).collect();
            Some((param.name.clone(), words.join(",")))
        }));
        query
    }

    fn ask(&self, path: &str, query: &[(String, String)], body: Option<&Value>) -> TestRequest {
        let pairs: Vec<String> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mark = if pairs.is_empty() { "" } else { "?" };
        let request = TestRequest::new(self.method, format!("{path}{mark}{}", pairs.join("&")));
        match body {
            Some(body) => request.json(body),
            None => request,
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
        if schema["required"].as_array().is_none_or(Vec::is_empty) {
            let members = base.as_object().into_iter().flatten();
            all.extend(members.map(|(name, value)| Some(json!({ name: value }))));
        }
        all
    }
}

impl Param {
    fn thing(&self) -> Thing {
        self.known().expect("every parameter is known")
    }

    /// A value for it.
    fn value(&self, things: &Things) -> String {
        match self.thing() {
            Thing::Other => example(&self.schema),
            thing => made(things, thing),
        }
    }

    fn known(&self) -> Option<Thing> {
        let about = &self.about;
        let is = |words: &str| about.contains(words);
        let schema = &self.schema;
        let thing = match () {
            () if is("of the authenticated user") => Thing::Own,
            () if is("username") => Thing::Username,
            () if is("key of the media") || is("keys of the media") => Thing::MediaKey,
            () if self.name == "query" => Thing::Words,
            () if is("WOEID of the place") => Thing::Place,
            () if schema["enum"].is_array() => Thing::Other,
            () if !self.in_path && !is_id(schema) && !is_id(&schema["items"]) => Thing::Other,
            () if is("of the other user") => Thing::Peer,
            () if is("of the conversation") => Thing::Conversation,
            () if is("media in the message") => Thing::Carried,
            () if is("of the message") => Thing::Message,
            () if is("name of the file") => Thing::File,
            () if is("of the note") => Thing::Note,
            () if is("of the story") => Thing::Story,
            () if is("of the rules") => Thing::StreamRule,
            () if is("of the subscription") => Thing::Subscription,
            () if is("of the webhook") => Thing::Webhook,
            () if is("of the job") => Thing::Job,
            () if is("of the user") || is("of the target user") || is("Users who") => Thing::User,
            () if is("of the post") || is("of the reply") || is("Only posts") => Thing::Post,
            () if is("of the list") => Thing::List,
            () if is("of the folder") => Thing::Folder,
            () if is("of the media") => Thing::Upload,
            () if is("of the community") => Thing::Community,
            () if is("of the space") => Thing::Space,
            () => return None,
        };
        Some(thing)
    }
}

/// A thing of somebody's.
fn made(things: &Things, thing: Thing) -> String {
    let created = things.get(&thing).cloned();
    created.unwrap_or_else(|| panic!("`Owner::settle` makes no {thing:?}: make one there"))
}

fn is_id(schema: &Value) -> bool {
    schema["pattern"] == "^[0-9]{1,19}$"
}

fn names_a_thing(schema: &Value) -> bool {
    let members = schema["properties"].as_object().into_iter().flatten();
    let items = &schema["items"];
    is_id(schema) || (items.is_object() && names_a_thing(items)) || members.into_iter().any(|(_, of)| names_a_thing(of))
}

/// The members of a body, and of what is in it, that hold ids.
fn ids_in(schema: &Value) -> Vec<String> {
    let mut all = Vec::new();
    for (name, of) in schema["properties"].as_object().into_iter().flatten() {
        if is_id(of) || is_id(&of["items"]) {
            all.push(name.clone());
        }
        all.extend(ids_in(of));
        all.extend(ids_in(&of["items"]));
    }
    all
}

/// What a member of a body is the id of.
fn thing_of(deed: &Deed, name: &str) -> Option<Thing> {
    Some(match name {
        "participant_ids" => Thing::Peer,
        "ids" if deed.path.starts_with("/2/powerstream") => Thing::Rule,
        "ids" if deed.path.ends_with("/stream/rules") => Thing::StreamRule,
        "webhook_id" => Thing::Webhook,
        name if name.contains("user_id") || name == "additional_owners" => Thing::User,
        name if name.contains("media_id") || name == "media" => Thing::Upload,
        "id" if deed.path.contains("media") => Thing::Upload,
        name if name.contains("post_id") => Thing::Post,
        "list_id" => Thing::List,
        "folder_id" => Thing::Folder,
        "community_id" => Thing::Community,
        _ => return None,
    })
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
        let thing = thing_of(deed, name).expect("every member is known");
        return json!(made(things, thing));
    }
    if name == "participant_ids" {
        return json!([made(things, Thing::Peer), made(things, Thing::Guest)]);
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
        // Some of them must hold an address.
        _ if name == "text" => json!("an example, https://example.com"),
        _ => json!(example(schema)),
    }
}

/// A text that a schema allows.
fn example(schema: &Value) -> String {
    let word = &schema["enum"][0];
    match word.as_str() {
        Some(word) => word.to_owned(),
        None if schema["format"] == "date-time" => "2026-01-01T00:00:00Z".to_owned(),
        None if schema["type"] == "boolean" => "true".to_owned(),
        None if schema["type"] == "integer" => schema["minimum"].to_string(),
        None => "an example".to_owned(),
    }
}

/// What differs between two states.
fn differences(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let changed = before.iter().filter(|(id, text)| after.get(*id) != Some(*text));
    changed.map(|(id, text)| format!("{id}: {text}\n  -> {:?}", after.get(id))).collect()
}
