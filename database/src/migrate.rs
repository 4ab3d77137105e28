//! Numbered migration scripts, forward only, each applied in one transaction, or outside of one where it builds indexes
//! concurrently ([decision 31](../../docs/decisions/0031-rolling-upgrades.md)).

mod script;
#[cfg(test)]
mod tests;

use base::{Fault, Time};

use crate::{row, select};
use script::{FIRST_COMPATIBLE, MigrationScript, builds_concurrently, compatible_after};
pub(crate) use script::{all_scripts, index_name, schema_version};

/// Oldest first.
const SCRIPTS: &[(&str, &str)] = &[
    ("foundation", include_str!("../migrations/0001_foundation.sql")),
    ("oauth_flows", include_str!("../migrations/0002_oauth_flows.sql")),
    ("sessions", include_str!("../migrations/0003_sessions.sql")),
    ("social_graph", include_str!("../migrations/0004_social_graph.sql")),
    ("polls_communities_places", include_str!("../migrations/0005_polls_communities_places.sql")),
    ("lists_spaces", include_str!("../migrations/0006_lists_spaces.sql")),
    ("bookmarks", include_str!("../migrations/0007_bookmarks.sql")),
    ("media", include_str!("../migrations/0008_media.sql")),
    ("messages", include_str!("../migrations/0009_messages.sql")),
    ("entitlements", include_str!("../migrations/0010_entitlements.sql")),
    ("letters_end", include_str!("../migrations/0011_letters_end.sql")),
    ("news_notes", include_str!("../migrations/0012_news_notes.sql")),
    ("rules", include_str!("../migrations/0013_rules.sql")),
    ("webhooks", include_str!("../migrations/0014_webhooks.sql")),
    ("verified_followers", include_str!("../migrations/0015_verified_followers.sql")),
    ("activity", include_str!("../migrations/0016_activity.sql")),
    ("connections", include_str!("../migrations/0017_connections.sql")),
    ("compliance", include_str!("../migrations/0018_compliance.sql")),
    ("deliveries_about", include_str!("../migrations/0019_deliveries_about.sql")),
    ("ads", include_str!("../migrations/0020_ads.sql")),
    ("audiences", include_str!("../migrations/0021_audiences.sql")),
    ("ledger", include_str!("../migrations/0022_ledger.sql")),
    ("ads_options", include_str!("../migrations/0023_ads_options.sql")),
    ("promoted_posts", include_str!("../migrations/0024_promoted_posts.sql")),
    ("auctions", include_str!("../migrations/0025_auctions.sql")),
    ("card_links", include_str!("../migrations/0026_card_links.sql")),
    ("segments", include_str!("../migrations/0027_segments.sql")),
    ("particulars", include_str!("../migrations/0028_particulars.sql")),
    ("durable_nonces", include_str!("../migrations/0029_durable_nonces.sql")),
    ("credential_changes", include_str!("../migrations/0030_credential_changes.sql")),
    ("event_sequencer", include_str!("../migrations/0031_event_sequencer.sql")),
    ("nodes", include_str!("../migrations/0032_nodes.sql")),
    ("rate_windows", include_str!("../migrations/0033_rate_windows.sql")),
    ("count_deltas", include_str!("../migrations/0034_count_deltas.sql")),
    ("pending_event_pages", include_str!("../migrations/0035_pending_event_pages.sql")),
    ("node_roles", include_str!("../migrations/0036_node_roles.sql")),
    (FIRST_COMPATIBLE, include_str!("../migrations/0037_node_schema_versions.sql")),
    ("event_partitions", include_str!("../migrations/0038_event_partitions.sql")),
    ("delivery_partitions", include_str!("../migrations/0039_delivery_partitions.sql")),
    ("task_leases", include_str!("../migrations/0040_task_leases.sql")),
    ("links", include_str!("../migrations/0041_links.sql")),
    ("views", include_str!("../migrations/0042_views.sql")),
    ("annotations", include_str!("../migrations/0043_annotations.sql")),
    ("variants_and_fetched_links", include_str!("../migrations/0044_variants_and_fetched_links.sql")),
    ("conversions", include_str!("../migrations/0045_conversions.sql")),
    ("simulations", include_str!("../migrations/0046_simulations.sql")),
    ("moderation", include_str!("../migrations/0047_moderation.sql")),
    ("interactions", include_str!("../migrations/0048_interactions.sql")),
    ("two_factor", include_str!("../migrations/0049_two_factor.sql")),
    ("audit_subject", include_str!("../migrations/0050_audit_subject.sql")),
    ("account_deletions", include_str!("../migrations/0051_account_deletions.sql")),
    ("unpublished_posts", include_str!("../migrations/0052_unpublished_posts.sql")),
    ("muted_words", include_str!("../migrations/0053_muted_words.sql")),
    ("post_communities", include_str!("../migrations/0054_post_communities.sql")),
    ("notification_settings", include_str!("../migrations/0055_notification_settings.sql")),
    ("ads_record_rowid", include_str!("../migrations/0056_ads_record_rowid.sql")),
    ("member_time_zones", include_str!("../migrations/0057_member_time_zones.sql")),
    ("passkeys", include_str!("../migrations/0058_passkeys.sql")),
    ("unpublished_community_posts", include_str!("../migrations/0059_unpublished_community_posts.sql")),
    ("media_metadata", include_str!("../migrations/0060_media_metadata.sql")),
    ("session_addresses", include_str!("../migrations/0061_session_addresses.sql")),
    ("product_catalogs", include_str!("../migrations/0062_product_catalogs.sql")),
    ("ad_event_viewers", include_str!("../migrations/0063_ad_event_viewers.sql")),
    ("consents_and_erasures", include_str!("../migrations/0064_consents_and_erasures.sql")),
    ("app_grants", include_str!("../migrations/0065_app_grants.sql")),
    ("rows_of_users", include_str!("../migrations/0066_rows_of_users.sql")),
    ("unconverted_sales", include_str!("../migrations/0067_unconverted_sales.sql")),
    ("imported_uses", include_str!("../migrations/0068_imported_uses.sql")),
    ("pending_reposts", include_str!("../migrations/0069_pending_reposts.sql")),
    ("mention_interactions", include_str!("../migrations/0070_mention_interactions.sql")),
    ("interaction_pairs", include_str!("../migrations/0071_interaction_pairs.sql")),
    ("live_post_lists", include_str!("../migrations/0072_live_post_lists.sql")),
    ("replaced_post_indexes", include_str!("../migrations/0073_replaced_post_indexes.sql")),
    ("closed_reports", include_str!("../migrations/0074_closed_reports.sql")),
    ("audit_kinds", include_str!("../migrations/0075_audit_kinds.sql")),
    ("replaced_audit_index", include_str!("../migrations/0076_replaced_audit_index.sql")),
    ("ads_records_by_update", include_str!("../migrations/0077_ads_records_by_update.sql")),
    ("post_removals", include_str!("../migrations/0078_post_removals.sql")),
    ("orphaned_subscriptions", include_str!("../migrations/0079_orphaned_subscriptions.sql")),
];

const CREATE_TABLE_SQL: &str = "CREATE TABLE IF NOT EXISTS migration (
    version BIGINT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at BIGINT NOT NULL
);";
pub(crate) const LIST_SQL: &str = select!(MigrationRow, "ORDER BY version");
/// A contraction holds it, and a node that takes a number shares it.
pub(crate) const CONTRACTION_LOCK: i64 = 7270;
/// In the table `meta`: the lowest schema version whose programs may use the database.
pub(crate) const COMPATIBLE_FROM_KEY: &str = "schema_compatible_from";
pub(crate) const COMPATIBLE_FROM_SQL: &str = "SELECT value FROM meta WHERE key = $1";

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
    /// Whether programs of this version work without it.
    pub is_contraction: bool,
}

row! {
    #[derive(Clone)]
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
    /// The script begins and commits a transaction.
    fn run_script(&mut self, script: &str) -> Result<(), Fault>;
    /// Builds the indexes of a script that are not there yet, while others write.
    fn build_indexes(&mut self, script: &str) -> Result<(), Fault>;
    fn applied_migrations(&mut self) -> Result<Vec<MigrationRow>, Fault>;
    /// None in a database of an earlier version.
    fn compatible_from(&mut self) -> Result<Option<i64>, Fault>;
    /// The numbers of live nodes whose programs know fewer migrations.
    fn nodes_before(&mut self, version: i64) -> Result<Vec<i64>, Fault>;
}

/// Runs a script that builds indexes, concurrently or in a transaction.
pub(crate) fn build_indexes(target: &mut impl MigrationTarget, script: &str) -> Result<(), Fault> {
    target.lock_schema()?;
    if builds_concurrently(script) { target.build_indexes(script) } else { target.run_script(script) }
}

/// Contractions that live nodes are too old for are left out.
pub(crate) fn apply_missing(
    target: &mut impl MigrationTarget,
    scripts: &[MigrationScript],
    now_ms: i64,
) -> Result<Vec<AppliedMigration>, Fault> {
    target.lock_schema()?;
    let applied = list_applied(target, scripts)?;
    let mut done = Vec::new();
    for (position, script) in scripts.iter().enumerate().skip(applied.len()) {
        let compatible_from = compatible_after(scripts.get(..=position).unwrap_or_default())?;
        let nodes = apply_unless_nodes_need(target, script, compatible_from, now_ms)?;
        if !nodes.is_empty() {
            check_may_wait(scripts.get(position..).unwrap_or_default(), &nodes)?;
            break;
        }
        done.push(AppliedMigration { version: script.version, name: script.name.to_owned() });
    }
    Ok(done)
}

/// The numbers of the nodes that are too old for it.
fn apply_unless_nodes_need(
    target: &mut impl MigrationTarget,
    script: &MigrationScript,
    compatible_from: Option<i64>,
    now_ms: i64,
) -> Result<Vec<i64>, Fault> {
    let nodes = nodes_in_the_way(target, script)?;
    if !nodes.is_empty() {
        return Ok(nodes);
    }
    let Err(fault) = apply_script(target, script, compatible_from, now_ms) else {
        return Ok(nodes);
    };
    // One may have started since they were looked for.
    let nodes = nodes_in_the_way(target, script).unwrap_or_default();
    if nodes.is_empty() { Err(fault) } else { Ok(nodes) }
}

fn nodes_in_the_way(target: &mut impl MigrationTarget, script: &MigrationScript) -> Result<Vec<i64>, Fault> {
    script.compatible_from()?.map_or_else(|| Ok(Vec::new()), |version| target.nodes_before(version))
}

/// What is left must be contractions, without which this program works.
fn check_may_wait(left: &[MigrationScript], nodes: &[i64]) -> Result<(), Fault> {
    let names: Vec<&str> = left.iter().map(|script| script.name).collect();
    let (names, nodes) = (names.join(", "), format!("{nodes:?}"));
    for script in left {
        if script.compatible_from()?.is_none() {
            return Err(Fault::new(format!(
                "migrations {names} wait until the nodes {nodes}, whose programs are too old for them, have stopped"
            )));
        }
    }
    tracing::warn!(
        migrations = names,
        nodes,
        "migrations wait until these nodes, whose programs are too old for them, have stopped; the next start or \
         `locum migrate up` applies them"
    );
    Ok(())
}

fn apply_script(
    target: &mut impl MigrationTarget,
    script: &MigrationScript,
    compatible_from: Option<i64>,
    now_ms: i64,
) -> Result<(), Fault> {
    let record = record_sql(script, compatible_from, now_ms);
    if script.builds_indexes() {
        target.build_indexes(script.text)?;
        return target.run_script(&format!("BEGIN; {record} COMMIT;"));
    }
    let text = script.text;
    let guard = script.compatible_from()?.map_or_else(String::new, guard_sql);
    target.run_script(&format!("BEGIN; {guard} {CREATE_TABLE_SQL} {text} {record} COMMIT;"))
}

fn record_sql(script: &MigrationScript, compatible_from: Option<i64>, now_ms: i64) -> String {
    let MigrationScript { version, name, .. } = script;
    let checksum = script.checksum();
    let row = format!(
        "INSERT INTO migration (version, name, checksum, applied_at) \
         VALUES ({version}, '{name}', '{checksum}', {now_ms});"
    );
    let Some(from) = compatible_from else {
        return row;
    };
    format!(
        "{row} INSERT INTO meta (key, value) VALUES ('{COMPATIBLE_FROM_KEY}', '{from}') \
         ON CONFLICT (key) DO UPDATE SET value = excluded.value;"
    )
}

/// Fails if a node of an older version has started since they were looked for; none can start until the commit.
fn guard_sql(version: i64) -> String {
    format!(
        "\nPOSTGRES SELECT pg_advisory_xact_lock({CONTRACTION_LOCK});\
         \nPOSTGRES SELECT 1 / CASE WHEN EXISTS (SELECT 1 FROM node WHERE schema_version < {version} \
         AND until > EXTRACT(EPOCH FROM clock_timestamp()) * 1000) THEN 0 ELSE 1 END;\n"
    )
}

pub(crate) fn parse_version(stored: Option<String>) -> Result<Option<i64>, Fault> {
    stored.map(|text| text.parse().map_err(Fault::context("the schema version in the database"))).transpose()
}

/// Those of newer programs too.
pub(crate) fn list_status(target: &mut impl MigrationTarget) -> Result<Vec<MigrationStatus>, Fault> {
    let applied = list_applied(target, all_scripts())?;
    let mut all = all_missing()?;
    let newer = applied.get(all.len()..).unwrap_or_default().to_vec();
    for (migration, row) in all.iter_mut().zip(applied) {
        migration.applied_at = Some(row.applied_at);
    }
    all.extend(newer.into_iter().map(|MigrationRow { version, name, applied_at, .. }| MigrationStatus {
        version,
        name,
        applied_at: Some(applied_at),
        is_contraction: false,
    }));
    Ok(all)
}

pub(crate) fn all_missing() -> Result<Vec<MigrationStatus>, Fault> {
    let status = |script: &MigrationScript| {
        Ok(MigrationStatus {
            version: script.version,
            name: script.name.to_owned(),
            applied_at: None,
            is_contraction: script.compatible_from()?.is_some(),
        })
    };
    all_scripts().iter().map(status).collect()
}

/// Refuses a database that is too new for the program that knows these scripts, or whose migrations are not these.
fn list_applied(target: &mut impl MigrationTarget, known: &[MigrationScript]) -> Result<Vec<MigrationRow>, Fault> {
    let applied = target.applied_migrations()?;
    if let Some(newest) = applied.get(known.len()..).and_then(<[_]>::last) {
        let compatible_from = target.compatible_from()?.unwrap_or(newest.version);
        let version = known.last().map_or(0, |script| script.version);
        if version < compatible_from {
            return Err(Fault::new(format!(
                "the database is newer than this program (schema {}, {:?}, for programs from schema {compatible_from} \
                 on; this one knows {version}): nothing was changed. Start a newer program, or restore the backup from \
                 before the upgrade",
                newest.version, newest.name,
            )));
        }
    }
    for (row, script) in applied.iter().zip(known) {
        if row.checksum != script.checksum() {
            return Err(Fault::new(format!(
                "migration {} in the database ({:?}) is not this program's {:?}: nothing was changed",
                row.version, row.name, script.name
            )));
        }
    }
    Ok(applied)
}
