//! `locum note`, and permission to write notes.

use base::{Error, Id};
use clap::{Subcommand, ValueEnum};
use network::notes;
use serde_json::{Value, json};
use store::notes::CommunityNote;

use super::find;
use crate::Instance;

#[derive(Clone, Debug, Subcommand)]
pub enum NoteCommand {
    /// Show a note and its ratings
    Show {
        /// The id
        note: String,
    },
    /// Rate a note on behalf of a user; replaces the user's earlier rating
    Rate {
        /// The id
        note: String,
        /// The rating
        rating: NoteRating,
        /// The rater: @username or id
        #[arg(long = "as", value_name = "USER")]
        user: String,
    },
    /// Request a note on a post
    Request {
        /// The post's id
        post: String,
        /// The requester: @username or id
        #[arg(long = "as", value_name = "USER")]
        user: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NoteRating {
    /// The note is helpful
    Helpful,
    /// The note is not helpful
    NotHelpful,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnOff {
    /// Enable
    On,
    /// Disable
    Off,
}

pub(super) async fn execute(instance: &Instance, command: NoteCommand) -> Result<Value, Error> {
    match command {
        NoteCommand::Show { note } => {
            let id = parse_id(&note)?;
            let found = instance.store.read(move |tx| notes::find(tx, id));
            Ok(render_note(&found.await?))
        }
        NoteCommand::Rate { note, rating, user } => {
            let id = parse_id(&note)?;
            let rated = instance.write(move |tx| {
                let user = find::user(tx, &user)?;
                notes::rate(tx, id, user.id, rating == NoteRating::Helpful)
            });
            Ok(render_note(&rated.await?))
        }
        NoteCommand::Request { post, user } => {
            let id = find::post_id(&post)?;
            let asked = instance.write(move |tx| {
                let user = find::user(tx, &user)?;
                notes::request(tx, user.id, id)
            });
            Ok(json!({ "post": id.to_string(), "changed": asked.await? }))
        }
    }
}

pub(super) async fn set_note_writer(instance: &Instance, user: String, may: OnOff) -> Result<Value, Error> {
    let may = may == OnOff::On;
    let changed = instance.write(move |tx| {
        let user = find::user(tx, &user)?;
        let changed = notes::set_writer(tx, user.id, may)?;
        Ok::<_, Error>((user, changed))
    });
    let (user, changed) = changed.await?;
    Ok(json!({
        "id": user.id.to_string(),
        "username": user.username,
        "note_writer": may,
        "changed": changed,
    }))
}

fn parse_id(text: &str) -> Result<i64, Error> {
    let id = Id::<()>::parse(text);
    id.map(Id::get).ok_or_else(|| find::not_found("note", text))
}

fn render_note(note: &CommunityNote) -> Value {
    json!({
        "id": note.id.to_string(),
        "author": note.author_id.to_string(),
        "post": note.post_id.to_string(),
        "test_mode": note.test_mode,
        "text": note.text,
        "status": notes::status(note),
        "helpful": note.helpful,
        "not_helpful": note.not_helpful,
    })
}
