use super::{HOSTILE, ada, app, hostile, hostile_app, minutes};
use crate::webhooks::{Challenge, Hook, Sent, Try, Webhooks};

fn hook(text: &str, valid: bool) -> Hook {
    Hook {
        id: "1795233906000000001".to_owned(),
        url: if text.is_empty() {
            "https://harbour-radio.example/hook".to_owned()
        } else {
            text.to_owned()
        },
        valid,
        problem: text.to_owned(),
        checked: minutes(40),
        challenge: Some(Challenge {
            at: minutes(40),
            token: "uU5b1x0FhYv3kG8d".to_owned(),
            expected: "sha256=wbxoN8scmhw5dqzftzpj6g3uAnVpSktqxDDUHYNfIqA=".to_owned(),
            answer: format!("{{\"response_token\":\"{text}\"}}"),
            problem: text.to_owned(),
        }),
        sent: vec![Sent {
            number: 7,
            event_id: "1795233906000000002".to_owned(),
            at: minutes(3),
            state: "delivered",
            again: true,
            body: format!("{{\"for_user_id\":\"12\",\"text\":\"{text}\"}}"),
            tries: vec![
                Try {
                    at: minutes(2),
                    status: 200,
                    problem: String::new(),
                    took_ms: 31,
                    signature: "sha256=9w8aLiVwL38/RQT2UpgtZWWEeF/QIT5N9L+6p4DQweA=".to_owned(),
                    answer: text.to_owned(),
                },
                Try {
                    at: minutes(3),
                    status: 0,
                    problem: "no answer in time".to_owned(),
                    took_ms: 10_000,
                    signature: "sha256=9w8aLiVwL38/RQT2UpgtZWWEeF/QIT5N9L+6p4DQweA=".to_owned(),
                    answer: String::new(),
                },
            ],
        }],
    }
}

pub(crate) fn webhooks() -> Vec<(&'static str, Webhooks)> {
    let of = |frame, app, hooks| Webhooks {
        frame,
        app,
        action: "/developer/apps/1/webhooks".to_owned(),
        hooks,
        sink: Some("http://127.0.0.1:8080/sink/1".to_owned()),
    };
    let quiet = Hook {
        challenge: None,
        sent: Vec::new(),
        ..hook("", true)
    };
    let none = Webhooks {
        sink: None,
        ..of(ada(), app(), Vec::new())
    };
    vec![
        ("none", none),
        ("quiet", of(ada(), app(), vec![quiet])),
        ("busy", of(ada(), app(), vec![hook("", true)])),
        (
            "hostile",
            of(hostile(), hostile_app(), vec![hook(HOSTILE, false)]),
        ),
    ]
}
