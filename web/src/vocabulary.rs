//! Resolves the vocabulary of a response.

use base::Vocabulary;
use view::RenderOptions;

/// What a request reveals about its vocabulary, strongest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VocabularyHints {
    /// From a name in fields, expansions or body that only one vocabulary has.
    pub names: Option<Vocabulary>,
    pub path: Option<Vocabulary>,
    /// From a name that only the older vocabulary has, but newer clients send too: `tweet_id` in a body.
    pub body_key: Option<Vocabulary>,
    /// Whether the client is an official SDK, whose models come from the newer document though its paths are older.
    pub newer_models: bool,
}

impl VocabularyHints {
    pub fn from_path(path: Option<Vocabulary>) -> Self {
        Self { path, ..Self::default() }
    }

    /// The newer vocabulary takes precedence, since its clients still send some of the older names.
    pub fn observe_name(&mut self, name: Option<Vocabulary>) {
        if self.names != Some(Vocabulary::Post) {
            self.names = name.or(self.names);
        }
    }

    pub fn observe_body_key(&mut self, key: Option<Vocabulary>) {
        match key {
            Some(Vocabulary::Post) => self.observe_name(key),
            Some(Vocabulary::Tweet) => self.body_key = key,
            None => {}
        }
    }

    /// Clients of both vocabularies use the older paths and body keys, so these do not reveal which metric names a
    /// client knows: it gets both.
    pub fn resolve(self, app: Option<Vocabulary>, default: Vocabulary) -> RenderOptions {
        let path_hint = self.path.or(self.body_key);
        let vocabulary = self.names.or(path_hint).or(app).unwrap_or(default);
        let both_metrics = self.newer_models || self.names.is_none() && path_hint != Some(Vocabulary::Post);
        RenderOptions { vocabulary, both_metric_names: both_metrics, newer_models: self.newer_models }
    }
}

#[cfg(test)]
mod tests {
    use base::Vocabulary::{self, Post, Tweet};

    use super::VocabularyHints;

    #[test]
    fn the_first_that_tells_decides() {
        let case = |names: &[Vocabulary], path, app, expected: (Vocabulary, bool)| {
            let mut heard = VocabularyHints { path, ..VocabularyHints::default() };
            for name in names {
                heard.observe_name(Some(*name));
            }
            heard.observe_name(None);
            let resolved = heard.resolve(app, Post);
            assert_eq!((resolved.vocabulary, resolved.both_metric_names), expected);
        };
        case(&[], None, None, (Post, true));
        case(&[], None, Some(Tweet), (Tweet, true));
        case(&[], Some(Tweet), Some(Post), (Tweet, true));
        case(&[], Some(Post), Some(Tweet), (Post, false));
        case(&[Post], Some(Tweet), Some(Tweet), (Post, false));
        case(&[Tweet], Some(Post), Some(Post), (Tweet, false));
        case(&[Tweet, Post], None, None, (Post, false));
        case(&[Post, Tweet], None, None, (Post, false));
    }

    #[test]
    fn official_sdks_get_both_metric_names_whatever_they_name() {
        let mut heard = VocabularyHints { newer_models: true, ..VocabularyHints::default() };
        heard.observe_name(Some(Tweet));
        assert!(heard.resolve(None, Post).both_metric_names);
    }

    #[test]
    fn an_old_body_key_is_only_a_hint() {
        let mut heard = VocabularyHints::default();
        heard.observe_body_key(Some(Tweet));
        let resolved = heard.resolve(None, Post);
        assert_eq!((resolved.vocabulary, resolved.both_metric_names), (Tweet, true));
        heard.observe_body_key(Some(Post));
        assert_eq!(heard.resolve(None, Tweet).vocabulary, Post);
    }
}
