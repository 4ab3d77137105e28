//! Data of new development servers, which tests copy: to create a world takes several times as long.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use base::clock::monotonic_now;
use tempfile::TempDir;

use super::database::{DatabaseEngine, TestDatabase};
use super::process::ProcessGuard;
use super::server::TestServer;

/// Tests expect worlds of about now.
const MAX_AGE: Duration = Duration::from_mins(2);
/// Arguments on which the data of a world depends, beside `--world`.
const WORLD_ARGUMENTS: [&str; 4] = ["--seed", "--world-date", "--clock", "--fresh"];

/// A data folder and its database, which no process uses.
pub(super) struct WorldTemplate {
    // Removed with the folder, or with this process.
    _guard: ProcessGuard,
    folder: TempDir,
    database: Option<TestDatabase>,
    created_at: Instant,
}

type TemplatesByWorld = HashMap<(DatabaseEngine, String), Arc<WorldTemplate>>;

impl WorldTemplate {
    /// A template for a server with these arguments; none if it must create its own world.
    pub(super) fn find(engine: DatabaseEngine, args: &[&str]) -> Option<Arc<Self>> {
        static TEMPLATES: Mutex<Option<TemplatesByWorld>> = Mutex::new(None);
        // There each test is a process of its own.
        let is_process_per_test = std::env::var_os("NEXTEST_RUN_ID").is_some();
        let has_own_world = args.iter().any(|arg| WORLD_ARGUMENTS.contains(arg) || arg.starts_with("core."));
        let world = args.iter().position(|arg| *arg == "--world").map_or("demo", |at| args[at + 1]);
        if is_process_per_test || has_own_world || !["demo", "ads", "empty"].contains(&world) {
            return None;
        }
        let mut templates = TEMPLATES.lock().unwrap_or_else(PoisonError::into_inner);
        let templates = templates.get_or_insert_default();
        let key = (engine, world.to_owned());
        if let Some(template) = templates.get(&key).filter(|template| template.created_at.elapsed() < MAX_AGE) {
            return Some(Arc::clone(template));
        }
        let template = Arc::new(Self::create(engine, world));
        templates.insert(key, Arc::clone(&template));
        Some(template)
    }

    fn create(engine: DatabaseEngine, world: &str) -> Self {
        let mut server = TestServer::prepare_on_engine(engine, &["--world", world]);
        server.restart();
        assert_eq!(server.stop().0, Some(0), "{}", server.stderr());
        let (folder, database) = server.into_data();
        Self { _guard: ProcessGuard::remove_later(folder.path()), folder, database, created_at: monotonic_now() }
    }

    /// Copies the data folder to a path at which there is nothing; returns a copy of the database.
    pub(super) fn copy_to(&self, data_dir: &Path) -> Option<TestDatabase> {
        let status = Command::new("cp").arg("-a").arg(self.folder.path().join("data")).arg(data_dir).status().unwrap();
        assert!(status.success(), "cp: {status}");
        self.database.as_ref().map(TestDatabase::copy)
    }
}
