//! `locum reindex`.

use base::Error;
use network::search::PostSearch;
use serde_json::{Value, json};

use crate::instance::{Instance, SEARCH_INDEX_DIR};

/// Waits until the index is rebuilt. A running server answers other requests meanwhile, but no searches.
pub(super) async fn execute(instance: &Instance) -> Result<Value, Error> {
    let told = |posts| instance.progress.report_progress(posts, None);
    let posts = if let Some(search) = &instance.search {
        search.rebuild();
        search.wait_until_built(told).await;
        search.snapshot().len()
    } else {
        let search = PostSearch::open(&instance.settings.core.data_dir.join(SEARCH_INDEX_DIR))?;
        search.rebuild();
        search.drain_log(&instance.store).await?;
        search.snapshot().len()
    };
    Ok(json!({ "posts": posts }))
}
