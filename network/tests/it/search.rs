use base::{Error, Refusal};
use network::search::PostSearch;

use crate::world::on_each_engine;

#[test]
fn search_is_unavailable_until_earlier_writes_are_indexed() {
    on_each_engine(async |world| {
        let folder = tempfile::TempDir::new().unwrap();
        let search = PostSearch::open(folder.path()).unwrap();
        search.drain_log(&world.store).await.unwrap();
        search.catch_up(&world.store).await.unwrap();
        let author = world.user("author").await;
        world.say(author, "not indexed yet").await;
        let refused = search.catch_up(&world.store).await;
        assert!(matches!(refused, Err(Error::Refused(Refusal::Unavailable))), "{refused:?}");
        world.store.wait_for_log_end(std::time::Duration::from_secs(10)).await.unwrap();
        search.drain_log(&world.store).await.unwrap();
        search.catch_up(&world.store).await.unwrap();
    });
}
