//! Names of worlds and snapshots.

use base::{Error, Refusal};

use super::MAIN_WORLD;

const MAX_WORLD_NAME: usize = 32;
const MAX_SNAPSHOT_NAME: usize = 64;
/// What a world can be made from without a snapshot.
pub(super) const BUILT_IN_WORLDS: [&str; 3] = ["demo", "ads", "empty"];

/// A world's name is the first label of its host.
pub(super) fn check_world_name(name: &str) -> Result<(), Error> {
    let is_label = (1..=MAX_WORLD_NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && !name.starts_with('-')
        && !name.ends_with('-');
    let is_reserved = name == MAIN_WORLD || name.starts_with("ads-api-sandbox");
    if is_label && !is_reserved {
        return Ok(());
    }
    let reason = if is_reserved {
        format!("The world name [{name}] is reserved")
    } else {
        format!(
            "The world name [{name}] must have 1 to {MAX_WORLD_NAME} lowercase letters, digits and hyphens, with none at \
             either end"
        )
    };
    Err(Refusal::invalid_parameter("name", name, reason).into())
}

pub(super) fn check_snapshot_name(name: &str) -> Result<(), Error> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_valid = (1..=MAX_SNAPSHOT_NAME).contains(&name.len()) && name.bytes().all(allowed) && !name.starts_with('.');
    let is_reserved = BUILT_IN_WORLDS.contains(&name);
    if is_valid && !is_reserved {
        return Ok(());
    }
    let reason = if is_reserved {
        format!("The snapshot name [{name}] is that of a built-in world")
    } else {
        format!(
            "The snapshot name [{name}] must have 1 to {MAX_SNAPSHOT_NAME} letters, digits, `-`, `_` and `.`, and not \
             start with `.`"
        )
    };
    Err(Refusal::invalid_parameter("name", name, reason).into())
}

#[cfg(test)]
mod tests {
    use super::{check_snapshot_name, check_world_name};

    #[test]
    fn names_that_would_leave_their_folder_or_host_are_refused() {
        for name in ["t1", "a", "test-12"] {
            check_world_name(name).unwrap();
        }
        for name in ["", "main", "T1", "a.b", "-a", "a-", "../x", "ads-api-sandbox", &"a".repeat(33)] {
            assert!(check_world_name(name).is_err(), "{name}");
        }
        for name in ["before", "v1.2_x"] {
            check_snapshot_name(name).unwrap();
        }
        for name in ["", ".", "..", ".part", "a/b", "demo", &"a".repeat(65)] {
            assert!(check_snapshot_name(name).is_err(), "{name}");
        }
    }
}
