//! Which vocabulary a request asks to be answered in.

use base::Vocabulary;
use view::RenderOptions;

/// What a request lets on about its vocabulary, strongest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Speeches {
    /// A name in fields, expansions or body that only one vocabulary has.
    pub names: Option<Vocabulary>,
    /// The words of the path.
    pub path: Option<Vocabulary>,
    /// A name that the older vocabulary has to itself, but that clients of the newer one send
    /// too: `tweet_id` in a body.
    pub hint: Option<Vocabulary>,
}

impl Speeches {
    /// What the words of a path let on.
    pub fn of_path(path: Option<Vocabulary>) -> Self {
        Self {
            path,
            ..Self::default()
        }
    }

    /// Takes note of what a name betrays. The newer vocabulary wins over the older one, whose
    /// names its clients go on sending in places.
    pub fn hear(&mut self, name: Option<Vocabulary>) {
        if self.names != Some(Vocabulary::Post) {
            self.names = name.or(self.names);
        }
    }

    /// Takes note of a body's key.
    pub fn hear_key(&mut self, key: Option<Vocabulary>) {
        match key {
            Some(Vocabulary::Post) => self.hear(key),
            Some(Vocabulary::Tweet) => self.hint = key,
            None => {}
        }
    }

    /// The vocabulary of the answer. Clients of both generations call the older paths and send
    /// the older body keys, so these leave open which counts a client knows: it gets both.
    pub fn decide(self, app: Option<Vocabulary>, default: Vocabulary) -> RenderOptions {
        let path_tells = self.path.or(self.hint);
        let speech = self.names.or(path_tells).or(app).unwrap_or(default);
        let both_metrics = self.names.is_none() && path_tells != Some(Vocabulary::Post);
        RenderOptions {
            vocabulary: speech,
            both_metric_names: both_metrics,
        }
    }
}

#[cfg(test)]
mod tests {
    use base::Vocabulary::{self, Post, Tweet};

    use super::Speeches;

    #[test]
    fn the_first_that_tells_decides() {
        let case = |names: &[Vocabulary], path, app, expected: (Vocabulary, bool)| {
            let mut heard = Speeches {
                path,
                ..Speeches::default()
            };
            for name in names {
                heard.hear(Some(*name));
            }
            heard.hear(None);
            let spoken = heard.decide(app, Post);
            assert_eq!((spoken.vocabulary, spoken.both_metric_names), expected);
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
    fn an_old_body_key_is_only_a_hint() {
        let mut heard = Speeches::default();
        heard.hear_key(Some(Tweet));
        let spoken = heard.decide(None, Post);
        assert_eq!((spoken.vocabulary, spoken.both_metric_names), (Tweet, true));
        heard.hear_key(Some(Post));
        assert_eq!(heard.decide(None, Tweet).vocabulary, Post);
    }
}
