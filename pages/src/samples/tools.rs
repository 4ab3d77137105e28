use super::{HOSTILE, HOSTILE_URL, ada, dev, hostile, minutes, now};
use crate::{
    Explained, Field, Letter, LetterPage, Mailbox, Notification, Notifications, Pager, PostPreview,
    SignatureExplainer,
};

const OURS: &str = "POST&https%3A%2F%2Fsocial.example%2F2%2Fposts&oauth_consumer_key%3Dsample%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D1795233906%26oauth_token%3D12-sample%26oauth_version%3D1.0%26text%3Dhello%2520sea";
const THEIRS: &str = "POST&https%3A%2F%2Fsocial.example%2F2%2Fposts&oauth_consumer_key%3Dsample%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D1795233906%26oauth_token%3D12-sample%26oauth_version%3D1.0%26text%3Dhello%2Bsea";

pub(crate) fn signature() -> Vec<(&'static str, SignatureExplainer)> {
    let of = |frame, explained| SignatureExplainer {
        frame,
        action: "/developer/signature".to_owned(),
        method: Field::of("POST"),
        url: Field::of("https://social.example/2/posts"),
        authorization: Field::of("OAuth oauth_consumer_key=\"sample\", oauth_nonce=\"7d8f3e4a\""),
        body: Field::of("text=hello+sea"),
        base_string: Field::of(THEIRS),
        explained,
    };
    let explained = |theirs: Option<&str>, holds| Explained {
        holds,
        base_string: OURS.to_owned(),
        theirs: theirs.map(str::to_owned),
        expected: Some("tnnArxj06cWHq44gCs1OSKk/jLY=".to_owned()),
        given: "PvZzJDV6cWHq44gCs1OSKk/jLYk=".to_owned(),
        hints: Vec::new(),
    };
    let parted = Explained {
        hints: vec![
            "Your base string has %2B where the server has %2520: a space was written as + before it was signed.".to_owned(),
        ],
        ..explained(Some(THEIRS), false)
    };
    let bad = Explained {
        holds: false,
        base_string: HOSTILE.to_owned(),
        theirs: Some(HOSTILE_URL.to_owned()),
        expected: Some(HOSTILE.to_owned()),
        given: HOSTILE.to_owned(),
        hints: vec![HOSTILE.to_owned()],
    };
    let blank = SignatureExplainer {
        method: Field::default(),
        url: Field::refused("", "Give the whole address, with https:// and the query"),
        authorization: Field::refused("Bearer abc", "This is not an OAuth 1.0a header"),
        body: Field::default(),
        base_string: Field::default(),
        ..of(ada(), None)
    };
    vec![
        ("refused", blank),
        ("parted", of(dev(ada()), Some(parted))),
        ("holds", of(dev(ada()), Some(explained(None, true)))),
        ("hostile", of(hostile(), Some(bad))),
    ]
}

fn letter_of(to: &str, subject: &str, ago: i64) -> Letter {
    Letter {
        path: format!("/developer/mailbox/{ago}"),
        to: to.to_owned(),
        subject: subject.to_owned(),
        sent: minutes(ago),
    }
}

pub(crate) fn mailbox() -> Vec<(&'static str, Mailbox)> {
    let of = |frame, letters| Mailbox {
        frame,
        letters,
        pager: Pager::default(),
    };
    vec![
        (
            "several",
            of(
                dev(ada()),
                vec![
                    letter_of("ada@example.org", "Choose a new password", 0),
                    letter_of("ada@example.org", "Confirm your email address", 95),
                ],
            ),
        ),
        ("none", of(dev(ada()), Vec::new())),
        (
            "hostile",
            of(hostile(), vec![letter_of(HOSTILE, HOSTILE, 1)]),
        ),
    ]
}

pub(crate) fn notifications() -> Vec<(&'static str, Notifications)> {
    let one = |text: &str, path: &str| Notification {
        text: text.to_owned(),
        path: path.to_owned(),
        at: minutes(5),
    };
    let of = |frame, notifications| Notifications {
        frame,
        notifications,
        pager: Pager::default(),
    };
    let told = vec![
        one("A draft post can be looked at.", "/preview/12?t=sample"),
        one("Your posts may be promoted.", ""),
    ];
    vec![
        ("several", of(ada(), told)),
        ("none", of(ada(), Vec::new())),
        ("hostile", of(hostile(), vec![one(HOSTILE, "")])),
    ]
}

pub(crate) fn preview() -> Vec<(&'static str, PostPreview)> {
    let of = |text: &str, link: &str| PostPreview {
        frame: ada(),
        name: text.to_owned(),
        username: "ada".to_owned(),
        text: text.to_owned(),
        pictures: Vec::new(),
        choices: vec![text.to_owned()],
        notes: vec!["Promoted only".to_owned()],
        link: Some((text.to_owned(), link.to_owned())),
    };
    vec![
        ("post", of("Spring ride opens", "https://bikes.example/")),
        ("hostile", of(HOSTILE, HOSTILE_URL)),
    ]
}

pub(crate) fn letter() -> Vec<(&'static str, LetterPage)> {
    let of = |frame, subject: &str, body: &str| LetterPage {
        frame,
        from: "Locum <no-reply@social.example>".to_owned(),
        to: "ada@example.org".to_owned(),
        subject: subject.to_owned(),
        sent: now(),
        body: body.to_owned(),
    };
    let body = "Hello @ada,\n\nOpen this link to choose a new password. It works once, for 30 minutes:\n\nhttps://social.example/reset-password?token=sample-token-that-is-not-real\n\nIf you did not ask for it, do nothing: your password stays as it is.";
    let bad = format!("{HOSTILE}\n{HOSTILE_URL}\nhttps://a.example/\"><script>alert(1)</script>");
    vec![
        ("plain", of(dev(ada()), "Choose a new password", body)),
        (
            "hostile",
            LetterPage {
                from: HOSTILE.to_owned(),
                to: HOSTILE.to_owned(),
                ..of(hostile(), HOSTILE, &bad)
            },
        ),
    ]
}
