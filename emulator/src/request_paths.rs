//! Whether a path that a tester wrote is that of a request.

/// The path of a request as sent, and the documented paths of its operation.
#[derive(Clone, Copy)]
pub(crate) struct RequestPaths<'a, T> {
    pub(crate) sent: &'a str,
    pub(crate) templates: &'a [T],
}

impl<T: AsRef<str>> RequestPaths<'_, T> {
    /// `wanted` is a documented path, in which `{id}` and `:id` stand for what the request has there, or a path as sent, or
    /// a mixture. As a prefix, its last segment may be the beginning of the request's, and more may follow.
    pub(crate) fn match_wanted(&self, wanted: &str, is_prefix: bool) -> bool {
        let mut templates = self.templates.iter().map(AsRef::as_ref);
        let called = templates.clone().find(|template| match_segments(template, false, self.sent, None));
        // Also the operation's other paths, as they are documented.
        match_segments(wanted, is_prefix, self.sent, called)
            || templates.any(|template| match_segments(wanted, is_prefix, template, Some(template)))
    }
}

/// A placeholder of `wanted` stands for one of the `template`, or for any segment if there is no template.
fn match_segments(wanted: &str, is_prefix: bool, sent: &str, template: Option<&str>) -> bool {
    let (mut sent, mut template) = (sent.split('/'), template.map(|template| template.split('/')));
    let mut wanted = wanted.split('/').peekable();
    while let Some(segment) = wanted.next() {
        let Some(theirs) = sent.next() else { return false };
        let declared = template.as_mut().and_then(Iterator::next);
        let is_met = if is_prefix && wanted.peek().is_none() {
            return theirs.starts_with(segment);
        } else if is_placeholder(segment) {
            !theirs.is_empty() && declared.is_none_or(is_placeholder)
        } else {
            segment == theirs || !declared.is_some_and(is_placeholder) && is_same_word(segment, theirs)
        };
        if !is_met {
            return false;
        }
    }
    sent.next().is_none()
}

pub(crate) fn is_placeholder(segment: &str) -> bool {
    segment.starts_with('{') && segment.ends_with('}') || segment.starts_with(':') && segment.len() > 1
}

/// Words for posts in both vocabularies, and versions of the Ads API that have the same operations.
pub(crate) fn is_same_word(one: &str, other: &str) -> bool {
    const WORDS: [(&str, &str); 7] = [
        ("posts", "tweets"),
        ("reposts", "retweets"),
        ("reposted_by", "retweeted_by"),
        ("liked_posts", "liked_tweets"),
        ("quote_posts", "quote_tweets"),
        ("12", "11"),
        ("12", "5"),
    ];
    WORDS.iter().any(|(post, tweet)| (one, other) == (*post, *tweet) || (other, one) == (*post, *tweet))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(wanted: &str, sent: &str, template: &str) -> bool {
        RequestPaths { sent, templates: &[template] }.match_wanted(wanted, false)
    }

    #[test]
    fn documented_path_matches_in_both_vocabularies_and_all_versions() {
        assert!(matches("/2/tweets/{id}", "/2/posts/7", "/2/posts/{id}"));
        assert!(matches("/2/users/:id/liked_tweets", "/2/users/9/liked_posts", "/2/users/{id}/liked_posts"));
        let (campaigns, sent) = ("/12/accounts/{account_id}/campaigns", "/11/accounts/18ce54d4x5t/campaigns");
        assert!(matches(campaigns, sent, campaigns));
        assert!(!matches("/2/tweets/{id}", "/2/tweets", "/2/posts"));
        assert!(!matches("/2/tweets", "/2/tweets/7", "/2/posts/{id}"));
        assert!(!matches("/2/tweets/{id}", "/2/tweets/", ""));
    }

    #[test]
    fn placeholder_and_literal_segment_do_not_match_each_other() {
        assert!(!matches("/2/users/{id}", "/2/users/me", "/2/users/me"));
        assert!(!matches("/2/users/me", "/2/users/9", "/2/users/{id}"));
        assert!(!matches("/2/users/8/tweets", "/2/users/9/posts", "/2/users/{id}/posts"));
        assert!(matches("/2/users/9/tweets/{other}", "/2/users/9/posts/3", "/2/users/{id}/posts/{post_id}"));
        assert!(matches("/no/{such}", "/no/path", ""));
        assert!(!matches("/2/users/12", "/2/users/5", "/2/users/{id}"), "words are no parameters");
    }

    #[test]
    fn other_paths_of_the_operation_match_as_they_are_documented() {
        let templates = ["/1.1/media/upload.json", "/1.1/media/upload"];
        for sent in templates {
            let paths = RequestPaths { sent, templates: &templates };
            assert!(templates.iter().all(|wanted| paths.match_wanted(wanted, false)), "{sent}");
        }
        let paths = RequestPaths { sent: "/2/posts/7", templates: &["/2/posts/{id}", "/2/tweets/{id}"] };
        assert!(paths.match_wanted("/2/tweets", true) && paths.match_wanted("/2/tweets/{id}", true));
        assert!(!paths.match_wanted("/2/tweets/8", false));
    }
}
