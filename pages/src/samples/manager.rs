use super::{HOSTILE, HOSTILE_URL, ada, hostile, minutes, refused};
use crate::manager::{
    Account, Act, AdsManager, Badge, Bar, Block, Cell, Charts, Column, Empty, Facts, Figure, Form,
    Input, InputKind, Link, Preview, Previews, Row, Said, Series, Table,
};
use crate::{Field, Frame, Pager};

fn account(name: &str, sandbox: bool) -> Account {
    Account {
        id: "18ce53un18h".to_owned(),
        name: name.to_owned(),
        role: "Administrator".to_owned(),
        sandbox,
        path: "/ads/18ce53un18h".to_owned(),
    }
}

fn page(frame: Frame, text: &str, sandbox: bool, blocks: Vec<Block>) -> AdsManager {
    let mine = account(text, sandbox);
    let current = |text: &str, current| Link {
        current,
        ..Link::to(text, "/ads/18ce53un18h")
    };
    AdsManager {
        frame,
        accounts: vec![mine.clone()],
        account: Some(mine),
        tabs: vec![current("Campaigns", true), current("Creatives", false)],
        trail: vec![Link::to(text, "/ads/18ce53un18h")],
        heading: text.to_owned(),
        badge: Some(Badge {
            text: text.to_owned(),
            kind: "good",
        }),
        lead: text.to_owned(),
        actions: vec![Link::to(text, "/ads/18ce53un18h/campaigns/new").kind("primary")],
        blocks,
    }
}

fn series(text: &str) -> Series {
    let bar = |value: u64| Bar {
        day: text.to_owned(),
        value,
        written: value.to_string(),
    };
    Series {
        label: text.to_owned(),
        total: text.to_owned(),
        bars: vec![bar(3), bar(0), bar(700)],
    }
}

fn cell(text: &str) -> Cell {
    Cell {
        at: Some(minutes(5)),
        badge: Some(Badge {
            text: text.to_owned(),
            kind: "bad",
        }),
        ..Cell::of(text)
            .below(text)
            .leads("/ads/18ce53un18h/campaigns/9k1")
    }
}

fn table(text: &str, rows: usize) -> Table {
    let act = |sends| Act {
        text: "Pause",
        path: "/ads/18ce53un18h/campaigns/9k1".to_owned(),
        sends,
        first: true,
    };
    let row = Row {
        name: text.to_owned(),
        cells: vec![cell(text), cell(text)],
        acts: vec![
            act(vec![("entity_status", text.to_owned())]),
            act(Vec::new()),
        ],
    };
    Table {
        title: text.to_owned(),
        lead: text.to_owned(),
        actions: vec![Link::to(text, "/ads")],
        columns: vec![
            Column {
                name: "Name",
                number: false,
            },
            Column {
                name: "Spend",
                number: true,
            },
        ],
        rows: vec![row; rows],
        views: vec![(
            "Span",
            vec![
                Link::to(text, "/ads?days=7"),
                Link {
                    current: true,
                    ..Link::to(text, "/ads?days=14")
                },
            ],
        )],
        acts: vec![act(vec![("id", text.to_owned())])],
        empty: nothing(text),
        pager: Pager::default(),
    }
}

fn nothing(text: &str) -> Empty {
    Empty {
        title: text.to_owned(),
        text: text.to_owned(),
        link: Some(Link::to(text, "/ads")),
    }
}

fn form(text: &str, error: Option<&str>) -> Form {
    let choices = vec![(text.to_owned(), text.to_owned())];
    let kinds = [
        ("name", InputKind::Text),
        ("budget", InputKind::Amount),
        ("start", InputKind::Moment),
        ("status", InputKind::Choice(choices)),
        ("text", InputKind::Area),
        ("file", InputKind::File("image/*")),
    ];
    let input = |(name, kind)| Input {
        name,
        kind,
        label: text.to_owned(),
        help: text.to_owned(),
        field: Field {
            value: text.to_owned(),
            error: error.map(str::to_owned),
        },
    };
    Form {
        action: "/ads/18ce53un18h/campaigns".to_owned(),
        inputs: kinds.map(input).into(),
        more: vec![input(("more", InputKind::Text))],
        submit: "Create campaign",
        danger: error.is_some(),
        back: "/ads/18ce53un18h".to_owned(),
        uploads: true,
    }
}

fn previews(text: &str, picture: &str) -> Previews {
    let said = || Said {
        name: text.to_owned(),
        username: text.to_owned(),
        text: text.to_owned(),
    };
    let act = Act {
        text: "Delete",
        path: "/ads/18ce53un18h/cards/9k1/delete".to_owned(),
        ..Act::default()
    };
    let preview = |picture: Option<&str>| Preview {
        name: text.to_owned(),
        kind: text.to_owned(),
        picture: picture.map(str::to_owned),
        shows: text.to_owned(),
        lines: vec![text.to_owned(), text.to_owned()],
        buttons: vec![text.to_owned()],
        host: text.to_owned(),
        below: text.to_owned(),
        post: picture.is_none().then(said),
        path: Some("/ads/18ce53un18h/cards/9k1".to_owned()),
        acts: vec![act.clone()],
    };
    Previews {
        title: text.to_owned(),
        lead: text.to_owned(),
        actions: vec![Link::to(text, "/ads")],
        items: vec![preview(Some(picture)), preview(None)],
        empty: nothing(text),
        pager: Pager::default(),
    }
}

fn blocks(text: &str, picture: &str) -> Vec<Block> {
    vec![
        Block::Figures(vec![Figure {
            label: text.to_owned(),
            value: text.to_owned(),
            below: text.to_owned(),
        }]),
        Block::Charts(Charts {
            title: text.to_owned(),
            spans: vec![Link::to(text, "/ads?days=7")],
            actions: vec![Link::to(text, "/ads/18ce53un18h/campaigns/9k1/figures")],
            series: vec![series(text), series(text)],
        }),
        Block::Table(table(text, 2)),
        Block::Facts(Facts {
            title: text.to_owned(),
            actions: vec![Link::to(text, "/ads")],
            rows: vec![("Budget", cell(text))],
        }),
        Block::Previews(previews(text, picture)),
        Block::Note(text.to_owned()),
    ]
}

pub(crate) fn all() -> Vec<(&'static str, AdsManager)> {
    let own = |frame, blocks| page(frame, "Spring", false, blocks);
    let choose = AdsManager {
        frame: ada(),
        heading: "Ads Manager".to_owned(),
        blocks: vec![Block::Empty(nothing("No ads account"))],
        ..AdsManager::default()
    };
    let none = Block::Table(table("Campaigns", 0));
    let wrong = Block::Form(form("Spring", Some("This is needed.")));
    let mut bad = blocks(HOSTILE, HOSTILE_URL);
    bad.push(Block::Form(form(HOSTILE, Some(HOSTILE))));
    vec![
        ("none", choose),
        ("whole", own(ada(), blocks("Spring", "/media/a.jpg"))),
        ("empty", own(ada(), vec![none])),
        ("form", own(ada(), vec![Block::Form(form("Spring", None))])),
        ("wrong", own(refused(ada(), "It was refused."), vec![wrong])),
        ("sandbox", page(ada(), "Sandbox", true, Vec::new())),
        ("hostile", page(hostile(), HOSTILE, true, bad)),
    ]
}
