use super::{HOSTILE, HOSTILE_URL, hostile_frame, minutes_ago, signed_in_frame, with_failure};
use pages::manager::{
    ActionButton, AdsAccountSummary, AdsManagerPage, CodeBlock, CreativePreview, CreativePreviews, DailyBar,
    DailyCharts, DailySeries, DataTable, DetailList, EmptyState, EnclosingPost, FormBlock, FormInput, FormInputKind,
    MetricTile, NavLink, PageBlock, QueryForm, RowSelection, StatusBadge, TableCell, TableColumn, TableRow,
};
use pages::{FormField, PageFrame, Pager};

fn ads_account(name: &str, sandbox: bool) -> AdsAccountSummary {
    AdsAccountSummary {
        id: "18ce53un18h".to_owned(),
        name: name.to_owned(),
        role: "Administrator".to_owned(),
        sandbox,
        path: "/ads/18ce53un18h".to_owned(),
    }
}

fn manager_page(frame: PageFrame, text: &str, sandbox: bool, blocks: Vec<PageBlock>) -> AdsManagerPage {
    let mine = ads_account(text, sandbox);
    let current = |text: &str, current| NavLink { current, ..NavLink::new(text, "/ads/18ce53un18h") };
    AdsManagerPage {
        frame,
        accounts: vec![mine.clone()],
        account: Some(mine),
        tabs: vec![current("Campaigns", true), current("Creatives", false)],
        trail: vec![NavLink::new(text, "/ads/18ce53un18h")],
        heading: text.to_owned(),
        badge: Some(StatusBadge { text: text.to_owned(), kind: "good" }),
        lead: text.to_owned(),
        actions: vec![NavLink::new(text, "/ads/18ce53un18h/campaigns/new").with_kind("primary")],
        undo: Some(ActionButton {
            text: "Undo",
            path: "/ads/18ce53un18h/campaigns/selected".to_owned(),
            hidden: vec![("entity_status", text.to_owned())],
            ..ActionButton::default()
        }),
        form_id: text.to_owned(),
        blocks,
    }
}

fn daily_series(text: &str) -> DailySeries {
    let bar = |value: u64| DailyBar {
        day: text.to_owned(),
        value,
        formatted: value.to_string(),
        short_day: text.to_owned(),
        short_value: value.to_string(),
    };
    DailySeries { label: text.to_owned(), total: text.to_owned(), bars: vec![bar(3), bar(0), bar(700)] }
}

fn table_cell(text: &str) -> TableCell {
    TableCell {
        at: Some(minutes_ago(5)),
        badge: Some(StatusBadge { text: text.to_owned(), kind: "bad" }),
        ..TableCell::from_text(text).with_subtext(text).with_link("/ads/18ce53un18h/campaigns/9k1")
    }
}

fn data_table(text: &str, rows: usize) -> DataTable {
    let act = |sends| ActionButton {
        text: "Pause",
        path: "/ads/18ce53un18h/campaigns/9k1".to_owned(),
        hidden: sends,
        is_primary: true,
    };
    let row = TableRow {
        name: text.to_owned(),
        box_name: text.to_owned(),
        cells: vec![table_cell(text), table_cell(text)],
        action_buttons: vec![act(vec![("entity_status", text.to_owned())]), act(Vec::new())],
    };
    DataTable {
        title: text.to_owned(),
        lead: text.to_owned(),
        actions: vec![NavLink::new(text, "/ads")],
        columns: vec![TableColumn { name: "Name", is_numeric: false }, TableColumn { name: "Spend", is_numeric: true }],
        rows: vec![row; rows],
        action_buttons: vec![act(vec![("id", text.to_owned())])],
        search: Some(Box::new(query_form(text, true))),
        selection: Some(Box::new(RowSelection {
            action: "/ads".to_owned(),
            submit: "Edit selected",
            all: NavLink::new(text, "/ads?select=all"),
            is_all: true,
        })),
        empty: empty_state(text),
        pager: Pager::default(),
    }
}

fn query_form(text: &str, is_search: bool) -> QueryForm {
    let input = |name, kind| FormInput { name, label: text.to_owned(), kind, ..FormInput::default() };
    let boxes = vec![("impressions", text.to_owned(), true), ("spend", text.to_owned(), false)];
    let more = [input("from", FormInputKind::Date), input("columns", FormInputKind::Boxes(boxes))];
    QueryForm {
        title: if is_search { String::new() } else { text.to_owned() },
        action: "/ads/18ce53un18h".to_owned(),
        inputs: std::iter::once(input(if is_search { "q" } else { "find" }, FormInputKind::Text))
            .chain(more.into_iter().filter(|_| !is_search))
            .collect(),
        hidden: vec![("days", text.to_owned())],
        submit: "Search",
        reset: Some(NavLink::new(text, "/ads")),
        is_search,
    }
}

fn empty_state(text: &str) -> EmptyState {
    EmptyState { title: text.to_owned(), text: text.to_owned(), link: Some(NavLink::new(text, "/ads")) }
}

fn form_block(text: &str, error: Option<&str>) -> FormBlock {
    let choices = vec![(text.to_owned(), text.to_owned())];
    let kinds = [
        ("name", FormInputKind::Text),
        ("budget", FormInputKind::Amount),
        ("start", FormInputKind::Timestamp),
        ("status", FormInputKind::Choice(choices)),
        ("text", FormInputKind::Area),
        ("file", FormInputKind::File("image/*")),
    ];
    let input = |(name, kind)| FormInput {
        name,
        kind,
        label: text.to_owned(),
        help: text.to_owned(),
        field: FormField { value: text.to_owned(), error: error.map(str::to_owned) },
    };
    FormBlock {
        action: "/ads/18ce53un18h/campaigns".to_owned(),
        inputs: kinds.map(input).into(),
        advanced_inputs: vec![input(("more", FormInputKind::Text))],
        submit: "Create campaign",
        is_dangerous: error.is_some(),
        cancel_path: "/ads/18ce53un18h".to_owned(),
        has_file: true,
        shown: text.to_owned(),
    }
}

fn creative_previews(text: &str, picture: &str) -> CreativePreviews {
    let said = || EnclosingPost { name: text.to_owned(), username: text.to_owned(), text: text.to_owned() };
    let act = ActionButton {
        text: "Delete",
        path: "/ads/18ce53un18h/cards/9k1/delete".to_owned(),
        ..ActionButton::default()
    };
    let preview = |picture: Option<&str>| CreativePreview {
        name: text.to_owned(),
        kind: text.to_owned(),
        picture: picture.map(str::to_owned),
        alt_text: text.to_owned(),
        lines: vec![text.to_owned(), text.to_owned()],
        buttons: vec![text.to_owned()],
        host: text.to_owned(),
        subtext: text.to_owned(),
        post: picture.is_none().then(said),
        path: Some("/ads/18ce53un18h/cards/9k1".to_owned()),
        action_buttons: vec![act.clone()],
    };
    CreativePreviews {
        title: text.to_owned(),
        lead: text.to_owned(),
        actions: vec![NavLink::new(text, "/ads")],
        items: vec![preview(Some(picture)), preview(None)],
        empty: empty_state(text),
        pager: Pager::default(),
    }
}

fn page_blocks(text: &str, picture: &str) -> Vec<PageBlock> {
    vec![
        PageBlock::Metrics(vec![MetricTile {
            label: text.to_owned(),
            value: text.to_owned(),
            subtext: text.to_owned(),
        }]),
        PageBlock::Charts(DailyCharts {
            title: text.to_owned(),
            spans: vec![
                NavLink::new(text, "/ads?days=7"),
                NavLink { current: true, ..NavLink::new(text, "/ads?days=14") },
            ],
            actions: vec![NavLink::new(text, "/ads/18ce53un18h/reports?level=campaigns&only=9k1&by=day&days=7")],
            series: vec![daily_series(text), daily_series(text)],
        }),
        PageBlock::Table(data_table(text, 2)),
        PageBlock::Query(query_form(text, false)),
        PageBlock::Facts(DetailList {
            title: text.to_owned(),
            actions: vec![NavLink::new(text, "/ads")],
            rows: vec![("Budget", table_cell(text))],
        }),
        PageBlock::Previews(creative_previews(text, picture)),
        PageBlock::Note(text.to_owned()),
        PageBlock::Code(CodeBlock { title: text.to_owned(), lead: text.to_owned(), text: text.to_owned() }),
    ]
}

pub(crate) fn ads_manager_states() -> Vec<(&'static str, AdsManagerPage)> {
    let own = |frame, blocks| manager_page(frame, "Spring", false, blocks);
    let choose = AdsManagerPage {
        frame: signed_in_frame(),
        heading: "Ads Manager".to_owned(),
        blocks: vec![PageBlock::Empty(empty_state("No ads accounts"))],
        ..AdsManagerPage::default()
    };
    let none = PageBlock::Table(data_table("Campaigns", 0));
    let wrong = PageBlock::Form(form_block("Spring", Some("This field is required.")));
    let mut bad = page_blocks(HOSTILE, HOSTILE_URL);
    bad.push(PageBlock::Form(form_block(HOSTILE, Some(HOSTILE))));
    vec![
        ("none", choose),
        ("whole", own(signed_in_frame(), page_blocks("Spring", "/media/a.jpg"))),
        ("empty", own(signed_in_frame(), vec![none])),
        ("form", own(signed_in_frame(), vec![PageBlock::Form(form_block("Spring", None))])),
        ("wrong", own(with_failure(signed_in_frame(), "The request was refused."), vec![wrong])),
        ("sandbox", manager_page(signed_in_frame(), "Sandbox", true, Vec::new())),
        ("hostile", manager_page(hostile_frame(), HOSTILE, true, bad)),
    ]
}
