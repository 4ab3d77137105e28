//! Media that cards use.

use base::{Id, UserId};
use serde_json::json;
use store::Tx;
use store::media::{self, Media};

use crate::shop::Shop;
use crate::world::{World, each_engine};

const IMAGE: i64 = 1_000_000;

async fn insert_image(world: &World, owner: UserId) {
    let image = Media {
        media_key: format!("3_{IMAGE}"),
        id: Id::new(IMAGE),
        owner_id: owner,
        kind: "photo".to_owned(),
        path: String::new(),
        url: "https://bikes.example/bike.png".to_owned(),
        preview_image_url: String::new(),
        width: 0,
        height: 0,
        duration_ms: 0,
        alt_text: String::new(),
        variants: String::new(),
        created_at: world.clock.now(),
        content_type: String::new(),
        size: 0,
        bit_rate: 0,
        sizes: String::new(),
        uses: Some(0),
        expires_at: None,
        variant_files: String::new(),
    };
    world.write(move |tx| Ok(media::insert(tx, &image)?)).await;
}

async fn count_uses(world: &World) -> (Option<i64>, bool) {
    let find = |tx: &mut Tx<'_>| Ok(media::find_by_id(tx, Id::new(IMAGE))?);
    let image = world.store.read(find).await.unwrap().unwrap();
    (image.uses, image.expires_at.is_some())
}

#[each_engine]
async fn deleted_card_no_longer_uses_its_media(world: World) {
    let shop = Shop::open(&world, "ana").await;
    insert_image(&world, shop.owner).await;
    let components = json!([
        { "type": "MEDIA", "media_key": format!("3_{IMAGE}") },
        { "type": "DETAILS", "title": "Ride", "destination": { "type": "WEBSITE", "url": "https://bikes.example/" } },
    ]);
    let before = count_uses(&world).await;
    let card = shop.post_json(&world, "A/cards", json!({ "name": "Card", "components": components })).await;
    let id = card["data"]["id"].as_str().unwrap_or_else(|| panic!("{card}"));
    let in_use = count_uses(&world).await;
    assert!(in_use.0 > before.0, "{in_use:?}");
    shop.call(&world, "DELETE", &format!("A/cards/{id}"), &[]).await;
    assert!(count_uses(&world).await.0 < in_use.0);
    shop.call(&world, "DELETE", &format!("A/media_library/3_{IMAGE}"), &[]).await;
    assert_eq!(count_uses(&world).await, (Some(0), true));
}
