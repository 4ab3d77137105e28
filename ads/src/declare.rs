//! The words in which a resource is declared. What they say is all that the engine, the routes,
//! the checks and the OpenAPI document know of it.

mod custom;
mod field;
mod gate;

pub use custom::{Custom, Reference};
pub use field::{
    COUNT, CURSOR, Field, Filter, Need, SORT_BY, Start, WITH_DELETED, WITH_TOTAL_COUNT,
};
pub use gate::Gate;

use base::refusal::AdsProblem;
use base::{Error, VocabularyWord};
use serde_json::Value;

use crate::access::Who;
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
    pub id: VocabularyWord,
    /// Its path below the account; `<posts>` is spelled by either vocabulary.
    pub path: &'static str,
    /// One of them, for people: `tracking tag`.
    pub about: &'static str,
    /// Its path as older clients have it, where that is another.
    pub older: &'static str,
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
    /// What a batch does, where that is not what is done one by one.
    pub batched: &'static [Verb],
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
    /// The feature that an account needs to make and change it.
    pub gate: Option<Gate>,
    /// What must hold after all changes of a request are made.
    pub settles: Option<Settles>,
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

/// Looks at what changes of a request have led to; what is wrong with each of them, in their order.
pub type Settles = fn(&mut Desk<'_, '_>, &[Change]) -> Result<Vec<Vec<AdsProblem>>, Error>;
/// Looks at what is asked of a list.
pub type Looks = fn(&mut Desk<'_, '_>, &Given) -> Result<(), Error>;
/// Does what follows from a change.
pub type After = fn(&mut Desk<'_, '_>, &Change) -> Result<(), Error>;
/// Finds the record that a new one would only repeat.
pub type Twin = fn(&mut Desk<'_, '_>, &Record) -> Result<Option<Record>, Error>;
/// Works out further members of some records, in their order.
pub type Computed =
    fn(&mut Desk<'_, '_>, &[Record]) -> Result<Vec<Vec<(&'static str, Value)>>, Error>;
/// Writes some records as JSON, in their order.
pub type Shows = fn(&mut Desk<'_, '_>, &[Record]) -> Result<Vec<String>, Error>;

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
    /// So many in a minute for an account, whoever works on it.
    Account(u32),
}

/// What must hold of a record when it is made or changed.
#[derive(Debug)]
pub enum Rule {
    /// Of it alone.
    Own(fn(&Change) -> Result<(), AdsProblem>),
    /// Of it and the record that this field refers to.
    Beside(&'static str, fn(&Change, &Record) -> Result<(), AdsProblem>),
    /// Of it and whatever else there is; may set fields that nobody sends.
    Within(fn(&mut Desk<'_, '_>, &mut Change) -> Result<(), Error>),
}

impl Resource {
    /// Whether its lists are ordered or searched by more than their filters.
    pub fn is_listed_widely(&self) -> bool {
        self.prefix > 0 || !self.sorts.is_empty()
    }

    /// Its fields that are numbers and that lists are filtered by, or that refer to something.
    pub fn filtered_numbers(&self) -> Vec<&'static str> {
        let fields = self.fields.iter().filter(|field| {
            let filtered = |filter: &Filter| filter.field == field.name.post;
            let refers = matches!(field.kind, Kind::Reference(..));
            field.kind.is_number() && (refers || self.filters.iter().any(filtered))
        });
        fields.map(|field| field.name.post).collect()
    }

    /// What most resources are.
    pub const DEFAULT: Self = Self {
        name: "",
        id: VocabularyWord::same_in_both(""),
        path: "",
        about: "",
        older: "",
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
        batched: &[],
        reads: Who::CampaignReader,
        writes: Who::CampaignWriter,
        sends: Sends::Params,
        often: Often::Usual,
        rules: &[],
        gate: None,
        settles: None,
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

    /// Whether a batch may do something to it.
    pub fn can_in_batch(&self, verb: Verb) -> bool {
        if self.batched.is_empty() {
            return self.can(verb);
        }
        self.batched.contains(&verb)
    }

    /// A field by its name in the posts vocabulary.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name.post == name)
    }
}
