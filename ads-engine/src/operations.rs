//! All operations derived from the declarations: paths, parameters and required roles.

use base::{Scope, VocabularyWord};
use schema::{DefaultValue, FieldRequirement, Kind, Parameter, ParameterLocation};

use crate::access::RequiredRole;
use crate::declaration::{
    AdsRateClass, CustomOperation, FieldSpec, InputFormat, MAX_CURSOR_CHARS, ReferenceList, Resource, ResourceVerb,
};

#[derive(Debug)]
pub struct AdsOperation {
    pub id: &'static str,
    pub method: &'static str,
    /// The path with `{name}` for parameters.
    pub path: &'static str,
    /// Alternative paths.
    pub aliases: &'static [&'static str],
    pub summary: &'static str,
    pub action: OperationAction,
    pub required_role: RequiredRole,
    pub sandbox_only: bool,
    pub params: &'static [Parameter],
    pub rate_class: AdsRateClass,
    pub is_write: bool,
    /// Whether the operation needs the search index.
    pub uses_search: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum OperationAction {
    Verb(&'static Resource, ResourceVerb),
    Batch(&'static Resource),
    Custom(&'static CustomOperation),
    Reference(&'static ReferenceList),
}

impl AdsOperation {
    pub fn takes_json(&self) -> bool {
        match self.action {
            OperationAction::Batch(_) => true,
            OperationAction::Verb(resource, ResourceVerb::Create | ResourceVerb::Update) => {
                resource.input_format == InputFormat::Json
            }
            OperationAction::Verb(..) | OperationAction::Reference(_) => false,
            OperationAction::Custom(custom) => custom.input_format == InputFormat::Json,
        }
    }

    /// Of an access token. Statistics are worked out for those who read.
    pub fn required_scope(&self) -> Scope {
        if self.is_write && self.required_role != RequiredRole::StatsReader { Scope::AdsWrite } else { Scope::AdsRead }
    }

    /// The maximum body size in bytes, if it is not the default.
    pub const fn body_limit(&self) -> Option<usize> {
        match self.action {
            OperationAction::Custom(custom) if custom.body_limit > 0 => Some(custom.body_limit),
            _ => None,
        }
    }

    /// Whether requests also count against a limit per account (contract ads §1.8).
    pub fn is_limited_per_account(&self) -> bool {
        let of_account = self.path.contains("{account_id}");
        of_account
            && match self.rate_class {
                AdsRateClass::Standard | AdsRateClass::High | AdsRateClass::AccountPerMinute(_) => true,
                // Writes count against the user only.
                AdsRateClass::PerMinute(_)
                | AdsRateClass::PerQuarterHour(_)
                | AdsRateClass::Low
                | AdsRateClass::Options
                | AdsRateClass::KeywordInsights
                | AdsRateClass::AudienceInsights
                | AdsRateClass::Stats => false,
            }
    }

    /// Whether requests count against the account only.
    pub const fn is_limited_per_account_only(&self) -> bool {
        matches!(self.rate_class, AdsRateClass::AccountPerMinute(_))
    }

    /// Whether it lists what is the same for all accounts.
    pub const fn is_reference_list(&self) -> bool {
        matches!(self.rate_class, AdsRateClass::Low)
    }

    /// The resource of accounts, if the path names one.
    pub fn account_resource(&self) -> Option<&'static Resource> {
        let mut params = self.params.iter();
        params.find(|param| param.name.matches("account_id")).and_then(|param| param.kind.downcast())
    }

    pub fn supports_totals(&self) -> bool {
        self.params.iter().any(|param| param.name.matches("with_total_count"))
    }
}

/// All operations on the accounts of a server.
pub fn derive_operations(
    accounts: &'static Resource,
    resources: &[&'static Resource],
    custom_operations: impl Iterator<Item = &'static CustomOperation>,
    references: impl Iterator<Item = &'static ReferenceList>,
) -> Vec<AdsOperation> {
    let resources = resources.iter().flat_map(|resource| resource_operations(accounts, resource));
    let custom = custom_operations.map(|custom| custom_operation(accounts, custom));
    resources.chain(custom).chain(references.map(reference_operation)).collect()
}

fn resource_operations(accounts: &'static Resource, resource: &'static Resource) -> Vec<AdsOperation> {
    let verbs = resource.verbs.iter();
    let mut all: Vec<AdsOperation> = verbs.map(|verb| verb_operation((accounts, resource), *verb)).collect();
    if resource.max_batch_items > 0 {
        let path = format!("/12/batch/accounts/{{account_id}}/{}", resource.path);
        all.push(AdsOperation {
            id: format!("batchAds{}", pascal_case(resource.path)).leak(),
            method: "POST",
            aliases: resource_aliases(resource, &path),
            path: path.leak(),
            summary: format!(
                "Up to {} changes of {}s in one request: all or none.",
                resource.max_batch_items, resource.label
            )
            .leak(),
            action: OperationAction::Batch(resource),
            required_role: resource.write_role,
            sandbox_only: false,
            params: vec![account_param(accounts)].leak(),
            rate_class: AdsRateClass::PerMinute(450),
            is_write: true,
            uses_search: false,
        });
    }
    all
}

fn verb_operation((accounts, resource): (&'static Resource, &'static Resource), verb: ResourceVerb) -> AdsOperation {
    let base = format!("/12/accounts/{{account_id}}/{}", resource.path);
    let one = format!("{base}/{{{}}}", resource.id.post);
    let (method, path, id, about) = match verb {
        ResourceVerb::List => ("GET", base, "getAds", format!("A page of {}s.", resource.label)),
        ResourceVerb::Get => ("GET", one, "getAds", sentence(&resource.label_with_article())),
        ResourceVerb::Create => ("POST", base, "createAds", format!("Creates {}.", resource.label_with_article())),
        ResourceVerb::Update => ("PUT", one, "updateAds", format!("Changes {}.", resource.label_with_article())),
        ResourceVerb::Delete => ("DELETE", one, "deleteAds", format!("Deletes {}.", resource.label_with_article())),
    };
    let name = match verb {
        ResourceVerb::List => pascal_case(resource.path),
        _ => pascal_case(resource.name),
    };
    let known_id = resource.operation_ids.iter().find(|(known, _)| *known == verb).map(|(_, id)| *id);
    let reads = matches!(verb, ResourceVerb::List | ResourceVerb::Get);
    AdsOperation {
        id: known_id.unwrap_or_else(|| format!("{id}{name}").leak()),
        method,
        aliases: resource_aliases(resource, &path),
        path: path.leak(),
        summary: about.leak(),
        action: OperationAction::Verb(resource, verb),
        required_role: if reads { resource.read_role } else { resource.write_role },
        sandbox_only: resource.sandbox_verbs.contains(&verb),
        params: verb_params((accounts, resource), verb).leak(),
        rate_class: if reads { resource.rate_class } else { AdsRateClass::PerMinute(450) },
        is_write: !reads,
        uses_search: false,
    }
}

/// The parameters of a resource's operation: the only source for validation and the OpenAPI document.
fn verb_params((accounts, resource): (&'static Resource, &'static Resource), verb: ResourceVerb) -> Vec<Parameter> {
    let mut all = vec![account_param(accounts)];
    if matches!(verb, ResourceVerb::Get | ResourceVerb::Update | ResourceVerb::Delete) {
        all.push(path_param(resource.id, resource));
    }
    match verb {
        ResourceVerb::List => all.extend(list_params(resource)),
        ResourceVerb::Get if resource.supports_list_extras => all.push(flag_param("with_deleted")),
        ResourceVerb::Get | ResourceVerb::Delete => {}
        ResourceVerb::Create => all.extend(field_params(resource, true)),
        ResourceVerb::Update => all.extend(field_params(resource, false)),
    }
    all
}

fn list_params(resource: &'static Resource) -> Vec<Parameter> {
    let (usual, most) = resource.page_size;
    let mut all: Vec<Parameter> = resource.filters.iter().map(|filter| filter.parameter).collect();
    all.push(Parameter::query("count", Kind::int(1, most), "").default_number(usual));
    all.push(Parameter::query("cursor", Kind::text(1, MAX_CURSOR_CHARS), ""));
    all.push(Parameter::query("sort_by", Kind::text(1, 100).list(1, 5), ""));
    if resource.max_name_prefix > 0 {
        all.push(Parameter::query("q", Kind::text(1, resource.max_name_prefix), ""));
    }
    if resource.has_drafts {
        all.push(flag_param("with_draft"));
    }
    if resource.supports_list_extras {
        all.push(flag_param("with_deleted"));
        all.push(flag_param("with_total_count"));
    }
    all
}

/// The fields that may be sent on create, or on update.
pub fn field_params(resource: &Resource, is_new: bool) -> Vec<Parameter> {
    let need = |field: &FieldSpec| if is_new { field.create } else { field.update };
    let fields = resource.fields.iter();
    let fields = fields.filter(|field| need(field) != FieldRequirement::Ignored);
    fields.map(|field| field.to_parameter(need(field), is_new)).collect()
}

fn path_param(name: VocabularyWord, target: &'static Resource) -> Parameter {
    Parameter { name, ..Parameter::path("", Kind::custom(target), "") }
}

/// Off by default.
fn flag_param(name: &'static str) -> Parameter {
    Parameter { default_value: DefaultValue::Flag(false), ..Parameter::query(name, Kind::BOOL, "") }
}

fn account_param(accounts: &'static Resource) -> Parameter {
    path_param(VocabularyWord::same_in_both("account_id"), accounts)
}

fn custom_operation(accounts: &'static Resource, custom: &'static CustomOperation) -> AdsOperation {
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
    let names: Vec<&str> = path.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect();
    let mut all = Vec::new();
    if names.contains(&"account_id") {
        all.push(account_param(accounts));
    }
    for field in custom.params {
        let changes = custom.method == "PUT";
        let need = if changes { field.update } else { field.create };
        let param = field.to_parameter(need, !changes);
        // An update leaves omitted fields unchanged.
        let default_value = if changes { DefaultValue::Empty } else { field.default_value };
        let place = if names.iter().any(|name| field.name.matches(name)) {
            ParameterLocation::Path
        } else {
            ParameterLocation::Query
        };
        all.push(Parameter { location: place, default_value, ..param });
    }
    AdsOperation {
        id: custom.id,
        method: custom.method,
        aliases: legacy_paths(&path, &more),
        path: path.leak(),
        summary: custom.summary,
        action: OperationAction::Custom(custom),
        required_role: custom.required_role,
        sandbox_only: custom.sandbox_only,
        params: all.leak(),
        rate_class: custom.rate_class,
        is_write: custom.is_write,
        uses_search: custom.uses_search,
    }
}

fn reference_operation(reference: &'static ReferenceList) -> AdsOperation {
    let path = format!("/12{}", reference.path);
    let mut all: Vec<Parameter> =
        reference.filters.iter().map(|(field, _)| field.to_parameter(field.create, true)).collect();
    if let Some((usual, most)) = reference.page_size {
        all.push(Parameter::query("count", Kind::int(1, most), "").default_number(usual));
        all.push(Parameter::query("cursor", Kind::text(1, MAX_CURSOR_CHARS), ""));
        all.push(flag_param("with_total_count"));
    }
    if reference.searches_names {
        all.push(Parameter::query("q", Kind::text(1, 255), ""));
    }
    AdsOperation {
        id: reference.id,
        method: "GET",
        aliases: legacy_paths(&path, &[]),
        path: path.leak(),
        summary: reference.summary,
        action: OperationAction::Reference(reference),
        required_role: RequiredRole::Anyone,
        sandbox_only: false,
        params: all.leak(),
        rate_class: reference.rate_class,
        is_write: false,
        uses_search: false,
    }
}

fn resource_aliases(resource: &Resource, path: &str) -> &'static [&'static str] {
    let segment = |name: &str| format!("/{name}");
    let legacy = (!resource.legacy_path.is_empty())
        .then(|| path.replacen(&segment(resource.path), &segment(resource.legacy_path), 1));
    legacy_paths(path, &Vec::from_iter(legacy))
}

/// Version 11 of the API is an alias of version 12.
fn legacy_paths(path: &str, aliases: &[String]) -> &'static [&'static str] {
    let mut all: Vec<&'static str> = aliases.iter().map(|path| &*path.clone().leak()).collect();
    for path in std::iter::once(path).chain(aliases.iter().map(String::as_str)) {
        if let Some(rest) = path.strip_prefix("/12") {
            all.push(format!("/11{rest}").leak());
        }
    }
    all.leak()
}

/// With a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

/// Turns `promoted_<posts>` into `PromotedPosts`.
pub fn pascal_case(name: &str) -> String {
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
