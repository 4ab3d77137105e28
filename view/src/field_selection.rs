//! Field and expansion parameters, parsed once per request into bit masks over the field tables.

use std::borrow::Cow;

use base::refusal::InvalidParameter;
use base::{Refusal, SiteLinks, Vocabulary, VocabularyWord};

use crate::field_schema::{Expansion, ExpansionTarget, FieldInclusion};
use crate::object::{IncludedKind, ObjectKind, RenderedObject};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FieldSelection {
    root: ObjectKind,
    /// Requested fields of `root`, unless it can be included.
    root_fields: u64,
    /// Requested fields of the objects that can be included, by [`IncludedKind`].
    included_fields: [u64; IncludedKind::COUNT],
    /// Fields that the requested expansions go through.
    expansion_fields: u64,
    /// Likewise for the referenced posts.
    nested_fields: u64,
    expansions: u32,
    /// Whether all public fields are selected.
    is_complete: bool,
    has_post_names: bool,
    has_tweet_names: bool,
    email_allowed: bool,
    site: SiteLinks,
}

impl FieldSelection {
    /// The default fields of an operation whose primary objects are of type `root`.
    pub const fn defaults(root: ObjectKind) -> Self {
        Self {
            root,
            root_fields: 0,
            included_fields: [0; IncludedKind::COUNT],
            expansion_fields: 0,
            nested_fields: 0,
            expansions: 0,
            is_complete: false,
            has_post_names: false,
            has_tweet_names: false,
            email_allowed: false,
            site: SiteLinks::without_short_links(""),
        }
    }

    /// All public fields of `root` and all expansions of a vocabulary, for events, which have no field
    /// parameters.
    pub fn all_public_fields(root: ObjectKind, vocabulary: Vocabulary) -> Self {
        let mut selection = Self::public_fields_only(root);
        for (index, expansion) in root.expansions().enumerate() {
            if !expansion.name.name_in(vocabulary).is_empty() {
                selection.expansions |= 1 << index;
            }
        }
        selection
    }

    /// Like [`Self::all_public_fields`] without expansions.
    pub const fn public_fields_only(root: ObjectKind) -> Self {
        Self { is_complete: true, ..Self::defaults(root) }
    }

    pub const fn set_site(&mut self, site: SiteLinks) {
        self.site = site;
    }

    pub const fn site(&self) -> SiteLinks {
        self.site
    }

    /// Parses a `*.fields` parameter; `parameter` is its name as the client wrote it.
    pub fn add_fields_param(&mut self, object: ObjectKind, parameter: &str, value: &str) -> Result<(), Refusal> {
        self.detect_vocabulary(object.fields_param(), parameter);
        let (mut wrong, mut requested) = (Vec::new(), 0);
        for name in value.split(',') {
            let mut fields = object.fields().enumerate();
            let found =
                fields.find(|(_, field)| field.name.matches(name) && field.inclusion != FieldInclusion::Expanded);
            let Some((index, field)) = found else {
                wrong.push(name);
                continue;
            };
            self.detect_vocabulary(field.name, name);
            requested |= 1 << index;
        }
        if let Some(kind) = object.included_kind() {
            if let Some(fields) = self.included_fields.get_mut(kind.index()) {
                *fields |= requested;
            }
        } else if object == self.root {
            self.root_fields |= requested;
        }
        reject_unknown_names(parameter, &wrong, || object.field_names())
    }

    pub fn add_expansions_param(&mut self, parameter: &str, value: &str) -> Result<(), Refusal> {
        let mut wrong = Vec::new();
        for name in value.split(',') {
            let mut expansions = self.root.expansions().enumerate();
            let found = expansions.find(|(_, expansion)| !name.is_empty() && expansion.name.matches(name));
            let Some((index, expansion)) = found else {
                wrong.push(name);
                continue;
            };
            self.detect_vocabulary(expansion.name, name);
            self.select_expansion(index, expansion);
            if expansion.nested {
                self.select_passed_expansions(name);
            }
        }
        reject_unknown_names(parameter, &wrong, || self.root.expansion_names())
    }

    fn select_expansion(&mut self, index: usize, expansion: &Expansion) {
        self.expansions |= 1 << index;
        // Only posts refer to posts.
        let fields = if expansion.nested { &mut self.nested_fields } else { &mut self.expansion_fields };
        *fields |= self.root.field_bit(expansion.field);
    }

    /// Selects the expansions that lead to the object at which a nested one starts: `referenced_tweets.id` for
    /// `referenced_tweets.id.author_id`.
    fn select_passed_expansions(&mut self, nested: &str) {
        for (index, expansion) in self.root.expansions().enumerate() {
            let rest = nested.strip_prefix(expansion.name.tweet);
            if rest.is_some_and(|rest| rest.starts_with('.')) {
                self.select_expansion(index, expansion);
            }
        }
    }

    /// Allows rendering the user's own confirmed email address: the token has the scope `users.email`, or it
    /// has no scopes and the app has the permission.
    pub const fn allow_email(&mut self) {
        self.email_allowed = true;
    }

    /// The vocabulary used by the parameter names. If both were used, posts: generated clients of the newer
    /// API generation still send `tweet.fields` on streams.
    pub const fn detected_vocabulary(&self) -> Option<Vocabulary> {
        match (self.has_post_names, self.has_tweet_names) {
            (true, _) => Some(Vocabulary::Post),
            (false, true) => Some(Vocabulary::Tweet),
            (false, false) => None,
        }
    }

    pub const fn root(&self) -> ObjectKind {
        self.root
    }

    pub(crate) const fn is_email_allowed(&self) -> bool {
        self.email_allowed
    }

    pub(crate) fn is_root<T: RenderedObject>(&self) -> bool {
        self.root == T::KIND
    }

    /// The fields of primary objects.
    pub(crate) fn root_mask<T: RenderedObject>(&self) -> u64 {
        self.object_mask::<T>() | self.expansion_fields
    }

    /// The fields of objects in `includes`.
    pub(crate) fn included_mask<T: RenderedObject>(&self) -> u64 {
        let nested = if T::KIND.included_kind() == Some(IncludedKind::Post) { self.nested_fields } else { 0 };
        self.object_mask::<T>() | nested
    }

    fn object_mask<T: RenderedObject>(&self) -> u64 {
        let requested = match T::KIND.included_kind() {
            Some(kind) => self.included_fields.get(kind.index()).copied().unwrap_or(0),
            None => self.root_fields,
        };
        requested | if self.is_complete { T::PUBLIC_MASK | T::DEFAULT_MASK } else { T::DEFAULT_MASK }
    }

    /// Visits the targets of the requested expansions of primary objects, or of the posts they refer to,
    /// expansion by expansion.
    pub(crate) fn visit_targets<'a, T: RenderedObject>(
        &self,
        objects: impl Iterator<Item = T::Context<'a>> + Clone,
        nested: bool,
        mut visit: impl FnMut(&'static Expansion, ExpansionTarget<'a>),
    ) {
        if self.expansions == 0 || !self.is_root::<T>() {
            return;
        }
        let mut targets = Vec::new();
        for (index, expansion) in T::EXPANSIONS.iter().enumerate() {
            let definition = &expansion.definition;
            if self.expansions >> index & 1 == 1
                && definition.nested == nested
                && let Some(resolve) = expansion.resolver
            {
                objects.clone().for_each(|object| resolve(object, &mut targets));
                targets.drain(..).for_each(|target| visit(definition, target));
            }
        }
    }

    fn detect_vocabulary(&mut self, word: VocabularyWord, name: &str) {
        match word.detect_vocabulary(name) {
            Some(Vocabulary::Post) => self.has_post_names = true,
            Some(Vocabulary::Tweet) => self.has_tweet_names = true,
            None => {}
        }
    }
}

fn reject_unknown_names(
    parameter: &str,
    wrong: &[&str],
    names: impl FnOnce() -> Vec<&'static str>,
) -> Result<(), Refusal> {
    if wrong.is_empty() {
        return Ok(());
    }
    let names = names().join(",");
    let say = |value: &&str| InvalidParameter {
        parameter: Cow::Owned(parameter.to_owned()),
        values: vec![(*value).to_owned()],
        message: format!("The `{parameter}` query parameter value [{value}] is not one of [{names}]"),
    };
    Err(Refusal::InvalidParameters(wrong.iter().map(say).collect()))
}
