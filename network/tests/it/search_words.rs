use std::collections::BTreeSet;

use base::Time;
use network::communities::{self, NewCommunity};
use network::news::{self, NewNewsStory};
use network::search_words::rebuild_part;
use network::spaces::{self, NewSpace, SpaceStateFilter};
use network::visibility::Viewer;
use store::{Tx, news_stories};

use test_stores::{World, each_engine};

/// The communities, spaces and stories that a text finds.
async fn found(world: &World, text: &'static str) -> [usize; 3] {
    let find = move |tx: &mut Tx<'_>| {
        let communities = communities::search(tx, text, i64::MAX, 10)?.len();
        let spaces = spaces::search(tx, text, SpaceStateFilter::All, 10)?.len();
        let stories = news::search(tx, Viewer::anonymous(), text, Time::from_ms(0), 10)?.len();
        Ok([communities, spaces, stories])
    };
    world.store.read(find).await.unwrap()
}

#[each_engine]
async fn parts_of_names_without_spaces_are_found(world: World) {
    let ada = world.user("ada").await;
    let name = || "東京タワーMeetup".to_owned();
    world
        .write(move |tx| {
            communities::create(tx, ada, &NewCommunity { name: name(), ..NewCommunity::default() })?;
            spaces::create(tx, ada, &NewSpace { title: name(), ..NewSpace::default() })?;
            news::create(tx, &NewNewsStory { name: name(), publish: true, ..NewNewsStory::default() })
        })
        .await;
    for text in ["東京", "タワー meetup", "塔"] {
        assert_eq!(found(&world, text).await, if text == "塔" { [0; 3] } else { [1; 3] }, "{text}");
    }
    assert_eq!(found(&world, "京東").await, [0; 3]);
    // As they were indexed before, some of them more than are rebuilt at a time.
    let store = |tx: &mut Tx<'_>| {
        let mut community = store::communities::list_newest(tx, i64::MAX, 1)?.remove(0);
        let mut space = store::spaces::list(tx, i64::MAX, 1)?.remove(0);
        let mut story = news_stories::list(tx, i64::MAX, 1)?.remove(0);
        for number in 0..60 {
            community.id = tx.next_id::<()>().get();
            "大阪城公園".clone_into(&mut community.name);
            store::communities::insert(tx, &community)?;
            if number > 0 {
                continue;
            }
            space.id = tx.next_id::<()>().get();
            space.title.clone_from(&community.name);
            store::spaces::insert(tx, &space)?;
            story.id = tx.next_id::<()>().get();
            story.name.clone_from(&community.name);
            news_stories::upsert(tx, &story, &BTreeSet::new())?;
        }
        Ok(())
    };
    world.write(store).await;
    assert_eq!(found(&world, "阪城").await, [0; 3]);
    while world.write(|tx| Ok(rebuild_part(tx)?)).await {}
    assert_eq!(found(&world, "阪城").await, [10, 1, 1]);
    assert_eq!(found(&world, "東京").await, [1; 3], "once each");
}
