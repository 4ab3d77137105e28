//! Conversation cards as people meet them (contract §8.11): hashtags to choose from, a post that is
//! written with one of them, and what is shown only after it.

use base::{Fault, Id, PostId, UserId};
use store::ledger::AdEventKind;
use store::posts::{Post, PostState};
use store::{Tx, media, posts, records};

use crate::attribution::{Act, attributed};
use crate::ledger::record;
use crate::record::Record;
use crate::resources::conversation_cards::{
    IMAGE_CONVERSATION_CARD, OPTIONS, VIDEO_CONVERSATION_CARD,
};

/// A picture, and the film that it is a still of: paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Of the picture.
    pub picture: Option<String>,
    /// Of the film.
    pub film: Option<String>,
}

/// A conversation card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// What it says; may be empty.
    pub title: String,
    /// What it shows.
    pub shown: Shown,
    /// What can be chosen: a hashtag, and the text of the post.
    pub choices: Vec<(String, String)>,
    /// What it says afterwards.
    pub thanks: String,
    /// Where it leads afterwards; may be empty.
    pub thanks_url: String,
    /// What it shows afterwards.
    pub unlocked: Shown,
}

impl Conversation {
    /// Whether a text answers the card: one of the hashtags is in it.
    pub fn is_answered_by(&self, text: &str) -> bool {
        let words = text.split(|letter: char| {
            letter.is_whitespace() || matches!(letter, '.' | ',' | '!' | '?' | ';' | ':' | ')')
        });
        let mut words = words.map(str::to_lowercase);
        words.any(|word| {
            let mut choices = self.choices.iter();
            choices.any(|(hashtag, _)| hashtag.to_lowercase() == word)
        })
    }
}

/// The card with a number in its address, where it is one of conversation.
pub fn find(tx: &mut Tx<'_>, uri: i64) -> Result<Option<Conversation>, Fault> {
    for of in [&VIDEO_CONVERSATION_CARD, &IMAGE_CONVERSATION_CARD] {
        let rows = records::list_in_all_accounts(tx, of.name, ("uri", uri))?;
        if let Some(row) = rows.first() {
            let card = Record::stored(of, row)?;
            return read(tx, &card).map(Some);
        }
    }
    Ok(None)
}

fn read(tx: &mut Tx<'_>, card: &Record) -> Result<Conversation, Fault> {
    let text = |name: &str| card.text(name).to_owned();
    let moves = card.of.name == VIDEO_CONVERSATION_CARD.name;
    let field = |name: &str, there: bool| if there { text(name) } else { String::new() };
    let main = shown(tx, &text("media_key"))?;
    let poster = shown(tx, &field("poster_media_key", moves))?;
    let film = shown(tx, &field("unlocked_video_media_key", moves))?;
    let image = shown(tx, &text("unlocked_image_media_key"))?;
    let choices = OPTIONS
        .into_iter()
        .map(|(cta, post)| (text(cta), text(post)));
    Ok(Conversation {
        title: text("title"),
        shown: Shown {
            picture: poster.picture.or(main.picture),
            film: main.film,
        },
        choices: choices.filter(|(cta, _)| !cta.is_empty()).collect(),
        thanks: text("thank_you_text"),
        thanks_url: text("thank_you_url"),
        unlocked: Shown {
            picture: image.picture.or(film.picture),
            film: film.film,
        },
    })
}

/// The paths of a medium.
fn shown(tx: &mut Tx<'_>, key: &str) -> Result<Shown, Fault> {
    let id = key.split_once('_').and_then(|(_, id)| Id::parse(id));
    let found = match id {
        Some(id) => media::find_by_id(tx, id)?,
        None => None,
    };
    let Some(found) = found else {
        return Ok(Shown::default());
    };
    let path = found.file_name().map(|name| format!("/media/{name}"));
    if found.kind == "photo" {
        return Ok(Shown {
            picture: path,
            film: None,
        });
    }
    let small = path.as_ref().filter(|_| found.size_path("small").is_some());
    Ok(Shown {
        picture: small.map(|path| format!("{path}?name=small")),
        film: path,
    })
}

/// Whether a post carries a card.
pub fn carries(tx: &mut Tx<'_>, post: PostId, uri: i64) -> Result<bool, Fault> {
    let post = posts::find_by_id(tx, post)?;
    let uri = format!("card://{uri}");
    Ok(post.is_some_and(|post| post.card_uri == uri && post.state == PostState::Live))
}

/// Counts a post as an answer to the card that another post carries; where that one is promoted,
/// its card was used.
pub fn answered(
    tx: &mut Tx<'_>,
    user: UserId,
    answer: &Post,
    (post, uri): (PostId, i64),
) -> Result<(), Fault> {
    let known = find(tx, uri)?;
    if known.is_none_or(|card| !card.is_answered_by(&answer.text)) || !carries(tx, post, uri)? {
        return Ok(());
    }
    let act = Act {
        kind: AdEventKind::CardEngagement,
        at: tx.now(),
        viewer: user.get(),
        subject: post.get(),
    };
    if let Some(event) = attributed(tx, act)? {
        record(tx, &[event])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Conversation, Shown};

    #[test]
    fn a_text_answers_by_one_of_the_hashtags() {
        let card = Conversation {
            title: String::new(),
            shown: Shown::default(),
            choices: vec![("#Coast".to_owned(), "I choose".to_owned())],
            thanks: String::new(),
            thanks_url: String::new(),
            unlocked: Shown::default(),
        };
        for (text, answers) in [
            ("I choose #Coast", true),
            ("#coast!", true),
            ("I choose the coast", false),
            ("#Coastline", false),
            ("", false),
        ] {
            assert_eq!(card.is_answered_by(text), answers, "{text}");
        }
    }
}
