//! Posts, in the archive's and in the v1.1 format.

use super::entities::{RawEntities, RawMedia, RawMention, RawUrl};
use super::{ElementError, RawUser};
use crate::lenient::{LenientFlag, LenientList, LenientNumber, LenientText};
use crate::notes::NoteIndex;
use crate::text::{self, TextDraft};
use crate::{ArchivedMedia, ArchivedMention, ArchivedNote, ArchivedPost, ArchivedRepost, time};
use serde::Deserialize;

/// A post in an archive: inside `tweet`, or bare in older archives.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WrappedPost<'a> {
    #[serde(borrow)]
    tweet: Option<Box<RawPost<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawPost<'a> {
    id: LenientNumber,
    id_str: LenientNumber,
    #[serde(borrow)]
    full_text: Option<LenientText<'a>>,
    text: Option<LenientText<'a>>,
    created_at: LenientText<'a>,
    lang: LenientText<'a>,
    source: LenientText<'a>,
    favorite_count: LenientNumber,
    retweet_count: LenientNumber,
    possibly_sensitive: LenientFlag,
    in_reply_to_status_id: LenientNumber,
    in_reply_to_status_id_str: LenientNumber,
    in_reply_to_user_id: LenientNumber,
    in_reply_to_user_id_str: LenientNumber,
    in_reply_to_screen_name: LenientText<'a>,
    entities: Option<RawEntities<'a>>,
    extended_entities: Option<RawEntities<'a>>,
    extended_tweet: Option<RawExtendedTweet<'a>>,
    edit_info: Option<RawEditInfo>,
    community_id: LenientNumber,
    community_id_str: LenientNumber,
    members_only: LenientFlag,
    unshared: LenientFlag,
    followers_only: LenientFlag,
    quoted_status_id: LenientNumber,
    quoted_status_id_str: LenientNumber,
    deleted_at: LenientText<'a>,
    pub(crate) quoted_status: Option<Box<RawPost<'a>>>,
    pub(crate) retweeted_status: Option<Box<RawPost<'a>>>,
    pub(crate) user: Option<Box<RawUser<'a>>>,
}

/// The full version of a shortened post in streamed objects.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawExtendedTweet<'a> {
    #[serde(borrow)]
    full_text: Option<LenientText<'a>>,
    entities: Option<RawEntities<'a>>,
    extended_entities: Option<RawEntities<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawEditInfo {
    initial: Option<RawEditControl>,
    edit: Option<RawEdit>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawEdit {
    edit_control_initial: Option<RawEditControl>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawEditControl {
    edit_tweet_ids: LenientList<LenientNumber>,
}

#[derive(Clone, Copy)]
pub(crate) struct ConversionContext<'n> {
    pub(crate) author: Option<i64>,
    pub(crate) notes: &'n NoteIndex,
    /// Whether `RT @name:` alone indicates a repost, as in archives.
    pub(crate) reposts_by_text: bool,
}

impl<'a> WrappedPost<'a> {
    pub(crate) fn parse_post(json: &'a str) -> Result<RawPost<'a>, ElementError> {
        match serde_json::from_str::<Self>(json)?.tweet {
            Some(post) => Ok(*post),
            None => Ok(serde_json::from_str(json)?),
        }
    }
}

impl<'a> RawPost<'a> {
    pub(crate) fn id(&self) -> Option<i64> {
        self.id_str.0.or(self.id.0).filter(|id| *id > 0)
    }

    pub(crate) fn has_text(&self) -> bool {
        self.full_text.is_some() || self.text.is_some()
    }

    pub(crate) fn deleted_at_ms(&self) -> Option<i64> {
        time::parse(&self.deleted_at)
    }

    pub(crate) fn to_post(&self, context: ConversionContext<'_>) -> Result<ArchivedPost, ElementError> {
        let id = self.id().ok_or_else(|| ElementError::unreadable("a post without an id"))?;
        let created = time::from_id(id).or_else(|| time::parse(&self.created_at));
        let created_at_ms = created.ok_or_else(|| ElementError::unreadable("a post without a time"))?;
        let raw_text = self.raw_text().ok_or_else(|| ElementError::unreadable("a post without text"))?;
        let plain = text::unescape_entities(raw_text);
        let mentions = self.to_mentions();
        let repost_of = self.to_repost(&plain, &mentions, context);
        let note = context.notes.find_note(created_at_ms, &plain);
        let (draft, quoted_post) = self.build_draft(id, plain, repost_of.is_some(), note);
        let user = self.user.as_deref().filter(|user| !user.screen_name.is_empty());
        Ok(ArchivedPost {
            id,
            author: self.user.as_ref().and_then(|user| user.id()).or(context.author),
            created_at_ms,
            lang: self.lang.non_empty(),
            source: Some(text::anchor_text(&self.source).to_owned()).filter(|name| !name.is_empty()),
            in_reply_to_post: positive_id(self.in_reply_to_status_id_str, self.in_reply_to_status_id),
            in_reply_to_user: positive_id(self.in_reply_to_user_id_str, self.in_reply_to_user_id),
            in_reply_to_handle: self.in_reply_to_screen_name.non_empty(),
            quoted_post,
            repost_of,
            media: self.to_media(id)?,
            poll: self.raw_entities().and_then(|entities| entities.polls.first()?.to_poll(created_at_ms)),
            text: draft.text,
            urls: draft.urls,
            mentions,
            edit_history: self.edit_history(),
            possibly_sensitive: self.possibly_sensitive.0,
            like_count: self.favorite_count.0.unwrap_or(0),
            repost_count: self.retweet_count.0.unwrap_or(0),
            community_id: positive_id(self.community_id_str, self.community_id),
            members_only: self.members_only.0,
            unshared: self.unshared.0,
            followers_only: self.followers_only.0,
            note: note.map(|note| note.id),
            user: user.map(RawUser::to_user).transpose()?.map(Box::new),
            ..ArchivedPost::default()
        })
    }

    fn build_draft(
        &self,
        id: i64,
        plain: String,
        is_repost: bool,
        note: Option<&ArchivedNote>,
    ) -> (TextDraft, Option<i64>) {
        let quoted = positive_id(self.quoted_status_id_str, self.quoted_status_id);
        let urls = self.raw_urls().iter().map(RawUrl::to_url).collect();
        let mut draft = TextDraft { text: plain, urls };
        draft.drop_media_links(&self.media_links());
        let quoted_post = if is_repost { None } else { draft.take_quote(quoted, id) };
        draft.expand_links();
        if let Some(note) = note {
            draft.text.clone_from(&note.text);
            draft.urls.retain(|url| text::post_id_from_url(&url.expanded) != Some(id));
            let shorts: Vec<_> = draft.urls.iter().map(|url| url.short.clone()).collect();
            let further = note.urls.iter().filter(|url| !shorts.contains(&url.short));
            draft.urls.extend(further.cloned());
        }
        (draft, quoted_post)
    }

    fn raw_text(&self) -> Option<&str> {
        let extended = self.extended_tweet.as_ref().and_then(|whole| whole.full_text.as_deref());
        extended.or(self.full_text.as_deref()).or(self.text.as_deref())
    }

    fn raw_entities(&self) -> Option<&RawEntities<'a>> {
        let extended = self.extended_tweet.as_ref().and_then(|whole| whole.entities.as_ref());
        extended.or(self.entities.as_ref())
    }

    fn raw_urls(&self) -> &[RawUrl<'a>] {
        self.raw_entities().map_or(&[], |entities| &entities.urls)
    }

    fn raw_media(&self) -> &[RawMedia<'a>] {
        let whole = self.extended_tweet.as_ref().and_then(|whole| whole.extended_entities.as_ref());
        let extended = whole.or(self.extended_entities.as_ref());
        let entities = extended.filter(|found| !found.media.is_empty()).or_else(|| self.raw_entities());
        entities.map_or(&[], |entities| &entities.media)
    }

    fn media_links(&self) -> Vec<&str> {
        self.raw_media().iter().map(|media| &*media.url).collect()
    }

    fn to_media(&self, post: i64) -> Result<Vec<ArchivedMedia>, ElementError> {
        let media = self.raw_media().iter().map(RawMedia::to_media);
        let named = media.map(|mut media| {
            media.files = text::media_file_names(post, &media).map_err(ElementError::Refused)?;
            Ok(media)
        });
        named.collect()
    }

    fn to_mentions(&self) -> Vec<ArchivedMention> {
        let entities = self.raw_entities().map_or(&[][..], |entities| &entities.user_mentions);
        entities.iter().map(RawMention::to_mention).collect()
    }

    fn to_repost(
        &self,
        text: &str,
        mentions: &[ArchivedMention],
        context: ConversionContext<'_>,
    ) -> Option<ArchivedRepost> {
        let parts = text::split_repost(text);
        let source = self.retweeted_status.as_deref();
        if source.is_none() && !context.reposts_by_text {
            return None;
        }
        let (handle, rest) = match (parts, source) {
            (Some(parts), _) => parts,
            (None, Some(_)) => ("", text),
            (None, None) => return None,
        };
        let author = source.and_then(|source| source.user.as_ref());
        let same = |mention: &&ArchivedMention| mention.handle.eq_ignore_ascii_case(handle);
        Some(ArchivedRepost {
            handle: author.map_or_else(|| handle.to_owned(), |author| author.screen_name.to_text()),
            text: rest.to_owned(),
            id: source.and_then(RawPost::id),
            author: author.and_then(|author| author.id()).or_else(|| mentions.iter().find(same)?.id),
        })
    }

    fn edit_history(&self) -> Vec<i64> {
        let control = self.edit_info.as_ref().and_then(|info| {
            let later = info.edit.as_ref().and_then(|edit| edit.edit_control_initial.as_ref());
            info.initial.as_ref().or(later)
        });
        let ids = control.map_or(&[][..], |control| &control.edit_tweet_ids);
        match ids {
            [_, _, ..] => ids.iter().filter_map(|id| id.0).collect(),
            _ => Vec::new(),
        }
    }
}

fn positive_id(text: LenientNumber, number: LenientNumber) -> Option<i64> {
    text.0.or(number.0).filter(|id| *id > 0)
}
