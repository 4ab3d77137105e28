//! `locum note`, and who may write notes.

use base::{Error, Id};
use clap::{Subcommand, ValueEnum};
use network::notes;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::notes::CommunityNote;

use super::find;
use crate::instance::Instance;

/// What may be done about notes.
#[derive(Clone, Debug, Serialize, Deserialize, Subcommand)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NoteCommand {
    /// Shows a note and how it is rated
    Show {
        /// Its id
        note: String,
    },
    /// Rates a note for a user; a later rating takes the place of an earlier one
    Rate {
        /// Its id
        note: String,
        /// What the user thinks of it
        rating: NoteRating,
        /// Who rates: @username or id
        #[arg(long = "as", value_name = "USER")]
        user: String,
    },
    /// Asks for a note on a post
    Request {
        /// Id of the post
        post: String,
        /// Who asks: @username or id
        #[arg(long = "as", value_name = "USER")]
        user: String,
    },
}

/// What a user thinks of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NoteRating {
    /// It helps
    Helpful,
    /// It does not
    NotHelpful,
}

/// Whether something is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OnOff {
    /// It is
    On,
    /// It is not
    Off,
}

/// Does it.
pub(super) async fn execute(instance: &Instance, command: NoteCommand) -> Result<Value, Error> {
    match command {
        NoteCommand::Show { note } => {
            let id = parse_id(&note)?;
            let found = instance.store.read(move |tx| notes::find(tx, id));
            Ok(render_note(&found.await?))
        }
        NoteCommand::Rate { note, rating, user } => {
            let id = parse_id(&note)?;
            let rated = instance.store.write(move |tx| {
                let user = find::user(tx, &user)?;
                notes::rate(tx, id, user.id, rating == NoteRating::Helpful)
            });
            Ok(render_note(&rated.await?))
        }
        NoteCommand::Request { post, user } => {
            let id = find::post_id(&post)?;
            let asked = instance.store.write(move |tx| {
                let user = find::user(tx, &user)?;
                notes::request(tx, user.id, id)
            });
            Ok(json!({ "post": id.to_string(), "changed": asked.await? }))
        }
    }
}

/// Lets a user write notes, or no longer.
pub(super) async fn set_note_writer(instance: &Instance, user: String, may: OnOff) -> Result<Value, Error> {
    let may = may == OnOff::On;
    let changed = instance.store.write(move |tx| {
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
