//! Numbered migration scripts, forward only, each applied in one transaction.

use base::{Fault, Time};
use sha2::{Digest, Sha256};

use super::{row, select};

/// Oldest first.
const SCRIPTS: &[(&str, &str)] = &[
    ("foundation", include_str!("../../migrations/0001_foundation.sql")),
    ("oauth_flows", include_str!("../../migrations/0002_oauth_flows.sql")),
    ("sessions", include_str!("../../migrations/0003_sessions.sql")),
    ("social_graph", include_str!("../../migrations/0004_social_graph.sql")),
    ("polls_communities_places", include_str!("../../migrations/0005_polls_communities_places.sql")),
    ("lists_spaces", include_str!("../../migrations/0006_lists_spaces.sql")),
    ("bookmarks", include_str!("../../migrations/0007_bookmarks.sql")),
    ("media", include_str!("../../migrations/0008_media.sql")),
    ("messages", include_str!("../../migrations/0009_messages.sql")),
    ("entitlements", include_str!("../../migrations/0010_entitlements.sql")),
    ("letters_end", include_str!("../../migrations/0011_letters_end.sql")),
    ("news_notes", include_str!("../../migrations/0012_news_notes.sql")),
    ("rules", include_str!("../../migrations/0013_rules.sql")),
    ("webhooks", include_str!("../../migrations/0014_webhooks.sql")),
    ("verified_followers", include_str!("../../migrations/0015_verified_followers.sql")),
    ("activity", include_str!("../../migrations/0016_activity.sql")),
    ("connections", include_str!("../../migrations/0017_connections.sql")),
    ("compliance", include_str!("../../migrations/0018_compliance.sql")),
    ("deliveries_about", include_str!("../../migrations/0019_deliveries_about.sql")),
    ("ads", include_str!("../../migrations/0020_ads.sql")),
    ("audiences", include_str!("../../migrations/0021_audiences.sql")),
    ("ledger", include_str!("../../migrations/0022_ledger.sql")),
    ("ads_options", include_str!("../../migrations/0023_ads_options.sql")),
    ("promoted_posts", include_str!("../../migrations/0024_promoted_posts.sql")),
    ("auctions", include_str!("../../migrations/0025_auctions.sql")),
    ("card_links", include_str!("../../migrations/0026_card_links.sql")),
    ("segments", include_str!("../../migrations/0027_segments.sql")),
    ("particulars", include_str!("../../migrations/0028_particulars.sql")),
    ("durable_nonces", include_str!("../../migrations/0029_durable_nonces.sql")),
    ("credential_changes", include_str!("../../migrations/0030_credential_changes.sql")),
    ("event_sequencer", include_str!("../../migrations/0031_event_sequencer.sql")),
    ("nodes", include_str!("../../migrations/0032_nodes.sql")),
    ("rate_windows", include_str!("../../migrations/0033_rate_windows.sql")),
    ("count_deltas", include_str!("../../migrations/0034_count_deltas.sql")),
    ("pending_event_pages", include_str!("../../migrations/0035_pending_event_pages.sql")),
    ("node_roles", include_str!("../../migrations/0036_node_roles.sql")),
];

const CREATE_TABLE_SQL: &str = "CREATE TABLE IF NOT EXISTS migration (
    version BIGINT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at BIGINT NOT NULL
);";
pub(crate) const LIST_SQL: &str = select!(MigrationRow, "ORDER BY version");

#[derive(Clone, Debug)]
pub struct AppliedMigration {
    /// From 1.
    pub version: i64,
    pub name: String,
}

#[derive(Clone, Debug)]
pub struct MigrationStatus {
    /// From 1.
    pub version: i64,
    pub name: String,
    /// None if it was not applied.
    pub applied_at: Option<Time>,
}

row! {
    pub(crate) struct MigrationRow from "migration" {
        version: i64,
        name: String,
        checksum: String,
        applied_at: Time,
    }
}

pub(crate) trait MigrationTarget {
    /// Waits for other migrations of the database; the lock lasts until the connection is closed.
    fn lock_schema(&mut self) -> Result<(), Fault>;
    fn run_script(&mut self, script: &str) -> Result<(), Fault>;
    fn applied_migrations(&mut self) -> Result<Vec<MigrationRow>, Fault>;
}

pub(crate) fn apply_missing(target: &mut impl MigrationTarget, now_ms: i64) -> Result<Vec<AppliedMigration>, Fault> {
    target.lock_schema()?;
    let applied = target.applied_migrations()?;
    check_applied(&applied)?;
    let mut done = Vec::new();
    for (version, (name, script)) in (1..).zip(SCRIPTS).skip(applied.len()) {
        let checksum = checksum(script);
        target.run_script(&format!(
            "BEGIN; {CREATE_TABLE_SQL} {script} INSERT INTO migration (version, name, checksum, applied_at) \
             VALUES ({version}, '{name}', '{checksum}', {now_ms}); COMMIT;"
        ))?;
        done.push(AppliedMigration { version, name: (*name).to_owned() });
    }
    Ok(done)
}

pub(crate) fn list_status(target: &mut impl MigrationTarget) -> Result<Vec<MigrationStatus>, Fault> {
    let applied = target.applied_migrations()?;
    check_applied(&applied)?;
    let mut all = all_missing();
    for (migration, row) in all.iter_mut().zip(applied) {
        migration.applied_at = Some(row.applied_at);
    }
    Ok(all)
}

pub(crate) fn all_missing() -> Vec<MigrationStatus> {
    let scripts = (1..).zip(SCRIPTS);
    scripts
        .map(|(version, (name, _))| MigrationStatus { version, name: (*name).to_owned(), applied_at: None })
        .collect()
}

/// Refuses a database whose migrations are newer than or different from this program's.
fn check_applied(applied: &[MigrationRow]) -> Result<(), Fault> {
    if applied.len() > SCRIPTS.len() {
        let newest = applied.last().map_or("", |row| row.name.as_str());
        return Err(Fault::new(format!(
            "the database is newer than this program (schema {}, {newest:?}; known: {}): \
             nothing was changed",
            applied.len(),
            SCRIPTS.len()
        )));
    }
    for (row, (name, script)) in applied.iter().zip(SCRIPTS) {
        if row.checksum != checksum(script) {
            return Err(Fault::new(format!(
                "migration {} in the database ({:?}) is not this program's {name:?}: nothing was changed",
                row.version, row.name
            )));
        }
    }
    Ok(())
}

fn checksum(script: &str) -> String {
    let digest = Sha256::digest(script.as_bytes());
    crate::hex::encode(digest.get(..16).unwrap_or_default())
}
