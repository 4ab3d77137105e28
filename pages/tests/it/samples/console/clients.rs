use crate::samples::{HOSTILE, development_frame, hostile_frame, minutes_ago, signed_in_frame, signed_out_frame};
use pages::PageFrame;
use pages::console::{ClientGuide, ClientsPage, SeenClientItem};

fn seen(family: &'static str) -> SeenClientItem {
    SeenClientItem {
        family,
        first: minutes_ago(90),
        last: minutes_ago(1),
        requests: 12,
        successes: 11,
        credentials: "OAuth 1.0a, bearer token of the app".to_owned(),
    }
}

fn page(frame: PageFrame, text: &str) -> ClientsPage {
    let guide = |id, language, library, seen| ClientGuide {
        id,
        language,
        library,
        install: "pip install tweepy",
        file: "bot.py",
        program: format!("import tweepy\n\nclient = tweepy.Client(bearer_token=\"AAAA…{text}\")\n"),
        run: "locum run -- python bot.py",
        note: "Use the sandbox for aiohttp.",
        seen,
    };
    ClientsPage {
        frame: development_frame(frame),
        addresses: vec![("LOCUM_BASE_URL".to_owned(), format!("http://127.0.0.1:8080{text}"))],
        credentials: vec![("LOCUM_API_KEY".to_owned(), format!("x9Zk31…{text}"))],
        is_revealed: false,
        is_recording: true,
        path: "/console/clients",
        certificate: Some("/console/ca.pem"),
        emulated_hosts: vec!["api.x.com".to_owned(), text.to_owned()],
        guides: vec![guide("tweepy", "Python", "tweepy", Some(seen("tweepy"))), guide("curl", "Shell", "curl", None)],
        others: vec![seen("other")],
    }
}

pub(crate) fn clients_states() -> Vec<(&'static str, ClientsPage)> {
    let empty = ClientsPage {
        credentials: Vec::new(),
        is_recording: false,
        certificate: None,
        others: Vec::new(),
        ..page(signed_out_frame(), "")
    };
    let revealed = ClientsPage { is_revealed: true, ..page(signed_in_frame(), "") };
    vec![
        ("masked", page(signed_out_frame(), "")),
        ("revealed", revealed),
        ("without_demo", empty),
        ("hostile", page(hostile_frame(), HOSTILE)),
    ]
}
