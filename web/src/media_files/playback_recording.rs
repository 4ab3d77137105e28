//! Records what was sent of a film, once the response ends.

use std::sync::Arc;

use base::UserId;
use http::Method;
use http::header::USER_AGENT;
use network::playbacks::{PlaybackRecorder, ServedBytes, playback_key};
use store::media::Media;
use store::playbacks::PlaybackKey;

use crate::request_context::RequestContext;

/// Of a response to come.
pub struct PlaybackRecording {
    recorder: Arc<PlaybackRecorder>,
    key: PlaybackKey,
    duration_ms: i64,
}

/// Of a response that is being sent.
pub(super) struct RunningPlaybackRecording {
    recording: PlaybackRecording,
    served: ServedBytes,
}

impl PlaybackRecording {
    /// None for photos.
    pub fn new(call: &RequestContext, media: &Media, path: &str) -> Option<Self> {
        let is_film = matches!(media.kind.as_str(), "video" | "animated_gif");
        let is_playable = media.path == path || media.variant_files().any(|variant| variant.path == path);
        if !is_film || !is_playable || call.head().method != Method::GET {
            return None;
        }
        Some(Self {
            recorder: Arc::clone(&call.state.playbacks),
            key: playback_key(media.id, viewer_id(call), call.now()),
            duration_ms: media.duration_ms,
        })
    }

    /// The response begins with byte `first` of a file of `length` bytes.
    pub(super) const fn begin(self, first: u64, length: u64) -> RunningPlaybackRecording {
        RunningPlaybackRecording { recording: self, served: ServedBytes { first, end: first, length } }
    }
}

/// A user, or what identifies a browser at an address.
fn viewer_id(call: &RequestContext) -> i64 {
    let user = call.optional_caller().and_then(|caller| caller.user);
    user.map_or_else(
        || {
            let agent = call.head().headers.get(USER_AGENT).and_then(|value| value.to_str().ok());
            let key = call.state.page_context.config.page_key;
            ads_delivery::clicks::anonymous_viewer_id(&key, &call.client_address(), agent.unwrap_or_default())
        },
        UserId::get,
    )
}

impl RunningPlaybackRecording {
    pub(super) fn count(&mut self, bytes: usize) {
        self.served.end = self.served.end.saturating_add(u64::try_from(bytes).unwrap_or(0));
    }
}

impl Drop for RunningPlaybackRecording {
    fn drop(&mut self) {
        let PlaybackRecording { recorder, key, duration_ms } = &self.recording;
        recorder.record(*key, *duration_ms, self.served);
    }
}
