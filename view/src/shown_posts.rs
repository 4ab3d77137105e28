//! Posts with all that pages show of them, as a viewer may see them.

use base::{Fault, PostId, SiteLinks};
use network::visibility::{Viewer, Visibility};
use serde::Deserialize;
use store::Tx;
use store::communities::Community;
use store::media::Media;
use store::polls::Poll;
use store::posts::Post;
use store::users::User;

use crate::loaded_objects::LoadedObjects;
use crate::media::{file_url, id_from_media_key, media_url, playable_files, still_url};
use crate::posts::{PostRenderContext, media_keys, sent_entities, sent_text};
use crate::text_segments::{TextSegment, linked_text_segments, text_segments};

const FILM_TYPE: &str = "video/mp4";

/// Posts in the order of a page.
#[derive(Debug)]
pub struct ShownPosts {
    objects: LoadedObjects,
    ids: Vec<PostId>,
}

/// A post, or the original of a repost.
#[derive(Clone, Copy, Debug)]
pub struct ShownPost<'a> {
    pub post: &'a Post,
    pub author: &'a User,
    pub reposted_by: Option<&'a User>,
    objects: &'a LoadedObjects,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownMedia {
    /// The URL of the photo, or of the still of a video or animated GIF; empty if there is none.
    pub picture: String,
    /// None for a photo.
    pub video: Option<String>,
    /// Empty if there is none.
    pub description: String,
    /// The language and name of each.
    pub subtitles: Vec<(String, String)>,
}

/// Of a video that was imported.
#[derive(Deserialize)]
struct ImportedVariant {
    content_type: String,
    url: String,
}

impl ShownPosts {
    pub fn load(tx: &mut Tx<'_>, viewer: Viewer, posts: Vec<Post>, site: SiteLinks) -> Result<Self, Fault> {
        let ids = posts.iter().map(|post| post.id).collect();
        Ok(Self { objects: LoadedObjects::load_for_pages(tx, viewer, posts, site)?, ids })
    }

    /// Without posts that the viewer may not see, and reposts of such.
    pub fn iter(&self) -> impl Iterator<Item = ShownPost<'_>> {
        self.ids.iter().filter_map(|id| {
            let found = self.find(*id)?;
            match found.post.repost_of_id {
                Some(original) => Some(ShownPost { reposted_by: Some(found.author), ..self.find(original)? }),
                None => Some(found),
            }
        })
    }

    fn find(&self, id: PostId) -> Option<ShownPost<'_>> {
        ShownPost::find(&self.objects, id)
    }
}

impl<'a> ShownPost<'a> {
    fn find(objects: &'a LoadedObjects, id: PostId) -> Option<Self> {
        let post = objects.posts.get(id)?;
        let author = objects.users.get(post.author_id)?;
        let is_visible = objects.post_visibility(post) == Visibility::Visible;
        is_visible.then_some(Self { post, author, reposted_by: None, objects })
    }

    fn context(self) -> PostRenderContext<'a> {
        PostRenderContext { post: self.post, objects: self.objects }
    }

    /// The text in pieces, without the link to its media.
    pub fn text_segments(self) -> Vec<TextSegment> {
        text_segments(&sent_text(self.context()), &sent_entities(self.context()))
    }

    /// As [`Self::text_segments`], with paths of this site for mentioned users.
    pub fn linked_text_segments(self, user_path: impl Fn(&str) -> String) -> Vec<TextSegment> {
        linked_text_segments(&sent_text(self.context()), &sent_entities(self.context()), user_path)
    }

    /// Whom it replies to.
    pub fn replied_user(self) -> Option<&'a User> {
        self.objects.users.get(self.post.in_reply_to_user_id?)
    }

    /// None in a repost, and if the viewer may not see the post.
    pub fn quoted(self) -> Option<Self> {
        let id = self.post.quoted_post_id.filter(|_| self.reposted_by.is_none())?;
        Self::find(self.objects, id)
    }

    pub fn poll(self) -> Option<&'a Poll> {
        self.objects.polls.get(self.post.poll_id?)
    }

    /// None in a quoted post.
    pub fn community(self) -> Option<&'a Community> {
        self.objects.communities.get(self.post.community_id?)
    }

    pub fn media(self) -> impl Iterator<Item = ShownMedia> {
        let media = media_keys(self.post).filter_map(move |key| self.objects.media.get(id_from_media_key(key)?));
        media.map(move |media| {
            let subtitles = self.objects.subtitles.get(&media.id).cloned().unwrap_or_default();
            ShownMedia { subtitles, ..show_media(media, self.objects.site.files_url) }
        })
    }
}

/// A stored file under URLs of the caller. An animated picture of which there is no video is shown as a picture.
pub fn show_stored_media(
    media: &Media,
    subtitles: Vec<(String, String)>,
    url: impl Fn(&str) -> Option<String>,
) -> ShownMedia {
    let film = playable_files(media, &url).into_iter().find(|film| film.content_type == FILM_TYPE);
    let video = film.map(|film| film.url);
    let small = media.size_path("small").filter(|_| video.is_some() || media.kind == "photo");
    let picture = match small {
        Some(path) => url(&path),
        None if video.is_some() => None,
        None => url(&media.path),
    };
    let picture = picture.unwrap_or_default();
    ShownMedia { picture, video, description: media.alt_text.clone(), subtitles }
}

fn show_media(media: &Media, site: &str) -> ShownMedia {
    let is_photo = media.kind == "photo";
    let (own, other) = if is_photo {
        (media_url(media, site), &media.url)
    } else {
        (still_url(media, site), &media.preview_image_url)
    };
    let picture = own.unwrap_or_else(|| other.clone());
    let video = if is_photo { None } else { find_film(media, site).or_else(|| Some(picture.clone())) };
    ShownMedia { picture, video, description: media.alt_text.clone(), subtitles: Vec::new() }
}

/// The file of the lowest bit rate.
fn find_film(media: &Media, site: &str) -> Option<String> {
    let files = playable_files(media, |path| file_url(path, site));
    if files.is_empty() {
        let imported: Vec<ImportedVariant> = serde_json::from_str(&media.variants).unwrap_or_default();
        return imported.into_iter().find(|variant| variant.content_type == FILM_TYPE).map(|variant| variant.url);
    }
    files.into_iter().find(|file| file.content_type == FILM_TYPE).map(|file| file.url)
}
