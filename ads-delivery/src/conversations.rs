//! Conversation cards as viewers see them (contract ads §8.11): hashtags to choose from, a post
//! composed with one of them, and content unlocked by posting.

use ads::resources::conversation_cards::{IMAGE_CONVERSATION_CARD, OPTIONS, VIDEO_CONVERSATION_CARD};
use ads_engine::AdsRecord;
use base::{Fault, Id, PostId, UserId};
use store::ledger::AdEventKind;
use store::posts::{Post, PostState};
use store::{Tx, media, posts, records};

use crate::attribution::{EngagementAct, attribute_act};
use crate::ledger::record_events;

/// The paths of an image and of the video it is a still of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardMediaPaths {
    pub image: Option<String>,
    pub video: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationCardContent {
    /// May be empty.
    pub title: String,
    pub media: CardMediaPaths,
    /// The hashtag and the text of the post, for each option.
    pub options: Vec<(String, String)>,
    pub thank_you_text: String,
    /// May be empty.
    pub thank_you_url: String,
    pub unlocked_media: CardMediaPaths,
}

impl ConversationCardContent {
    /// Whether a text contains one of the card's hashtags.
    pub fn is_answered_by(&self, text: &str) -> bool {
        let words = text
            .split(|letter: char| letter.is_whitespace() || matches!(letter, '.' | ',' | '!' | '?' | ';' | ':' | ')'));
        let mut words = words.map(str::to_lowercase);
        words.any(|word| {
            let mut choices = self.options.iter();
            choices.any(|(hashtag, _)| hashtag.to_lowercase() == word)
        })
    }
}

/// Finds a conversation card by the number in its URI.
pub fn find(tx: &mut Tx<'_>, uri: i64) -> Result<Option<ConversationCardContent>, Fault> {
    for resource in [&VIDEO_CONVERSATION_CARD, &IMAGE_CONVERSATION_CARD] {
        let rows = records::list_in_all_accounts(tx, resource.name, ("uri", uri))?;
        if let Some(row) = rows.into_iter().next() {
            let card = AdsRecord::from_stored(resource, row)?;
            return card_from_record(tx, &card).map(Some);
        }
    }
    Ok(None)
}

fn card_from_record(tx: &mut Tx<'_>, card: &AdsRecord) -> Result<ConversationCardContent, Fault> {
    let text = |name: &str| card.text(name).to_owned();
    let moves = card.resource.name == VIDEO_CONVERSATION_CARD.name;
    let field = |name: &str, there: bool| if there { text(name) } else { String::new() };
    let main = media_paths(tx, &text("media_key"))?;
    let poster = media_paths(tx, &field("poster_media_key", moves))?;
    let film = media_paths(tx, &field("unlocked_video_media_key", moves))?;
    let image = media_paths(tx, &text("unlocked_image_media_key"))?;
    let choices = OPTIONS.into_iter().map(|(cta, post, _)| (text(cta), text(post)));
    Ok(ConversationCardContent {
        title: text("title"),
        media: CardMediaPaths { image: poster.image.or(main.image), video: main.video },
        options: choices.filter(|(cta, _)| !cta.is_empty()).collect(),
        thank_you_text: text("thank_you_text"),
        thank_you_url: text("thank_you_url"),
        unlocked_media: CardMediaPaths { image: image.image.or(film.image), video: film.video },
    })
}

/// The best image and video of a media object.
pub(crate) fn media_paths(tx: &mut Tx<'_>, key: &str) -> Result<CardMediaPaths, Fault> {
    let id = key.split_once('_').and_then(|(_, id)| Id::parse(id));
    let found = match id {
        Some(id) => media::find_by_id(tx, id)?,
        None => None,
    };
    let Some(found) = found else {
        return Ok(CardMediaPaths::default());
    };
    let path = found.file_name().map(|name| format!("/media/{name}"));
    if found.kind == "photo" {
        return Ok(CardMediaPaths { image: path, video: None });
    }
    let small = path.as_ref().filter(|_| found.size_path("small").is_some());
    let image = small.map(|path| format!("{path}?name=small"));
    let variants = found.variant_files().max_by_key(|variant| variant.bit_rate);
    let name = variants.as_ref().and_then(|variant| variant.path.rsplit('/').next());
    let video = name.map(|name| format!("/media/{name}")).or(path);
    Ok(CardMediaPaths { image, video })
}

pub fn post_has_card(tx: &mut Tx<'_>, post: PostId, uri: i64) -> Result<bool, Fault> {
    let post = posts::find_by_id(tx, post)?;
    let uri = format!("card://{uri}");
    Ok(post.is_some_and(|post| post.card_uri == uri && post.state == PostState::Live))
}

/// Counts a post as an answer to the card of another post; if that post is promoted, as an engagement.
pub fn record_card_answer(
    tx: &mut Tx<'_>,
    user: UserId,
    answer: &Post,
    (post, uri): (PostId, i64),
) -> Result<(), Fault> {
    let known = find(tx, uri)?;
    if known.is_none_or(|card| !card.is_answered_by(&answer.text)) || !post_has_card(tx, post, uri)? {
        return Ok(());
    }
    let act =
        EngagementAct { kind: AdEventKind::CardEngagement, at: tx.now(), viewer: user.get(), subject: post.get() };
    if let Some(event) = attribute_act(tx, act)? {
        record_events(tx, &[event])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{CardMediaPaths, ConversationCardContent};

    #[test]
    fn a_text_answers_by_one_of_the_hashtags() {
        let card = ConversationCardContent {
            title: String::new(),
            media: CardMediaPaths::default(),
            options: vec![("#Coast".to_owned(), "I choose".to_owned())],
            thank_you_text: String::new(),
            thank_you_url: String::new(),
            unlocked_media: CardMediaPaths::default(),
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
