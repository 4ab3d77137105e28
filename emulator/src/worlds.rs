//! What is done to a world as a whole: resets, snapshots, and further worlds.

use std::pin::Pin;

use base::Error;
use serde::Serialize;
use store::row_changes::TableChanges;

pub type WorldFuture<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

/// The control of the world that a request reached, and of the worlds beside it. What replaces the world waits until the
/// requests that run are answered, holds new ones, and goes on if its caller leaves.
pub trait WorldControl: Send + Sync {
    /// The world's name; `main` for the one that the server was started with.
    fn name(&self) -> String;

    /// Returns the world to its seed.
    fn reset(&self) -> WorldFuture<WorldReplacement>;

    fn list_snapshots(&self) -> WorldFuture<Vec<SnapshotFacts>>;

    /// Refused if the name is taken.
    fn save_snapshot(&self, name: String) -> WorldFuture<SnapshotFacts>;

    fn load_snapshot(&self, name: String) -> WorldFuture<WorldReplacement>;

    fn remove_snapshot(&self, name: String) -> WorldFuture<()>;

    /// From a snapshot to another one, or to the world as it is.
    fn compare_snapshot(&self, name: String, with: Option<String>) -> WorldFuture<SnapshotComparison>;

    fn list_worlds(&self) -> WorldFuture<Vec<WorldFacts>>;

    /// `from` is `demo`, `ads`, `empty` or the name of a snapshot.
    fn create_world(&self, name: String, from: String) -> WorldFuture<WorldKeys>;

    fn find_world_keys(&self, name: String) -> WorldFuture<WorldKeys>;

    fn remove_world(&self, name: String) -> WorldFuture<()>;
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WorldReplacement {
    /// How long requests waited, in milliseconds.
    pub milliseconds: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SnapshotFacts {
    pub name: String,
    /// The world that it was made of.
    pub world: String,
    pub created_at: String,
    /// Of the program that made it.
    pub version: String,
    pub bytes: u64,
    pub media_files: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SnapshotComparison {
    /// Only those that differ, in alphabetical order.
    pub tables: Vec<TableChanges>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorldFacts {
    pub name: String,
    /// Where the world is the only one that answers.
    pub base_url: String,
    pub from: String,
    /// Whether it is in use at the moment; others are opened by their first request.
    pub is_open: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorldKeys {
    pub name: String,
    /// Variables like those in `dev.env`, in its order.
    pub variables: Vec<(String, String)>,
}
