//! Renders API objects: which fields exist, which are defaults, who may see them, what they expand to, and
//! their JSON. Results of actions are written by the handlers in `api`.

mod activity;
mod communities;
mod compliance;
mod connections;
mod counts;
mod field_schema;
mod field_selection;
mod includes;
mod json_writer;
mod legacy_media;
mod legacy_places;
mod legacy_statuses;
mod legacy_users;
mod likes;
mod lists;
mod loaded_objects;
mod loader;
mod media;
mod messages;
mod news;
mod notes;
mod object;
mod places;
mod polls;
mod position_shifts;
mod posts;
mod response;
mod shown_posts;
mod spaces;
mod text_segments;
mod trends;
mod usage;
mod users;

#[cfg(test)]
mod tests;

pub use activity::{EventPayload, EventRenderer, LikeEvent};
pub use communities::{render_communities, render_community};
pub use compliance::{ComplianceJobSummary, render_compliance_job, render_compliance_jobs};
pub use connections::{RuleCount, render_connections, render_rules_count};
pub use counts::{CountBucket, render_counts};
pub use field_schema::{FieldAudience, FieldDefinition, FieldInclusion, JsonFieldType, JsonMember};
pub use field_selection::FieldSelection;
pub use json_writer::RenderOptions;
pub use legacy_statuses::{
    StatusForm, legacy_entities_json, legacy_message_data_json, legacy_participant_json, legacy_post_json,
    legacy_statuses_json,
};
pub use legacy_users::legacy_user_json;
pub use likes::render_like;
pub use lists::{render_list, render_lists};
pub use media::{PlayableFile, media_url, playable_files};
pub use messages::{render_message_event, render_message_events};
pub use news::{render_stories, render_story};
pub use notes::{RatedNote, render_notes};
pub use object::ObjectKind;
pub use posts::{new_post_text, shorten_message_links};
pub use response::{
    LookupKeys, RenderRequest, ResponsePayload, UserKey, render_each_post, render_media, render_media_lookup,
    render_post, render_post_lookup, render_posts, render_user, render_user_lookup, render_users,
};
pub use shown_posts::{ShownMedia, ShownPost, ShownPosts, show_stored_media};
pub use spaces::{render_space, render_space_lookup, render_spaces};
pub use text_segments::{TextSegment, linked_text_segments, text_segments};
pub use trends::{render_personal_trends, render_trends};
pub use usage::{ProjectUsage, render_usage};
