use base::{Error, Id, MediaId, Refusal, Time, UserId};
use network::media::MediaCaption;
use network::uploads::{ProcessedUpload, UploadKind};
use serde_json::json;
use store::Tx;
use store::uploads::{self, MediaUpload, UploadState};

use test_stores::{START, World, each_engine, new_media_post};

fn upload(id: MediaId, owner: UserId) -> MediaUpload {
    MediaUpload {
        id,
        media_key: String::new(),
        owner_id: owner,
        kind: String::new(),
        token: String::new(),
        total_bytes: 0,
        state: UploadState::Receiving,
        failure_reason: String::new(),
        progress_percent: 0,
        leased_until: Time::from_ms(0),
        alt_text: String::new(),
        shared_with: Vec::new(),
        expires_at: START.plus_ms(1),
    }
}

#[each_engine]
async fn metadata_is_deleted_with_the_media_or_an_upload_that_came_to_none(world: World) {
    let ada = world.user("ada").await;
    let (unfinished, published) = (Id::new(7), Id::new(8));
    let both = [unfinished, published];
    let begin = move |tx: &mut Tx<'_>| {
        let metadata = json!({ "upload_source": { "upload_source": "gallery" } });
        for id in both {
            uploads::insert(tx, &upload(id, ada))?;
            network::media::set_metadata(tx, ada, id, metadata.as_object().unwrap())?;
        }
        Ok(())
    };
    world.write(begin).await;
    new_media_post(&world, ada, 8, 3, "photo").await;
    let end_uploads = move |tx: &mut Tx<'_>| {
        both.iter().try_for_each(|id| uploads::delete(tx, *id))?;
        Ok(store::media::list_metadata(tx, &both)?)
    };
    let left = world.write(end_uploads).await;
    assert_eq!(left, [(published, r#"{"upload_source":{"upload_source":"gallery"}}"#.to_owned())]);
    let expire = move |tx: &mut Tx<'_>| {
        store::media::remove_post_uses(tx, &[published], Time::from_ms(1))?;
        assert!(store::media::remove_expired(tx, published)?);
        Ok(store::media::list_metadata(tx, &both)?)
    };
    assert_eq!(world.write(expire).await, []);
}

#[each_engine]
async fn videos_of_somebody_with_fewer_of_them_are_converted_first(world: World) {
    let (ada, bob) = (world.user("ada").await, world.user("bob").await);
    let claim = move |tx: &mut Tx<'_>| {
        for (id, owner) in [(1, ada), (2, ada), (3, ada), (4, bob), (5, bob)] {
            uploads::insert(tx, &upload(Id::new(id), owner))?;
            uploads::request_variants(tx, Id::new(id))?;
        }
        let mut claimed = Vec::new();
        while let Some(next) = uploads::claim_next_for_variants(tx, START.plus_ms(60_000))? {
            claimed.push(next.id.get());
        }
        Ok(claimed)
    };
    assert_eq!(world.write(claim).await, [4, 5, 1, 2, 3]);
}

#[each_engine]
async fn caption_of_a_post_is_kept_with_media_of_its_author_only(world: World) {
    let (ada, bob, shared) = (world.user("ada").await, world.user("bob").await, Id::new(9));
    let mut new = new_media_post(&world, ada, 9, 3, "photo").await;
    new.media_caption = MediaCaption { title: "Harbour".to_owned(), description: String::new() };
    world.write(move |tx| Ok(store::media::share(tx, shared, bob)?)).await;
    world.post(bob, new.clone()).await;
    assert_eq!(world.write(move |tx| Ok(network::media::find_captions(tx, &[shared])?)).await.len(), 0);
    world.post(ada, new.clone()).await;
    let captions = world.write(move |tx| Ok(network::media::find_captions(tx, &[shared])?)).await;
    assert_eq!(captions.get(&shared), Some(&new.media_caption));
}

#[each_engine]
async fn media_whose_files_are_being_deleted_come_into_no_use(world: World) {
    let ada = world.user("ada").await;
    let [claimed, used] = [8, 9].map(Id::new);
    for id in [claimed, used] {
        new_media_post(&world, ada, id.get(), 3, "photo").await;
    }
    let use_both = move |tx: &mut Tx<'_>| {
        store::media::remove_post_uses(tx, &[claimed, used], Time::from_ms(1))?;
        assert!(store::media::claim_expired(tx, claimed)?);
        store::media::add_post_uses(tx, &[claimed, used])?;
        assert!(!store::media::claim_expired(tx, used)?);
        Ok([store::media::remove_expired(tx, claimed)?, store::media::remove_expired(tx, used)?])
    };
    assert_eq!(world.write(use_both).await, [true, false]);
}

#[each_engine]
async fn upload_that_is_gone_is_not_published(world: World) {
    let ada = world.user("ada").await;
    let gone = MediaUpload { state: UploadState::Processing, ..upload(Id::new(7), ada) };
    let found = ProcessedUpload { kind: UploadKind::Photo, extension: "png", ..ProcessedUpload::default() };
    let publish = move |tx: &mut Tx<'_>| {
        let refused = network::uploads::publish_media(tx, &gone, &found, false).unwrap_err();
        assert!(matches!(refused, Error::Refused(Refusal::NotFound(_))), "{refused:?}");
        uploads::insert(tx, &gone)?;
        let published = network::uploads::publish_media(tx, &gone, &found, false)?;
        let again = network::uploads::publish_media(tx, &gone, &found, false)?;
        Ok((published.id, again.id))
    };
    assert_eq!(world.write(publish).await, (Id::new(7), Id::new(7)));
}

#[each_engine]
async fn subtitles_that_are_removed_from_a_video_can_be_added_again(world: World) {
    let ada = world.user("ada").await;
    let (video, subtitles) = (Id::new(8), Id::new(9));
    new_media_post(&world, ada, 8, 7, "video").await;
    new_media_post(&world, ada, 9, 2, "subtitles").await;
    let add_and_remove = move |tx: &mut Tx<'_>| {
        network::media::add_subtitles(tx, ada, video, "EN", subtitles, "English")?;
        network::media::remove_subtitles(tx, ada, video, "EN")?;
        let expired = store::media::list_expired(tx, 10)?;
        network::media::add_subtitles(tx, ada, video, "EN", subtitles, "English")?;
        Ok(expired.into_iter().map(|media| media.id).collect::<Vec<_>>())
    };
    assert_eq!(world.write(add_and_remove).await, []);
}
