//! Field and expansion parameters, parsed once per request into bit masks over the field tables.

use std::borrow::Cow;

use base::refusal::InvalidParameter;
use base::{Refusal, Vocabulary, VocabularyWord};

use crate::ObjectKind;
use crate::field_schema::{Expansion, FieldAudience, FieldDefinition, FieldInclusion};

const KIND_COUNT: usize = ObjectKind::ALL.len();
const DEFAULT_MASKS: [u64; KIND_COUNT] = default_masks();

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FieldSelection {
    root: ObjectKind,
    fields: [u64; KIND_COUNT],
    /// Fields that the requested expansions go through.
    expansion_fields: u64,
    /// Likewise for the referenced posts.
    nested_fields: u64,
    expansions: u32,
    has_post_names: bool,
    has_tweet_names: bool,
    email_allowed: bool,
    site: &'static str,
}

impl FieldSelection {
    /// The default fields of an operation whose primary objects are of kind `root`.
    pub const fn defaults(root: ObjectKind) -> Self {
        Self {
            root,
            fields: DEFAULT_MASKS,
            expansion_fields: 0,
            nested_fields: 0,
            expansions: 0,
            has_post_names: false,
            has_tweet_names: false,
            email_allowed: false,
            site: "",
        }
    }

    /// All public fields of `root` and all expansions of a vocabulary, for events, which have no field
    /// parameters.
    pub fn all_public_fields(root: ObjectKind, vocabulary: Vocabulary) -> Self {
        let mut selection = Self::defaults(root);
        for kind in ObjectKind::ALL {
            let public = audience_mask(kind.fields(), FieldAudience::Anyone);
            if let Some(mask) = selection.fields.get_mut(kind.index()) {
                *mask |= public;
            }
        }
        for (index, expansion) in root.expansions().iter().enumerate() {
            if !expansion.name.name_in(vocabulary).is_empty() {
                selection.expansions |= 1 << index;
            }
        }
        selection
    }

    /// Like [`Self::all_public_fields`] without expansions.
    pub fn public_fields_only(root: ObjectKind) -> Self {
        let whole = Self::all_public_fields(root, Vocabulary::Post);
        Self { expansions: 0, ..whole }
    }

    pub const fn set_site(&mut self, site: &'static str) {
        self.site = site;
    }

    /// The base URL of the platform's own files, without a trailing slash.
    pub const fn site(&self) -> &'static str {
        self.site
    }

    /// Parses a `*.fields` parameter; `parameter` is its name as the client wrote it.
    pub fn add_fields_param(&mut self, object: ObjectKind, parameter: &str, value: &str) -> Result<(), Refusal> {
        self.detect_vocabulary(object.fields_param(), parameter);
        let fields = object.fields();
        let mut wrong = Vec::new();
        for name in value.split(',') {
            let found =
                find_row(fields, |field| field.name.matches(name) && field.inclusion != FieldInclusion::Expanded);
            let Some((index, field)) = found else {
                wrong.push(name);
                continue;
            };
            self.detect_vocabulary(field.name, name);
            if let Some(mask) = self.fields.get_mut(object.index()) {
                *mask |= 1 << index;
            }
        }
        reject_unknown_names(parameter, &wrong, || object.field_names())
    }

    pub fn add_expansions_param(&mut self, parameter: &str, value: &str) -> Result<(), Refusal> {
        let expansions = self.root.expansions();
        let mut wrong = Vec::new();
        for name in value.split(',') {
            let found = find_row(expansions, |expansion| !name.is_empty() && expansion.name.matches(name));
            let Some((index, expansion)) = found else {
                wrong.push(name);
                continue;
            };
            self.detect_vocabulary(expansion.name, name);
            self.expansions |= 1 << index;
            if expansion.nested {
                self.nested_fields |= field_bit(ObjectKind::Post, expansion.field);
            } else {
                self.expansion_fields |= field_bit(self.root, expansion.field);
            }
        }
        reject_unknown_names(parameter, &wrong, || self.root.expansion_names())
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

    pub(crate) fn root_mask(&self) -> u64 {
        self.kind_mask(self.root) | self.expansion_fields
    }

    /// The fields of objects in `includes`.
    pub(crate) fn included_mask(&self, object: ObjectKind) -> u64 {
        let nested = if object == ObjectKind::Post { self.nested_fields } else { 0 };
        self.kind_mask(object) | nested
    }

    fn kind_mask(&self, object: ObjectKind) -> u64 {
        self.fields.get(object.index()).copied().unwrap_or(0)
    }

    pub(crate) fn requested_expansions(&self) -> impl Iterator<Item = &'static Expansion> + use<> {
        let requested = self.expansions;
        let all = self.root.expansions().iter().enumerate();
        all.filter(move |(index, _)| requested >> index & 1 == 1).map(|(_, expansion)| expansion)
    }

    fn detect_vocabulary(&mut self, word: VocabularyWord, name: &str) {
        match word.detect_vocabulary(name) {
            Some(Vocabulary::Post) => self.has_post_names = true,
            Some(Vocabulary::Tweet) => self.has_tweet_names = true,
            None => {}
        }
    }
}

fn find_row<T>(rows: &'static [T], is: impl Fn(&T) -> bool) -> Option<(usize, &'static T)> {
    rows.iter().enumerate().find(|(_, row)| is(row))
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

/// The bit of a field by its name in the posts vocabulary.
pub(crate) fn field_bit(object: ObjectKind, name: &str) -> u64 {
    find_row(object.fields(), |field| field.name.post == name).map_or(0, |(index, _)| 1 << index)
}

/// The bits of the fields restricted to an audience.
pub(crate) const fn audience_mask(fields: &[FieldDefinition], audience: FieldAudience) -> u64 {
    let (mut bits, mut bit, mut rest) = (0, 1, fields);
    while let [first, tail @ ..] = rest {
        let same = matches!(
            (first.audience, audience),
            (FieldAudience::Anyone, FieldAudience::Anyone)
                | (FieldAudience::Users, FieldAudience::Users)
                | (FieldAudience::Owner, FieldAudience::Owner)
        );
        if same {
            bits |= bit;
        }
        bit <<= 1;
        rest = tail;
    }
    bits
}

const fn default_mask(fields: &[FieldDefinition]) -> u64 {
    let (mut bits, mut bit, mut rest) = (0, 1, fields);
    while let [first, tail @ ..] = rest {
        if matches!(first.inclusion, FieldInclusion::Always) {
            bits |= bit;
        }
        bit <<= 1;
        rest = tail;
    }
    bits
}

const fn default_masks() -> [u64; KIND_COUNT] {
    let mut bits = [0; KIND_COUNT];
    let (mut left, mut kinds): (&mut [u64], &[ObjectKind]) = (&mut bits, &ObjectKind::ALL);
    while let ([bit, more @ ..], [kind, others @ ..]) = (left, kinds) {
        *bit = default_mask(kind.fields());
        left = more;
        kinds = others;
    }
    bits
}
