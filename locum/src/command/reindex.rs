//! `locum reindex`.

use base::Stop;
use network::search::Search;
use serde_json::{Value, json};

use crate::world::{INDEX, World};

/// Makes the index of posts anew, and waits for it. A running server does it beside its work, and
/// answers no searches meanwhile.
pub(super) async fn execute(world: &World) -> Result<Value, Stop> {
    let told = |posts| world.progress.at(posts, None);
    let posts = if let Some(search) = &world.search {
        search.renew();
        search.made(told).await;
        search.snapshot().len()
    } else {
        let search = Search::open(&world.settings.data_dir.join(INDEX))?;
        search.renew();
        search.finish(&world.store).await?;
        search.snapshot().len()
    };
    Ok(json!({ "posts": posts }))
}
