//! The rest of the demo world: lists, a poll, spaces, a community, a place, a picture, engagements,
//! messages and notes. Created after the credentials, so that those stay the same.

use base::time::HOUR_MS;
use base::{AppId, Error, PostId, UserId};
use network::audit::AuditActor;
use network::communities::{self, NewCommunity};
use network::lists::{self, NewList};
use network::messages::{self, MessageSender, NewMessage};
use network::notes::{self, NewNote};
use network::places::{self, NewPlace};
use network::polls::{self, NewPoll};
use network::posts::{self, NewPost, PostAuthor};
use network::profiles::{self, AffiliateBadge};
use network::spaces::{self, NewSpace};
use network::uploads::{self, NewUpload, ProcessedUpload, UploadKind};
use network::{bookmarks, follows, likes, media, replies, reposts, subscriptions};
use store::Tx;

use super::world_builder::{DemoWorldBuilder, missing_reference, moment_id};

pub(super) const PICTURE: &[u8] = include_bytes!("boat.png");
const PICTURE_ALT_TEXT: &str = "A small sailing boat on calm water under a pale sky";

/// Returns the picture's path relative to the media directory.
pub(super) fn create_extras(tx: &mut Tx<'_>, world: &DemoWorldBuilder) -> Result<String, Error> {
    create_relations(tx, world)?;
    create_engagements(tx, world)?;
    create_lists(tx, world)?;
    create_poll(tx, world)?;
    create_spaces(tx, world)?;
    create_community(tx, world)?;
    create_place(tx, world)?;
    create_note(tx, world)?;
    create_picture_post(tx, world)
}

fn publish_post(tx: &mut Tx<'_>, by: UserId, new: &NewPost) -> Result<PostId, Error> {
    let author = PostAuthor { user_id: by, app_id: None::<AppId>, self_serve: false };
    Ok(posts::create(tx, &author, new)?.id)
}

fn text_post(text: &str) -> NewPost {
    NewPost { text: text.to_owned(), ..NewPost::default() }
}

fn create_relations(tx: &mut Tx<'_>, world: &DemoWorldBuilder) -> Result<(), Error> {
    let (ada, bob, acme) = (world.user_id("ada")?, world.user_id("bob")?, world.user_id("acme")?);
    follows::follow(tx, bob, world.user_id("carol")?)?;
    subscriptions::subscribe(tx, ada, world.user_id("grace")?)?;
    let badge = AffiliateBadge {
        badge_url: "https://example.com/pictures/acme_badge.png".to_owned(),
        description: "Acme".to_owned(),
        url: "https://example.com".to_owned(),
    };
    let by = AuditActor::operator();
    profiles::set_affiliation(tx, &by, world.user_id("longbio")?, Some((acme, &badge)))?;
    profiles::set_parody(tx, &by, world.user_id("parody_ada")?, true)?;
    Ok(())
}

fn create_engagements(tx: &mut Tx<'_>, world: &DemoWorldBuilder) -> Result<(), Error> {
    let (hello, tags) = (world.tagged_post("hello")?, world.tagged_post("tags")?);
    for name in ["bob", "grace", "zoe", "yuki", "noor"] {
        likes::like(tx, world.user_id(name)?, hello)?;
    }
    for name in ["ada", "bob", "longbio"] {
        likes::like(tx, world.user_id(name)?, tags)?;
    }
    for name in ["grace", "acme"] {
        reposts::repost(tx, world.user_id(name)?, None, hello)?;
    }
    let ada = world.user_id("ada")?;
    let folder = bookmarks::create_folder(tx, ada, "Read later")?;
    bookmarks::add(tx, ada, tags, Some(folder.id))?;
    bookmarks::add(tx, ada, world.tagged_post("reply")?, None)?;
    let rude =
        NewPost { reply_to: Some(hello), ..text_post("@ada This reply is hidden by the author of the conversation.") };
    let rude = publish_post(tx, world.user_id("parody_ada")?, &rude)?;
    replies::set_hidden(tx, ada, rude, true)
}

fn create_lists(tx: &mut Tx<'_>, world: &DemoWorldBuilder) -> Result<(), Error> {
    let (ada, grace) = (world.user_id("ada")?, world.user_id("grace")?);
    let open = NewList {
        name: "Around the world".to_owned(),
        description: "People who write in many languages".to_owned(),
        private: false,
    };
    let open = lists::create(tx, grace, &open)?;
    for name in ["ada", "zoe", "yuki", "noor"] {
        lists::add_member(tx, grace, open.id, world.user_id(name)?)?;
    }
    for name in ["ada", "bob", "lurker"] {
        lists::follow(tx, world.user_id(name)?, open.id)?;
    }
    lists::pin(tx, ada, open.id)?;
    let closed = NewList {
        name: "Close friends".to_owned(),
        description: "A private list: only its owner sees it".to_owned(),
        private: true,
    };
    let closed = lists::create(tx, ada, &closed)?;
    lists::add_member(tx, ada, closed.id, world.user_id("zoe")?)?;
    Ok(())
}

fn create_poll(tx: &mut Tx<'_>, world: &DemoWorldBuilder) -> Result<(), Error> {
    let post = NewPost {
        poll: Some(NewPoll {
            options: ["Tea", "Coffee", "Water"].map(str::to_owned).to_vec(),
            duration_minutes: 7 * 24 * 60,
        }),
        ..text_post("What do you drink while you read the documentation?")
    };
    let post = publish_post(tx, world.user_id("acme")?, &post)?;
    for (name, choice) in [("ada", 1), ("bob", 2), ("zoe", 1), ("grace", 3), ("yuki", 1)] {
        polls::vote(tx, world.user_id(name)?, post, choice)?;
    }
    Ok(())
}

fn create_spaces(tx: &mut Tx<'_>, world: &DemoWorldBuilder) -> Result<(), Error> {
    let (acme, grace, zoe) = (world.user_id("acme")?, world.user_id("grace")?, world.user_id("zoe")?);
    let (ada, bob) = (world.user_id("ada")?, world.user_id("bob")?);
    let later = NewSpace {
        title: "What comes next at Acme".to_owned(),
        start: Some(tx.now().plus_ms(48 * HOUR_MS)),
        ticketed: true,
        topics: vec!["Business".to_owned()],
        ..NewSpace::default()
    };
    let later = spaces::create(tx, acme, &later)?;
    spaces::buy_ticket(tx, later.id, bob)?;
    spaces::set_reminder(tx, later.id, ada, true)?;
    let live = NewSpace {
        title: "Editing posts, live".to_owned(),
        hosts: vec![ada],
        invited: vec![bob],
        topics: vec!["Writing".to_owned()],
        ..NewSpace::default()
    };
    let live = spaces::create(tx, grace, &live)?;
    for user in [ada, bob, zoe] {
        spaces::join(tx, live.id, user)?;
    }
    spaces::add_speaker(tx, live.id, bob)?;
    spaces::share_post(tx, live.id, ada, world.tagged_post("hello")?)?;
    let over = NewSpace { title: "Good morning in four languages".to_owned(), ..NewSpace::default() };
    let over = spaces::create(tx, zoe, &over)?;
    spaces::join(tx, over.id, ada)?;
    spaces::close(tx, over.id)?;
    Ok(())
}

fn create_community(tx: &mut Tx<'_>, world: &DemoWorldBuilder) -> Result<(), Error> {
    let new = NewCommunity {
        name: "Crab keepers".to_owned(),
        description: "Everything about crabs 🦀".to_owned(),
        ..NewCommunity::default()
    };
    let community = communities::create(tx, world.user_id("zoe")?, &new)?;
    for name in ["ada", "bob", "grace"] {
        communities::join(tx, community.id, world.user_id(name)?, true)?;
    }
    for (name, words, share_with_followers) in [
        ("zoe", "Welcome to the community. This post stays within it.", false),
        ("grace", "This one goes to the followers of its author too.", true),
    ] {
        let post = NewPost { community_id: Some(community.id), share_with_followers, ..text_post(words) };
        publish_post(tx, world.user_id(name)?, &post)?;
    }
    Ok(())
}

fn create_place(tx: &mut Tx<'_>, world: &DemoWorldBuilder) -> Result<(), Error> {
    let lyon = NewPlace {
        id: "0000000000004c79".to_owned(),
        name: "Lyon".to_owned(),
        full_name: "Lyon, France".to_owned(),
        country: "France".to_owned(),
        country_code: "FR".to_owned(),
        kind: "city".to_owned(),
        bbox: vec![4.77, 45.71, 4.9, 45.81],
        contained_within: Vec::new(),
    };
    let lyon = places::create(tx, &lyon)?;
    let post =
        NewPost { place_id: places::format_place_id(lyon.id), ..text_post("Tagged with a place: bonjour de Lyon.") };
    publish_post(tx, world.user_id("zoe")?, &post).map(|_| ())
}

fn create_conversations(tx: &mut Tx<'_>, [ada, bob, grace]: [UserId; 3]) -> Result<(), Error> {
    let from = |user_id| MessageSender { user_id, app_id: None };
    let says = |text: &str| NewMessage { text: text.to_owned(), media: None };
    messages::send_to_user(tx, &from(bob), ada, &says("Have you read the new edition?"))?;
    messages::send_to_user(tx, &from(ada), bob, &says("Half of it. The index is better."))?;
    let hello = says("The three of us, in one conversation.");
    let group = messages::create_group(tx, &from(ada), &[bob, grace], &hello)?;
    let name = group.conversation.to_string();
    messages::send_to_conversation(tx, &from(grace), &name, &says("Hello, both."))?;
    Ok(())
}

fn create_note(tx: &mut Tx<'_>, world: &DemoWorldBuilder) -> Result<(), Error> {
    let post = text_post("The moon is made of green cheese, and everyone knows it.");
    let post = publish_post(tx, world.user_id("parody_ada")?, &post)?;
    notes::request(tx, world.user_id("ada")?, post)?;
    let grace = world.user_id("grace")?;
    notes::set_writer(tx, grace, true)?;
    let note = NewNote {
        post_id: post,
        test_mode: false,
        text: "Samples that were brought back in 1969 are rock: https://example.com/moon".to_owned(),
        classification: "misinformed_or_potentially_misleading".to_owned(),
        misleading_tags: vec!["factual_error".to_owned()],
        trustworthy_sources: true,
        media_note: false,
    };
    let note = notes::create(tx, grace, &note)?;
    for name in ["ada", "bob", "zoe", "yuki", "noor", "longbio"] {
        notes::rate(tx, note.id, world.user_id(name)?, name != "longbio")?;
    }
    Ok(())
}

fn create_picture_post(tx: &mut Tx<'_>, world: &DemoWorldBuilder) -> Result<String, Error> {
    let zoe = world.user_id("zoe")?;
    let size = i64::try_from(PICTURE.len()).unwrap_or(0);
    let new =
        NewUpload { kind: Some(UploadKind::Photo), total_bytes: Some(size), limit: size, shared_with: Vec::new() };
    let upload = uploads::initialize(tx, zoe, &new)?;
    media::set_alt_text(tx, zoe, upload.id, PICTURE_ALT_TEXT)?;
    let found = ProcessedUpload {
        kind: UploadKind::Photo,
        content_type: "image/png",
        extension: "png",
        size,
        width: 240,
        height: 150,
        ..ProcessedUpload::default()
    };
    let medium = uploads::publish_media(tx, &upload, &found, false)?;
    let post = NewPost {
        media_ids: vec![medium.id],
        ..text_post("A picture with a description for those who do not see it.")
    };
    publish_post(tx, zoe, &post)?;
    Ok(medium.path)
}

/// Posts relative to the real clock: author, minutes ago, text. Several authors mention the same topics, so that these
/// trend and become news.
const RECENT_POSTS: &[(&str, i64, &str)] = &[
    ("bob", 115, "The first boats are in the harbour. #HarbourFest"),
    ("grace", 98, "Fireworks over the Old Lighthouse at ten. #HarbourFest"),
    ("yuki", 84, "港は人でいっぱいです。#HarbourFest"),
    ("acme", 70, "Free ferries to the Old Lighthouse all evening. $ACME #HarbourFest"),
    ("longbio", 55, "Twelve boats, one band, no rain so far. #HarbourFest"),
    ("zoe", 41, "Fireworks and boats by the Old Lighthouse tonight 🎆 #HarbourFest"),
    ("noor", 33, "الميناء جميل الليلة #HarbourFest"),
    ("bob", 24, "Up again today: $ACME"),
    ("longbio", 15, "I wish I had kept my $ACME"),
    ("grace", 6, "Does $ACME pay for the fireworks?"),
];

pub(super) fn create_recent_activity(tx: &mut Tx<'_>) -> Result<(), Error> {
    let user = |tx: &mut Tx<'_>, name: &str| {
        let found = store::users::find_by_username(tx, name)?;
        found.map(|user| user.id).ok_or_else(|| missing_reference("user", name))
    };
    for (name, minutes, words) in RECENT_POSTS {
        let at = tx.now().plus_ms(-minutes * 60_000);
        let post = NewPost { id: Some(moment_id(tx.rng(), at)?), ..text_post(words) };
        let author = user(tx, name)?;
        publish_post(tx, author, &post)?;
    }
    let people = [user(tx, "ada")?, user(tx, "bob")?, user(tx, "grace")?];
    create_conversations(tx, people)?;
    let poll = NewPost {
        poll: Some(NewPoll {
            options: ["The boats", "The band"].map(str::to_owned).to_vec(),
            duration_minutes: 7 * 24 * 60,
        }),
        ..text_post("Best of #HarbourFest? This poll is open.")
    };
    let acme = user(tx, "acme")?;
    let poll = publish_post(tx, acme, &poll)?;
    for (name, choice) in [("zoe", 1), ("grace", 2), ("yuki", 1)] {
        let voter = user(tx, name)?;
        polls::vote(tx, voter, poll, choice)?;
    }
    Ok(())
}
