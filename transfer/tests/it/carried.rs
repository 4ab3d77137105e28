//! Rows of carried tables: out, in again, and over to another account.

use std::collections::BTreeMap;

use base::{Error, MediaId, Time, UserId};
use identity::apps::{AccessLevel, AppProfile, Permission};
use network::audit::AuditActor;
use network::communities::NewCommunity;
use network::link_facts::LinkDescription;
use network::lists::NewList;
use network::messages::{MessageSender, NewMessage};
use network::news::NewNewsStory;
use network::notes::NewNote;
use network::places::NewPlace;
use network::polls::NewPoll;
use network::posts::{NewPost, PostAuthor};
use network::profiles::AffiliateBadge;
use network::rules::NewStreamRule;
use network::spaces::NewSpace;
use network::users::NewUser;
use network::visibility::Viewer;
use store::Tx;
use store::media::Media;
use store::rules::StreamProduct;
use transfer::{ArchiveOwner, ImportOptions};

use crate::sample::{folder, lines, parts};
use crate::world::{Engine, World, each_engine};

/// Four people. Bea stands wherever an account may stand.
#[derive(Clone, Copy)]
struct People {
    ada: UserId,
    bea: UserId,
    cas: UserId,
    dan: UserId,
}

fn say(tx: &mut Tx<'_>, by: UserId, new: NewPost) -> Result<base::PostId, Error> {
    let author = PostAuthor { user_id: by, app_id: None, self_serve: false };
    Ok(network::posts::create(tx, &author, &new)?.id)
}

fn text(text: &str) -> NewPost {
    NewPost { text: text.to_owned(), ..NewPost::default() }
}

/// Something of everything.
fn fill(tx: &mut Tx<'_>) -> Result<People, Error> {
    let mut join = |name: &str| {
        let new = NewUser {
            username: name.to_owned(),
            verified_type: "government".to_owned(),
            subscription_type: "PremiumPlus".to_owned(),
            ..NewUser::default()
        };
        Ok::<_, Error>(network::users::create(tx, &new)?.id)
    };
    let people = People { ada: join("ada")?, bea: join("bea")?, cas: join("cas")?, dan: join("dan")? };
    posts(tx, people)?;
    groups(tx, people)?;
    spaces(tx, people)?;
    talks(tx, people)?;
    notes(tx, people)?;
    let page = LinkDescription {
        url: "https://example.com/harbour".to_owned(),
        title: "The harbour".to_owned(),
        ..LinkDescription::default()
    };
    network::link_facts::describe(tx, &page)?;
    Ok(people)
}

/// What somebody tells of themselves.
fn tell(tx: &mut Tx<'_>, user: UserId) -> Result<(), Error> {
    let told = network::private_profiles::PrivateProfileChanges {
        born_on: Some("1990-12-31".to_owned()),
        gender: Some("female".to_owned()),
        phone: Some("+351200000000".to_owned()),
    };
    network::private_profiles::update(tx, &AuditActor::operator(), user, &told).map(drop)
}

fn posts(tx: &mut Tx<'_>, people: People) -> Result<(), Error> {
    let People { ada, bea, cas, .. } = people;
    let place = network::places::create(
        tx,
        &NewPlace {
            name: "Harbour".to_owned(),
            country_code: "NO".to_owned(),
            bbox: vec![1.0, 2.0, 3.0, 4.0],
            ..NewPlace::default()
        },
    )?;
    let poll = NewPost {
        poll: Some(NewPoll { options: vec!["tea".to_owned(), "coffee".to_owned()], duration_minutes: 60 }),
        ..text("Which?")
    };
    let poll = say(tx, ada, poll)?;
    network::polls::vote(tx, bea, poll, 1)?;
    network::polls::vote(tx, cas, poll, 2)?;
    let placed = NewPost { place_id: network::places::format_place_id(place.id), ..text("Here") };
    let placed = say(tx, bea, placed)?;
    let reply = NewPost { reply_to: Some(placed), ..text("Rude") };
    let reply = say(tx, cas, reply)?;
    network::replies::set_hidden(tx, bea, reply, true)?;
    for user in [bea, cas] {
        let shelf = network::bookmarks::create_folder(tx, user, "Later")?;
        network::bookmarks::add(tx, user, placed, Some(shelf.id))?;
        network::subscriptions::subscribe(tx, user, ada)?;
        tell(tx, user)?;
    }
    network::subscriptions::subscribe(tx, cas, bea)?;
    let by = AuditActor::operator();
    let badge = AffiliateBadge { badge_url: "https://example.com/badge.png".to_owned(), ..AffiliateBadge::default() };
    network::profiles::set_affiliation(tx, &by, cas, Some((bea, &badge)))?;
    network::profiles::set_affiliation(tx, &by, bea, Some((ada, &badge)))?;
    network::profiles::set_parody(tx, &by, cas, true)?;
    network::profiles::set_receives_dm(tx, &by, bea, true)?;
    let video = media(tx, "video", bea, "7")?;
    let words = media(tx, "subtitles", bea, "0")?;
    store::media::share(tx, video, cas)?;
    store::media::share(tx, video, ada)?;
    store::media::set_metadata(tx, video, r#"{"shared_info":{"shared":true}}"#)?;
    store::media::set_subtitles(tx, video, "en", words, "English")?;
    let shown = NewPost { media_ids: vec![video], tagged_user_ids: vec![ada], ..text("Look") };
    let shown = say(tx, bea, shown)?;
    store::media::tag_users(tx, shown, &[bea])?;
    Ok(())
}

pub(crate) fn media(tx: &mut Tx<'_>, kind: &str, owner: UserId, prefix: &str) -> Result<MediaId, Error> {
    let id = tx.next_id();
    let medium = Media {
        media_key: format!("{prefix}_{id}"),
        id,
        owner_id: owner,
        kind: kind.to_owned(),
        path: String::new(),
        url: String::new(),
        preview_image_url: String::new(),
        width: 640,
        height: 480,
        duration_ms: 1_500,
        alt_text: "a boat".to_owned(),
        variants: String::new(),
        created_at: base::id::snowflake_time(id.get()),
        content_type: "video/mp4".to_owned(),
        size: 12,
        bit_rate: 34,
        sizes: String::new(),
        uses: Some(0),
        expires_at: None,
        variant_files: "320p.mp4:56".to_owned(),
    };
    assert!(store::media::insert(tx, &medium)?);
    Ok(id)
}

fn groups(tx: &mut Tx<'_>, people: People) -> Result<(), Error> {
    let People { ada, bea, cas, dan } = people;
    let list = NewList { name: "Boats".to_owned(), ..NewList::default() };
    for owner in [ada, bea] {
        let list = network::lists::create(tx, owner, &list)?;
        for user in [cas, bea, dan] {
            network::lists::add_member(tx, owner, list.id, user)?;
            network::lists::follow(tx, user, list.id)?;
            network::lists::pin(tx, user, list.id)?;
        }
    }
    let community = NewCommunity {
        name: "Sailors of the north".to_owned(),
        access: "Closed".to_owned(),
        ..NewCommunity::default()
    };
    let community = network::communities::create(tx, bea, &community)?;
    for user in [ada, cas] {
        network::communities::join(tx, community.id, user, true)?;
    }
    let inside = NewPost { community_id: Some(community.id), ..text("For us alone") };
    let inside = say(tx, bea, inside)?;
    let story = NewNewsStory {
        name: "A boat arrives".to_owned(),
        summary: "In the harbour.".to_owned(),
        publish: true,
        ..NewNewsStory::default()
    };
    network::news::create(tx, &story)?;
    assert!(store::posts::find_by_id(tx, inside)?.unwrap().members_only);
    let profile = AppProfile {
        permission: Permission::Messages,
        callback_urls: vec!["https://example.com/back".to_owned()],
        description: "Watches boats".to_owned(),
        website_url: "https://example.com".to_owned(),
        request_email: true,
        ..AppProfile::new("watch")
    };
    let (app, _) = identity::apps::create(tx, bea, AccessLevel::Enterprise, &profile)?;
    for product in [StreamProduct::Stream, StreamProduct::Powerstream] {
        let rule = NewStreamRule {
            value: "boat  OR ship".to_owned(),
            canonical: "boat OR ship".to_owned(),
            tag: "boats".to_owned(),
        };
        network::rules::add(tx, app.id, product, 10, &[rule], false)?;
    }
    Ok(())
}

fn spaces(tx: &mut Tx<'_>, people: People) -> Result<(), Error> {
    let People { ada, bea, cas, .. } = people;
    let new = NewSpace {
        title: "Harbour talk".to_owned(),
        hosts: vec![ada],
        invited: vec![cas],
        topics: vec!["Boats".to_owned()],
        ticketed: true,
        ..NewSpace::default()
    };
    let live = network::spaces::create(tx, bea, &new)?;
    for user in [ada, bea, cas] {
        network::spaces::buy_ticket(tx, live.id, user)?;
        network::spaces::join(tx, live.id, user)?;
    }
    let post = say(tx, cas, text("Listen to this"))?;
    network::spaces::share_post(tx, live.id, cas, post)?;
    let later =
        NewSpace { title: "Later talk".to_owned(), start: Some(tx.now().plus_ms(3_600_000)), ..NewSpace::default() };
    let later = network::spaces::create(tx, cas, &later)?;
    network::spaces::set_reminder(tx, later.id, bea, true)?;
    network::spaces::set_reminder(tx, later.id, ada, true)?;
    let ended = network::spaces::create(tx, ada, &NewSpace::default())?;
    network::spaces::close(tx, ended.id)?;
    Ok(())
}

fn talks(tx: &mut Tx<'_>, people: People) -> Result<(), Error> {
    let People { ada, bea, cas, dan } = people;
    let from = |user_id| MessageSender { user_id, app_id: None };
    let says = |text: &str| NewMessage { text: text.to_owned(), media: None };
    network::messages::send_to_user(tx, &from(ada), bea, &says("Between us"))?;
    network::messages::send_to_user(tx, &from(bea), ada, &says("Quite"))?;
    network::messages::send_to_user(tx, &from(ada), dan, &says("You too"))?;
    let picture = media(tx, "photo", bea, "3")?;
    let carried = NewMessage { media: Some(picture), ..says("See") };
    network::messages::send_to_user(tx, &from(bea), cas, &carried)?;
    let group = network::messages::create_group(tx, &from(ada), &[bea, cas, dan], &says("All"))?;
    network::messages::leave_group(tx, &group.conversation, cas)?;
    network::messages::join_group(tx, &group.conversation, cas, bea)?;
    network::messages::leave_group(tx, &group.conversation, cas)?;
    Ok(())
}

fn notes(tx: &mut Tx<'_>, people: People) -> Result<(), Error> {
    let People { ada, bea, cas, dan } = people;
    let post = say(tx, ada, text("The harbour is closed"))?;
    for user in [bea, cas, dan] {
        network::notes::request(tx, user, post)?;
        network::notes::set_writer(tx, user, true)?;
    }
    for writer in [bea, cas, dan] {
        let note = NewNote {
            post_id: post,
            test_mode: false,
            text: "It is open: https://example.com/harbour".to_owned(),
            classification: "misinformed_or_potentially_misleading".to_owned(),
            misleading_tags: vec!["factual_error".to_owned()],
            trustworthy_sources: true,
            media_note: false,
        };
        let note = network::notes::create(tx, writer, &note)?;
        for user in [ada, bea, cas, dan] {
            if user != writer {
                network::notes::rate(tx, note.id, user, user != cas)?;
            }
        }
    }
    Ok(())
}

fn kinds(lines: &[String]) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for line in lines {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let kind = value["kind"].as_str().unwrap().to_owned();
        *kinds.entry(kind).or_default() += 1;
    }
    kinds
}

async fn filled(engine: Engine) -> (World, People) {
    let world = World::new(engine).await;
    let people = world.store.write(fill).await.unwrap();
    world.recount().await;
    (world, people)
}

#[each_engine]
async fn something_of_everything_comes_back_the_same_on_either_engine(engine: Engine) {
    let (world, _) = filled(engine).await;
    let exported = world.lines().await;
    let kinds = kinds(&exported);
    for table in store::portable_tables::all_tables() {
        assert!(kinds.contains_key(table.name), "nothing of {}", table.name);
    }
    let (_folder, source) = lines("export.jsonl", &exported);
    for engine in World::engines() {
        let copy = World::new(engine).await;
        let report = copy.import(source.clone()).await;
        assert_eq!(report.skipped, []);
        assert_eq!(copy.lines().await, exported, "on {engine:?}");
        let again = copy.import(source.clone()).await;
        assert_eq!(copy.lines().await, exported);
        assert!(again.taken.is_empty(), "{:?}", again.taken);
        let found = |tx: &mut Tx<'_>| {
            let community = network::communities::search(tx, "sail", i64::MAX, 10)?.len();
            let live = network::spaces::search(tx, "harbour", network::spaces::SpaceStateFilter::All, 10)?;
            let news = network::news::search(tx, Viewer::anonymous(), "boat", Time::from_ms(0), 10)?.len();
            Ok((community, live.len(), news))
        };
        assert_eq!(copy.store.read(found).await.unwrap(), (1, 1, 1));
    }
}

#[each_engine]
async fn rows_that_are_not_sound_are_left_out_and_told(engine: Engine) {
    let world = World::new(engine).await;
    let source = [
        r#"{"kind":"ufo","id":"1"}"#,
        r#"{"kind":"list_follow","list_id":"5","user_id":"6","id":"7"}"#,
        r#"{"kind":"space","id":"8","creator_id":"6","state":9,"created_at":1,"updated_at":1}"#,
        r#"{"kind":"space","id":"-8","creator_id":"6","state":1,"created_at":1,"updated_at":1}"#,
        r#"{"kind":"space","id":"9","creator_id":"6","state":1,"created_at":1,"updated_at":1,"title":7}"#,
        r#"{"kind":"rule","id":"9","app_id":"1","product":"stream","digest":"xyz","created_at":1}"#,
        r#"{"kind":"community","id":"10","name":"a\u0000b","access":"Public","join_policy":"Open","owner_id":"6","created_at":1}"#,
        r#"{"kind":"community","id":"11","name":"here","access":"Public","join_policy":"Open","owner_id":"6","created_at":1}"#,
        r#"{"kind":"community_member","community_id":"11","user_id":"6","id":"9223372036854775807"}"#,
        r#"{"kind":"community_member","community_id":"11","user_id":"6","id":"12"}"#,
    ];
    let source: Vec<String> = source.iter().map(|line| (*line).to_owned()).collect();
    let (_folder, source) = lines("bad.jsonl", &source);
    let report = world.import(source).await;
    let why: Vec<_> = report.skipped.iter().map(|skip| skip.why.as_str()).collect();
    assert_eq!(
        why,
        [
            "its list does not exist",
            "unknown kind \"ufo\"",
            "its state is invalid",
            "its id is invalid",
            "its title is invalid",
            "its digest is invalid",
            "its id is invalid",
        ]
    );
    // What no text may hold is taken out of all that is read.
    assert_eq!(report.taken.get("community"), Some(&2));
    assert_eq!(report.taken.get("community_member"), Some(&1));
}

#[each_engine]
async fn an_account_that_turns_out_to_be_another_brings_everything_along(engine: Engine) {
    let (world, people) = filled(engine).await;
    let bea = people.bea.get();
    let mut exported = world.lines().await;
    let own = format!(r#"{{"kind":"user","id":"{bea}""#);
    exported.retain(|line| !line.starts_with(&own));
    let (_folder, source) = lines("export.jsonl", &exported);
    let copy = World::new(engine).await;
    copy.import(source).await;
    let named = |lines: &[String], id: i64| {
        let id = format!("\"{id}\"");
        let mut kinds = kinds(lines);
        let without: Vec<String> = lines.iter().filter(|line| !line.contains(&id)).cloned().collect();
        for (kind, count) in self::kinds(&without) {
            *kinds.entry(kind).or_default() -= count;
        }
        kinds.retain(|_, count| *count > 0);
        kinds
    };
    assert!(named(&copy.lines().await, bea).len() > 20);

    // Dan turns out to be Bea: what both have is there once.
    let owner = ImportOptions { owner: Some(ArchiveOwner::Id(people.dan)), ..copy.options() };
    let archive = folder(&parts(&bea.to_string(), "bea", "Bea"));
    copy.try_import(archive.source(), owner).await.unwrap();
    copy.recount().await;
    let left = copy.lines().await;
    assert_eq!(named(&left, bea), BTreeMap::new());
    let dan = people.dan.get();
    let is_there = named(&left, dan);
    for kind in [
        "affiliate",
        "app",
        "bookmark",
        "bookmark_filing",
        "bookmark_folder",
        "community",
        "community_member",
        "dm_conversation",
        "dm_event",
        "dm_inbox",
        "dm_participant",
        "list_follow",
        "list_pin",
        "media_share",
        "note",
        "note_rating",
        "note_request",
        "particulars",
        "poll_vote",
        "space_part",
        "subscription",
    ] {
        if kind != "media_share" {
            assert!(is_there.contains_key(kind), "no {kind}");
        }
    }
    let pairs = |lines: &[String]| {
        let talks = lines.iter().filter(|line| line.contains(r#""kind":"dm_conversation""#));
        talks.count()
    };
    // Ada and Bea, Ada and Dan are one; Bea and Cas, and the group stay.
    assert_eq!((pairs(&exported), pairs(&left)), (4, 3));
    assert_eq!(is_there["note"], 1);
    assert_eq!(is_there["poll_vote"], 1);
}
