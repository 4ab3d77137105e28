use base::{AppId, PostId, Time, UserId};
use identity::apps::{AccessLevel, AppProfile};
use network::audit::AuditActor;
use network::communities::NewCommunity;
use network::lists::NewList;
use network::places::NewPlace;
use network::polls::NewPoll;
use network::post_facts::{self, StoredPostFacts};
use network::posts::{NewPost, PostAuthor};
use network::profiles::AffiliateBadge;
use network::users::NewUser;
use network::visibility::Visibility;
use query::{AccessTier, PostFeatures, QueryDialect, QueryProduct, matches, parse};
use store::posts::{NewPostDetails, Post, PostState};

use test_stores::{World, by, each_engine, new_media_post};

/// The posts by the names under which the queries speak of them.
type Named = Vec<(&'static str, PostId)>;

fn text(text: &str) -> NewPost {
    NewPost { text: text.to_owned(), ..NewPost::default() }
}

async fn people(world: &World) -> (UserId, UserId, UserId) {
    let ada = NewUser {
        username: "Ada".to_owned(),
        name: "Ada Lovelace".to_owned(),
        description: "Engines, analytical ones".to_owned(),
        location: "London".to_owned(),
        subscription_type: "Premium".to_owned(),
        verified_type: "blue".to_owned(),
        ..NewUser::default()
    };
    let ada = world.write(move |tx| network::users::create(tx, &ada)).await.id;
    let (bob, acme) = (world.user("bob").await, world.user("acme").await);
    world
        .write(move |tx| {
            let by = AuditActor::user(ada, "");
            let badge = AffiliateBadge::default();
            network::profiles::set_affiliation(tx, &by, ada, Some((acme, &badge)))?;
            network::follows::follow(tx, bob, ada)
        })
        .await;
    (ada, bob, acme)
}

async fn app(world: &World, owner: UserId) -> AppId {
    let profile = AppProfile::new("Evening Desk");
    let created = move |tx: &mut store::Tx<'_>| identity::apps::create(tx, owner, AccessLevel::SelfServe, &profile);
    world.write(created).await.0.id
}

/// What an import brings that nobody can write here: coordinates, what stands behind links, what
/// was found in the text, and a repost whose original is not here.
async fn imported(world: &World, author: UserId) -> (PostId, PostId) {
    let blank = |number: i64| Post {
        state: PostState::Live,
        ..Post::placeholder(PostId::new(number), author, Time::from_seconds(1_700_000_000))
    };
    let at = Post {
        text: "harbour https://t.co/x".to_owned(),
        geo: "{\"type\":\"Point\",\"coordinates\":[-71.05,42.36]}".to_owned(),
        entities: "{\"urls\":[{\"start\":8,\"end\":22,\"url\":\"https://t.co/x\",\
                   \"expanded_url\":\"https://port.example/quay\",\"unwound_url\":\
                   \"https://port.example/pier\",\"title\":\"Ships in sight\",\"description\":\
                   \"Arrivals today\"}],\"annotations\":[{\"start\":0,\"end\":6,\
                   \"probability\":0.9,\"type\":\"Place\",\"normalized_text\":\"Boston Harbor\"}]}"
            .to_owned(),
        ..blank(1_720_000_000_000_000_001)
    };
    let echo = Post {
        text: "RT @carol: far away".to_owned(),
        repost_of_id: Some(PostId::new(77)),
        ..blank(1_720_000_000_000_000_002)
    };
    let ids = (at.id, echo.id);
    world
        .write(move |tx| {
            store::posts::insert(tx, &at, &NewPostDetails::default())?;
            Ok(store::posts::insert(tx, &echo, &NewPostDetails::default())?)
        })
        .await;
    ids
}

#[expect(clippy::too_many_lines, reason = "one row for each fact")]
async fn posts(world: &World) -> (Named, i64) {
    let (ada, bob, acme) = people(world).await;
    let app = app(world, ada).await;
    let plain = NewPost { ..text("Café time @bob #Rust $ACME https://example.com/a?b=1 or example.org/salezz") };
    let author = PostAuthor { app_id: Some(app), ..by(ada) };
    let plain = world.write(move |tx| network::posts::create(tx, &author, &plain)).await.id;
    let on = |id: PostId| Some(id);
    let reply = NewPost { reply_to: on(plain), ..text("yes of course") };
    let reply = world.post(bob, reply).await.id;
    let quote = NewPost { quote: on(plain), ..text("look at this") };
    let quote = world.post(bob, quote).await.id;
    let repost = world.write(move |tx| network::reposts::repost(tx, acme, None, plain)).await.id;
    let poll = NewPost {
        poll: Some(NewPoll { options: vec!["a".to_owned(), "b".to_owned()], duration_minutes: 5 }),
        ..text("Which one?")
    };
    let poll = world.post(ada, poll).await.id;
    let image = new_media_post(world, ada, 501, 3, "photo").await;
    let image = world.post(ada, image).await.id;
    let video = new_media_post(world, bob, 502, 7, "video").await;
    let video = world.post(bob, video).await.id;
    let moving = new_media_post(world, bob, 503, 16, "animated_gif").await;
    let moving = world.post(bob, moving).await.id;
    let place = NewPlace {
        id: "01a9a39529b27f36".to_owned(),
        name: "Boulder".to_owned(),
        full_name: "Boulder, CO".to_owned(),
        country_code: "US".to_owned(),
        bbox: vec![-105.30, 39.96, -105.18, 40.09],
        ..NewPlace::default()
    };
    world.write(move |tx| network::places::create(tx, &place)).await;
    let tagged = NewPost { place_id: "01a9a39529b27f36".to_owned(), ..text("mountains") };
    let tagged = world.post(ada, tagged).await.id;
    let closed = NewCommunity { name: "Back room".to_owned(), access: "Closed".to_owned(), ..NewCommunity::default() };
    let community = world.write(move |tx| network::communities::create(tx, bob, &closed)).await;
    let inside = NewPost { community_id: Some(community.id), ..text("between us") };
    let inside = world.post(bob, inside).await.id;
    let first = world.say(ada, "first version").await.id;
    let edited = NewPost { edit_of: on(first), ..text("second version") };
    let edited = world.post(ada, edited).await.id;
    let hidden = NewPost { quote: on(inside), ..text("quoting what few may see") };
    let hidden = world.post(bob, hidden).await.id;
    let (point, echo) = imported(world, bob).await;
    let list = world
        .write(move |tx| {
            network::likes::like(tx, bob, plain)?;
            let new = NewList { name: "makers".to_owned(), ..NewList::default() };
            let list = network::lists::create(tx, bob, &new)?;
            network::lists::add_member(tx, bob, list.id, ada)?;
            let hidden = NewList { private: true, ..new };
            let hidden = network::lists::create(tx, bob, &hidden)?;
            network::lists::add_member(tx, bob, hidden.id, ada)?;
            Ok(list.id)
        })
        .await;
    let named = vec![
        ("plain", plain),
        ("reply", reply),
        ("quote", quote),
        ("repost", repost),
        ("poll", poll),
        ("image", image),
        ("video", video),
        ("moving", moving),
        ("tagged", tagged),
        ("inside", inside),
        ("first", first),
        ("edited", edited),
        ("hidden", hidden),
        ("point", point),
        ("echo", echo),
    ];
    (named, list)
}

/// A query of a product, and the posts that it finds.
const ASKED: &[(QueryProduct, &str, &str)] = &[
    (QueryProduct::RecentSearch, "from:ada", "plain poll image tagged first edited"),
    (QueryProduct::RecentSearch, "from:ada -is:verified", ""),
    (QueryProduct::RecentSearch, "cafe", "plain repost"),
    (QueryProduct::Stream, "café", "plain quote repost"),
    (QueryProduct::Stream, "@bob has:mentions", "plain quote repost"),
    (QueryProduct::Stream, "@ada has:mentions", "repost"),
    (QueryProduct::RecentSearch, "#rust $acme", "plain repost"),
    (QueryProduct::RecentSearch, "url:\"example.com\" has:links", "plain repost"),
    (QueryProduct::RecentSearch, "salezz", ""),
    (QueryProduct::RecentSearch, "url:salezz from:ada", "plain"),
    (QueryProduct::RecentSearch, "to:ada is:reply", "reply"),
    (QueryProduct::Stream, "to_affiliate_of:acme", "reply"),
    (QueryProduct::Stream, "from_affiliate_of:acme #rust", "plain"),
    (QueryProduct::RecentSearch, "(from:bob OR from:acme) is:quote", "quote hidden"),
    (QueryProduct::RecentSearch, "retweets_of:ada is:retweet from:acme", "repost"),
    (QueryProduct::RecentSearch, "retweets_of:carol", "echo"),
    (QueryProduct::Stream, "\"between us\"", "inside"),
    (QueryProduct::RecentSearch, "which has:media", ""),
    (QueryProduct::RecentSearch, "photo has:images", "image"),
    (QueryProduct::RecentSearch, "video has:videos", "video"),
    (QueryProduct::RecentSearch, "animated has:media -has:images -has:videos", "moving"),
    (QueryProduct::RecentSearch, "place:\"boulder co\"", "tagged"),
    (QueryProduct::RecentSearch, "place_country:us has:geo", "tagged"),
    (QueryProduct::RecentSearch, "bounding_box:[-105.4 39.9 -105.1 40.1]", "tagged"),
    (QueryProduct::RecentSearch, "point_radius:[-71.05 42.36 1km]", "point"),
    (QueryProduct::RecentSearch, "url:pier", "point"),
    (QueryProduct::Stream, "from:bob url_title:ships url_description:arrivals", "point"),
    (QueryProduct::RecentSearch, "entity:\"boston harbor\"", "point"),
    (QueryProduct::RecentSearch, "version", "first edited"),
    (QueryProduct::RecentSearch, "cafe min_likes:1 min_replies:1 min_reposts:1", "plain"),
    (QueryProduct::Stream, "from:ada source:\"evening desk\"", "plain"),
    (QueryProduct::Stream, "bio:analytical bio_name:lovelace bio_location:london rust", "plain"),
    (QueryProduct::Stream, "time followers_count:1 from:ada", "plain"),
];

fn found(all: &[StoredPostFacts], named: &Named, product: QueryProduct, query: &str) -> String {
    let dialect = QueryDialect::new(product, AccessTier::Enterprise);
    let query = parse(query, dialect).unwrap_or_else(|problems| panic!("{query}: {problems}"));
    let hits = all
        .iter()
        .filter(|facts| facts.map_query_post(|post| matches(&query, &PostFeatures::new(post, query.match_mode()))));
    let names = hits.map(|facts| {
        let (name, _) = named.iter().find(|(_, id)| *id == facts.row.id).unwrap();
        *name
    });
    names.collect::<Vec<_>>().join(" ")
}

#[each_engine]
async fn post_facts_match_stored_posts(world: World) {
    let (named, list) = posts(&world).await;
    let mut ids: Vec<PostId> = named.iter().map(|(_, id)| *id).collect();
    ids.insert(3, PostId::new(4));
    let requested = ids.clone();
    let with = world.store.read(move |tx| Ok(post_facts::load_post_facts(tx, &requested, true)?));
    let with = with.await.unwrap();
    let order: Vec<PostId> = with.iter().map(|facts| facts.row.id).collect();
    ids.remove(3);
    assert_eq!(order, ids);
    for (product, query, expected) in ASKED {
        let found = found(&with, &named, *product, query);
        assert_eq!(found, *expected, "{query}");
    }
    let conversation = format!("conversation_id:{}", named[0].1);
    let replies = format!("in_reply_to_tweet_id:{}", named[0].1);
    let quotes = format!("quotes_of_tweet_id:{}", named[0].1);
    let reposts = format!("retweets_of_tweet_id:{}", named[0].1);
    let listed = format!("list:{list} cafe");
    for (query, expected) in
        [(conversation, "plain reply"), (replies, "reply"), (quotes, "quote"), (reposts, "repost"), (listed, "plain")]
    {
        assert_eq!(found(&with, &named, QueryProduct::RecentSearch, &query), expected);
    }
    let unseen: Vec<_> = with
        .iter()
        .filter(|facts| facts.visibility != Visibility::Visible)
        .map(|facts| (facts.row.id, facts.visibility))
        .collect();
    assert_eq!(unseen, [(named[9].1, Visibility::Forbidden)]);
    assert_eq!(with[10].row.state, PostState::Superseded);
    with[0].map_query_post(|post| assert_eq!(post.author.lists, [list]));
    let without = world.store.read(move |tx| Ok(post_facts::load_post_facts(tx, &ids, false)?));
    without.await.unwrap()[0].map_query_post(|post| assert!(post.author.lists.is_empty()));
}
