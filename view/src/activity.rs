//! Event payloads (contract core §10.6): the same objects as in lookups, complete and as anyone may
//! see them.

use std::collections::HashMap;

use base::id::encode_base62;
use base::{Fault, PostId, SiteLinks, Time, UserId, Vocabulary, VocabularyWord};
use network::visibility::{Viewer, Visibility, profile_visibility};
use serde_json::Value;
use store::posts::{self as stored, Post};
use store::users::{self as people, User};
use store::{Tx, news_stories};

use crate::json_writer::JsonWriter;
use crate::loaded_objects::LoadedObjects;
use crate::object::{ObjectKind, RenderedObject};
use crate::posts::PostRenderContext;
use crate::users::UserRenderContext;
use crate::{FieldSelection, RenderOptions, RenderRequest};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventPayload {
    pub payload: String,
    /// Empty if nothing is included.
    pub includes: String,
}

impl EventPayload {
    fn payload_only(out: JsonWriter) -> Self {
        Self { payload: out.finish(), includes: String::new() }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct LikeEvent {
    pub id: i64,
    pub user: UserId,
    pub post: PostId,
    /// The author of the post.
    pub author: UserId,
    pub at: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRenderer {
    pub options: RenderOptions,
    pub site: SiteLinks,
}

impl EventRenderer {
    fn full_request(self, root: ObjectKind) -> RenderRequest {
        let mut selection = FieldSelection::all_public_fields(root, self.options.vocabulary);
        selection.set_site(self.site);
        RenderRequest { viewer: Viewer::anonymous(), selection, options: self.options }
    }

    /// A post with everything it refers to; `None` unless anyone may see it.
    pub fn render_post(self, tx: &mut Tx<'_>, id: PostId) -> Result<Option<EventPayload>, Fault> {
        let Some(found) = stored::find_by_id(tx, id)? else {
            return Ok(None);
        };
        let replied = found.in_reply_to_post_id;
        let response = crate::render_posts(tx, &self.full_request(ObjectKind::POST), vec![found])?.into_single();
        if response.count == 0 {
            return Ok(None);
        }
        let mut payload = response.data;
        if let Some(replied) = replied {
            payload.pop();
            payload.push_str(&[",\"in_reply_to_tweet_id\":\"", &replied.to_string(), "\"}"].concat());
        }
        Ok(Some(EventPayload { payload, includes: response.includes }))
    }

    pub fn render_deleted_post(self, id: PostId, author: UserId) -> EventPayload {
        let mut out = self.new_writer();
        out.write_object(|out| {
            out.write_plain_member("id", |out| out.write_id(id.get()));
            out.write_plain_member("author_id", |out| out.write_id(author.get()));
        });
        EventPayload::payload_only(out)
    }

    /// A like with its post; `None` unless anyone may see the post.
    pub fn render_like(self, tx: &mut Tx<'_>, like: LikeEvent) -> Result<Option<EventPayload>, Fault> {
        let Some(post) = stored::find_by_id(tx, like.post)? else {
            return Ok(None);
        };
        let liker = people::find_by_id(tx, like.user)?;
        let Some(liker) = liker.filter(|user| profile_visibility(user) == Visibility::Visible) else {
            return Ok(None);
        };
        let mut selection = FieldSelection::public_fields_only(ObjectKind::POST);
        selection.set_site(self.site);
        let mut objects = LoadedObjects::load_for_posts(tx, Viewer::anonymous(), vec![post], &selection)?;
        let id = liker.id;
        objects.users.extend_distinct(vec![liker], |user| user.id);
        let objects = &objects;
        let found = objects.posts.get(like.post);
        let Some(post) = found.filter(|post| objects.post_visibility(post) == Visibility::Visible) else {
            return Ok(None);
        };
        let mut out = self.new_writer();
        out.write_object(|out| {
            out.write_plain_member("id", |out| out.write_id(like.id));
            out.write_plain_member("created_at", |out| out.write_time(like.at));
            // The same in both vocabularies (contract core §10.6).
            out.write_plain_member("liked_tweet_id", |out| out.write_id(like.post.get()));
            out.write_plain_member("liked_tweet_author_id", |out| out.write_id(like.author.get()));
            out.write_plain_member("timestamp_ms", |out| out.write_int(like.at.ms()));
        });
        let mut includes = self.new_writer();
        includes.write_object(|out| {
            let mask = selection.included_mask::<User>();
            let author = Some(like.author).filter(|author| *author != id);
            let shown = [Some(id), author].into_iter().flatten();
            out.write_plain_member("users", |out| {
                let shown = shown.filter_map(|id| objects.users.get(id));
                out.write_array(shown, |out, user| {
                    User::write(out, UserRenderContext { user, objects }, mask);
                });
            });
            let mask = selection.root_mask::<Post>();
            out.write_member(VocabularyWord::new("posts", "tweets"), |out| {
                out.write_array([post], |out, post| {
                    Post::write(out, PostRenderContext { post, objects }, mask);
                });
            });
        });
        Ok(Some(EventPayload { payload: out.finish(), includes: includes.finish() }))
    }

    /// The two users of a relation; `None` if either is not visible.
    pub fn render_relation(
        self,
        tx: &mut Tx<'_>,
        source: UserId,
        target: UserId,
    ) -> Result<Option<EventPayload>, Fault> {
        let shown = self.render_users(tx, &[source, target])?;
        let (Some(source), Some(target)) = (shown.get(&source), shown.get(&target)) else {
            return Ok(None);
        };
        let mut out = self.new_writer();
        out.write_object(|out| {
            out.write_plain_member("source", |out| out.write_raw(source));
            out.write_plain_member("target", |out| out.write_raw(target));
        });
        Ok(Some(EventPayload::payload_only(out)))
    }

    pub fn render_change(self, before: &str, after: &str) -> EventPayload {
        let mut out = self.new_writer();
        out.write_object(|out| {
            out.write_plain_member("before", |out| out.write_text(before));
            out.write_plain_member("after", |out| out.write_text(after));
        });
        EventPayload::payload_only(out)
    }

    /// Direct messages or events about them, under the member `name`, with the participants.
    pub fn render_message(
        self,
        tx: &mut Tx<'_>,
        name: &'static str,
        event: &Value,
        people: &[UserId],
    ) -> Result<EventPayload, Fault> {
        let shown = self.render_users(tx, people)?;
        let mut shown: Vec<(String, &String)> = shown.iter().map(|(id, user)| (id.to_string(), user)).collect();
        shown.sort();
        let mut out = self.new_writer();
        out.write_object(|out| {
            out.write_member(VocabularyWord::same_in_both(name), |out| {
                out.write_array([event], |out, event| out.write_raw(&event.to_string()));
            });
            out.write_plain_member("users", |out| {
                let members: Vec<String> = shown.iter().map(|(id, user)| format!("\"{id}\":{user}")).collect();
                out.write_raw(&format!("{{{}}}", members.join(",")));
            });
        });
        Ok(EventPayload::payload_only(out))
    }

    /// A news story, with its headline under both member names.
    pub fn render_story(self, story: &news_stories::NewsStoryDetails) -> EventPayload {
        let mut payload = crate::render_story(&self.full_request(ObjectKind::NEWS), story).data;
        let mut out = self.new_writer();
        out.write_text(&story.name);
        payload.pop();
        payload.push_str(&[",\"headline\":", &out.finish(), "}"].concat());
        EventPayload { payload, includes: String::new() }
    }

    /// A space that starts or ends; the event kind says which.
    pub fn render_space(
        self,
        tx: &mut Tx<'_>,
        host: UserId,
        space: i64,
        kind: &str,
    ) -> Result<Option<EventPayload>, Fault> {
        let shown = self.render_bare_users(tx, &[host])?;
        let Some(user) = shown.get(&host) else {
            return Ok(None);
        };
        let mut out = self.new_writer();
        out.write_object(|out| {
            out.write_plain_member("user", |out| {
                out.write_object(|out| out.write_plain_member("data", |out| out.write_raw(user)));
            });
            out.write_plain_member("broadcast_id", |out| out.write_text(&encode_base62(space)));
            let kind = kind.replace('.', "_");
            out.write_plain_member("event_type", |out| out.write_text(&kind));
        });
        Ok(Some(EventPayload::payload_only(out)))
    }

    pub fn render_revocation(self, at: Time, user: UserId, app: i64) -> EventPayload {
        let mut out = self.new_writer();
        out.write_object(|out| {
            out.write_plain_member("date_time", |out| out.write_time(at));
            out.write_plain_member("user_id", |out| out.write_id(user.get()));
            out.write_plain_member("app_id", |out| out.write_id(app));
        });
        EventPayload::payload_only(out)
    }

    fn new_writer(self) -> JsonWriter {
        JsonWriter::new(self.options, 512)
    }

    /// Renders visible users as events of the vocabulary show them (contract core §10.6).
    fn render_users(self, tx: &mut Tx<'_>, ids: &[UserId]) -> Result<HashMap<UserId, String>, Fault> {
        let mut shown = self.render_bare_users(tx, ids)?;
        if self.options.vocabulary == Vocabulary::Tweet {
            for user in shown.values_mut() {
                *user = format!("{{\"data\":{user}}}");
            }
        }
        Ok(shown)
    }

    fn render_bare_users(self, tx: &mut Tx<'_>, ids: &[UserId]) -> Result<HashMap<UserId, String>, Fault> {
        let selection = FieldSelection::public_fields_only(ObjectKind::USER);
        let found = people::find_by_ids(tx, ids)?;
        let objects = LoadedObjects::load_for_users(tx, Viewer::anonymous(), found, &selection)?;
        let visible = objects.users.items().iter();
        let visible = visible.filter(|user| profile_visibility(user) == Visibility::Visible);
        let speak = |user| {
            let mut out = self.new_writer();
            let objects = &objects;
            User::write(&mut out, UserRenderContext { user, objects }, selection.root_mask::<User>());
            (user.id, out.finish())
        };
        Ok(visible.map(speak).collect())
    }
}
