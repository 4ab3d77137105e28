//! How authors and their posts may stand to the viewer.

use serde_json::{Value, json};

use super::world::{Author, World};

/// A relation of an author to the viewer, or a state of the author or of the posts.
pub(super) struct Situation {
    pub(super) name: &'static str,
    /// The viewer follows the author while the posts are published.
    pub(super) is_followed: bool,
    /// The viewer mutes or blocks the author.
    pub(super) is_silenced: bool,
    /// Which of the posts the viewer may not see, by what they are.
    pub(super) hides: fn(&str) -> bool,
    /// Others than the viewer see what they see of a stranger.
    pub(super) is_relation: bool,
    /// Further members of the body of each post, which makes the viewer one who may not see it.
    pub(super) post_options: fn(&World<'_>) -> Option<Value>,
    /// What happens once everything is published.
    pub(super) settle: fn(&World<'_>, &mut Author<'_>),
}

const fn stranger(name: &'static str, settle: fn(&World<'_>, &mut Author<'_>)) -> Situation {
    let (is_followed, is_silenced, is_relation) = (false, false, false);
    Situation { name, is_followed, is_silenced, hides: |_| false, is_relation, post_options: |_| None, settle }
}

const fn followed(name: &'static str, settle: fn(&World<'_>, &mut Author<'_>)) -> Situation {
    Situation { is_followed: true, ..stranger(name, settle) }
}

const fn silenced(name: &'static str, settle: fn(&World<'_>, &mut Author<'_>)) -> Situation {
    Situation { is_silenced: true, is_relation: true, ..stranger(name, settle) }
}

const fn restricted(name: &'static str, post_options: fn(&World<'_>) -> Option<Value>) -> Situation {
    Situation { is_followed: true, post_options, ..stranger(name, |_, _| ()) }
}

/// The viewer may see none of the posts.
const fn hidden(situation: Situation) -> Situation {
    Situation { hides: |_| true, ..situation }
}

/// To others, the author is like a stranger.
const fn relation(situation: Situation) -> Situation {
    Situation { is_relation: true, ..situation }
}

pub(super) static SITUATIONS: &[Situation] = &[
    stranger("stranger", |_, _| ()),
    followed("followed", |_, _| ()),
    followed("followed, protected", |world, author| protect(world, author)),
    hidden(stranger("protected", |world, author| protect(world, author))),
    hidden(stranger("protected, request pending", |world, author| {
        protect(world, author);
        world.follow(author);
    })),
    hidden(followed("protected, follower removed", |world, author| {
        protect(world, author);
        author.relate("blocking", world.viewer_id());
        author.end_block(world.viewer_id());
    })),
    hidden(followed("protected, no longer followed", |world, author| {
        protect(world, author);
        world.viewer.delete(format!("/2/users/{}/following/{}", world.viewer_id(), author.user.id)).assert_accepted();
    })),
    relation(hidden(stranger("blocks the viewer", |world, author| author.relate("blocking", world.viewer_id())))),
    relation(hidden(followed("followed, then blocks the viewer", |world, author| {
        author.relate("blocking", world.viewer_id());
    }))),
    silenced("blocked by the viewer", |world, author| world.relate("blocking", author)),
    Situation {
        is_followed: true,
        ..silenced("followed, then blocked by the viewer", |world, author| {
            world.relate("blocking", author);
        })
    },
    hidden(silenced("blocking each other", |world, author| {
        world.relate("blocking", author);
        author.relate("blocking", world.viewer_id());
    })),
    silenced("muted", |world, author| world.relate("muting", author)),
    Situation { is_followed: true, ..silenced("followed, muted", |world, author| world.relate("muting", author)) },
    hidden(stranger("suspended", |world, author| suspend(world, author))),
    hidden(followed("followed, suspended", |world, author| suspend(world, author))),
    hidden(stranger("deleted", |world, author| delete_account(world, author, false))),
    hidden(followed("followed, deleted", |world, author| delete_account(world, author, false))),
    hidden(followed("followed, erased", |world, author| delete_account(world, author, true))),
    followed("withheld account", |world, author| {
        world.execute_command(&["user", "withhold", &author.user.id, "DE"]);
    }),
    followed("limited account", |world, author| {
        world.execute_command(&["mod", "limit", &author.user.id]);
    }),
    followed("silenced account", |world, author| {
        world.execute_command(&["mod", "silence", &author.user.id]);
    }),
    hidden(followed("posts deleted", |_, author| {
        for post in &author.posts {
            author.user.delete(format!("/2/posts/{post}")).assert_accepted();
        }
    })),
    hidden(followed("posts removed", |world, author| author.posts.iter().for_each(|post| remove_post(world, post)))),
    followed("posts withheld", |world, author| {
        for post in &author.posts {
            world.execute_command(&["post", "withhold", post, "DE"]);
        }
    }),
    followed("posts limited", |world, author| {
        for post in &author.posts {
            world.execute_command(&["mod", "limit", "--post", post]);
        }
    }),
    followed("replies hidden", |world, author| {
        let hide = crate::harness::TestRequest::new("PUT", format!("/2/posts/{}/hidden", author.reply_to_hub()));
        world.hub.send(hide.json(&json!({ "hidden": true }))).assert_accepted();
    }),
    followed("post edited", edit_mention),
    Situation {
        hides: |what| ["mention", "edited version"].contains(&what),
        ..followed("post edited, then removed", |world, author| {
            edit_mention(world, author);
            // Which removes the versions before.
            remove_post(world, author.posts.last().unwrap());
        })
    },
    hidden(restricted("for subscribers", |_| Some(json!({ "for_super_followers_only": true })))),
    hidden(restricted("in a closed community", |world| Some(json!({ "community_id": world.community })))),
    restricted("for ads only", |_| Some(json!({ "nullcast": true }))),
];

fn edit_mention(world: &World<'_>, author: &mut Author<'_>) {
    world.edit_mention(author);
}

fn protect(world: &World<'_>, author: &Author<'_>) {
    world.execute_command(&["user", "protect", &author.user.id]);
}

fn suspend(world: &World<'_>, author: &Author<'_>) {
    world.execute_command(&["user", "suspend", &author.user.id]);
}

fn delete_account(world: &World<'_>, author: &Author<'_>, is_erased: bool) {
    let delete = ["user", "delete", &author.user.id, "--now"];
    world.execute_command(if is_erased { &delete } else { &delete[..3] });
}

fn remove_post(world: &World<'_>, post: &str) {
    world.execute_command(&["mod", "remove", post]);
}
