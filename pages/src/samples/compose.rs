use super::{HOSTILE, HOSTILE_URL, ada, hostile, stranger};
use crate::compose::{Choice, Still, Thanks};
use crate::{Compose, ConversationCard, Field, Written};

fn still() -> Still {
    Still {
        picture: Some("/media/13_1.mp4?name=small".to_owned()),
        film: Some("/media/13_1.mp4".to_owned()),
    }
}

fn choice(hashtag: &str) -> Choice {
    Choice {
        hashtag: hashtag.to_owned(),
        path: "/intent/post?text=I%20choose%20%23Coast".to_owned(),
    }
}

pub(crate) fn cards() -> Vec<(&'static str, ConversationCard)> {
    let of = |frame, heading: &str, choices| ConversationCard {
        frame,
        heading: heading.to_owned(),
        still: still(),
        choices,
    };
    vec![
        ("one", of(stranger(), "Sunday ride", vec![choice("#Coast")])),
        (
            "several",
            of(ada(), "", vec![choice("#Coast"), choice("#Hills")]),
        ),
        ("hostile", of(hostile(), HOSTILE, vec![choice(HOSTILE)])),
    ]
}

pub(crate) fn compose() -> Vec<(&'static str, Compose)> {
    let of = |frame, text, is_reply| Compose {
        frame,
        action: "/intent/post".to_owned(),
        text,
        with: vec![("card", "7".to_owned())],
        is_reply,
    };
    vec![
        ("plain", of(ada(), Field::default(), false)),
        (
            "refused",
            of(ada(), Field::refused("…", "The text is too long."), true),
        ),
        (
            "hostile",
            of(hostile(), Field::refused(HOSTILE, HOSTILE), false),
        ),
    ]
}

pub(crate) fn written() -> Vec<(&'static str, Written)> {
    let of = |frame, text: &str, thanks| Written {
        frame,
        text: text.to_owned(),
        id: "1600000000000000000".to_owned(),
        thanks,
    };
    let thanks = |text: &str, link: &str| Thanks {
        text: text.to_owned(),
        link: Some(link.to_owned()),
        unlocked: still(),
    };
    vec![
        ("plain", of(ada(), "Hello", None)),
        (
            "unlocked",
            of(
                ada(),
                "I choose the coast #Coast",
                Some(thanks("See you there", "https://bikes.example/")),
            ),
        ),
        (
            "hostile",
            of(hostile(), HOSTILE, Some(thanks(HOSTILE, HOSTILE_URL))),
        ),
    ]
}
