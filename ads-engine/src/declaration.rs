//! Declarations of resources: the only source for the engine, the routes, validation and the OpenAPI document.

mod custom_operation;
mod feature_gate;
mod field;

pub use custom_operation::{CustomOperation, OperationHandler, ReferenceList};
pub use feature_gate::FeatureGate;
pub use field::{COUNT, CURSOR, FieldSpec, ListFilter, MAX_CURSOR_CHARS, SORT_BY, WITH_DELETED, WITH_TOTAL_COUNT};

use base::refusal::AdsProblem;
use base::{Error, VocabularyWord};
use schema::IdFormat;
use serde_json::Value;
use store::records::FieldRange;

use crate::access::RequiredRole;
use crate::account_context::AccountContext;
use crate::parsed_params::ParsedParams;
use crate::record::AdsRecord;
use crate::record_change::RecordChange;

#[derive(Debug)]
pub struct Resource {
    /// The name of one record, which is also its type in the store: `tracking_tag`.
    pub name: &'static str,
    pub id: VocabularyWord,
    /// The path below the account; `<posts>` is spelled per vocabulary.
    pub path: &'static str,
    /// The singular for messages: `tracking tag`.
    pub label: &'static str,
    /// The ids of operations, if they do not follow from `name` and `path`.
    pub operation_ids: &'static [(ResourceVerb, &'static str)],
    /// The path used by older clients, if it differs.
    pub legacy_path: &'static str,
    pub id_format: IdFormat,
    /// The sequence for short ids, if several resources share one; empty for a sequence of its own.
    pub sequence: &'static str,
    /// Whether short ids are random instead, so that they do not tell how many records there are.
    pub has_random_ids: bool,
    /// The error code for a missing record.
    pub not_found: &'static str,
    /// In the order in which they are rendered.
    pub fields: &'static [FieldSpec],
    pub filters: &'static [ListFilter],
    /// Fields to sort by, in addition to the standard ones.
    pub sort_fields: &'static [&'static str],
    /// Documented attributes to sort by that are the same for all records.
    pub constant_sorts: &'static [&'static str],
    /// The text field by which records are known to people, to sort and search by.
    pub name_field: &'static str,
    /// The default and the maximum number of records per page.
    pub page_size: (i64, i64),
    /// The maximum length of a name prefix to search for; 0 disables the search.
    pub max_name_prefix: usize,
    /// Whether records can be drafts, which lists omit.
    pub has_drafts: bool,
    /// Whether lists take `with_deleted` and `with_total_count`.
    pub supports_list_extras: bool,
    pub verbs: &'static [ResourceVerb],
    /// The maximum number of changes in one batch; 0 disables batches.
    pub max_batch_items: usize,
    /// The legacy `data_type` member of answers to batches; empty if there is none.
    pub batch_data_type: &'static str,
    /// The verbs allowed in a batch, if they differ from `verbs`.
    pub batch_verbs: &'static [ResourceVerb],
    pub read_role: RequiredRole,
    pub write_role: RequiredRole,
    pub input_format: InputFormat,
    pub rate_class: AdsRateClass,
    pub rules: &'static [ValidationRule],
    /// The feature an account needs to create and update records.
    pub feature_gate: Option<FeatureGate>,
    /// Runs after all changes of a request have been made.
    pub validate_batch: Option<BatchValidator>,
    pub delete_mode: DeleteMode,
    /// Constant members of the `params` echo.
    pub constant_echo: &'static [(&'static str, &'static str)],
    /// False if records are known by another key.
    pub shows_id: bool,
    pub shows_deleted: bool,
    /// The entity type in the account history; empty if changes are not recorded there.
    pub history_name: &'static str,
    /// The verbs available in the sandbox only.
    pub sandbox_verbs: &'static [ResourceVerb],
    pub list_guard: Option<ListGuard>,
    pub list_ranges: Option<ListRanges>,
    pub list_extension: Option<ListExtension>,
    /// Finds the record that a new one would duplicate: it is returned instead, and restored if it was
    /// deleted.
    pub find_duplicate: Option<DuplicateFinder>,
    pub compute_fields: Option<ComputedFields>,
    pub after_change: Option<AfterChangeHook>,
    /// On the resource of accounts: the resources whose records belong to an account.
    pub account_resources: &'static [&'static Resource],
}

/// Other resources whose records a list includes on request.
#[derive(Debug)]
pub struct ListExtension {
    /// The parameter that requests them.
    pub flag: &'static str,
    pub resources: &'static [&'static Resource],
    /// Their field that filters by id are compared with.
    pub id_field: &'static str,
}

/// Returns the problems of each change of a request, in order.
pub type BatchValidator = fn(&mut AccountContext<'_, '_>, &[RecordChange]) -> Result<Vec<Vec<AdsProblem>>, Error>;
pub type ListGuard = fn(&mut AccountContext<'_, '_>, &ParsedParams) -> Result<(), Error>;
/// Returns the ranges to which parameters that no field equals restrict a list.
pub type ListRanges = fn(&mut AccountContext<'_, '_>, &ParsedParams) -> Result<Vec<FieldRange>, Error>;
pub type AfterChangeHook = fn(&mut AccountContext<'_, '_>, &RecordChange) -> Result<(), Error>;
pub type DuplicateFinder = fn(&mut AccountContext<'_, '_>, &AdsRecord) -> Result<Option<AdsRecord>, Error>;
/// Returns additional members for each record, in order.
pub type ComputedFields =
    fn(&mut AccountContext<'_, '_>, &[AdsRecord]) -> Result<Vec<Vec<(&'static str, Value)>>, Error>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceVerb {
    List,
    Get,
    Create,
    Update,
    Delete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteMode {
    /// The record remains and is marked as deleted.
    Soft,
    /// The record is removed.
    Hard,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputFormat {
    /// Query or form parameters.
    Params,
    Json,
}

/// Rate limit classes (contract ads §1.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdsRateClass {
    /// 2,000 in 15 minutes.
    Standard,
    /// 10,000 in 15 minutes.
    High,
    /// 5 in 15 minutes: reference data shared by all accounts.
    Low,
    /// 400 in 15 minutes for all operations of the class, as for those below.
    Options,
    /// 500 in 15 minutes.
    KeywordInsights,
    /// 400 in 15 minutes.
    AudienceInsights,
    /// 250 in 15 minutes.
    Stats,
    PerMinute(u32),
    /// Requests in 15 minutes.
    PerQuarterHour(u32),
    /// Requests per minute for an account, whichever user makes them.
    AccountPerMinute(u32),
}

#[derive(Debug)]
pub enum ValidationRule {
    OnRecord(fn(&RecordChange) -> Result<(), AdsProblem>),
    /// Checks the record against the one this field refers to.
    OnReference(&'static str, fn(&RecordChange, &AdsRecord) -> Result<(), AdsProblem>),
    /// Runs with access to the store; may set fields that clients do not send.
    InContext(fn(&mut AccountContext<'_, '_>, &mut RecordChange) -> Result<(), Error>),
}

impl Resource {
    /// Whether lists can be sorted or searched beyond their filters.
    pub fn has_wide_listing(&self) -> bool {
        self.max_name_prefix > 0 || !self.sort_fields.is_empty()
    }

    /// The label with its indefinite article: `an app list`.
    pub fn label_with_article(&self) -> String {
        let article = if self.label.starts_with(['a', 'e', 'i', 'o', 'A']) { "an" } else { "a" };
        format!("{article} {}", self.label)
    }

    /// Numeric fields that lists filter by, and references.
    pub fn indexed_number_fields(&self) -> Vec<&'static str> {
        let fields = self.fields.iter().filter(|field| {
            let filtered = |filter: &ListFilter| filter.field == field.name.post;
            let is_indexable = field.kind.is_number() && !field.kind.is_list();
            is_indexable && (field.target().is_some() || self.filters.iter().any(filtered))
        });
        fields.map(|field| field.name.post).collect()
    }

    pub const DEFAULT: Self = Self {
        name: "",
        id: VocabularyWord::same_in_both(""),
        path: "",
        label: "",
        operation_ids: &[],
        legacy_path: "",
        id_format: IdFormat::Short,
        sequence: "",
        has_random_ids: false,
        not_found: "NOT_FOUND",
        fields: &[],
        filters: &[],
        sort_fields: &[],
        constant_sorts: &[],
        name_field: "name",
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
        batch_data_type: "",
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
        shows_id: true,
        shows_deleted: true,
        history_name: "",
        sandbox_verbs: &[],
        list_guard: None,
        list_ranges: None,
        list_extension: None,
        find_duplicate: None,
        compute_fields: None,
        after_change: None,
        account_resources: &[],
    };

    pub fn supports(&self, verb: ResourceVerb) -> bool {
        self.verbs.contains(&verb)
    }

    /// Whether a batch may contain the verb.
    pub fn supports_in_batch(&self, verb: ResourceVerb) -> bool {
        if self.batch_verbs.is_empty() {
            return self.supports(verb);
        }
        self.batch_verbs.contains(&verb)
    }

    /// Finds a field by its name in the posts vocabulary.
    pub fn field(&self, name: &str) -> Option<&'static FieldSpec> {
        self.fields.iter().find(|field| field.name.post == name)
    }
}
