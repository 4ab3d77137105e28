//! What an import needs beside the nouns' own verbs: how far it came, who is who, and many rows
//! at once.

mod edges;
mod merge;
mod people;
mod posts;
mod progress;

pub use edges::{EdgeKind, has_requests, insert_edge, insert_like, insert_mention, sever};
pub use merge::{absorb, merge};
pub use people::{
    Known, UserShift, alias, aliases, is_name_only, known, name_only, rename, shift_user,
};
pub use posts::{
    PostShift, Seen, children, insert_placeholder, is_reposted, learn, seen, set_conversation,
    shift_post, supersede,
};
pub use progress::{Mark, claim, note_authors, progress, renew_homes, set_progress};
