use super::{HOSTILE, HOSTILE_URL, development_frame, hostile_frame, minutes_ago, sample_time, signed_in_frame};
use pages::{
    EmailPage, FormField, MailboxItem, MailboxPage, Pager, PostPreviewPage, RefusedRequestPage, SignatureExplainerPage,
    SignatureReport,
};

const OURS: &str = "POST&https%3A%2F%2Fsocial.example%2F2%2Fposts&oauth_consumer_key%3Dsample%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D1795233906%26oauth_token%3D12-sample%26oauth_version%3D1.0%26text%3Dhello%2520sea";
const THEIRS: &str = "POST&https%3A%2F%2Fsocial.example%2F2%2Fposts&oauth_consumer_key%3Dsample%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D1795233906%26oauth_token%3D12-sample%26oauth_version%3D1.0%26text%3Dhello%2Bsea";

pub(crate) fn signature_states() -> Vec<(&'static str, SignatureExplainerPage)> {
    let of = |frame, explained| SignatureExplainerPage {
        frame,
        action: "/developer/signature".to_owned(),
        method: FormField::new("POST"),
        url: FormField::new("https://social.example/2/posts"),
        authorization: FormField::new("OAuth oauth_consumer_key=\"sample\", oauth_nonce=\"7d8f3e4a\""),
        body: FormField::new("text=hello+sea"),
        base_string: FormField::new(THEIRS),
        report: explained,
    };
    let explained = |theirs: Option<&str>, holds| SignatureReport {
        is_valid: holds,
        base_string: OURS.to_owned(),
        client_base_string: theirs.map(str::to_owned),
        expected_signature: Some("tnnArxj06cWHq44gCs1OSKk/jLY=".to_owned()),
        given_signature: "PvZzJDV6cWHq44gCs1OSKk/jLYk=".to_owned(),
        hints: Vec::new(),
    };
    let parted = SignatureReport {
        hints: vec![
            "Your base string has %2B where the server has %2520: a space was encoded as + before signing.".to_owned(),
        ],
        ..explained(Some(THEIRS), false)
    };
    let bad = SignatureReport {
        is_valid: false,
        base_string: HOSTILE.to_owned(),
        client_base_string: Some(HOSTILE_URL.to_owned()),
        expected_signature: Some(HOSTILE.to_owned()),
        given_signature: HOSTILE.to_owned(),
        hints: vec![HOSTILE.to_owned()],
    };
    let blank = SignatureExplainerPage {
        method: FormField::default(),
        url: FormField::invalid("", "Enter the full URL, including https:// and the query string"),
        authorization: FormField::invalid("Bearer abc", "This is not an OAuth 1.0a header"),
        body: FormField::default(),
        base_string: FormField::default(),
        ..of(signed_in_frame(), None)
    };
    vec![
        ("refused", blank),
        ("parted", of(development_frame(signed_in_frame()), Some(parted))),
        ("holds", of(development_frame(signed_in_frame()), Some(explained(None, true)))),
        ("hostile", of(hostile_frame(), Some(bad))),
    ]
}

pub(crate) fn refused_request_states() -> Vec<(&'static str, RefusedRequestPage)> {
    let unknown = RefusedRequestPage {
        frame: development_frame(signed_in_frame()),
        explainer_path: "/developer/explain".to_owned(),
        request_line: "GET https://social.example/2/users/me".to_owned(),
        refused_at: minutes_ago(2),
        oauth1_header: None,
        hints: vec![
            "This is the API key of an app. Its bearer token is another; POST /oauth2/token returns it.".to_owned(),
        ],
        report: None,
    };
    let signed = |frame, text: &str, valid| RefusedRequestPage {
        frame,
        explainer_path: "/developer/explain".to_owned(),
        request_line: format!("POST https://social.example/2/posts?{text}"),
        refused_at: minutes_ago(2),
        oauth1_header: Some(format!("OAuth oauth_consumer_key=\"{text}\", oauth_nonce=\"7d8f3e4a\"")),
        hints: vec![text.to_owned()],
        report: Some(SignatureReport {
            is_valid: valid,
            base_string: OURS.to_owned(),
            client_base_string: (!valid).then(|| THEIRS.to_owned()),
            expected_signature: Some("tnnArxj06cWHq44gCs1OSKk/jLY=".to_owned()),
            given_signature: "PvZzJDV6cWHq44gCs1OSKk/jLYk=".to_owned(),
            hints: Vec::new(),
        }),
    };
    let repeated = "An earlier request has used this nonce with this timestamp: each request needs its own.";
    vec![
        ("token", unknown),
        ("signature", signed(development_frame(signed_in_frame()), "It was signed for GET.", false)),
        ("nonce", signed(development_frame(signed_in_frame()), repeated, true)),
        ("hostile", signed(hostile_frame(), HOSTILE, false)),
    ]
}

fn mailbox_item(to: &str, subject: &str, ago: i64) -> MailboxItem {
    MailboxItem {
        path: format!("/developer/mailbox/{ago}"),
        to: to.to_owned(),
        subject: subject.to_owned(),
        sent: minutes_ago(ago),
    }
}

pub(crate) fn mailbox_states() -> Vec<(&'static str, MailboxPage)> {
    let of = |frame, emails| MailboxPage { frame, emails, pager: Pager::default() };
    vec![
        (
            "several",
            of(
                development_frame(signed_in_frame()),
                vec![
                    mailbox_item("ada@example.org", "Reset your password on Locum", 0),
                    mailbox_item("ada@example.org", "Confirm your email address on Locum", 95),
                ],
            ),
        ),
        ("none", of(development_frame(signed_in_frame()), Vec::new())),
        ("hostile", of(hostile_frame(), vec![mailbox_item(HOSTILE, HOSTILE, 1)])),
    ]
}

pub(crate) fn post_preview_states() -> Vec<(&'static str, PostPreviewPage)> {
    let of = |text: &str, link: &str| PostPreviewPage {
        frame: signed_in_frame(),
        name: text.to_owned(),
        username: "ada".to_owned(),
        text: vec![
            pages::members::PostTextPart { text: format!("{text} "), url: None },
            pages::members::PostTextPart { text: text.to_owned(), url: Some(link.to_owned()) },
        ],
        pictures: Vec::new(),
        choices: vec![text.to_owned()],
        notes: vec!["Promoted only".to_owned()],
        link: Some((text.to_owned(), link.to_owned())),
    };
    vec![("post", of("Spring ride opens", "https://bikes.example/")), ("hostile", of(HOSTILE, HOSTILE_URL))]
}

pub(crate) fn email_states() -> Vec<(&'static str, EmailPage)> {
    let of = |frame, subject: &str, body: &str| EmailPage {
        frame,
        from: "Locum <no-reply@social.example>".to_owned(),
        to: "ada@example.org".to_owned(),
        subject: subject.to_owned(),
        sent: sample_time(),
        body: body.to_owned(),
    };
    let body = "Hello,\n\nChoose a new password for your account @ada on Locum:\n\nhttps://social.example/account/reset?token=sample-token-that-is-not-real\n\nThe link works once and expires after 30 minutes. If you did not request it, ignore this email: your password stays the same.";
    let bad = format!("{HOSTILE}\n{HOSTILE_URL}\nhttps://a.example/\"><script>alert(1)</script>");
    vec![
        ("plain", of(development_frame(signed_in_frame()), "Reset your password on Locum", body)),
        (
            "hostile",
            EmailPage { from: HOSTILE.to_owned(), to: HOSTILE.to_owned(), ..of(hostile_frame(), HOSTILE, &bad) },
        ),
    ]
}
