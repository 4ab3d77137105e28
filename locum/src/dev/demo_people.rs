//! The users of the demo world. Each bio says what the user demonstrates.

pub(super) struct DemoPerson {
    pub(super) username: &'static str,
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) location: &'static str,
    pub(super) url: &'static str,
    pub(super) traits: PersonTraits,
}

#[derive(Clone, Copy, Default)]
pub(super) struct PersonTraits {
    pub(super) protected: bool,
    pub(super) suspended: bool,
    /// Empty for none.
    pub(super) verified: &'static str,
    /// Empty for none.
    pub(super) subscription: &'static str,
}

const PLAIN: PersonTraits = PersonTraits { protected: false, suspended: false, verified: "", subscription: "" };
const PREMIUM: PersonTraits = PersonTraits { verified: "blue", subscription: "Premium", ..PLAIN };

const fn basic_person(
    username: &'static str,
    name: &'static str,
    description: &'static str,
    traits: PersonTraits,
) -> DemoPerson {
    DemoPerson { username, name, description, location: "", url: "", traits }
}

/// Oldest account first.
pub(super) static PEOPLE: &[DemoPerson] = &[
    DemoPerson {
        location: "London",
        url: "https://example.com/ada",
        ..basic_person("ada", "Ada", "The account that your tokens belong to. Password: dev", PLAIN)
    },
    DemoPerson {
        location: "Here & there",
        ..basic_person("bob", "Bob", "The second account: its tokens end in _2. Replies a lot to @ada", PLAIN)
    },
    basic_person(
        "carol",
        "Carol (protected)",
        "Protected: only approved followers see these posts. @ada is one, @bob is not",
        PersonTraits { protected: true, ..PLAIN },
    ),
    basic_person(
        "dan",
        "Dan (suspended)",
        "Suspended by an operator: lookups say so",
        PersonTraits { suspended: true, ..PLAIN },
    ),
    DemoPerson {
        location: "Everywhere",
        url: "https://example.com",
        ..basic_person(
            "acme",
            "Acme",
            "A verified business. Try $ACME and #acme",
            PersonTraits { verified: "business", ..PLAIN },
        )
    },
    basic_person("grace", "Grace (premium)", "Premium: writes long posts and edits them", PREMIUM),
    basic_person("parody_ada", "Not Ada (parody)", "A parody of @ada, and says so", PLAIN),
    DemoPerson {
        location: "A place whose name is just long enough",
        url: "https://example.com/a/path?with=a&query=too#part",
        ..basic_person(
            "longbio",
            "Long Bio",
            "Everything at once: a mention of @bob, a #hashtag, a $CASH tag, an address \
             https://example.com/bio and signs such as & < > \" that get escaped",
            PLAIN,
        )
    },
    basic_person("zoe", "Zoë 🦀🌍", "A name with an accent and emoji 👩🏽‍🚀", PLAIN),
    basic_person("yuki", "雪", "日本語で書きます。Every sign counts twice", PLAIN),
    basic_person("noor", "نور", "أكتب من اليمين إلى اليسار — from right to left", PLAIN),
    basic_person("lurker", "Lurker", "Never posts; follows everyone", PLAIN),
];

/// In addition to the rules in [`super::demo_world`]: everyone follows @ada, and @lurker follows everyone.
pub(super) static FOLLOWS: &[(&str, &str)] = &[
    ("ada", "bob"),
    ("ada", "carol"),
    ("ada", "acme"),
    ("ada", "grace"),
    ("ada", "zoe"),
    ("ada", "yuki"),
    ("ada", "noor"),
    ("bob", "acme"),
    ("bob", "grace"),
    ("bob", "longbio"),
    ("acme", "grace"),
    ("grace", "bob"),
    ("grace", "zoe"),
    ("zoe", "grace"),
    ("zoe", "yuki"),
    ("yuki", "zoe"),
    ("noor", "yuki"),
    ("longbio", "bob"),
    ("parody_ada", "acme"),
];

#[cfg(test)]
mod tests {
    use super::{FOLLOWS, PEOPLE};

    #[test]
    fn biographies_fit_and_follows_name_people() {
        assert_eq!(PEOPLE.len(), 12);
        for person in PEOPLE {
            assert!(person.description.chars().count() <= 160, "{}", person.username);
        }
        let known = |name: &str| PEOPLE.iter().any(|person| person.username == name);
        assert!(FOLLOWS.iter().all(|(source, target)| known(source) && known(target)));
    }
}
