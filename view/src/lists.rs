//! Lists of users: their fields and what those lead to.

use crate::Object;
use crate::shown::{Expansion, Json, Shown};

pub(crate) const FIELDS: &[Shown] = &[
    Shown::always("id", Json::Id, "Id of the list."),
    Shown::always("name", Json::Text, "Its name."),
    Shown::asked("created_at", Json::Time, "When it was made."),
    Shown::asked("description", Json::Text, "What it is for."),
    Shown::asked("follower_count", Json::Int, "Users who follow it."),
    Shown::asked("member_count", Json::Int, "Users on it."),
    Shown::asked("private", Json::Bool, "Only its owner sees it."),
    Shown::asked("owner_id", Json::Id, "Who made it."),
];

pub(crate) const EXPANSIONS: &[Expansion] = &[Expansion::new("owner_id", Object::User, "owner_id")];
