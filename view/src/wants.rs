//! What a request asks to be shown, as bits over the tables: parsed once a request.

use std::borrow::Cow;

use base::refusal::InvalidParameter;
use base::{Refusal, Vocabulary, VocabularyWord};

use crate::Object;
use crate::shown::{Audience, Expansion, Shown, When};

const KINDS: usize = Object::ALL.len();
const DEFAULTS: [u64; KINDS] = defaults();

/// The parsed `*.fields` and `expansions` of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wants {
    root: Object,
    fields: [u64; KINDS],
    /// Fields of the objects asked for that expansions go through.
    through: u64,
    /// The same, of posts that those refer to.
    nested: u64,
    expansions: u32,
    post_words: bool,
    tweet_words: bool,
    email: bool,
    site: &'static str,
}

impl Wants {
    /// What comes unasked, from an operation that answers with `root`.
    pub const fn defaults(root: Object) -> Self {
        Self {
            root,
            fields: DEFAULTS,
            through: 0,
            nested: 0,
            expansions: 0,
            post_words: false,
            tweet_words: false,
            email: false,
            site: "",
        }
    }

    /// Everything that anyone may see of `root`, and all that it leads to in a vocabulary: what is
    /// told to those who have asked for no fields.
    pub fn whole(root: Object, speech: Vocabulary) -> Self {
        let mut wants = Self::defaults(root);
        for kind in Object::ALL {
            let public = bits_for(kind.fields(), Audience::Anyone);
            if let Some(mask) = wants.fields.get_mut(kind.number()) {
                *mask |= public;
            }
        }
        for (place, expansion) in root.expansions().iter().enumerate() {
            if !expansion.name.name_in(speech).is_empty() {
                wants.expansions |= 1 << place;
            }
        }
        wants
    }

    /// The same without what it leads to.
    pub fn alone(root: Object) -> Self {
        let whole = Self::whole(root, Vocabulary::Post);
        Self {
            expansions: 0,
            ..whole
        }
    }

    /// Says at which address the platform's own files are.
    pub const fn served_from(&mut self, site: &'static str) {
        self.site = site;
    }

    /// The address that the platform's own files are at, without a slash at its end.
    pub const fn site(&self) -> &'static str {
        self.site
    }

    /// Takes a `*.fields` parameter, called as the caller wrote it.
    pub fn ask_fields(
        &mut self,
        object: Object,
        parameter: &str,
        value: &str,
    ) -> Result<(), Refusal> {
        self.hear(object.fields_param(), parameter);
        let fields = object.fields();
        let mut wrong = Vec::new();
        for name in value.split(',') {
            let found = position(fields, |field| {
                field.name.matches(name) && field.when != When::Expanded
            });
            let Some((place, field)) = found else {
                wrong.push(name);
                continue;
            };
            self.hear(field.name, name);
            if let Some(mask) = self.fields.get_mut(object.number()) {
                *mask |= 1 << place;
            }
        }
        refuse(parameter, &wrong, || object.field_names())
    }

    /// Takes the `expansions` parameter.
    pub fn ask_expansions(&mut self, parameter: &str, value: &str) -> Result<(), Refusal> {
        let expansions = self.root.expansions();
        let mut wrong = Vec::new();
        for name in value.split(',') {
            let found = position(expansions, |expansion| {
                !name.is_empty() && expansion.name.matches(name)
            });
            let Some((place, expansion)) = found else {
                wrong.push(name);
                continue;
            };
            self.hear(expansion.name, name);
            self.expansions |= 1 << place;
            if expansion.nested {
                self.nested |= bit_of(Object::Post, expansion.field);
            } else {
                self.through |= bit_of(self.root, expansion.field);
            }
        }
        refuse(parameter, &wrong, || self.root.expansion_names())
    }

    /// Lets a user see the own confirmed email address: the token carries `users.email`, or is of
    /// a kind that has no scopes and whose app may.
    pub const fn allow_email(&mut self) {
        self.email = true;
    }

    /// The vocabulary that the names gave away. Where both did, posts: a generated client of the
    /// newer generation still says `tweet.fields` on streams.
    pub const fn betrayed(&self) -> Option<Vocabulary> {
        match (self.post_words, self.tweet_words) {
            (true, _) => Some(Vocabulary::Post),
            (false, true) => Some(Vocabulary::Tweet),
            (false, false) => None,
        }
    }

    /// What the operation answers with.
    pub const fn root(&self) -> Object {
        self.root
    }

    pub(crate) const fn email(&self) -> bool {
        self.email
    }

    /// The fields of the objects asked for.
    pub(crate) fn of_root(&self) -> u64 {
        self.of_kind(self.root) | self.through
    }

    /// The fields of objects in `includes`.
    pub(crate) fn of_included(&self, object: Object) -> u64 {
        let nested = if object == Object::Post {
            self.nested
        } else {
            0
        };
        self.of_kind(object) | nested
    }

    fn of_kind(&self, object: Object) -> u64 {
        self.fields.get(object.number()).copied().unwrap_or(0)
    }

    /// The expansions asked for.
    pub(crate) fn expansions(&self) -> impl Iterator<Item = &'static Expansion> + use<> {
        let asked = self.expansions;
        let all = self.root.expansions().iter().enumerate();
        all.filter(move |(place, _)| asked >> place & 1 == 1)
            .map(|(_, expansion)| expansion)
    }

    fn hear(&mut self, word: VocabularyWord, name: &str) {
        match word.detect_vocabulary(name) {
            Some(Vocabulary::Post) => self.post_words = true,
            Some(Vocabulary::Tweet) => self.tweet_words = true,
            None => {}
        }
    }
}

fn position<T>(rows: &'static [T], is: impl Fn(&T) -> bool) -> Option<(usize, &'static T)> {
    rows.iter().enumerate().find(|(_, row)| is(row))
}

fn refuse(
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
        message: format!(
            "The `{parameter}` query parameter value [{value}] is not one of [{names}]"
        ),
    };
    Err(Refusal::InvalidParameters(wrong.iter().map(say).collect()))
}

/// The bit of a field by its name in the posts vocabulary.
pub(crate) fn bit_of(object: Object, name: &str) -> u64 {
    position(object.fields(), |field| field.name.post == name).map_or(0, |(place, _)| 1 << place)
}

/// The bits of the fields that only some may see.
pub(crate) const fn bits_for(fields: &[Shown], audience: Audience) -> u64 {
    let (mut bits, mut bit, mut rest) = (0, 1, fields);
    while let [first, tail @ ..] = rest {
        let same = matches!(
            (first.audience, audience),
            (Audience::Anyone, Audience::Anyone)
                | (Audience::Users, Audience::Users)
                | (Audience::Owner, Audience::Owner)
        );
        if same {
            bits |= bit;
        }
        bit <<= 1;
        rest = tail;
    }
    bits
}

const fn always(fields: &[Shown]) -> u64 {
    let (mut bits, mut bit, mut rest) = (0, 1, fields);
    while let [first, tail @ ..] = rest {
        if matches!(first.when, When::Always) {
            bits |= bit;
        }
        bit <<= 1;
        rest = tail;
    }
    bits
}

const fn defaults() -> [u64; KINDS] {
    let mut bits = [0; KINDS];
    let (mut left, mut kinds): (&mut [u64], &[Object]) = (&mut bits, &Object::ALL);
    while let ([bit, more @ ..], [kind, others @ ..]) = (left, kinds) {
        *bit = always(kind.fields());
        left = more;
        kinds = others;
    }
    bits
}
