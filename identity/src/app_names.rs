//! Names of apps that people could mistake for the site or for another app, compared by their skeletons (UTS #39).

use base::{Fault, Refusal};
use store::Tx;
use store::apps::{App, AppName};
use unicode_security::confusable_detection::skeleton;

/// Words by which only the site itself could vouch for an app.
const ENDORSEMENTS: [&str; 2] = ["official", "verified"];
const CHECK_MARKS: [char; 6] = ['\u{2705}', '\u{2611}', '\u{2713}', '\u{2714}', '\u{1f5f8}', '\u{1f5f9}'];
/// Words that do not make the site's name another one.
const SITE_WORDS: [&str; 9] = ["admin", "app", "help", "official", "security", "staff", "support", "team", "the"];
/// The oldest apps that a name is compared with.
const MAX_COMPARED_APPS: i64 = 10_000;

/// Texts that look alike in common fonts, in capital or small letters, have the same key.
fn similarity_key(text: &str) -> String {
    // The skeleton of a capital letter says nothing of the small one.
    let small: String = skeleton(text).flat_map(char::to_lowercase).collect();
    let letters = skeleton(&small).flat_map(char::to_lowercase).filter(|letter| letter.is_alphanumeric());
    // Skeletons distinguish `l` from a small `i`, though not from a capital one.
    letters.map(|letter| if letter == 'l' { 'i' } else { letter }).collect()
}

fn word_keys(name: &str) -> Vec<String> {
    let words = name.split(|letter: char| !letter.is_alphanumeric()).map(similarity_key);
    words.filter(|word| !word.is_empty()).collect()
}

/// Refuses names by which an app passes for the site's own, or for one that the site vouches for.
pub(crate) fn refuse_impersonation(name: &str, site_name: &str) -> Result<(), Refusal> {
    let words = word_keys(name);
    if name.contains(CHECK_MARKS) || ENDORSEMENTS.iter().any(|word| words.contains(&similarity_key(word))) {
        let message = "The `name` must not claim that the app is official or verified";
        return Err(Refusal::invalid_parameter("name", name, message));
    }
    let site_words = SITE_WORDS.map(similarity_key);
    let mut rest = words.concat();
    let site = similarity_key(site_name);
    while rest != site
        && let Some(shorter) =
            site_words.iter().find_map(|word| rest.strip_prefix(word.as_str()).or(rest.strip_suffix(word.as_str())))
    {
        rest = shorter.to_owned();
    }
    if !site.is_empty() && rest == site {
        let message = format!("The `name` could be mistaken for {site_name} itself: choose another");
        return Err(Refusal::invalid_parameter("name", name, message));
    }
    Ok(())
}

/// An active app of another developer with a name that looks like this one's.
pub fn find_similar_app(tx: &mut Tx<'_>, app: &App) -> Result<Option<AppName>, Fault> {
    let key = similarity_key(&app.name);
    let others = store::apps::list_names_of_others(tx, app.owner_id, MAX_COMPARED_APPS)?;
    Ok(others.into_iter().find(|other| similarity_key(&other.name) == key && !key.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::{refuse_impersonation, similarity_key};

    #[test]
    fn names_that_look_alike_have_the_same_key() {
        for (one, other) in [
            ("Harbour Radio", "harbour-radio"),
            ("PayPal", "\u{420}\u{430}y\u{420}al"),
            ("IBM", "ibm"),
            ("Illinois", "lllin0is"),
            ("modern", "modem"),
            ("Caf\u{e9}", "Cafe\u{301}"),
        ] {
            assert_eq!(similarity_key(one), similarity_key(other), "{one} {other}");
        }
        assert_ne!(similarity_key("Harbour Radio"), similarity_key("Harbour Radar"));
    }

    #[test]
    fn app_name_that_passes_for_the_site_is_refused() {
        let is_refused = |name: &str| refuse_impersonation(name, "Locum").is_err();
        for name in [
            "Locum",
            "L0CUM",
            "Iocum",
            "L o c u m",
            "\u{216c}ocum",
            "Lo\u{441}um",
            "The Locum App",
            "Locum-Support",
            "LocumSecurityTeam",
            "Radio (Official)",
            "0fficial radio",
            "Verified Radio",
            "Radio \u{2713}",
            "Radio \u{2705}",
        ] {
            assert!(is_refused(name), "{name}");
        }
        for name in ["Locum Reader", "Slocum", "Unofficial client", "Verifier", "Team support", "Radio"] {
            assert!(!is_refused(name), "{name}");
        }
        assert!(refuse_impersonation("Radio", "").is_ok());
        assert!(refuse_impersonation("The Team", "The Team").is_err());
    }
}
