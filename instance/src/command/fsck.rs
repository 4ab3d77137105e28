//! `locum fsck`.

use std::path::PathBuf;
use std::sync::Arc;

use base::{Error, Fault};
use clap::Args;
use post_search::{IndexComparison, IndexDifference, MAX_INDEX_DIFFERENCES, PostSearch};
use serde_json::{Value, json};
use store::{Store, integrity};

use crate::command_error::CommandError;
use crate::{Instance, open_search_index, search_index_folder};

/// Ids listed per kind of difference.
const MAX_LISTED_IDS: usize = 1_000;
/// Files of a running index may be removed while they are read.
const FILE_CHECK_ATTEMPTS: u32 = 5;

#[derive(Args, Clone, Copy, Debug, Default)]
pub struct FsckArgs {
    /// Index the posts again that the search index has wrong, or rebuild it
    #[arg(long)]
    pub(super) repair: bool,
}

pub(super) async fn execute(instance: &Instance, args: FsckArgs) -> Result<Value, Error> {
    let mut report = check_consistency(instance).await?;
    let index = check_index(instance, args.repair).await?;
    let is_sound = [&report, &index].iter().all(|part| part["sound"] == true);
    set_field(&mut report, "sound", is_sound.into());
    set_field(&mut report, "index", index);
    Ok(report)
}

/// Recomputes all counters and, on SQLite, checks every page of the file.
pub async fn check_consistency(instance: &Instance) -> Result<Value, Error> {
    let mut damage = instance.store.check_integrity().await?;
    let compared = instance.store.read(|tx| Ok(integrity::find_mismatches(tx)?)).await;
    let found = match compared {
        Err(error) if !damage.is_empty() => {
            damage.push(format!("the counters were not compared: {}", CommandError::from(error).message()));
            Vec::new()
        }
        compared => compared?,
    };
    let rows = found.iter().map(|difference| {
        json!({
            "counter": difference.counter,
            "id": difference.id.to_string(),
            "stored": difference.stored,
            "counted": difference.counted,
        })
    });
    let differences: Vec<Value> = rows.collect();
    let sound = differences.is_empty() && damage.is_empty();
    Ok(json!({"sound": sound, "differences": differences, "damage": damage}))
}

fn set_field(report: &mut Value, name: &str, value: Value) {
    if let Some(fields) = report.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
}

async fn check_index(instance: &Instance, repair: bool) -> Result<Value, Error> {
    if let Some(search) = &instance.search {
        return compare_index(search, &instance.store, repair).await;
    }
    if !repair && !search_index_folder(&instance.settings).exists() {
        return Ok(json!({ "sound": true, "state": "missing: the next start builds it" }));
    }
    let search = open_search_index(&instance.settings, &instance.store).await?;
    tokio::select! {
        () = search.run_indexer(&instance.store) => Err(Fault::new("the indexer ended").into()),
        report = compare_index(&search, &instance.store, repair) => report,
    }
}

async fn compare_index(search: &Arc<PostSearch>, store: &Store, repair: bool) -> Result<Value, Error> {
    let damaged_files = find_damaged_files(search).await?;
    let found = search.compare_with_database(store).await?;
    let mut report = describe_comparison(&found, &damaged_files);
    let is_sound = found.is_sound() && damaged_files.is_empty();
    if is_sound || !repair {
        set_field(&mut report, "sound", is_sound.into());
        return Ok(report);
    }
    if damaged_files.is_empty() && found.differences.len() < MAX_INDEX_DIFFERENCES {
        search.reindex_posts(store, found.differences.keys().copied().collect()).await?;
        set_field(&mut report, "repaired", "indexed the posts again".into());
    } else {
        search.rebuild();
        set_field(&mut report, "repaired", "rebuilt the index".into());
    }
    let remaining = search.compare_with_database(store).await?;
    set_field(&mut report, "sound", (remaining.is_sound() && find_damaged_files(search).await?.is_empty()).into());
    Ok(report)
}

fn describe_comparison(found: &IndexComparison, damaged_files: &[PathBuf]) -> Value {
    let ids = |kind: IndexDifference| -> Vec<String> {
        let same = found.differences.iter().filter(|(_, difference)| **difference == kind);
        same.take(MAX_LISTED_IDS).map(|(id, _)| id.to_string()).collect()
    };
    let different = found.days.iter().filter(|(_, counts)| !found.is_sound() && counts.stored != counts.indexed);
    let days: Vec<Value> = different
        .map(|(day, counts)| json!({ "day": day, "stored": counts.stored, "indexed": counts.indexed }))
        .collect();
    json!({
        "posts": found.posts,
        "missing": ids(IndexDifference::Missing),
        "surplus": ids(IndexDifference::Surplus),
        "repeated": ids(IndexDifference::Repeated),
        "outdated": ids(IndexDifference::Outdated),
        "days": days,
        "damaged_files": damaged_files,
    })
}

async fn find_damaged_files(search: &Arc<PostSearch>) -> Result<Vec<PathBuf>, Error> {
    let mut attempts = 0;
    loop {
        let index = Arc::clone(search);
        let checked = tokio::task::spawn_blocking(move || index.find_damaged_files()).await;
        attempts += 1;
        match checked.map_err(Fault::context("checking the search index"))? {
            Ok(damaged) => return Ok(damaged),
            Err(fault) if attempts >= FILE_CHECK_ATTEMPTS => return Err(fault.into()),
            Err(_) => {}
        }
    }
}
