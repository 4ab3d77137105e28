//! The two vocabularies of the API: "posts" and "tweets" (contract core §0).

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vocabulary {
    Post,
    Tweet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VocabularyWord {
    pub post: &'static str,
    pub tweet: &'static str,
}

impl VocabularyWord {
    pub const fn new(post: &'static str, tweet: &'static str) -> Self {
        Self { post, tweet }
    }

    pub const fn same_in_both(name: &'static str) -> Self {
        Self { post: name, tweet: name }
    }

    pub const fn name_in(self, vocabulary: Vocabulary) -> &'static str {
        match vocabulary {
            Vocabulary::Post => self.post,
            Vocabulary::Tweet => self.tweet,
        }
    }

    pub fn matches(self, name: &str) -> bool {
        name == self.post || name == self.tweet
    }

    /// The vocabulary that `name` belongs to; `None` if it is the same in both or not this word.
    pub fn detect_vocabulary(self, name: &str) -> Option<Vocabulary> {
        match (name == self.post, name == self.tweet) {
            (true, false) => Some(Vocabulary::Post),
            (false, true) => Some(Vocabulary::Tweet),
            _ => None,
        }
    }
}
