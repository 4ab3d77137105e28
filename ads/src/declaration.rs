//! The words in which a resource is declared. What they say is all that the engine, the routes,
//! the checks and the OpenAPI document know of it.

mod custom_operation;
mod feature_gate;
mod field;

pub use custom_operation::{CustomOperation, ReferenceList};
pub use feature_gate::FeatureGate;
pub use field::{
    COUNT, CURSOR, DefaultValue, FieldRequirement, FieldSpec, ListFilter, SORT_BY, WITH_DELETED, WITH_TOTAL_COUNT,
};

use base::refusal::AdsProblem;
use base::{Error, VocabularyWord};
use serde_json::Value;

use crate::access::RequiredRole;
use crate::account_context::AccountContext;
use crate::field_kind::{FieldKind, IdFormat};
use crate::parsed_params::ParsedParams;
use crate::record::AdsRecord;
use crate::record_change::RecordChange;

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
    pub label: &'static str,
    /// Its path as older clients have it, where that is another.
    pub legacy_path: &'static str,
    /// How its ids are written.
    pub id_format: IdFormat,
    /// What counts its short ids, where kinds count theirs together; empty: it counts its own.
    pub sequence: &'static str,
    /// The code that says it is not there.
    pub not_found: &'static str,
    /// Its fields, in the order in which they are shown.
    pub fields: &'static [FieldSpec],
    /// By what its list may be filtered.
    pub filters: &'static [ListFilter],
    /// Fields that its list may be ordered by, beside the usual ones.
    pub sort_fields: &'static [&'static str],
    /// How many records a page holds: usually, and at most.
    pub page_size: (i64, i64),
    /// The longest start of a name that may be asked for; 0: none may.
    pub max_name_prefix: usize,
    /// Whether there are drafts of it, which lists leave out.
    pub has_drafts: bool,
    /// Whether `with_deleted` and `with_total_count` are understood.
    pub supports_list_extras: bool,
    /// What can be done to it.
    pub verbs: &'static [ResourceVerb],
    /// How many changes one batch holds at most.
    pub max_batch_items: usize,
    /// What a batch does, where that is not what is done one by one.
    pub batch_verbs: &'static [ResourceVerb],
    /// Who may read it.
    pub read_role: RequiredRole,
    /// Who may change it.
    pub write_role: RequiredRole,
    /// How it is written and changed: parameters, or JSON.
    pub input_format: InputFormat,
    /// How often reads are allowed.
    pub rate_class: AdsRateClass,
    /// What must hold of it.
    pub rules: &'static [ValidationRule],
    /// The feature that an account needs to make and change it.
    pub feature_gate: Option<FeatureGate>,
    /// What must hold after all changes of a request are made.
    pub validate_batch: Option<BatchValidator>,
    /// What is left of a deleted one.
    pub delete_mode: DeleteMode,
    /// What is told back with the parameters of every request.
    pub constant_echo: &'static [(&'static str, &'static str)],
    /// Whether `deleted` is shown.
    pub shows_deleted: bool,
    /// What the change log calls it, or empty when its changes are not in it.
    pub history_name: &'static str,
    /// What of it exists in the sandbox only.
    pub sandbox_verbs: &'static [ResourceVerb],
    /// What must hold of a request for its list.
    pub list_guard: Option<ListGuard>,
    /// A record that a new one would only repeat: it is answered, and revived if it was deleted.
    pub find_duplicate: Option<DuplicateFinder>,
    /// What is worked out when it is shown.
    pub compute_fields: Option<ComputedFields>,
    /// What else a change of it brings about.
    pub after_change: Option<AfterChangeHook>,
    /// How it is shown, where that is not by its fields alone.
    pub render_records: Option<RecordRenderer>,
}

/// Looks at what changes of a request have led to; what is wrong with each of them, in their order.
pub type BatchValidator = fn(&mut AccountContext<'_, '_>, &[RecordChange]) -> Result<Vec<Vec<AdsProblem>>, Error>;
/// Looks at what is asked of a list.
pub type ListGuard = fn(&mut AccountContext<'_, '_>, &ParsedParams) -> Result<(), Error>;
/// Does what follows from a change.
pub type AfterChangeHook = fn(&mut AccountContext<'_, '_>, &RecordChange) -> Result<(), Error>;
/// Finds the record that a new one would only repeat.
pub type DuplicateFinder = fn(&mut AccountContext<'_, '_>, &AdsRecord) -> Result<Option<AdsRecord>, Error>;
/// Works out further members of some records, in their order.
pub type ComputedFields =
    fn(&mut AccountContext<'_, '_>, &[AdsRecord]) -> Result<Vec<Vec<(&'static str, Value)>>, Error>;
/// Writes some records as JSON, in their order.
pub type RecordRenderer = fn(&mut AccountContext<'_, '_>, &[AdsRecord]) -> Result<Vec<String>, Error>;

/// What can be done to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceVerb {
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
pub enum DeleteMode {
    /// It stays, and says that it was deleted.
    Soft,
    /// Nothing.
    Hard,
}

/// How an operation takes what it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputFormat {
    /// As parameters: in the query, or as a form.
    Params,
    /// As a JSON object.
    Json,
}

/// How often reads are allowed (contract §1.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdsRateClass {
    /// 2,000 in 15 minutes.
    Standard,
    /// 10,000 in 15 minutes.
    High,
    /// 5 in 15 minutes: what is the same for all accounts.
    Low,
    /// 400 in 15 minutes: options of targeting.
    Options,
    /// 500 in 15 minutes.
    Insights,
    /// 250 in 15 minutes: figures.
    Stats,
    /// So many in a minute.
    PerMinute(u32),
    /// So many in a minute for an account, whoever works on it.
    AccountPerMinute(u32),
}

/// What must hold of a record when it is made or changed.
#[derive(Debug)]
pub enum ValidationRule {
    /// Of it alone.
    OnRecord(fn(&RecordChange) -> Result<(), AdsProblem>),
    /// Of it and the record that this field refers to.
    OnReference(&'static str, fn(&RecordChange, &AdsRecord) -> Result<(), AdsProblem>),
    /// Of it and whatever else there is; may set fields that nobody sends.
    InContext(fn(&mut AccountContext<'_, '_>, &mut RecordChange) -> Result<(), Error>),
}

impl Resource {
    /// Whether its lists are ordered or searched by more than their filters.
    pub fn has_wide_listing(&self) -> bool {
        self.max_name_prefix > 0 || !self.sort_fields.is_empty()
    }

    /// Its fields that are numbers and that lists are filtered by, or that refer to something.
    pub fn indexed_number_fields(&self) -> Vec<&'static str> {
        let fields = self.fields.iter().filter(|field| {
            let filtered = |filter: &ListFilter| filter.field == field.name.post;
            let refers = matches!(field.kind, FieldKind::Reference(..));
            field.kind.is_number() && (refers || self.filters.iter().any(filtered))
        });
        fields.map(|field| field.name.post).collect()
    }

    /// What most resources are.
    pub const DEFAULT: Self = Self {
        name: "",
        id: VocabularyWord::same_in_both(""),
        path: "",
        label: "",
        legacy_path: "",
        id_format: IdFormat::Short,
        sequence: "",
        not_found: "NOT_FOUND",
        fields: &[],
        filters: &[],
        sort_fields: &[],
        page_size: (200, 1000),
        max_name_prefix: 0,
        has_drafts: false,
        supports_list_extras: true,
        verbs: &[
            ResourceVerb::List,
            ResourceVerb::Get,
            ResourceVerb::Create,
            ResourceVerb::Update,
            ResourceVerb::Delete,
        ],
        max_batch_items: 0,
        batch_verbs: &[],
        read_role: RequiredRole::CampaignReader,
        write_role: RequiredRole::CampaignWriter,
        input_format: InputFormat::Params,
        rate_class: AdsRateClass::Standard,
        rules: &[],
        feature_gate: None,
        validate_batch: None,
        delete_mode: DeleteMode::Soft,
        constant_echo: &[],
        shows_deleted: true,
        history_name: "",
        sandbox_verbs: &[],
        list_guard: None,
        find_duplicate: None,
        compute_fields: None,
        after_change: None,
        render_records: None,
    };

    /// Whether something can be done to it.
    pub fn supports(&self, verb: ResourceVerb) -> bool {
        self.verbs.contains(&verb)
    }

    /// Whether a batch may do something to it.
    pub fn supports_in_batch(&self, verb: ResourceVerb) -> bool {
        if self.batch_verbs.is_empty() {
            return self.supports(verb);
        }
        self.batch_verbs.contains(&verb)
    }

    /// A field by its name in the posts vocabulary.
    pub fn field(&self, name: &str) -> Option<&'static FieldSpec> {
        self.fields.iter().find(|field| field.name.post == name)
    }
}
