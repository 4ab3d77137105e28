use super::{HOSTILE, hostile_app, hostile_frame, minutes_ago, sample_app, signed_in_frame};
use pages::{DeliveryAttemptItem, DeliveryItem, LastChallenge, WebhookItem, WebhooksPage};

fn sample_headers(text: &str) -> Vec<(&'static str, String)> {
    let signature = "sha256=9w8aLiVwL38/RQT2UpgtZWWEeF/QIT5N9L+6p4DQweA=".to_owned();
    vec![
        ("x-twitter-webhooks-signature", if text.is_empty() { signature } else { text.to_owned() }),
        ("webhook-attempt", "1".to_owned()),
    ]
}

pub(crate) fn webhook_item(text: &str, valid: bool) -> WebhookItem {
    WebhookItem {
        id: "1795233906000000001".to_owned(),
        url: if text.is_empty() { "https://harbour-radio.example/hook".to_owned() } else { text.to_owned() },
        valid,
        problem: text.to_owned(),
        checked: minutes_ago(40),
        challenge: Some(LastChallenge {
            at: minutes_ago(40),
            token: "uU5b1x0FhYv3kG8d".to_owned(),
            expected: "sha256=wbxoN8scmhw5dqzftzpj6g3uAnVpSktqxDDUHYNfIqA=".to_owned(),
            answer: format!("{{\"response_token\":\"{text}\"}}"),
            problem: text.to_owned(),
        }),
        replay: [text.to_owned(), String::new()],
        deliveries: vec![DeliveryItem {
            number: 7,
            event: if text.is_empty() { "post.create".to_owned() } else { text.to_owned() },
            event_id: "1795233906000000002".to_owned(),
            at: minutes_ago(3),
            state: "delivered",
            is_resend: true,
            body: format!("{{\"for_user_id\":\"12\",\"text\":\"{text}\"}}"),
            attempts: vec![
                DeliveryAttemptItem {
                    at: minutes_ago(2),
                    status: 200,
                    problem: String::new(),
                    took_ms: 31,
                    headers: sample_headers(text),
                    answer: text.to_owned(),
                },
                DeliveryAttemptItem {
                    at: minutes_ago(3),
                    status: 0,
                    problem: "request timed out".to_owned(),
                    took_ms: 10_000,
                    headers: sample_headers(text),
                    answer: String::new(),
                },
            ],
        }],
    }
}

pub(crate) fn webhooks_states() -> Vec<(&'static str, WebhooksPage)> {
    let of = |frame, app, hooks| WebhooksPage {
        frame,
        app,
        action: "/developer/apps/1/webhooks".to_owned(),
        webhooks: hooks,
        sink_url: Some("http://127.0.0.1:8080/sink/1".to_owned()),
    };
    let quiet = WebhookItem { challenge: None, deliveries: Vec::new(), ..webhook_item("", true) };
    let none = WebhooksPage { sink_url: None, ..of(signed_in_frame(), sample_app(), Vec::new()) };
    vec![
        ("none", none),
        ("quiet", of(signed_in_frame(), sample_app(), vec![quiet])),
        ("busy", of(signed_in_frame(), sample_app(), vec![webhook_item("", true)])),
        ("hostile", of(hostile_frame(), hostile_app(), vec![webhook_item(HOSTILE, false)])),
    ]
}
