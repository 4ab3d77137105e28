//! What events tell (contract §10.6): the same objects as look-ups show, whole and as anyone may
//! see them.

use std::collections::HashMap;

use base::id::encode_base62;
use base::{Fault, PostId, Time, UserId, Vocabulary, VocabularyWord};
use network::visibility::{Viewer, Visibility, profile_visibility};
use serde_json::Value;
use store::news_stories;
use store::{Tx, posts as stored, users as people};

use crate::out::Out;
use crate::posts::{self, PostFacts};
use crate::users::{self, UserFacts};
use crate::world::World;
use crate::{Object, Spoken, Wants};

/// What an event tells, as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// An object.
    pub payload: String,
    /// What it leads to; empty where it leads to nothing.
    pub includes: String,
}

impl Told {
    fn alone(out: Out) -> Self {
        Self {
            payload: out.finish(),
            includes: String::new(),
        }
    }
}

/// A like, as an event tells it.
#[derive(Clone, Copy, Debug)]
pub struct LikeShown {
    /// Its id.
    pub id: i64,
    /// Who likes.
    pub user: UserId,
    /// What.
    pub post: PostId,
    /// Whose post it is.
    pub author: UserId,
    /// When.
    pub at: Time,
}

/// How events are told to an app.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The vocabulary.
    pub spoken: Spoken,
    /// The address that the platform's own files are at.
    pub site: &'static str,
}

impl Shared {
    fn wants(self, root: Object) -> Wants {
        let mut wants = Wants::whole(root, self.spoken.speech);
        wants.served_from(self.site);
        wants
    }

    /// A post that anyone may see, with all that it leads to.
    pub fn post(self, tx: &mut Tx<'_>, id: PostId) -> Result<Option<Told>, Fault> {
        let Some(found) = stored::find_by_id(tx, id)? else {
            return Ok(None);
        };
        let replied = found.in_reply_to_post_id;
        let wants = self.wants(Object::Post);
        let page = vec![found];
        let answer = crate::posts(tx, Viewer::anonymous(), page, &wants, self.spoken)?.single();
        if answer.count == 0 {
            return Ok(None);
        }
        let mut payload = answer.data;
        if let Some(replied) = replied {
            let name = match self.spoken.speech {
                Vocabulary::Post => "in_reply_to_post_id",
                Vocabulary::Tweet => "in_reply_to_tweet_id",
            };
            payload.pop();
            payload.push_str(&[",\"", name, "\":\"", &replied.to_string(), "\"}"].concat());
        }
        Ok(Some(Told {
            payload,
            includes: answer.includes,
        }))
    }

    /// The ids of a post that is gone and of its author.
    pub fn post_gone(self, id: PostId, author: UserId) -> Told {
        let mut out = self.out();
        out.object(|out| {
            out.member(VocabularyWord::same_in_both("id"), |out| out.id(id.get()));
            out.member(VocabularyWord::same_in_both("author_id"), |out| {
                out.id(author.get())
            });
        });
        Told::alone(out)
    }

    /// A like of a post that anyone may see.
    pub fn like(self, tx: &mut Tx<'_>, like: LikeShown) -> Result<Option<Told>, Fault> {
        let Some(post) = stored::find_by_id(tx, like.post)? else {
            return Ok(None);
        };
        let liker = people::find_by_id(tx, like.user)?;
        let Some(liker) = liker.filter(|user| profile_visibility(user) == Visibility::Visible)
        else {
            return Ok(None);
        };
        let mut wants = Wants::alone(Object::Post);
        wants.served_from(self.site);
        let mut world = World::of_posts(tx, Viewer::anonymous(), vec![post], &wants)?;
        let id = liker.id;
        world.users.fill(vec![liker], |user| user.id);
        let world = &world;
        let found = world.posts.get(like.post);
        let Some(post) = found.filter(|post| world.sight(post) == Visibility::Visible) else {
            return Ok(None);
        };
        let mut out = self.out();
        out.object(|out| {
            out.member(VocabularyWord::same_in_both("id"), |out| out.id(like.id));
            out.member(VocabularyWord::same_in_both("created_at"), |out| {
                out.time(like.at)
            });
            let post = VocabularyWord::new("liked_post_id", "liked_tweet_id");
            out.member(post, |out| out.id(like.post.get()));
            let author = VocabularyWord::new("liked_post_author_id", "liked_tweet_author_id");
            out.member(author, |out| out.id(like.author.get()));
            out.member(VocabularyWord::same_in_both("timestamp_ms"), |out| {
                out.int(like.at.ms())
            });
        });
        let mut includes = self.out();
        includes.object(|out| {
            let mask = wants.of_included(Object::User);
            let author = Some(like.author).filter(|author| *author != id);
            let shown = [Some(id), author].into_iter().flatten();
            out.member(VocabularyWord::same_in_both("users"), |out| {
                let shown = shown.filter_map(|id| world.users.get(id));
                out.array(shown, |out, user| {
                    users::write(out, UserFacts { user, world }, mask);
                });
            });
            let mask = wants.of_root();
            out.member(VocabularyWord::new("posts", "tweets"), |out| {
                out.array([post], |out, post| {
                    posts::write(out, PostFacts { post, world }, mask);
                });
            });
        });
        Ok(Some(Told {
            payload: out.finish(),
            includes: includes.finish(),
        }))
    }

    /// The two users of a tie; none where one of them is out of sight.
    pub fn tie(
        self,
        tx: &mut Tx<'_>,
        source: UserId,
        target: UserId,
    ) -> Result<Option<Told>, Fault> {
        let shown = self.people(tx, &[source, target])?;
        let (Some(source), Some(target)) = (shown.get(&source), shown.get(&target)) else {
            return Ok(None);
        };
        let mut out = self.out();
        out.object(|out| {
            out.member(VocabularyWord::same_in_both("source"), |out| {
                out.raw(source)
            });
            out.member(VocabularyWord::same_in_both("target"), |out| {
                out.raw(target)
            });
        });
        Ok(Some(Told::alone(out)))
    }

    /// A text before and after.
    pub fn change(self, before: &str, after: &str) -> Told {
        let mut out = self.out();
        out.object(|out| {
            out.member(VocabularyWord::same_in_both("before"), |out| {
                out.quoted(before)
            });
            out.member(VocabularyWord::same_in_both("after"), |out| {
                out.quoted(after)
            });
        });
        Told::alone(out)
    }

    /// Direct messages, or what is done about them, under a name, with those who take part.
    pub fn message(
        self,
        tx: &mut Tx<'_>,
        name: &'static str,
        event: &Value,
        people: &[UserId],
    ) -> Result<Told, Fault> {
        let shown = self.people(tx, people)?;
        let mut shown: Vec<(String, &String)> = shown
            .iter()
            .map(|(id, user)| (id.to_string(), user))
            .collect();
        shown.sort();
        let mut out = self.out();
        out.object(|out| {
            out.member(VocabularyWord::same_in_both(name), |out| {
                out.array([event], |out, event| out.raw(&event.to_string()));
            });
            out.member(VocabularyWord::same_in_both("users"), |out| {
                let members: Vec<String> = shown
                    .iter()
                    .map(|(id, user)| format!("\"{id}\":{user}"))
                    .collect();
                out.raw(&format!("{{{}}}", members.join(",")));
            });
        });
        Ok(Told::alone(out))
    }

    /// A story; its headline under both its names.
    pub fn story(self, told: &news_stories::NewsStoryDetails) -> Told {
        let wants = self.wants(Object::News);
        let mut payload = crate::story(told, &wants, self.spoken).data;
        let mut out = self.out();
        out.quoted(&told.name);
        payload.pop();
        payload.push_str(&[",\"headline\":", &out.finish(), "}"].concat());
        Told {
            payload,
            includes: String::new(),
        }
    }

    /// A space of a host that starts or ends: the kind says which.
    pub fn space(
        self,
        tx: &mut Tx<'_>,
        host: UserId,
        space: i64,
        kind: &str,
    ) -> Result<Option<Told>, Fault> {
        let shown = self.bare_people(tx, &[host])?;
        let Some(user) = shown.get(&host) else {
            return Ok(None);
        };
        let mut out = self.out();
        out.object(|out| {
            out.member(VocabularyWord::same_in_both("user"), |out| {
                out.object(|out| {
                    out.member(VocabularyWord::same_in_both("data"), |out| out.raw(user))
                });
            });
            out.member(VocabularyWord::same_in_both("broadcast_id"), |out| {
                out.quoted(&encode_base62(space))
            });
            let kind = kind.replace('.', "_");
            out.member(VocabularyWord::same_in_both("event_type"), |out| {
                out.quoted(&kind)
            });
        });
        Ok(Some(Told::alone(out)))
    }

    /// That a user takes back what an app was granted.
    pub fn revoke(self, at: Time, user: UserId, app: i64) -> Told {
        let mut out = self.out();
        out.object(|out| {
            out.member(VocabularyWord::same_in_both("date_time"), |out| {
                out.time(at)
            });
            out.member(VocabularyWord::same_in_both("user_id"), |out| {
                out.id(user.get())
            });
            out.member(VocabularyWord::same_in_both("app_id"), |out| out.id(app));
        });
        Told::alone(out)
    }

    fn out(self) -> Out {
        Out::new(self.spoken, 512)
    }

    /// Users who are in sight, each as an event of the vocabulary shows it (contract §10.6).
    fn people(self, tx: &mut Tx<'_>, ids: &[UserId]) -> Result<HashMap<UserId, String>, Fault> {
        let mut shown = self.bare_people(tx, ids)?;
        if self.spoken.speech == Vocabulary::Tweet {
            for user in shown.values_mut() {
                *user = format!("{{\"data\":{user}}}");
            }
        }
        Ok(shown)
    }

    fn bare_people(
        self,
        tx: &mut Tx<'_>,
        ids: &[UserId],
    ) -> Result<HashMap<UserId, String>, Fault> {
        let wants = Wants::alone(Object::User);
        let found = people::find_by_ids(tx, ids)?;
        let world = World::of_users(tx, Viewer::anonymous(), found, &wants)?;
        let seen = world.users.items().iter();
        let seen = seen.filter(|user| profile_visibility(user) == Visibility::Visible);
        let speak = |user| {
            let mut out = self.out();
            let world = &world;
            users::write(&mut out, UserFacts { user, world }, wants.of_root());
            (user.id, out.finish())
        };
        Ok(seen.map(speak).collect())
    }
}
