//! The two vocabularies of the interface: "posts" and "tweets" (contract §0).

/// The vocabulary of one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Speech {
    /// `referenced_posts`, `repost_count`, `includes.posts`.
    Post,
    /// `referenced_tweets`, `retweet_count`, `includes.tweets`.
    Tweet,
}

/// A name that differs between the vocabularies, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Word {
    /// The name in the posts vocabulary.
    pub post: &'static str,
    /// The name in the tweets vocabulary.
    pub tweet: &'static str,
}

impl Word {
    /// A name that differs.
    pub const fn new(post: &'static str, tweet: &'static str) -> Self {
        Self { post, tweet }
    }

    /// A name that is the same in both.
    pub const fn same(name: &'static str) -> Self {
        Self {
            post: name,
            tweet: name,
        }
    }

    /// The name in a vocabulary.
    pub const fn in_speech(self, speech: Speech) -> &'static str {
        match speech {
            Speech::Post => self.post,
            Speech::Tweet => self.tweet,
        }
    }

    /// Whether `name` is this word in either vocabulary.
    pub fn is(self, name: &str) -> bool {
        name == self.post || name == self.tweet
    }

    /// Which vocabulary `name` gives away: `None` when it is the same in both or not this word.
    pub fn betrays(self, name: &str) -> Option<Speech> {
        match (name == self.post, name == self.tweet) {
            (true, false) => Some(Speech::Post),
            (false, true) => Some(Speech::Tweet),
            _ => None,
        }
    }
}
