//! The two vocabularies of the interface: "posts" and "tweets" (contract §0).

/// The vocabulary of one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vocabulary {
    /// `referenced_posts`, `repost_count`, `includes.posts`.
    Post,
    /// `referenced_tweets`, `retweet_count`, `includes.tweets`.
    Tweet,
}

/// A name that differs between the vocabularies, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VocabularyWord {
    /// The name in the posts vocabulary.
    pub post: &'static str,
    /// The name in the tweets vocabulary.
    pub tweet: &'static str,
}

impl VocabularyWord {
    /// A name that differs.
    pub const fn new(post: &'static str, tweet: &'static str) -> Self {
        Self { post, tweet }
    }

    /// A name that is the same in both.
    pub const fn same_in_both(name: &'static str) -> Self {
        Self {
            post: name,
            tweet: name,
        }
    }

    /// The name in a vocabulary.
    pub const fn name_in(self, speech: Vocabulary) -> &'static str {
        match speech {
            Vocabulary::Post => self.post,
            Vocabulary::Tweet => self.tweet,
        }
    }

    /// Whether `name` is this word in either vocabulary.
    pub fn matches(self, name: &str) -> bool {
        name == self.post || name == self.tweet
    }

    /// Which vocabulary `name` gives away: `None` when it is the same in both or not this word.
    pub fn detect_vocabulary(self, name: &str) -> Option<Vocabulary> {
        match (name == self.post, name == self.tweet) {
            (true, false) => Some(Vocabulary::Post),
            (false, true) => Some(Vocabulary::Tweet),
            _ => None,
        }
    }
}
