use crate::samples::webhooks::webhook_item;
use crate::samples::{HOSTILE, development_frame, hostile_frame, signed_in_frame, signed_out_frame};
use pages::FormField;
use pages::console::{AppWebhook, ConsoleWebhooksPage, SelectOption};

pub(crate) fn webhooks_states() -> Vec<(&'static str, ConsoleWebhooksPage)> {
    let page = |frame, webhooks| ConsoleWebhooksPage {
        frame: development_frame(frame),
        path: "/console/webhooks",
        webhooks,
        is_truncated: false,
        apps: vec![SelectOption::new("1", "demo")],
        url: FormField::default(),
        sink: "http://127.0.0.1:8080/webhook-sink/".to_owned(),
    };
    let item = |app: &str, text: &str| AppWebhook { app: app.to_owned(), webhook: webhook_item(text, text.is_empty()) };
    let refused = ConsoleWebhooksPage {
        url: FormField::invalid("ftp://a", "UrlValidationFailed: the URL must begin with https://"),
        ..page(signed_in_frame(), Vec::new())
    };
    let without_apps = ConsoleWebhooksPage { apps: Vec::new(), ..page(signed_out_frame(), Vec::new()) };
    let hostile = ConsoleWebhooksPage {
        apps: vec![SelectOption::new(HOSTILE, HOSTILE)],
        url: FormField::invalid(HOSTILE, HOSTILE),
        sink: HOSTILE.to_owned(),
        is_truncated: true,
        ..page(hostile_frame(), vec![item(HOSTILE, HOSTILE)])
    };
    vec![
        ("none", without_apps),
        ("refused", refused),
        ("busy", page(signed_out_frame(), vec![item("demo", "")])),
        ("hostile", hostile),
    ]
}
