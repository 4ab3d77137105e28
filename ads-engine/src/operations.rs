//! All operations derived from the declarations: paths, parameters and required roles.

use base::VocabularyWord;
use serde_json::Value;

use crate::access::RequiredRole;
use crate::declaration::{
    AdsRateClass, CustomOperation, DefaultValue, FieldRequirement, FieldSpec, InputFormat, ListFilter, ReferenceList,
    Resource, ResourceVerb,
};
use crate::field_kind::FieldKind;

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
    pub params: &'static [OperationParam],
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationParamLocation {
    Path,
    /// The query, a form, or a JSON body.
    Input,
}

#[derive(Clone, Debug)]
pub struct OperationParam {
    pub name: VocabularyWord,
    /// Alternative names.
    pub aliases: &'static [&'static str],
    pub location: OperationParamLocation,
    pub kind: FieldKind,
    pub requirement: FieldRequirement,
    pub default_value: Option<Value>,
    /// Whether the default appears in the echo.
    pub echoes_default: bool,
    /// Whether an empty value clears the field.
    pub may_be_unset: bool,
}

impl OperationParam {
    fn input_param(name: VocabularyWord, kind: FieldKind) -> Self {
        Self {
            name,
            aliases: &[],
            location: OperationParamLocation::Input,
            kind,
            requirement: FieldRequirement::Optional,
            default_value: None,
            echoes_default: false,
            may_be_unset: false,
        }
    }

    fn path_param(name: VocabularyWord, kind: FieldKind) -> Self {
        Self {
            location: OperationParamLocation::Path,
            requirement: FieldRequirement::Required,
            ..Self::input_param(name, kind)
        }
    }

    fn with_default(self, value: impl Into<Value>) -> Self {
        Self { default_value: Some(value.into()), echoes_default: true, ..self }
    }

    fn from_field(field: &FieldSpec, requirement: FieldRequirement, is_new: bool) -> Self {
        Self {
            aliases: field.aliases,
            requirement,
            may_be_unset: !is_new && field.create != FieldRequirement::Required,
            ..Self::input_param(field.name, field.kind)
        }
    }

    pub fn has_name(&self, name: &str) -> bool {
        self.name.matches(name) || self.aliases.contains(&name)
    }

    /// The name in a vocabulary.
    pub fn localized_name(&self, vocabulary: base::Vocabulary) -> String {
        self.name.name_in(vocabulary).to_owned()
    }
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
                | AdsRateClass::Low
                | AdsRateClass::Options
                | AdsRateClass::Insights
                | AdsRateClass::Stats => false,
            }
    }

    /// Whether requests count against the account only.
    pub const fn is_limited_per_account_only(&self) -> bool {
        matches!(self.rate_class, AdsRateClass::AccountPerMinute(_))
    }

    /// The resource of accounts, if the path names one.
    pub fn account_resource(&self) -> Option<&'static Resource> {
        self.params.iter().find_map(|param| match param.kind {
            FieldKind::Reference(accounts, _) if param.name.matches("account_id") => Some(accounts),
            _ => None,
        })
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

fn leak_str(text: String) -> &'static str {
    String::leak(text)
}

fn leak_slice<T>(all: Vec<T>) -> &'static [T] {
    Vec::leak(all)
}

fn resource_operations(accounts: &'static Resource, resource: &'static Resource) -> Vec<AdsOperation> {
    let verbs = resource.verbs.iter();
    let mut all: Vec<AdsOperation> = verbs.map(|verb| verb_operation((accounts, resource), *verb)).collect();
    if resource.max_batch_items > 0 {
        let path = format!("/12/batch/accounts/{{account_id}}/{}", resource.path);
        let more = (!resource.legacy_path.is_empty()).then(|| path.replace(resource.path, resource.legacy_path));
        all.push(AdsOperation {
            id: leak_str(format!("batchAds{}", pascal_case(resource.path))),
            method: "POST",
            aliases: legacy_paths(&path, &more.into_iter().collect::<Vec<_>>()),
            path: leak_str(path),
            summary: leak_str(format!(
                "Up to {} changes of {}s in one request: all or none.",
                resource.max_batch_items, resource.label
            )),
            action: OperationAction::Batch(resource),
            required_role: resource.write_role,
            sandbox_only: false,
            params: leak_slice(vec![account_param(accounts)]),
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
        ResourceVerb::Get => ("GET", one, "getAds", format!("A {}.", resource.label)),
        ResourceVerb::Create => ("POST", base, "createAds", format!("Creates a {}.", resource.label)),
        ResourceVerb::Update => ("PUT", one, "updateAds", format!("Changes a {}.", resource.label)),
        ResourceVerb::Delete => ("DELETE", one, "deleteAds", format!("Deletes a {}.", resource.label)),
    };
    let name = match verb {
        ResourceVerb::List => pascal_case(resource.path),
        _ => pascal_case(resource.name),
    };
    let known_id = resource.operation_ids.iter().find(|(known, _)| *known == verb).map(|(_, id)| *id);
    let reads = matches!(verb, ResourceVerb::List | ResourceVerb::Get);
    AdsOperation {
        id: known_id.unwrap_or_else(|| leak_str(format!("{id}{name}"))),
        method,
        aliases: legacy_paths(&path, &[]),
        path: leak_str(path),
        summary: leak_str(about),
        action: OperationAction::Verb(resource, verb),
        required_role: if reads { resource.read_role } else { resource.write_role },
        sandbox_only: resource.sandbox_verbs.contains(&verb),
        params: leak_slice(verb_params((accounts, resource), verb)),
        rate_class: if reads { resource.rate_class } else { AdsRateClass::PerMinute(450) },
        is_write: !reads,
        uses_search: false,
    }
}

/// The parameters of a resource's operation: the only source for validation and the OpenAPI document.
fn verb_params(
    (accounts, resource): (&'static Resource, &'static Resource),
    verb: ResourceVerb,
) -> Vec<OperationParam> {
    let mut all = vec![account_param(accounts)];
    if matches!(verb, ResourceVerb::Get | ResourceVerb::Update | ResourceVerb::Delete) {
        all.push(OperationParam::path_param(resource.id, FieldKind::Reference(resource, false)));
    }
    let deleted =
        || OperationParam::input_param(VocabularyWord::same_in_both("with_deleted"), FieldKind::Bool).with_default(0);
    match verb {
        ResourceVerb::List => all.extend(list_params(resource)),
        ResourceVerb::Get if resource.supports_list_extras => all.push(deleted()),
        ResourceVerb::Get | ResourceVerb::Delete => {}
        ResourceVerb::Create => all.extend(field_params(resource, true)),
        ResourceVerb::Update => all.extend(field_params(resource, false)),
    }
    all
}

fn list_params(resource: &'static Resource) -> Vec<OperationParam> {
    let same = |name| VocabularyWord::same_in_both(name);
    let (usual, most) = resource.page_size;
    let mut all: Vec<OperationParam> = resource.filters.iter().map(filter_param).collect();
    all.push(OperationParam::input_param(same("count"), FieldKind::Int(1, most)).with_default(usual));
    all.push(OperationParam::input_param(same("cursor"), FieldKind::Text(1, 512)));
    all.push(OperationParam::input_param(same("sort_by"), FieldKind::Texts(5, 100)));
    if resource.max_name_prefix > 0 {
        all.push(OperationParam::input_param(same("q"), FieldKind::Text(1, resource.max_name_prefix)));
    }
    if resource.has_drafts {
        all.push(OperationParam::input_param(same("with_draft"), FieldKind::Bool).with_default(0));
    }
    if resource.supports_list_extras {
        all.push(OperationParam::input_param(same("with_deleted"), FieldKind::Bool).with_default(0));
        all.push(OperationParam::input_param(same("with_total_count"), FieldKind::Bool).with_default(0));
    }
    all
}

fn filter_param(filter: &ListFilter) -> OperationParam {
    OperationParam {
        aliases: filter.aliases,
        requirement: if filter.required { FieldRequirement::Required } else { FieldRequirement::Optional },
        ..OperationParam::input_param(filter.name, filter.kind)
    }
}

/// The fields that may be sent on create, or on update.
pub fn field_params(resource: &Resource, is_new: bool) -> Vec<OperationParam> {
    let need = |field: &FieldSpec| if is_new { field.create } else { field.update };
    let fields = resource.fields.iter();
    let fields = fields.filter(|field| need(field) != FieldRequirement::Ignored);
    fields.map(|field| OperationParam::from_field(field, need(field), is_new)).collect()
}

fn account_param(accounts: &'static Resource) -> OperationParam {
    OperationParam::path_param(VocabularyWord::same_in_both("account_id"), FieldKind::Reference(accounts, false))
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
        let param = OperationParam::from_field(field, need, !changes);
        let param = match field.default_value {
            DefaultValue::Empty => param,
            // An update leaves omitted fields unchanged.
            _ if changes => param,
            start => param.with_default(start.to_value(field.kind)),
        };
        let place = if names.iter().any(|name| field.name.matches(name)) {
            OperationParamLocation::Path
        } else {
            OperationParamLocation::Input
        };
        all.push(OperationParam { location: place, ..param });
    }
    AdsOperation {
        id: custom.id,
        method: custom.method,
        aliases: legacy_paths(&path, &more),
        path: leak_str(path),
        summary: custom.summary,
        action: OperationAction::Custom(custom),
        required_role: custom.required_role,
        sandbox_only: custom.sandbox_only,
        params: leak_slice(all),
        rate_class: custom.rate_class,
        is_write: custom.is_write,
        uses_search: custom.uses_search,
    }
}

fn reference_operation(reference: &'static ReferenceList) -> AdsOperation {
    let path = format!("/12{}", reference.path);
    let mut all: Vec<OperationParam> =
        reference.filters.iter().map(|(field, _)| OperationParam::from_field(field, field.create, true)).collect();
    if let Some((usual, most)) = reference.page_size {
        all.push(
            OperationParam::input_param(VocabularyWord::same_in_both("count"), FieldKind::Int(1, most))
                .with_default(usual),
        );
        all.push(OperationParam::input_param(VocabularyWord::same_in_both("cursor"), FieldKind::Text(1, 512)));
        all.push(
            OperationParam::input_param(VocabularyWord::same_in_both("with_total_count"), FieldKind::Bool)
                .with_default(0),
        );
    }
    if reference.searches_names {
        all.push(OperationParam::input_param(VocabularyWord::same_in_both("q"), FieldKind::Text(1, 255)));
    }
    AdsOperation {
        id: reference.id,
        method: "GET",
        aliases: legacy_paths(&path, &[]),
        path: leak_str(path),
        summary: reference.summary,
        action: OperationAction::Reference(reference),
        required_role: RequiredRole::Anyone,
        sandbox_only: false,
        params: leak_slice(all),
        rate_class: reference.rate_class,
        is_write: false,
        uses_search: false,
    }
}

/// Version 11 of the API is an alias of version 12.
fn legacy_paths(path: &str, aliases: &[String]) -> &'static [&'static str] {
    let mut all: Vec<&'static str> = aliases.iter().map(|path| leak_str(path.clone())).collect();
    for path in std::iter::once(path).chain(aliases.iter().map(String::as_str)) {
        if let Some(rest) = path.strip_prefix("/12") {
            all.push(leak_str(format!("/11{rest}")));
        }
    }
    leak_slice(all)
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
