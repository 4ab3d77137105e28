//! Changes of credentials that other nodes must know at once.
//!
//! A transaction inserts a row for each key that it changes. Ids are given out before their transactions commit, so a
//! reader may see a row before one with a lower id. It therefore asks for every id that it has not seen, not only for
//! those after the highest one: each id below that is either read or in `missing`, from which it is removed when it is
//! read, or once no transaction can still commit it. This needs neither the order of commits nor their snapshots.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use base::clock::{monotonic_now, wall_time};
use base::{Error, Fault, Time};

use crate::credential_versions::CredentialKey;
use crate::{Store, Tx, insert};

/// Rows per reading.
const PAGE_SIZE: usize = 1_000;
/// How long a transaction may take to commit after its id was given out. One that takes longer is noticed when the
/// cached credentials expire.
const MISSING_TIMEOUT: Duration = Duration::from_mins(10);
/// More transactions than change credentials at once.
const MAX_MISSING: usize = 500;
/// Longer than readers wait for an id.
const RETENTION_MS: i64 = 30 * 60 * 1000;

pub(crate) fn insert(tx: &mut Tx<'_>, key: CredentialKey) -> Result<(), Fault> {
    let (kind, subject) = key.to_columns();
    insert!(tx, "credential_change", kind = kind, subject = subject, changed_at = wall_time())
}

/// Deletes changes that every node has read; returns how many.
pub fn prune(tx: &mut Tx<'_>, now: Time) -> Result<u64, Fault> {
    tx.execute("DELETE FROM credential_change WHERE changed_at < $1", &[now.plus_ms(-RETENTION_MS).into()])
}

/// Id, kind and subject.
type ChangeRow = (i64, i64, i64);

/// The first row has no id: its subject says when the database server started.
fn list_after(tx: &mut Tx<'_>, id: i64, missing: &[i64]) -> Result<Vec<ChangeRow>, Fault> {
    let sql = "SELECT CAST(0 AS BIGINT), CAST(0 AS BIGINT), \
               CAST(EXTRACT(EPOCH FROM pg_postmaster_start_time()) * 1000000 AS BIGINT) \
               UNION ALL (SELECT id, kind, subject FROM credential_change WHERE id > $1 ORDER BY id LIMIT $2) \
               ORDER BY 1";
    let mut rows: Vec<ChangeRow> = tx.query_rows(sql, &[id.into(), i64::try_from(PAGE_SIZE).unwrap_or(1).into()])?;
    if !missing.is_empty() {
        let sql = "SELECT id, kind, subject FROM credential_change WHERE id = $1";
        rows.extend(tx.query_by_keys::<ChangeRow>(sql, missing, &[])?);
    }
    Ok(rows)
}

/// Reads the changes of all nodes on a database server.
#[derive(Debug, Default)]
pub struct CredentialChangeReader {
    /// None before the first reading. Differs after a restart or a failover, which may have undone commits.
    server_start: Option<i64>,
    highest: i64,
    /// Ids below the highest that were not read, and since when.
    missing: BTreeMap<i64, Instant>,
}

impl CredentialChangeReader {
    /// Invalidates the credentials that were changed since the last call. Returns whether there may be more changes.
    pub async fn apply_changes(&mut self, store: &Store) -> Result<bool, Error> {
        let started_at = monotonic_now();
        let versions = &store.context().credential_versions;
        // Rows may have been deleted since.
        if !versions.is_complete_within(MISSING_TIMEOUT) {
            *self = Self::default();
        }
        let highest = self.highest;
        let missing: Vec<i64> = self.missing.keys().copied().collect();
        let rows = store.read(move |tx| Ok(list_after(tx, highest, &missing)?)).await?;
        let Some(((_, _, server_start), rows)) = rows.split_first() else {
            return Err(Fault::new("the database server does not say when it started").into());
        };
        if self.server_start != Some(*server_start) {
            let is_first = self.server_start.is_none();
            *self = Self { server_start: Some(*server_start), ..Self::default() };
            versions.invalidate_all();
            if !is_first {
                return Ok(true);
            }
        }
        let keys: Vec<CredentialKey> =
            rows.iter().filter_map(|(_, kind, subject)| CredentialKey::from_columns(*kind, *subject)).collect();
        if !keys.is_empty() {
            versions.invalidate(&keys);
        }
        let new_rows = rows.iter().filter(|(id, ..)| *id > highest).count();
        for (id, ..) in rows {
            self.record_read(*id, started_at);
        }
        self.forget_missing(started_at);
        if new_rows < PAGE_SIZE {
            versions.set_complete_at(started_at);
        }
        Ok(new_rows >= PAGE_SIZE)
    }

    fn record_read(&mut self, id: i64, now: Instant) {
        if id <= self.highest {
            self.missing.remove(&id);
            return;
        }
        let bound = i64::try_from(MAX_MISSING).unwrap_or(i64::MAX);
        let first = (self.highest + 1).max(id - bound);
        self.missing.extend((first..id).map(|skipped| (skipped, now)));
        self.highest = id;
    }

    fn forget_missing(&mut self, now: Instant) {
        self.missing.retain(|_, since| now.saturating_duration_since(*since) < MISSING_TIMEOUT);
        while self.missing.len() > MAX_MISSING {
            self.missing.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use base::UserId;
    use postgres::{Client, NoTls};
    use tempfile::TempDir;
    use tokio::runtime::Runtime;

    use super::{CredentialChangeReader, CredentialKey, MAX_MISSING, MISSING_TIMEOUT};
    use crate::{DatabaseLocation, Store, test_stores};

    struct SharedStore {
        runtime: Runtime,
        store: Store,
        other_node: Client,
        reader: CredentialChangeReader,
    }

    impl SharedStore {
        /// None where there is no server.
        fn open(folder: &TempDir) -> Option<Self> {
            let location = test_stores::locations(folder).pop()?;
            let DatabaseLocation::Server(url) = location.clone() else { return None };
            let runtime = Runtime::new().unwrap();
            let store = runtime.block_on(Store::open(test_stores::options(location, folder))).unwrap();
            let other_node = Client::connect(&url, NoTls).unwrap();
            Some(Self { runtime, store, other_node, reader: CredentialChangeReader::default() })
        }

        /// Returns whether there may be more.
        fn apply_changes(&mut self) -> bool {
            self.runtime.block_on(self.reader.apply_changes(&self.store)).unwrap()
        }

        fn is_valid(&self, version: u64, id: i64) -> bool {
            self.store.context().credential_versions.is_valid(version, &[user(id)])
        }
    }

    fn user(id: i64) -> CredentialKey {
        CredentialKey::User(UserId::new(id))
    }

    fn insert_sql(from: i64, to: i64) -> String {
        format!(
            "INSERT INTO credential_change (kind, subject, changed_at) SELECT 2, n, 0 FROM generate_series({from}, \
             {to}) AS n"
        )
    }

    #[test]
    fn change_that_commits_after_later_ones_is_read() {
        let folder = TempDir::new().unwrap();
        let Some(mut shared) = SharedStore::open(&folder) else { return };
        assert!(!shared.store.context().credential_versions.is_complete_within(MISSING_TIMEOUT));
        shared.apply_changes();
        assert!(shared.store.context().credential_versions.is_complete_within(MISSING_TIMEOUT));

        shared.other_node.batch_execute(&format!("BEGIN; {}", insert_sql(1, 1))).unwrap();
        let change = shared.store.write(|tx| Ok(tx.invalidate_credentials(user(2))?));
        shared.runtime.block_on(change).unwrap();
        let loaded = shared.store.context().credential_versions.current();
        shared.apply_changes();
        assert!(shared.is_valid(loaded, 1));
        assert!(!shared.is_valid(loaded, 2));
        let loaded = shared.store.context().credential_versions.current();
        shared.other_node.batch_execute("COMMIT").unwrap();
        shared.apply_changes();
        assert!(!shared.is_valid(loaded, 1), "the late change was missed");
        assert!(shared.is_valid(loaded, 2), "a change was applied twice");
        assert!(shared.reader.missing.is_empty());
    }

    #[test]
    fn many_changes_are_read_in_pages_and_ids_without_rows_are_bounded() {
        let folder = TempDir::new().unwrap();
        let Some(mut shared) = SharedStore::open(&folder) else { return };
        shared.apply_changes();
        let loaded = shared.store.context().credential_versions.current();
        let (read, undone, last) = (insert_sql(1, 1500), insert_sql(1, 1500), insert_sql(1501, 1501));
        shared.other_node.batch_execute(&read).unwrap();
        shared.other_node.batch_execute(&format!("BEGIN; {undone}; ROLLBACK")).unwrap();
        shared.other_node.batch_execute(&last).unwrap();
        assert!(shared.apply_changes());
        assert!(!shared.apply_changes());
        assert!([1, 1500, 1501].into_iter().all(|id| !shared.is_valid(loaded, id)));
        assert_eq!(shared.reader.missing.len(), MAX_MISSING);
    }
}
