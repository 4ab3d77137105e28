//! Creates the people, follows and posts of the demo world.

use base::id::first_snowflake_at;
use base::time::{DAY_MS, HOUR_MS, MINUTE_MS};
use base::{Error, PostId, Rng, Time, UserId};
use identity::apps::App;
use network::follows::follow_approved as follow;
use network::posts::{self, NewPost, PostAuthor};
use network::users::{self, NewUser};
use store::Tx;

use super::demo_people::{DemoPerson, FOLLOWS, PEOPLE};
use super::demo_posts::{DemoPost, DemoPostKind, edited_posts, everyday_post, showcase_posts};

/// Together with the showcase posts, about 340.
const EVERYDAY_POSTS: usize = 300;
const POSTS_TIME_SPAN: i64 = 60 * DAY_MS;

pub(super) struct DemoWorldBuilder {
    users: Vec<(&'static str, UserId)>,
    pub(super) app: Option<App>,
    tagged: Vec<(&'static str, PostId)>,
    everyday: Vec<(&'static str, PostId)>,
    deleted: Vec<PostId>,
}

impl DemoWorldBuilder {
    pub(super) fn new(tx: &mut Tx<'_>, password_hash: &str) -> Result<Self, Error> {
        let mut people = Vec::new();
        let mut joined = tx.now().plus_ms(-400 * DAY_MS);
        for person in PEOPLE {
            joined = joined.plus_ms(29 * DAY_MS + 7 * HOUR_MS);
            let user = users::create(tx, &new_user(tx, person, joined, password_hash)?)?;
            people.push((person.username, user.id));
        }
        Ok(Self { users: people, app: None, tagged: Vec::new(), everyday: Vec::new(), deleted: Vec::new() })
    }

    pub(super) fn user_id(&self, username: &str) -> Result<UserId, Error> {
        let found = self.users.iter().find(|(name, _)| *name == username);
        found.map(|(_, id)| *id).ok_or_else(|| missing_reference("user", username))
    }

    pub(super) fn create_follows(&self, tx: &mut Tx<'_>) -> Result<(), Error> {
        let (ada, lurker) = (self.user_id("ada")?, self.user_id("lurker")?);
        for (_, user) in &self.users {
            if *user != ada && *user != lurker {
                follow(tx, *user, ada)?;
            }
            if *user != lurker {
                follow(tx, lurker, *user)?;
            }
        }
        for (source, target) in FOLLOWS {
            follow(tx, self.user_id(source)?, self.user_id(target)?)?;
        }
        Ok(())
    }

    /// Oldest first.
    pub(super) fn create_posts(&mut self, tx: &mut Tx<'_>) -> Result<(), Error> {
        let shown = showcase_posts();
        let every = (EVERYDAY_POSTS / shown.len().max(1)).max(1);
        let mut shown = shown.into_iter();
        let step = (POSTS_TIME_SPAN - HOUR_MS) / i64::try_from(EVERYDAY_POSTS + shown.len()).unwrap_or(1).max(1);
        let mut at = tx.now().plus_ms(-POSTS_TIME_SPAN);
        let mut next = |tx: &Tx<'_>| {
            at = at.plus_ms(step);
            moment_id(tx.rng(), at)
        };
        for number in 0..EVERYDAY_POSTS {
            if number % every == 0
                && let Some(line) = shown.next()
            {
                let id = next(tx)?;
                self.write_post(tx, &line, id, false)?;
            }
            let id = next(tx)?;
            self.write_post(tx, &everyday_post(number), id, true)?;
        }
        for line in shown {
            let id = next(tx)?;
            self.write_post(tx, &line, id, false)?;
        }
        for (minutes, line) in (-30..).step_by(10).zip(edited_posts()) {
            let id = moment_id(tx.rng(), tx.now().plus_ms(minutes * MINUTE_MS))?;
            self.write_post(tx, &line, id, false)?;
        }
        Ok(())
    }

    fn write_post(&mut self, tx: &mut Tx<'_>, line: &DemoPost, id: PostId, plain: bool) -> Result<(), Error> {
        let author = PostAuthor {
            user_id: self.user_id(line.author)?,
            app_id: self.app.as_ref().map(|app| app.id),
            self_serve: false,
        };
        let post = posts::create(tx, &author, &self.new_post(line, id)?)?;
        if plain {
            self.everyday.push((line.author, post.id));
        }
        if !line.tag.is_empty() {
            self.tagged.push((line.tag, post.id));
        }
        if line.kind == DemoPostKind::Deleted {
            posts::delete(tx, author.user_id, post.id)?;
            self.deleted.push(post.id);
        }
        Ok(())
    }

    fn new_post(&self, line: &DemoPost, id: PostId) -> Result<NewPost, Error> {
        let mut new = NewPost { text: line.text.clone(), id: Some(id), ..NewPost::default() };
        match line.kind {
            DemoPostKind::Plain | DemoPostKind::Deleted => {}
            DemoPostKind::Reply(tag) => new.reply_to = Some(self.tagged_post(tag)?),
            DemoPostKind::Quote(tag) => new.quote = Some(self.tagged_post(tag)?),
            DemoPostKind::Edit(tag) => new.edit_of = Some(self.tagged_post(tag)?),
            DemoPostKind::ReplyToEveryday(back) => {
                if let Some((username, post)) = self.earlier_everyday_post(back) {
                    new.reply_to = Some(post);
                    new.text = format!("@{username} {}", line.text);
                }
            }
            DemoPostKind::QuoteOfEveryday(back) => new.quote = self.earlier_everyday_post(back).map(|(_, post)| post),
            DemoPostKind::ReplySettings(who) => who.clone_into(&mut new.reply_settings),
            DemoPostKind::Nullcast => new.nullcast = true,
            DemoPostKind::MadeWithAi => new.made_with_ai = true,
            DemoPostKind::PaidPartnership => new.paid_partnership = true,
        }
        Ok(new)
    }

    pub(super) fn tagged_post(&self, tag: &str) -> Result<PostId, Error> {
        let found = self.tagged.iter().find(|(name, _)| *name == tag);
        found.map(|(_, id)| *id).ok_or_else(|| missing_reference("post", tag))
    }

    fn earlier_everyday_post(&self, back: usize) -> Option<(&'static str, PostId)> {
        self.everyday.iter().nth_back(back - 1).copied()
    }
}

fn new_user(tx: &Tx<'_>, person: &DemoPerson, joined: Time, password_hash: &str) -> Result<NewUser, Error> {
    let id = moment_id::<base::id::marker::UserMarker>(tx.rng(), joined)?;
    let picture = format!("https://example.com/pictures/{}_normal.png", person.username);
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

/// A snowflake id for a time; its low bits come from the seed.
pub(super) fn moment_id<K>(rng: &Rng, at: Time) -> Result<base::Id<K>, Error> {
    let [high, low] = rng.random_bytes::<2>()?;
    let low = i64::from(u16::from_be_bytes([high, low]) & 0x0fff);
    Ok(base::Id::new(first_snowflake_at(at) | low))
}

pub(super) fn missing_reference(what: &str, name: &str) -> Error {
    base::Fault::new(format!("the demo world has no {what} named {name}")).into()
}
