//! `locum poll`.

use base::{Error, PostId};
use clap::Subcommand;
use network::polls;
use serde_json::{Value, json};
use store::Tx;
use store::polls::Poll;

use super::find;
use crate::Instance;

#[derive(Clone, Debug, Subcommand)]
pub enum PollCommand {
    /// Vote in a post's poll; a vote cannot be changed
    Vote {
        /// The post's id
        post: String,
        /// The number of the option, starting at 1
        option: i64,
        /// The voter: @username or id
        #[arg(long = "as", value_name = "USER")]
        user: String,
    },
    /// Show a post's poll and a user's vote
    Show {
        /// The post's id
        post: String,
        /// The viewer: @username or id
        #[arg(long = "as", value_name = "USER")]
        user: String,
    },
}

pub(super) async fn execute(instance: &Instance, command: PollCommand) -> Result<Value, Error> {
    match command {
        PollCommand::Vote { post, option, user } => {
            let post = find::post_id(&post)?;
            let voted = instance.write(move |tx| {
                let user = find::user(tx, &user)?;
                let poll = polls::vote(tx, user.id, post, option)?;
                render_poll(tx, &poll, post, &user)
            });
            voted.await
        }
        PollCommand::Show { post, user } => {
            let post = find::post_id(&post)?;
            let shown = instance.store.read(move |tx| {
                let user = find::user(tx, &user)?;
                let poll = polls::find(tx, user.id, post)?;
                render_poll(tx, &poll, post, &user)
            });
            shown.await
        }
    }
}

fn render_poll(tx: &mut Tx<'_>, poll: &Poll, post: PostId, user: &store::users::User) -> Result<Value, Error> {
    let voted = store::polls::find_vote(tx, poll.id, user.id)?;
    let options = poll.options.iter().map(|option| {
        json!({
            "option": option.number,
            "label": option.label,
            "votes": option.votes,
            "voted": voted == Some(option.number),
        })
    });
    let options: Vec<Value> = options.collect();
    let open = poll.is_open(tx.now());
    Ok(json!({
        "id": poll.id.to_string(),
        "post": post.to_string(),
        "status": if open { "open" } else { "closed" },
        "ends_at": poll.ends_at.to_string(),
        "user": user.username,
        "voted": voted,
        "options": options,
    }))
}
