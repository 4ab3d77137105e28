use super::{HOSTILE, HOSTILE_URL, hostile_frame, minutes_ago, signed_in_frame, signed_out_frame};
use crate::post::{PollResult, PostMedia, PostPage, PostTextPart, RelatedPost};

fn text_part(text: &str, url: Option<&str>) -> PostTextPart {
    PostTextPart { text: text.to_owned(), url: url.map(str::to_owned) }
}

fn related(text: &str) -> RelatedPost {
    RelatedPost { username: text.to_owned(), path: "/bob/status/12".to_owned(), text: text.to_owned() }
}

pub(crate) fn post_states() -> Vec<(&'static str, PostPage)> {
    let of = |frame, text| PostPage {
        frame,
        name: "Ada".to_owned(),
        username: "ada".to_owned(),
        language: "en".to_owned(),
        text,
        media: Vec::new(),
        poll: Vec::new(),
        quoted: None,
        reply_to: None,
        reposted_by: None,
        created_at: minutes_ago(5),
        counts: vec![(2, "replies"), (1, "repost"), (12, "likes")],
        reply_path: "/intent/post?in_reply_to=17".to_owned(),
        oembed_url: "https://social.example/oembed?url=https%3A%2F%2Fsocial.example%2Fada%2Fstatus%2F17".to_owned(),
    };
    let words =
        || vec![text_part("The harbour is open: ", None), text_part("sea.example", Some("https://sea.example"))];
    let poll = |label: &str, votes| PollResult { label: label.to_owned(), votes, share: votes * 10 };
    let media = |video: Option<&str>, text: &str| PostMedia {
        picture: "/media/3_1.jpg".to_owned(),
        video: video.map(str::to_owned),
        description: text.to_owned(),
    };
    let with_media = PostPage {
        media: vec![media(None, "A boat"), media(Some("/media/13_1.mp4"), "Waves")],
        ..of(signed_in_frame(), words())
    };
    let hostile = PostPage {
        name: HOSTILE.to_owned(),
        username: HOSTILE.to_owned(),
        language: HOSTILE.to_owned(),
        media: vec![media(Some(HOSTILE_URL), HOSTILE)],
        poll: vec![poll(HOSTILE, 1)],
        quoted: Some(related(HOSTILE)),
        reply_to: Some(related(HOSTILE)),
        reposted_by: Some(HOSTILE.to_owned()),
        ..of(hostile_frame(), vec![text_part(HOSTILE, Some(HOSTILE_URL)), text_part(HOSTILE, None)])
    };
    vec![
        ("plain", of(signed_out_frame(), words())),
        ("media", with_media),
        ("poll", PostPage { poll: vec![poll("Yes", 7), poll("No", 1)], ..of(signed_in_frame(), words()) }),
        ("quote", PostPage { quoted: Some(related("bob")), ..of(signed_in_frame(), words()) }),
        ("reply", PostPage { reply_to: Some(related("bob")), ..of(signed_in_frame(), words()) }),
        ("hostile", hostile),
    ]
}
