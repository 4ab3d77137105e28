//! The catalogue of entities that posts are annotated with, and its compiled form in memory.

use std::sync::Arc;

use base::text::NameMatcher;
use base::{Fault, Time};
use parking_lot::Mutex;

use crate::{Tx, insert_with, meta, select, table};

/// How long other nodes may annotate with an older catalogue.
const MAX_AGE_MS: i64 = 5_000;
const VERSION_KEY: &str = "annotation_catalogue_version";

table! {
    /// An entity in one of its domains.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct AnnotationEntity in "annotation_entity" {
        pub domain_id: i64,
        /// The same in every domain.
        pub id: i64,
        pub domain_name: String,
        pub domain_description: String,
        /// `Person`, `Place`, `Product`, `Organization` or `Other`.
        pub kind: String,
        pub name: String,
        pub description: String,
        /// Other names, one a line.
        pub aliases: String,
    }
}

pub struct AnnotationCatalogue {
    pub entities: Vec<AnnotationEntity>,
    /// Its numbers are places in `entities`.
    pub matcher: NameMatcher,
}

/// The newest catalogue that this process has compiled.
#[derive(Default)]
pub struct CatalogueCache(Mutex<CacheState>);

#[derive(Default)]
struct CacheState {
    cached: Option<CachedCatalogue>,
    /// A transaction that began before the last change does not know it.
    min_version: i64,
}

#[derive(Clone)]
struct CachedCatalogue {
    catalogue: Arc<AnnotationCatalogue>,
    version: i64,
    checked_at: Time,
}

/// Replaces the entity of the same ids.
pub fn upsert(tx: &mut Tx<'_>, entity: &AnnotationEntity) -> Result<(), Fault> {
    insert_with!(
        @execute_later,
        " ON CONFLICT (domain_id, id) DO UPDATE SET domain_name = excluded.domain_name, \
         domain_description = excluded.domain_description, kind = excluded.kind, name = excluded.name, \
         description = excluded.description, aliases = excluded.aliases",
        tx,
        AnnotationEntity,
        entity
    )
}

/// In the order of domains and ids, after a pair of ids.
pub fn list(tx: &mut Tx<'_>, after: (i64, i64), limit: i64) -> Result<Vec<AnnotationEntity>, Fault> {
    let sql = select!(
        AnnotationEntity,
        "WHERE domain_id > $1 OR (domain_id = $1 AND id > $2) ORDER BY domain_id, id LIMIT $3"
    );
    tx.query_rows(sql, &[after.0.into(), after.1.into(), limit.into()])
}

/// Returns false if the entity does not exist.
pub fn delete(tx: &mut Tx<'_>, domain: i64, id: i64) -> Result<bool, Fault> {
    let sql = "DELETE FROM annotation_entity WHERE domain_id = $1 AND id = $2";
    Ok(tx.execute(sql, &[domain.into(), id.into()])? > 0)
}

pub fn count(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    Ok(tx.query_row("SELECT COUNT(*) FROM annotation_entity", &[])?.unwrap_or(0))
}

/// To be called after changes: other nodes compile the catalogue again. Returns the version, for
/// [`CatalogueCache::expect_version`].
pub fn change_version(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    let version = tx.next_id::<()>().get();
    meta::set(tx, VERSION_KEY, &version.to_string())?;
    Ok(version)
}

/// The catalogue of a few seconds ago, or what `compile` returns if it has changed since.
pub fn cached_catalogue(
    tx: &mut Tx<'_>,
    compile: fn(&mut Tx<'_>) -> Result<AnnotationCatalogue, Fault>,
) -> Result<Arc<AnnotationCatalogue>, Fault> {
    let cached = tx.context().annotations.0.lock().cached.clone();
    let is_fresh = |cached: &CachedCatalogue| tx.now() < cached.checked_at.plus_ms(MAX_AGE_MS);
    if let Some(cached) = cached.as_ref().filter(|cached| is_fresh(cached)) {
        return Ok(Arc::clone(&cached.catalogue));
    }
    let version = meta::get(tx, VERSION_KEY)?.and_then(|version| version.parse().ok()).unwrap_or(0);
    let catalogue = match cached.filter(|cached| cached.version == version) {
        Some(cached) => cached.catalogue,
        None => Arc::new(compile(tx)?),
    };
    let checked = CachedCatalogue { catalogue: Arc::clone(&catalogue), version, checked_at: tx.now() };
    let mut state = tx.context().annotations.0.lock();
    if version >= state.min_version {
        state.cached = Some(checked);
    }
    Ok(catalogue)
}

impl CatalogueCache {
    /// To be called after a commit that changed the catalogue.
    pub fn expect_version(&self, version: i64) {
        let mut state = self.0.lock();
        state.min_version = state.min_version.max(version);
        state.cached = None;
    }
}
