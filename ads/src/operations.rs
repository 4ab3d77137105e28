//! All operations that the declarations lead to: their paths, their parameters, and who may.

use std::sync::LazyLock;

use base::VocabularyWord;
use serde_json::Value;

use crate::access::Who;
use crate::declare::{Custom, Field, Filter, Need, Often, Reference, Resource, Sends, Start, Verb};
use crate::kind::Kind;
use crate::resources::{CUSTOM, REFERENCES, RESOURCES};

/// An operation of the interface.
#[derive(Debug)]
pub struct Operation {
    /// Its name in the OpenAPI document.
    pub id: &'static str,
    /// The HTTP method.
    pub method: &'static str,
    /// Its path, `{name}` for parameters.
    pub path: &'static str,
    /// Other paths that lead to it.
    pub aliases: &'static [&'static str],
    /// One sentence.
    pub about: &'static str,
    /// What it does.
    pub does: Does,
    /// Who may.
    pub who: Who,
    /// Whether it exists in the sandbox only.
    pub sandbox: bool,
    /// Its parameters.
    pub params: &'static [Param],
    /// How often it may be called.
    pub often: Often,
    /// Whether it changes anything.
    pub writes: bool,
    /// Whether it looks into the index of posts.
    pub searches: bool,
}

/// What an operation does.
#[derive(Clone, Copy, Debug)]
pub enum Does {
    /// What can be done to any resource.
    Verb(&'static Resource, Verb),
    /// Many changes of a resource.
    Batch(&'static Resource),
    /// Something of its own.
    Custom(&'static Custom),
    /// A list from data that is built in.
    Reference(&'static Reference),
}

/// Where a parameter stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the path.
    Path,
    /// In the query, a form, or a JSON body.
    Sent,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: VocabularyWord,
    /// Further names.
    pub aliases: &'static [&'static str],
    /// Where it stands.
    pub place: Place,
    /// What it may hold.
    pub kind: Kind,
    /// Whether it must be there.
    pub need: Need,
    /// What holds when it is not there.
    pub default: Option<Value>,
    /// Whether that is told back.
    pub echoes_default: bool,
    /// Whether an empty value takes away what was there.
    pub may_be_unset: bool,
}

impl Param {
    fn sent(name: VocabularyWord, kind: Kind) -> Self {
        Self {
            name,
            aliases: &[],
            place: Place::Sent,
            kind,
            need: Need::May,
            default: None,
            echoes_default: false,
            may_be_unset: false,
        }
    }

    fn path(name: VocabularyWord, kind: Kind) -> Self {
        Self {
            place: Place::Path,
            need: Need::Must,
            ..Self::sent(name, kind)
        }
    }

    fn usually(self, value: impl Into<Value>) -> Self {
        Self {
            default: Some(value.into()),
            echoes_default: true,
            ..self
        }
    }

    fn field(field: &Field, need: Need, is_new: bool) -> Self {
        Self {
            aliases: field.aliases,
            need,
            may_be_unset: !is_new && field.create != Need::Must,
            ..Self::sent(field.name, field.kind)
        }
    }

    /// Whether a caller means this parameter by a name.
    pub fn answers_to(&self, name: &str) -> bool {
        self.name.matches(name) || self.aliases.contains(&name)
    }

    /// Its name in a vocabulary.
    pub fn spelled(&self, speech: base::Vocabulary) -> String {
        self.name.name_in(speech).to_owned()
    }
}

impl Operation {
    /// Whether it takes a JSON body.
    pub fn takes_json(&self) -> bool {
        match self.does {
            Does::Batch(_) => true,
            Does::Verb(of, Verb::Create | Verb::Update) => of.sends == Sends::Json,
            Does::Verb(..) | Does::Reference(_) => false,
            Does::Custom(custom) => custom.sends == Sends::Json,
        }
    }

    /// The largest body it takes, where it is another than usual.
    pub const fn body_limit(&self) -> Option<usize> {
        match self.does {
            Does::Custom(custom) if custom.body > 0 => Some(custom.body),
            _ => None,
        }
    }

    /// Whether its calls are counted for each account as well (contract §1.8).
    pub fn counts_by_account(&self) -> bool {
        let of_account = self.path.contains("{account_id}");
        of_account
            && match self.often {
                Often::Usual | Often::More | Often::Account(_) => true,
                // Changes are counted for each user alone.
                Often::Minute(_)
                | Often::Rarely
                | Often::Options
                | Often::Insights
                | Often::Stats => false,
            }
    }

    /// Whether they are counted for the account and not for the user.
    pub const fn counts_by_account_alone(&self) -> bool {
        matches!(self.often, Often::Account(_))
    }

    /// Whether it answers with a page, and may be asked for the total.
    pub fn totals(&self) -> bool {
        self.params
            .iter()
            .any(|param| param.name.matches("with_total_count"))
    }
}

/// All of them.
pub fn all() -> &'static [Operation] {
    static ALL: LazyLock<Vec<Operation>> = LazyLock::new(|| {
        let resources = RESOURCES.iter().flat_map(|resource| of_resource(resource));
        let custom = CUSTOM.iter().copied().flatten().map(of_custom);
        let references = REFERENCES.iter().copied().flatten().map(of_reference);
        resources.chain(custom).chain(references).collect()
    });
    &ALL
}

fn leak(text: String) -> &'static str {
    String::leak(text)
}

fn leak_all<T>(all: Vec<T>) -> &'static [T] {
    Vec::leak(all)
}

/// Everything that can be done to a resource.
fn of_resource(resource: &'static Resource) -> Vec<Operation> {
    let verbs = resource.verbs.iter();
    let mut all: Vec<Operation> = verbs.map(|verb| of_verb(resource, *verb)).collect();
    if resource.batch > 0 {
        let path = format!("/12/batch/accounts/{{account_id}}/{}", resource.path);
        let more =
            (!resource.older.is_empty()).then(|| path.replace(resource.path, resource.older));
        all.push(Operation {
            id: leak(format!("batchAds{}", title(resource.path))),
            method: "POST",
            aliases: older(&path, &more.into_iter().collect::<Vec<_>>()),
            path: leak(path),
            about: leak(format!(
                "Up to {} changes of {}s in one request: all or none.",
                resource.batch, resource.about
            )),
            does: Does::Batch(resource),
            who: resource.writes,
            sandbox: false,
            params: leak_all(vec![account_param()]),
            often: Often::Minute(450),
            writes: true,
            searches: false,
        });
    }
    all
}

fn of_verb(resource: &'static Resource, verb: Verb) -> Operation {
    let base = format!("/12/accounts/{{account_id}}/{}", resource.path);
    let one = format!("{base}/{{{}}}", resource.id.post);
    let (method, path, id, about) = match verb {
        Verb::List => (
            "GET",
            base,
            "getAds",
            format!("A page of {}s.", resource.about),
        ),
        Verb::Get => ("GET", one, "getAds", format!("A {}.", resource.about)),
        Verb::Create => (
            "POST",
            base,
            "createAds",
            format!("Creates a {}.", resource.about),
        ),
        Verb::Update => (
            "PUT",
            one,
            "updateAds",
            format!("Changes a {}.", resource.about),
        ),
        Verb::Delete => (
            "DELETE",
            one,
            "deleteAds",
            format!("Deletes a {}.", resource.about),
        ),
    };
    let name = match verb {
        Verb::List => title(resource.path),
        _ => title(resource.name),
    };
    let reads = matches!(verb, Verb::List | Verb::Get);
    Operation {
        id: leak(format!("{id}{name}")),
        method,
        aliases: older(&path, &[]),
        path: leak(path),
        about: leak(about),
        does: Does::Verb(resource, verb),
        who: if reads {
            resource.reads
        } else {
            resource.writes
        },
        sandbox: resource.sandbox.contains(&verb),
        params: leak_all(params(resource, verb)),
        often: if reads {
            resource.often
        } else {
            Often::Minute(450)
        },
        writes: !reads,
        searches: false,
    }
}

/// The parameters of an operation of a resource: the only source of what is checked and of what
/// the OpenAPI document says.
fn params(resource: &'static Resource, verb: Verb) -> Vec<Param> {
    let mut all = vec![account_param()];
    if matches!(verb, Verb::Get | Verb::Update | Verb::Delete) {
        all.push(Param::path(resource.id, Kind::Reference(resource, false)));
    }
    let deleted =
        || Param::sent(VocabularyWord::same_in_both("with_deleted"), Kind::Bool).usually(0);
    match verb {
        Verb::List => all.extend(list_params(resource)),
        Verb::Get if resource.extras => all.push(deleted()),
        Verb::Get | Verb::Delete => {}
        Verb::Create => all.extend(field_params(resource, true)),
        Verb::Update => all.extend(field_params(resource, false)),
    }
    all
}

fn list_params(resource: &'static Resource) -> Vec<Param> {
    let same = |name| VocabularyWord::same_in_both(name);
    let (usual, most) = resource.count;
    let mut all: Vec<Param> = resource.filters.iter().map(filter_param).collect();
    all.push(Param::sent(same("count"), Kind::Int(1, most)).usually(usual));
    all.push(Param::sent(same("cursor"), Kind::Text(1, 512)));
    all.push(Param::sent(same("sort_by"), Kind::Texts(5, 100)));
    if resource.prefix > 0 {
        all.push(Param::sent(same("q"), Kind::Text(1, resource.prefix)));
    }
    if resource.drafts {
        all.push(Param::sent(same("with_draft"), Kind::Bool).usually(0));
    }
    if resource.extras {
        all.push(Param::sent(same("with_deleted"), Kind::Bool).usually(0));
        all.push(Param::sent(same("with_total_count"), Kind::Bool).usually(0));
    }
    all
}

fn filter_param(filter: &Filter) -> Param {
    Param {
        aliases: filter.aliases,
        need: if filter.required {
            Need::Must
        } else {
            Need::May
        },
        ..Param::sent(filter.name, filter.kind)
    }
}

/// The fields that may be sent with a new record, or with a change.
pub fn field_params(resource: &Resource, is_new: bool) -> Vec<Param> {
    let need = |field: &Field| if is_new { field.create } else { field.update };
    let fields = resource.fields.iter();
    let fields = fields.filter(|field| need(field) != Need::No);
    fields
        .map(|field| Param::field(field, need(field), is_new))
        .collect()
}

fn account_param() -> Param {
    let of = &crate::resources::accounts::ACCOUNT;
    Param::path(
        VocabularyWord::same_in_both("account_id"),
        Kind::Reference(of, false),
    )
}

fn of_custom(custom: &'static Custom) -> Operation {
    let version = custom.version;
    let path_of = |path: &str| {
        if path.starts_with('/') {
            format!("/{version}{path}")
        } else if path.is_empty() {
            format!("/{version}/accounts/{{account_id}}")
        } else {
            format!("/{version}/accounts/{{account_id}}/{path}")
        }
    };
    let path = path_of(custom.path);
    let more: Vec<String> = custom.aliases.iter().map(|path| path_of(path)).collect();
    let names: Vec<&str> = path
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split('}').next())
        .collect();
    let mut all = Vec::new();
    if names.contains(&"account_id") {
        all.push(account_param());
    }
    for field in custom.params {
        let changes = custom.method == "PUT";
        let need = if changes { field.update } else { field.create };
        let param = Param::field(field, need, !changes);
        let param = match field.default {
            Start::Nothing => param,
            // A change leaves alone what is not sent.
            _ if changes => param,
            start => param.usually(start.value(field.kind)),
        };
        let place = if names.iter().any(|name| field.name.matches(name)) {
            Place::Path
        } else {
            Place::Sent
        };
        all.push(Param { place, ..param });
    }
    Operation {
        id: custom.id,
        method: custom.method,
        aliases: older(&path, &more),
        path: leak(path),
        about: custom.about,
        does: Does::Custom(custom),
        who: custom.who,
        sandbox: custom.sandbox,
        params: leak_all(all),
        often: custom.often,
        writes: custom.writes,
        searches: custom.searches,
    }
}

fn of_reference(reference: &'static Reference) -> Operation {
    let path = format!("/12{}", reference.path);
    let mut all: Vec<Param> = reference
        .filters
        .iter()
        .map(|(field, _)| Param::field(field, field.create, true))
        .collect();
    if let Some((usual, most)) = reference.pages {
        all.push(
            Param::sent(VocabularyWord::same_in_both("count"), Kind::Int(1, most)).usually(usual),
        );
        all.push(Param::sent(
            VocabularyWord::same_in_both("cursor"),
            Kind::Text(1, 512),
        ));
        all.push(
            Param::sent(VocabularyWord::same_in_both("with_total_count"), Kind::Bool).usually(0),
        );
    }
    if reference.finds {
        all.push(Param::sent(
            VocabularyWord::same_in_both("q"),
            Kind::Text(1, 255),
        ));
    }
    Operation {
        id: reference.id,
        method: "GET",
        aliases: older(&path, &[]),
        path: leak(path),
        about: reference.about,
        does: Does::Reference(reference),
        who: Who::Anyone,
        sandbox: false,
        params: leak_all(all),
        often: reference.often,
        writes: false,
        searches: false,
    }
}

/// Released clients speak of version 11; it is the same.
fn older(path: &str, more: &[String]) -> &'static [&'static str] {
    let mut all: Vec<&'static str> = more.iter().map(|path| leak(path.clone())).collect();
    for path in std::iter::once(path).chain(more.iter().map(String::as_str)) {
        if let Some(rest) = path.strip_prefix("/12") {
            all.push(leak(format!("/11{rest}")));
        }
    }
    leak_all(all)
}

/// `promoted_<posts>` as `PromotedPosts`.
fn title(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words
        .map(|word| {
            let mut letters = word.chars();
            let first = letters.next().map(|letter| letter.to_ascii_uppercase());
            first.into_iter().chain(letters).collect::<String>()
        })
        .collect()
}

/// The operation at a path below the account, or from the version on where it begins with a slash.
pub fn at(method: &str, path: &str) -> Option<&'static Operation> {
    let path = match path {
        "" => "/12/accounts/{}".to_owned(),
        path if path.starts_with('/') => path.to_owned(),
        path => format!("/12/accounts/{{}}/{path}"),
    };
    let mut all = all().iter();
    all.find(|one| one.method == method && is_path(one.path, &path))
}

/// Whether a path is this one; `{}` stands for any of its ids.
fn is_path(path: &str, shape: &str) -> bool {
    let (mut parts, mut shapes) = (path.split('/'), shape.split('/'));
    loop {
        match (parts.next(), shapes.next()) {
            (None, None) => return true,
            (Some(part), Some(shape)) => {
                let id = shape == "{}" && part.starts_with('{');
                if part != shape && !id {
                    return false;
                }
            }
            _ => return false,
        }
    }
}
