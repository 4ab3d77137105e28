use super::{HOSTILE, HOSTILE_URL, hostile_frame, signed_in_frame, signed_out_frame};
use pages::{CardMedia, ConversationChoice, ThankYouMessage};
use pages::{ComposePage, ConversationCardPage, FormField, PostSentPage};

fn card_media() -> CardMedia {
    CardMedia { picture: Some("/media/13_1.mp4?name=small".to_owned()), video: Some("/media/13_1.mp4".to_owned()) }
}

fn conversation_choice(hashtag: &str) -> ConversationChoice {
    ConversationChoice { hashtag: hashtag.to_owned(), path: "/intent/post?text=I%20choose%20%23Coast".to_owned() }
}

pub(crate) fn conversation_card_states() -> Vec<(&'static str, ConversationCardPage)> {
    let of = |frame, heading: &str, choices| ConversationCardPage {
        frame,
        heading: heading.to_owned(),
        still: card_media(),
        choices,
    };
    vec![
        ("one", of(signed_out_frame(), "Sunday ride", vec![conversation_choice("#Coast")])),
        ("several", of(signed_in_frame(), "", vec![conversation_choice("#Coast"), conversation_choice("#Hills")])),
        ("hostile", of(hostile_frame(), HOSTILE, vec![conversation_choice(HOSTILE)])),
    ]
}

pub(crate) fn compose_states() -> Vec<(&'static str, ComposePage)> {
    let of = |frame, text, is_reply| ComposePage {
        frame,
        action: "/intent/post".to_owned(),
        text,
        help: "At most 280 characters.".to_owned(),
        hidden: vec![("card", "7".to_owned())],
        is_reply,
    };
    vec![
        ("plain", of(signed_in_frame(), FormField::default(), false)),
        ("refused", of(signed_in_frame(), FormField::invalid("…", "The text is too long."), true)),
        ("hostile", of(hostile_frame(), FormField::invalid(HOSTILE, HOSTILE), false)),
    ]
}

pub(crate) fn post_sent_states() -> Vec<(&'static str, PostSentPage)> {
    let of = |frame, text: &str, thanks| PostSentPage {
        frame,
        text: text.to_owned(),
        id: "1600000000000000000".to_owned(),
        thanks,
    };
    let thanks = |text: &str, link: &str| ThankYouMessage {
        text: text.to_owned(),
        link: Some(link.to_owned()),
        unlocked: card_media(),
    };
    vec![
        ("plain", of(signed_in_frame(), "Hello", None)),
        (
            "unlocked",
            of(signed_in_frame(), "I choose the coast #Coast", Some(thanks("See you there", "https://bikes.example/"))),
        ),
        ("hostile", of(hostile_frame(), HOSTILE, Some(thanks(HOSTILE, HOSTILE_URL)))),
    ]
}
