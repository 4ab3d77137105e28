//! Which fields exist, which come unasked, who may see them, what they lead to, and how they are
//! spoken: the only floor that knows the names of an answer's members.

mod account_activity;
mod activity;
mod answer;
mod communities;
mod compliance;
mod connections;
mod counts;
mod include;
mod likes;
mod lists;
mod media;
mod messages;
mod news;
mod notes;
mod object;
mod older;
mod others;
mod out;
mod places;
mod polls;
mod posts;
mod shown;
mod spaces;
mod trends;
mod usage;
mod users;
mod wants;
mod world;

#[cfg(test)]
mod tests;

pub use account_activity::{StatusForm, older_entities, older_post, older_statuses, person};
pub use activity::{LikeShown, Shared, Told};
pub use answer::{
    Answer, Asked, Names, Spoken, media_asked, media_by_key, post, posts, posts_asked, text_of_new,
    user, users, users_asked,
};
pub use communities::{communities, community};
pub use compliance::{JobShown, compliance_job, compliance_jobs};
pub use connections::{ConnectionShown, RulesShown, connections, rules_count};
pub use counts::{Count, counts};
pub use likes::like;
pub use lists::{list, lists};
pub use messages::{message, message_events};
pub use news::{stories, story};
pub use notes::{NoteShown, notes};
pub use object::Object;
pub use older::older_user;
pub use shown::{Audience, Expansion, Json, Member, Shown, When};
pub use spaces::{space, spaces, spaces_asked};
pub use trends::{personal_trends, trends};
pub use usage::{UsageShown, usage};
pub use wants::Wants;
