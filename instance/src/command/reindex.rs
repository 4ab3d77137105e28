//! `locum reindex`.

use base::Error;
use serde_json::{Value, json};

use crate::{Instance, open_search_index};

/// Waits until the index is rebuilt. A running server answers other requests meanwhile, but no searches.
pub(super) async fn execute(instance: &Instance) -> Result<Value, Error> {
    let told = |posts| instance.progress.report_progress(posts, None);
    let posts = if let Some(search) = &instance.search {
        search.rebuild();
        search.wait_until_built(told).await;
        search.snapshot().len()
    } else {
        let search = open_search_index(&instance.settings, &instance.store).await?;
        search.rebuild();
        search.drain_log(&instance.store).await?;
        search.snapshot().len()
    };
    Ok(json!({ "posts": posts }))
}
