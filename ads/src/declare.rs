//! The words in which a resource is declared. What they say is all that the engine, the routes,
//! the checks and the OpenAPI document know of it.

use base::refusal::Problem;
use base::{Stop, Word};
use serde_json::Value;

use crate::access::Who;
use crate::answer::Answer;
use crate::change::Change;
use crate::desk::Desk;
use crate::given::Given;
use crate::kind::{Ids, Kind};
use crate::record::Record;

/// A kind of record that belongs to an account.
#[derive(Debug)]
pub struct Resource {
    /// What one of them is called; its kind in the store: `tracking_tag`.
    pub name: &'static str,
    /// What parameters and paths call its id.
    pub id: Word,
    /// Its path below the account; `<posts>` is spelled by either vocabulary.
    pub path: &'static str,
    /// One of them, for people: `tracking tag`.
    pub about: &'static str,
    /// How its ids are written.
    pub ids: Ids,
    /// What counts its short ids, where kinds count theirs together; empty: it counts its own.
    pub sequence: &'static str,
    /// The code that says it is not there.
    pub not_found: &'static str,
    /// Its fields, in the order in which they are shown.
    pub fields: &'static [Field],
    /// By what its list may be filtered.
    pub filters: &'static [Filter],
    /// Fields that its list may be ordered by, beside the usual ones.
    pub sorts: &'static [&'static str],
    /// How many records a page holds: usually, and at most.
    pub count: (i64, i64),
    /// The longest start of a name that may be asked for; 0: none may.
    pub prefix: usize,
    /// Whether there are drafts of it, which lists leave out.
    pub drafts: bool,
    /// Whether `with_deleted` and `with_total_count` are understood.
    pub extras: bool,
    /// What can be done to it.
    pub verbs: &'static [Verb],
    /// How many changes one batch holds at most.
    pub batch: usize,
    /// Who may read it.
    pub reads: Who,
    /// Who may change it.
    pub writes: Who,
    /// How it is written and changed: parameters, or JSON.
    pub sends: Sends,
    /// How often reads are allowed.
    pub often: Often,
    /// What must hold of it.
    pub rules: &'static [Rule],
    /// What is left of a deleted one.
    pub delete: Delete,
    /// What is told back with the parameters of every request.
    pub echoes: &'static [(&'static str, &'static str)],
    /// Whether `deleted` is shown.
    pub shows_deleted: bool,
    /// What the change log calls it, or empty when its changes are not in it.
    pub history: &'static str,
    /// What of it exists in the sandbox only.
    pub sandbox: &'static [Verb],
    /// What must hold of a request for its list.
    pub looks: Option<Looks>,
    /// A record that a new one would only repeat: it is answered, and revived if it was deleted.
    pub twin: Option<Twin>,
    /// What is worked out when it is shown.
    pub computed: Option<Computed>,
    /// What else a change of it brings about.
    pub after: Option<After>,
    /// How it is shown, where that is not by its fields alone.
    pub shows: Option<Shows>,
}

/// Looks at what is asked of a list.
pub type Looks = fn(&mut Desk<'_, '_>, &Given) -> Result<(), Stop>;
/// Does what follows from a change.
pub type After = fn(&mut Desk<'_, '_>, &Change) -> Result<(), Stop>;
/// Finds the record that a new one would only repeat.
pub type Twin = fn(&mut Desk<'_, '_>, &Record) -> Result<Option<Record>, Stop>;
/// Works out further members of some records, in their order.
pub type Computed =
    fn(&mut Desk<'_, '_>, &[Record]) -> Result<Vec<Vec<(&'static str, Value)>>, Stop>;
/// Writes some records as JSON, in their order.
pub type Shows = fn(&mut Desk<'_, '_>, &[Record]) -> Result<Vec<String>, Stop>;

/// What can be done to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// A page of them.
    List,
    /// One of them.
    Get,
    /// A new one.
    Create,
    /// A changed one.
    Update,
    /// One less.
    Delete,
}

/// What is left of a deleted record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delete {
    /// It stays, and says that it was deleted.
    Soft,
    /// Nothing.
    Hard,
}

/// How an operation takes what it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sends {
    /// As parameters: in the query, or as a form.
    Params,
    /// As a JSON object.
    Json,
}

/// How often reads are allowed (contract §1.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Often {
    /// 2,000 in 15 minutes.
    Usual,
    /// 10,000 in 15 minutes.
    More,
    /// 5 in 15 minutes: what is the same for all accounts.
    Rarely,
    /// 400 in 15 minutes: options of targeting.
    Options,
    /// 500 in 15 minutes.
    Insights,
    /// 250 in 15 minutes: figures.
    Stats,
    /// So many in a minute.
    Minute(u32),
}

/// What must hold of a record when it is made or changed.
#[derive(Debug)]
pub enum Rule {
    /// Of it alone.
    Own(fn(&Change) -> Result<(), Problem>),
    /// Of it and the record that this field refers to.
    Beside(&'static str, fn(&Change, &Record) -> Result<(), Problem>),
    /// Of it and whatever else there is; may set fields that nobody sends.
    Within(fn(&mut Desk<'_, '_>, &mut Change) -> Result<(), Stop>),
}

/// Whether a field may or must be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It is not understood, and ignored.
    No,
    /// It may.
    May,
    /// It must.
    Must,
}

/// A field of a record, and the parameter that sets it.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: Word,
    /// Further names under which it may be sent.
    pub aliases: &'static [&'static str],
    /// What it may hold.
    pub kind: Kind,
    /// Whether it is sent with a new record.
    pub create: Need,
    /// Whether it is sent with a change.
    pub update: Need,
    /// What a new record has when it is not sent.
    pub default: Start,
    /// Whether it is shown.
    pub shown: bool,
}

/// What a field holds that was not sent.
#[derive(Clone, Copy, Debug)]
pub enum Start {
    /// Nothing; lists are empty.
    Nothing,
    /// This word.
    Word(&'static str),
    /// Yes or no.
    Flag(bool),
    /// This number.
    Number(i64),
}

/// By what a list may be filtered.
#[derive(Clone, Copy, Debug)]
pub struct Filter {
    /// The parameter.
    pub name: Word,
    /// Further names of the parameter.
    pub aliases: &'static [&'static str],
    /// The field; `id` for the record itself.
    pub field: &'static str,
    /// What the parameter holds.
    pub kind: Kind,
    /// Whether it must be there.
    pub required: bool,
}

/// Parameters that lists written by hand take like all others.
pub const COUNT: Field = Field::new("count", Kind::Int(1, 1000)).or_number(200);
/// Where a page begins.
pub const CURSOR: Field = Field::text("cursor", 1, 512);
/// In which order.
pub const SORT_BY: Field = Field::new("sort_by", Kind::Texts(5, 100));
/// Whether deleted records are wanted.
pub const WITH_DELETED: Field = Field::new("with_deleted", Kind::Bool).or_flag(false);
/// Whether the total is wanted.
pub const WITH_TOTAL_COUNT: Field = Field::new("with_total_count", Kind::Bool).or_flag(false);

/// An operation that is written by hand.
#[derive(Debug)]
pub struct Custom {
    /// Its name in the OpenAPI document.
    pub id: &'static str,
    /// The HTTP method.
    pub method: &'static str,
    /// The path below the account, or from the version on where it begins with a slash.
    pub path: &'static str,
    /// Other paths that lead to it.
    pub aliases: &'static [&'static str],
    /// One sentence.
    pub about: &'static str,
    /// The version in its path: 12, or 5.
    pub version: &'static str,
    /// Who may do it.
    pub who: Who,
    /// Whether it exists in the sandbox only.
    pub sandbox: bool,
    /// How its parameters are sent.
    pub sends: Sends,
    /// Its parameters, those of its path beyond the account included.
    pub params: &'static [Field],
    /// Whether it changes anything.
    pub writes: bool,
    /// How often it may be called.
    pub often: Often,
    /// Whether it looks into the index of posts.
    pub searches: bool,
    /// The largest body it takes; 0: as large as usual.
    pub body: usize,
    /// Does it.
    pub act: fn(&mut Desk<'_, '_>, &Given) -> Result<Answer, Stop>,
}

/// A list that is the same for everyone, from data that is built in.
#[derive(Debug)]
pub struct Reference {
    /// Its name in the OpenAPI document.
    pub id: &'static str,
    /// The path from the version on.
    pub path: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// By what it may be filtered: the parameter and the member that must be equal.
    pub filters: &'static [(Field, &'static str)],
    /// The data: a JSON array.
    pub rows: fn() -> Vec<Value>,
    /// Whether it comes in pages.
    pub pages: Option<(i64, i64)>,
    /// Whether the parameter `q` finds names, and how.
    pub finds: bool,
    /// Whether `total_count` is always there.
    pub counts: bool,
    /// The older `data_type` member, or empty.
    pub data_type: &'static str,
    /// How often it may be called.
    pub often: Often,
}

impl Resource {
    /// What most resources are.
    pub const DEFAULT: Self = Self {
        name: "",
        id: Word::same(""),
        path: "",
        about: "",
        ids: Ids::Short,
        sequence: "",
        not_found: "NOT_FOUND",
        fields: &[],
        filters: &[],
        sorts: &[],
        count: (200, 1000),
        prefix: 0,
        drafts: false,
        extras: true,
        verbs: &[
            Verb::List,
            Verb::Get,
            Verb::Create,
            Verb::Update,
            Verb::Delete,
        ],
        batch: 0,
        reads: Who::CampaignReader,
        writes: Who::CampaignWriter,
        sends: Sends::Params,
        often: Often::Usual,
        rules: &[],
        delete: Delete::Soft,
        echoes: &[],
        shows_deleted: true,
        history: "",
        sandbox: &[],
        looks: None,
        twin: None,
        computed: None,
        after: None,
        shows: None,
    };

    /// Whether something can be done to it.
    pub fn can(&self, verb: Verb) -> bool {
        self.verbs.contains(&verb)
    }

    /// A field by its name in the posts vocabulary.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name.post == name)
    }
}

impl Start {
    /// The value, as it is kept.
    pub fn value(self, kind: Kind) -> Value {
        match self {
            Self::Nothing if kind.is_list() => Value::Array(Vec::new()),
            Self::Nothing => Value::Null,
            Self::Word(word) => word.into(),
            Self::Flag(flag) => i64::from(flag).into(),
            Self::Number(number) => number.into(),
        }
    }
}

impl Reference {
    /// What most of them are.
    pub const DEFAULT: Self = Self {
        id: "",
        path: "",
        about: "",
        filters: &[],
        rows: Vec::new,
        pages: None,
        finds: false,
        counts: false,
        data_type: "",
        often: Often::Rarely,
    };
}

impl Custom {
    /// A read of a member of the account.
    pub const fn get(
        id: &'static str,
        path: &'static str,
        about: &'static str,
        act: fn(&mut Desk<'_, '_>, &Given) -> Result<Answer, Stop>,
    ) -> Self {
        Self {
            id,
            method: "GET",
            path,
            aliases: &[],
            about,
            version: "12",
            who: Who::Member,
            sandbox: false,
            sends: Sends::Params,
            params: &[],
            writes: false,
            often: Often::Usual,
            searches: false,
            body: 0,
            act,
        }
    }

    /// A change.
    pub const fn change(
        method: &'static str,
        id: &'static str,
        path: &'static str,
        about: &'static str,
        act: fn(&mut Desk<'_, '_>, &Given) -> Result<Answer, Stop>,
    ) -> Self {
        Self {
            method,
            writes: true,
            who: Who::Admin,
            often: Often::Minute(450),
            ..Self::get(id, path, about, act)
        }
    }

    /// Is asked by a POST, and changes nothing.
    #[must_use]
    pub const fn posts(self) -> Self {
        Self {
            method: "POST",
            often: Often::Minute(450),
            ..self
        }
    }

    /// Is for these people.
    #[must_use]
    pub const fn who(self, who: Who) -> Self {
        Self { who, ..self }
    }

    /// Takes these parameters.
    #[must_use]
    pub const fn params(self, params: &'static [Field]) -> Self {
        Self { params, ..self }
    }

    /// Exists in the sandbox only.
    #[must_use]
    pub const fn in_sandbox(self) -> Self {
        Self {
            sandbox: true,
            ..self
        }
    }

    /// Is found under these paths too.
    #[must_use]
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// Takes a JSON object.
    #[must_use]
    pub const fn json(self) -> Self {
        Self {
            sends: Sends::Json,
            ..self
        }
    }

    /// Takes bodies of so many bytes.
    #[must_use]
    pub const fn body(self, body: usize) -> Self {
        Self { body, ..self }
    }

    /// May be called that often.
    #[must_use]
    pub const fn often(self, often: Often) -> Self {
        Self { often, ..self }
    }

    /// Looks into the index of posts, which is waited for.
    #[must_use]
    pub const fn searching(self) -> Self {
        Self {
            searches: true,
            ..self
        }
    }

    /// Is of this version.
    #[must_use]
    pub const fn version(self, version: &'static str) -> Self {
        Self { version, ..self }
    }
}

impl Field {
    /// A field that may be sent with a new record and with a change.
    pub const fn new(name: &'static str, kind: Kind) -> Self {
        Self {
            name: Word::same(name),
            aliases: &[],
            kind,
            create: Need::May,
            update: Need::May,
            default: Start::Nothing,
            shown: true,
        }
    }

    /// A text of so many characters at least and at most.
    pub const fn text(name: &'static str, least: usize, most: usize) -> Self {
        Self::new(name, Kind::Text(least, most))
    }

    /// One of these words.
    pub const fn one_of(name: &'static str, words: &'static [&'static str]) -> Self {
        Self::new(name, Kind::OneOf(words))
    }

    /// An absolute `https` address.
    pub const fn url(name: &'static str) -> Self {
        Self::new(name, Kind::Url)
    }

    /// An amount of money in millionths.
    pub const fn money(name: &'static str) -> Self {
        Self::new(name, Kind::Money)
    }

    /// The id of a record of the same account that stays what it is.
    pub const fn reference(name: &'static str, to: &'static Resource) -> Self {
        Self::new(name, Kind::Reference(to, false)).fixed()
    }

    /// The same; this record disappears from lists when that one is deleted.
    pub const fn parent(name: &'static str, to: &'static Resource) -> Self {
        Self::new(name, Kind::Reference(to, true)).fixed()
    }

    /// Must be sent with a new record.
    #[must_use]
    pub const fn required(self) -> Self {
        Self {
            create: Need::Must,
            ..self
        }
    }

    /// Is sent so with a change.
    #[must_use]
    pub const fn update(self, update: Need) -> Self {
        Self { update, ..self }
    }

    /// Is not changed.
    #[must_use]
    pub const fn fixed(self) -> Self {
        self.update(Need::No)
    }

    /// Is never sent: rules set it.
    #[must_use]
    pub const fn kept(self) -> Self {
        Self {
            create: Need::No,
            update: Need::No,
            ..self
        }
    }

    /// Is never shown.
    #[must_use]
    pub const fn hidden(self) -> Self {
        Self {
            shown: false,
            ..self
        }
    }

    /// Starts with this word.
    #[must_use]
    pub const fn or(self, word: &'static str) -> Self {
        Self {
            default: Start::Word(word),
            ..self
        }
    }

    /// Starts with this.
    #[must_use]
    pub const fn or_flag(self, flag: bool) -> Self {
        Self {
            default: Start::Flag(flag),
            ..self
        }
    }

    /// Starts with this number.
    #[must_use]
    pub const fn or_number(self, number: i64) -> Self {
        Self {
            default: Start::Number(number),
            ..self
        }
    }

    /// Is sent under these names too.
    #[must_use]
    pub const fn alias(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// Has another name in the older vocabulary.
    #[must_use]
    pub const fn older(self, tweet: &'static str) -> Self {
        Self {
            name: Word::new(self.name.post, tweet),
            ..self
        }
    }
}

impl Filter {
    /// Up to 200 ids of a field that refers to this resource; `id`: of the record itself.
    pub const fn ids(name: &'static str, field: &'static str, of: &'static Resource) -> Self {
        Self {
            name: Word::same(name),
            aliases: &[],
            field,
            kind: Kind::Ids(of, 200),
            required: false,
        }
    }

    /// Some of these words in a field.
    pub const fn words(
        name: &'static str,
        field: &'static str,
        words: &'static [&'static str],
    ) -> Self {
        Self {
            name: Word::same(name),
            aliases: &[],
            field,
            kind: Kind::SomeOf(words),
            required: false,
        }
    }

    /// What a field must hold.
    pub const fn new(name: &'static str, field: &'static str, kind: Kind) -> Self {
        Self {
            name: Word::same(name),
            aliases: &[],
            field,
            kind,
            required: false,
        }
    }

    /// Must be there.
    #[must_use]
    pub const fn required(self) -> Self {
        Self {
            required: true,
            ..self
        }
    }

    /// Has another name in the older vocabulary.
    #[must_use]
    pub const fn older(self, tweet: &'static str) -> Self {
        Self {
            name: Word::new(self.name.post, tweet),
            ..self
        }
    }

    /// Is sent under these names too.
    #[must_use]
    pub const fn alias(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }
}
