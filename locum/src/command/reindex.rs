//! `locum reindex`.

use base::Error;
use network::search::PostSearch;
use serde_json::{Value, json};

use crate::world::{INDEX, World};

/// Makes the index of posts anew, and waits for it. A running server does it beside its work, and
/// answers no searches meanwhile.
pub(super) async fn execute(world: &World) -> Result<Value, Error> {
    let told = |posts| world.progress.at(posts, None);
    let posts = if let Some(search) = &world.search {
        search.rebuild();
        search.wait_until_built(told).await;
        search.snapshot().len()
    } else {
        let search = PostSearch::open(&world.settings.data_dir.join(INDEX))?;
        search.rebuild();
        search.drain_log(&world.store).await?;
        search.snapshot().len()
    };
    Ok(json!({ "posts": posts }))
}
