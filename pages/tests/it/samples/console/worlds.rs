use crate::samples::{development_frame, signed_in_frame, with_failure, with_notice};
use pages::FormField;
use pages::console::{
    ComparedTable, ComparisonSection, ConsoleSnapshotsPage, ConsoleWorldsPage, SnapshotRow, WorldKeysSection, WorldRow,
};

pub(crate) fn snapshot_states() -> Vec<(&'static str, ConsoleSnapshotsPage)> {
    let frame = || development_frame(signed_in_frame());
    let row = |name: &str, world: &str| SnapshotRow {
        name: name.to_owned(),
        world: world.to_owned(),
        created_at: "2026-11-20T09:30:00.000Z".to_owned(),
        version: "0.1.0".to_owned(),
        kibibytes: 2816,
        media_files: 1,
    };
    let empty = || ConsoleSnapshotsPage {
        frame: frame(),
        world: "main".to_owned(),
        snapshots: Vec::new(),
        name: FormField::default(),
        comparison: None,
    };
    let damaged = SnapshotRow { created_at: String::new(), version: "damaged".to_owned(), ..row("broken", "") };
    let posts = ComparedTable {
        table: "post".to_owned(),
        added: 2,
        removed: 0,
        changed: 1,
        rows: vec![
            "+ id=1892345678901234567 author_id=1700000000000000001 text=Hello, <world>".to_owned(),
            "~ id=1892345678901234000 like_count=3 → 4".to_owned(),
        ],
    };
    let comparison = |tables| Some(ComparisonSection { name: "before".to_owned(), tables });
    let taken = "There is already a snapshot named [before]: remove it or choose another name";
    vec![
        ("empty", empty()),
        (
            "filled",
            ConsoleSnapshotsPage {
                frame: with_notice(frame(), "Saved."),
                snapshots: vec![row("before", "main"), row("after.1", "t1"), damaged],
                comparison: comparison(vec![posts]),
                ..empty()
            },
        ),
        (
            "refused",
            ConsoleSnapshotsPage {
                snapshots: vec![row("before", "main")],
                name: FormField::invalid("before", taken),
                ..empty()
            },
        ),
        (
            "failed",
            ConsoleSnapshotsPage {
                snapshots: vec![row("before", "main")],
                frame: with_failure(frame(), "The snapshot [before] is damaged: its database is missing"),
                comparison: comparison(Vec::new()),
                ..empty()
            },
        ),
    ]
}

pub(crate) fn world_states() -> Vec<(&'static str, ConsoleWorldsPage)> {
    let row = |name: &str, host: &str, is_open| WorldRow {
        name: name.to_owned(),
        url: format!("http://{host}:8080"),
        from: "demo".to_owned(),
        is_open,
        is_main: name == "main",
    };
    let one = || ConsoleWorldsPage {
        frame: development_frame(signed_in_frame()),
        worlds: vec![row("main", "127.0.0.1", true)],
        name: FormField::default(),
        from: FormField::new("demo"),
        sources: ["demo", "ads", "empty"].map(str::to_owned).to_vec(),
        keys: None,
    };
    let keys = WorldKeysSection {
        name: "t1".to_owned(),
        text: "LOCUM_BASE_URL=http://127.0.0.1:8080\nLOCUM_API_KEY=Qm1fyZ9tKpW3xLr7dNbTESTAB".to_owned(),
    };
    vec![
        ("one", one()),
        (
            "many",
            ConsoleWorldsPage {
                worlds: vec![
                    row("main", "127.0.0.1", true),
                    row("t1", "t1.localhost", true),
                    row("t2", "t2.localhost", false),
                ],
                keys: Some(keys),
                ..one()
            },
        ),
        (
            "refused",
            ConsoleWorldsPage {
                name: FormField::invalid("T 1", "The world name [T 1] must have lowercase letters, digits and hyphens"),
                ..one()
            },
        ),
        (
            "failed",
            ConsoleWorldsPage {
                frame: with_failure(
                    one().frame,
                    "There is no world named [t9]: `locum world list` shows those that there are",
                ),
                ..one()
            },
        ),
    ]
}
