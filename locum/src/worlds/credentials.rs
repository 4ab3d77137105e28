//! The credentials of a world beside the main one: copies that end with the world's mark, by which requests are told
//! apart.

use base::encryption::Keyring;
use base::{Error, Secret};
use data_encoding::BASE32_NOPAD;
use sha2::{Digest, Sha256};
use store::{Tx, apps, tokens};

use crate::dev::EnvFile;
use instance::set_encrypted_fact;

/// About a billion marks: two of a few hundred worlds hardly ever share one.
pub(super) const MARK_LENGTH: usize = 6;
/// Apps whose names are marked; a snapshot with more has further apps that only the host selects.
const MAX_MARKED_APPS: i64 = 1000;

/// The same for the same seed and name.
pub(super) fn world_mark(seed: u64, name: &str) -> String {
    let digest = Sha256::digest(format!("{seed}:{name}"));
    let text = BASE32_NOPAD.encode(&digest);
    text.chars().take(MARK_LENGTH).collect()
}

/// Replaces the end of the credential's last long word. OAuth 2.0 tokens have a short ending of their own.
fn mark_text(text: &str, mark: &str) -> String {
    let (body, ending) = match text.find(':') {
        Some(position) => text.split_at(position),
        None => (text, ""),
    };
    let end = body.len().saturating_sub(mark.len());
    format!("{}{mark}{ending}", body.get(..end).unwrap_or_default())
}

/// Gives the apps, and the tokens in `dev.env`, the mark of a world. Returns the lines of its `dev.env`.
pub(super) fn mark_credentials(tx: &mut Tx<'_>, keyring: &Keyring, mark: &str) -> Result<EnvFile, Error> {
    for app in apps::list(tx, None, base::AppId::new(0), MAX_MARKED_APPS)? {
        apps::replace_client_names(tx, app.id, &mark_text(&app.api_key, mark), &mark_text(&app.client_id, mark))?;
        if let Some(bearer) = apps::bearer_token(tx, app.id)? {
            let marked = Secret::new(mark_text(bearer.expose_secret(), mark));
            apps::set_bearer_token(tx, app.id, Some(&marked))?;
        }
    }
    let Some(mut lines) = crate::dev::read_env_fact(tx)? else {
        return Ok(EnvFile::default());
    };
    for (name, value) in &mut lines.0 {
        let marked = mark_text(value, mark);
        match name.trim_end_matches("_2") {
            "API_KEY" | "BEARER_TOKEN" | "CLIENT_ID" | "PUBLIC_CLIENT_ID" => {}
            "ACCESS_TOKEN" => {
                if let Some(token) = tokens::find_oauth1(tx, &Secret::new(value.clone()).digest())? {
                    tokens::replace_oauth1_text(tx, &token, &Secret::new(marked.clone()))?;
                }
            }
            "USER_TOKEN" => {
                let (old, new) = (Secret::new(value.clone()).digest(), Secret::new(marked.clone()).digest());
                tokens::replace_oauth2_digest(tx, &old, &new)?;
            }
            _ => continue,
        }
        *value = marked;
    }
    set_encrypted_fact(tx, keyring, emulator::ENVIRONMENT_FACT_KEY, lines.to_text().as_bytes())?;
    Ok(lines)
}

/// The random source of a world: its tokens have the world's mark.
pub(super) fn marked_rng(rng: base::Rng, mark: Option<&str>) -> base::Rng {
    match mark {
        Some(mark) => rng.with_mark(mark),
        None => rng,
    }
}

#[cfg(test)]
mod tests {
    use super::{mark_text, world_mark};

    #[test]
    fn mark_replaces_the_end_and_can_be_repeated() {
        let mark = world_mark(1, "one");
        assert!(mark.len() == 6 && mark != world_mark(1, "two") && mark != world_mark(2, "one"), "{mark}");
        assert_eq!(mark_text("0123456789abcdef", "WORLD1"), "0123456789WORLD1");
        assert_eq!(mark_text("0123456789abcdef:1:at:1", "WORLD1"), "0123456789WORLD1:1:at:1");
        assert_eq!(mark_text(&mark_text("0123456789abcdef", "WORLD1"), "WORLD2"), "0123456789WORLD2");
    }
}
