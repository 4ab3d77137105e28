use std::collections::HashMap;

use base::{Fault, PostId};
use store::Tx;
use store::posts::Post;

use super::{StreamMessage, StreamReader, StreamSession};
use crate::streams::format::{self, RefusalRenderer, StreamFormat};

/// Posts for connections, in the order of the log. Those of one format are rendered together, because a query per post
/// would take most of the time of a replay.
#[derive(Default)]
pub(super) struct UnrenderedPosts {
    messages: Vec<UnrenderedMessage>,
    /// Each post once.
    posts: HashMap<StreamFormat, Vec<Post>>,
}

struct UnrenderedMessage {
    session: StreamSession,
    format: StreamFormat,
    post_id: PostId,
    matching_rules: Option<String>,
}

impl UnrenderedPosts {
    /// To be called for one post after the other.
    pub(super) fn add(&mut self, reader: &StreamReader, post: &Post, matching_rules: Option<&str>) {
        let posts = self.posts.entry(reader.format).or_default();
        if posts.last().is_none_or(|last| last.id != post.id) {
            posts.push(post.clone());
        }
        self.messages.push(UnrenderedMessage {
            session: reader.session.clone(),
            format: reader.format,
            post_id: post.id,
            matching_rules: matching_rules.map(str::to_owned),
        });
    }

    pub(super) fn render(
        self,
        tx: &mut Tx<'_>,
        render_refusal: &RefusalRenderer,
        rendered: &mut Vec<StreamMessage>,
    ) -> Result<(), Fault> {
        let mut objects = HashMap::new();
        for (format, posts) in self.posts {
            objects.insert(format, format::render_posts(tx, posts, &format, render_refusal)?);
        }
        for message in self.messages {
            if let Some(object) = objects.get(&message.format).and_then(|objects| objects.get(&message.post_id)) {
                let line = format::close_line(object, message.matching_rules.as_deref());
                rendered.push((message.session, Some(message.post_id), line));
            }
        }
        Ok(())
    }
}
