//! What a migration script says about itself.

use std::sync::LazyLock;

use base::Fault;
use sha2::{Digest, Sha256};

use super::SCRIPTS;

/// Programs that do not know this migration refuse every newer one.
pub(super) const FIRST_COMPATIBLE: &str = "node_schema_versions";
/// How the script of a contraction begins; the lowest schema version follows whose programs work afterwards.
const CONTRACTION_PREFIX: &str = "-- contraction, compatible from ";
/// How each statement begins of a script that builds indexes while others write, and contains nothing else. The names
/// of index and table follow.
const INDEX_PREFIXES: [&str; 2] =
    ["CREATE INDEX CONCURRENTLY IF NOT EXISTS ", "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "];

#[derive(Clone, Debug)]
pub(crate) struct MigrationScript {
    /// From 1.
    pub(super) version: i64,
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

impl MigrationScript {
    pub(super) fn checksum(&self) -> String {
        let digest = Sha256::digest(self.text);
        data_encoding::HEXLOWER.encode(digest.get(..16).unwrap_or_default())
    }

    /// None for an expansion, with which the programs of the version before work too.
    pub(super) fn compatible_from(&self) -> Result<Option<i64>, Fault> {
        let Some(rest) = self.text.strip_prefix(CONTRACTION_PREFIX) else {
            return Ok(None);
        };
        let version = rest.split_whitespace().next().unwrap_or_default().parse();
        version.map(Some).map_err(Fault::context("the first line of a migration script"))
    }

    pub(super) fn builds_indexes(&self) -> bool {
        builds_concurrently(self.text)
    }
}

pub(super) fn builds_concurrently(script: &str) -> bool {
    INDEX_PREFIXES.iter().any(|prefix| script.contains(prefix))
}

/// None if the statement builds no index concurrently.
pub(crate) fn index_name(statement: &str) -> Option<&str> {
    let rest = INDEX_PREFIXES.iter().find_map(|prefix| statement.strip_prefix(prefix))?;
    rest.split_whitespace().next()
}

/// The number of migrations that this program knows.
pub(crate) fn schema_version() -> i64 {
    all_scripts().last().map_or(0, |script| script.version)
}

pub(crate) fn all_scripts() -> &'static [MigrationScript] {
    static ALL: LazyLock<Vec<MigrationScript>> = LazyLock::new(|| {
        (1..).zip(SCRIPTS).map(|(version, (name, text))| MigrationScript { version, name, text }).collect()
    });
    &ALL
}

/// The lowest schema version whose programs may use a database with these migrations; none if that is not recorded.
pub(super) fn compatible_after(applied: &[MigrationScript]) -> Result<Option<i64>, Fault> {
    let Some(first) = applied.iter().find(|script| script.name == FIRST_COMPATIBLE) else {
        return Ok(None);
    };
    let mut lowest = first.version;
    for script in applied {
        lowest = lowest.max(script.compatible_from()?.unwrap_or(0));
    }
    Ok(Some(lowest))
}
