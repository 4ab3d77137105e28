//! Makes the demo world: the same on every machine, through the same verbs as everyone's posts.

use ads::account_context::AccountContext;
use ads::engine;
use ads::parsed_params::ParsedParams;
use ads::record::AdsRecord as Account;
use ads::resources::accounts::{self, NewAdsAccount};
use ads::resources::funding_instruments::FUNDING_INSTRUMENT;
use base::id::first_snowflake_at;
use base::{Error, PostId, Rng, Time, UserId};
use network::apps::{
    self, AccessLevel, App, AppCredentials, AppRegistration, OAuthClientKind as AppKind, Permission,
};
use network::follows::follow_approved as follow;
use network::posts::{self, NewPost, PostAuthor};
use network::tokens;
use network::users::{self, NewUser};
use store::Tx;

use super::groups;
use super::people::{FOLLOWS, PEOPLE, Person};
use super::script::{Kind, Line, edits, everyday, showcase};
use super::{Picture, tree};

/// The moment at which the demo world stands when it is made: 2026-10-01T12:00:00Z. Fixed, so that
/// its ids are the same everywhere.
pub(super) const MOMENT: Time = Time::from_seconds(1_790_856_000);
/// Everyday posts; with the others, about 340.
const EVERYDAY: usize = 300;
const MINUTE: i64 = 60_000;
pub(super) const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// Posts reach back so far.
const SPAN: i64 = 60 * DAY;
/// The password of everyone.
pub(super) const PASSWORD: &str = "dev";
/// Where sign-in comes back to; nobody needs to listen there to try the rest.
pub(super) const CALLBACK: &str = "http://127.0.0.1:8765/callback";

/// What a client needs.
#[derive(Clone, Debug)]
pub(super) struct Credentials {
    /// The confidential app.
    pub(super) app: AppCredentials,
    /// The public app.
    pub(super) public: AppCredentials,
    /// @ada's and @bob's.
    pub(super) users: [UserKeys; 2],
    /// Pictures, by where their files belong below the media folder.
    pub(super) pictures: Vec<Picture>,
}

/// A user's credentials for the first app.
#[derive(Clone, Debug)]
pub(super) struct UserKeys {
    pub(super) id: UserId,
    pub(super) username: &'static str,
    pub(super) access_token: String,
    pub(super) access_token_secret: String,
    pub(super) user_token: String,
}

/// Writes the whole world in one transaction, with an advertiser's campaigns if they are wanted.
pub(super) fn plant(
    tx: &mut Tx<'_>,
    password_hash: &str,
    campaigns: bool,
) -> Result<Credentials, Error> {
    let mut world = Planting::new(tx, password_hash)?;
    world.follows(tx)?;
    let (demo, app) = register(tx, world.user("ada")?, &DEMO)?;
    let (_, public) = register(tx, world.user("bob")?, &PUBLIC)?;
    world.app = Some(demo.clone());
    world.posts(tx)?;
    for person in PEOPLE.iter().filter(|person| person.traits.suspended) {
        users::suspend(tx, world.user(person.username)?)?;
    }
    let account = advertise(tx, world.user("ada")?)?;
    let ada = keys_of(tx, &demo, world.user("ada")?, "ada")?;
    let bob = keys_of(tx, &demo, world.user("bob")?, "bob")?;
    // Whatever is added to the world comes here: the keys above stay as they are.
    let mut pictures = vec![(groups::plant(tx, &world)?, groups::PICTURE)];
    if campaigns {
        pictures.push((tree::plant(tx, &world, &account)?, tree::PICTURE));
    }
    Ok(Credentials {
        app,
        public,
        users: [ada, bob],
        pictures,
    })
}

/// An account to advertise with, and something to pay with.
fn advertise(tx: &mut Tx<'_>, user: UserId) -> Result<Account, Error> {
    let new = NewAdsAccount {
        name: "Demo account".to_owned(),
        industry_type: "TECHNOLOGY".to_owned(),
        ..NewAdsAccount::default()
    };
    let account = accounts::insert(tx, user, &new)?;
    let mut given = ParsedParams::default();
    given.insert("type", "INSERTION_ORDER".into());
    given.insert("currency", "USD".into());
    given.insert("start_time", MOMENT.ms().into());
    given.insert("funded_amount_local_micro", 10_000_000_000_i64.into());
    let mut desk = AccountContext::new_for_operator(tx, user, account.clone());
    engine::create(&mut desk, &FUNDING_INSTRUMENT, &given)?;
    Ok(account)
}

/// What an app of the demo world is.
struct Sketch {
    name: &'static str,
    kind: AppKind,
    access_level: AccessLevel,
    description: &'static str,
}

const DEMO: Sketch = Sketch {
    name: "demo",
    kind: AppKind::Web,
    access_level: AccessLevel::Enterprise,
    description: "A confidential client that may do everything",
};
const PUBLIC: Sketch = Sketch {
    name: "demo-public",
    kind: AppKind::Native,
    access_level: AccessLevel::SelfServe,
    description: "A public client without a secret, on the self-serve level",
};

fn register(
    tx: &mut Tx<'_>,
    owner: UserId,
    sketch: &Sketch,
) -> Result<(App, AppCredentials), Error> {
    let new = AppRegistration {
        name: sketch.name.to_owned(),
        owner_id: owner,
        kind: sketch.kind,
        permission: Permission::Messages,
        access_level: sketch.access_level,
        callback_urls: vec![CALLBACK.to_owned()],
        description: sketch.description.to_owned(),
        website_url: "https://example.com".to_owned(),
        request_email: true,
        sign_in: true,
    };
    apps::create(tx, &new)
}

fn keys_of(
    tx: &mut Tx<'_>,
    app: &App,
    user: UserId,
    username: &'static str,
) -> Result<UserKeys, Error> {
    let (token, secret) = tokens::mint_oauth1(tx, app.id, user, Permission::Messages)?;
    let user_token = tokens::mint_oauth2(tx, app.id, user, tokens::all_scopes(), None)?;
    Ok(UserKeys {
        id: user,
        username,
        access_token: token.expose_secret().to_owned(),
        access_token_secret: secret.expose_secret().to_owned(),
        user_token: user_token.expose_secret().to_owned(),
    })
}

/// A world being made.
pub(super) struct Planting {
    users: Vec<(&'static str, UserId)>,
    app: Option<App>,
    tagged: Vec<(&'static str, PostId)>,
    everyday: Vec<(&'static str, PostId)>,
    deleted: Vec<PostId>,
}

impl Planting {
    /// The world with its people.
    fn new(tx: &mut Tx<'_>, password_hash: &str) -> Result<Self, Error> {
        let mut people = Vec::new();
        let mut joined = MOMENT.plus_ms(-400 * DAY);
        for person in PEOPLE {
            joined = joined.plus_ms(29 * DAY + 7 * HOUR);
            let user = users::create(tx, &new_user(tx, person, joined, password_hash)?)?;
            people.push((person.username, user.id));
        }
        Ok(Self {
            users: people,
            app: None,
            tagged: Vec::new(),
            everyday: Vec::new(),
            deleted: Vec::new(),
        })
    }

    pub(super) fn user(&self, username: &str) -> Result<UserId, Error> {
        let found = self.users.iter().find(|(name, _)| *name == username);
        found
            .map(|(_, id)| *id)
            .ok_or_else(|| missing("user", username))
    }

    fn follows(&self, tx: &mut Tx<'_>) -> Result<(), Error> {
        let (ada, lurker) = (self.user("ada")?, self.user("lurker")?);
        for (_, user) in &self.users {
            if *user != ada && *user != lurker {
                follow(tx, *user, ada)?;
            }
            if *user != lurker {
                follow(tx, lurker, *user)?;
            }
        }
        for (source, target) in FOLLOWS {
            follow(tx, self.user(source)?, self.user(target)?)?;
        }
        Ok(())
    }

    /// All posts, oldest first.
    fn posts(&mut self, tx: &mut Tx<'_>) -> Result<(), Error> {
        let shown = showcase();
        let every = (EVERYDAY / shown.len().max(1)).max(1);
        let mut shown = shown.into_iter();
        let step = (SPAN - HOUR) / i64::try_from(EVERYDAY + shown.len()).unwrap_or(1).max(1);
        let mut at = MOMENT.plus_ms(-SPAN);
        let mut next = |tx: &Tx<'_>| {
            at = at.plus_ms(step);
            moment_id(tx.rng(), at)
        };
        for number in 0..EVERYDAY {
            if number % every == 0
                && let Some(line) = shown.next()
            {
                let id = next(tx)?;
                self.write(tx, &line, id, false)?;
            }
            let id = next(tx)?;
            self.write(tx, &everyday(number), id, true)?;
        }
        for line in shown {
            let id = next(tx)?;
            self.write(tx, &line, id, false)?;
        }
        for (minutes, line) in (-30..).step_by(10).zip(edits()) {
            let id = moment_id(tx.rng(), MOMENT.plus_ms(minutes * MINUTE))?;
            self.write(tx, &line, id, false)?;
        }
        Ok(())
    }

    fn write(
        &mut self,
        tx: &mut Tx<'_>,
        line: &Line,
        id: PostId,
        plain: bool,
    ) -> Result<(), Error> {
        let author = PostAuthor {
            user_id: self.user(line.by)?,
            app_id: self.app.as_ref().map(|app| app.id),
            self_serve: false,
        };
        let post = posts::create(tx, &author, &self.new_post(line, id)?)?;
        if plain {
            self.everyday.push((line.by, post.id));
        }
        if !line.tag.is_empty() {
            self.tagged.push((line.tag, post.id));
        }
        if line.kind == Kind::Deleted {
            posts::delete(tx, author.user_id, post.id)?;
            self.deleted.push(post.id);
        }
        Ok(())
    }

    fn new_post(&self, line: &Line, id: PostId) -> Result<NewPost, Error> {
        let mut new = NewPost {
            text: line.text.clone(),
            id: Some(id),
            ..NewPost::default()
        };
        match line.kind {
            Kind::Plain | Kind::Deleted => {}
            Kind::Reply(tag) => new.reply_to = Some(self.tagged(tag)?),
            Kind::Quote(tag) => new.quote = Some(self.tagged(tag)?),
            Kind::Edit(tag) => new.edit_of = Some(self.tagged(tag)?),
            Kind::ReplyBack(back) => {
                if let Some((username, post)) = self.back(back) {
                    new.reply_to = Some(post);
                    new.text = format!("@{username} {}", line.text);
                }
            }
            Kind::QuoteBack(back) => new.quote = self.back(back).map(|(_, post)| post),
            Kind::Replies(who) => who.clone_into(&mut new.reply_settings),
            Kind::Nullcast => new.nullcast = true,
            Kind::MadeWithAi => new.made_with_ai = true,
            Kind::PaidPartnership => new.paid_partnership = true,
        }
        Ok(new)
    }

    pub(super) fn tagged(&self, tag: &str) -> Result<PostId, Error> {
        let found = self.tagged.iter().find(|(name, _)| *name == tag);
        found.map(|(_, id)| *id).ok_or_else(|| missing("post", tag))
    }

    fn back(&self, back: usize) -> Option<(&'static str, PostId)> {
        self.everyday.iter().nth_back(back - 1).copied()
    }
}

fn new_user(
    tx: &Tx<'_>,
    person: &Person,
    joined: Time,
    password_hash: &str,
) -> Result<NewUser, Error> {
    let id = moment_id::<base::id::marker::UserMarker>(tx.rng(), joined)?;
    let picture = format!(
        "https://example.com/pictures/{}_normal.png",
        person.username
    );
    Ok(NewUser {
        username: person.username.to_owned(),
        name: person.name.to_owned(),
        password_hash: Some(password_hash.to_owned()),
        id: Some(id),
        created_at: Some(joined),
        description: person.description.to_owned(),
        location: person.location.to_owned(),
        url: person.url.to_owned(),
        profile_image_url: picture,
        protected: person.traits.protected,
        verified_type: person.traits.verified.to_owned(),
        subscription_type: person.traits.subscription.to_owned(),
        email: format!("{}@example.com", person.username),
    })
}

/// A snowflake of a moment; its low bits come from the seed.
pub(super) fn moment_id<K>(chance: &Rng, at: Time) -> Result<base::Id<K>, Error> {
    let [high, low] = chance.random_bytes::<2>()?;
    let low = i64::from(u16::from_be_bytes([high, low]) & 0x0fff);
    Ok(base::Id::new(first_snowflake_at(at) | low))
}

pub(super) fn missing(what: &str, name: &str) -> Error {
    base::Fault::new(format!("the demo world has no {what} called {name}")).into()
}
