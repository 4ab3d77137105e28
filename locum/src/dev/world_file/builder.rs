//! Creates what a world file says, through the same functions as API requests.

use std::collections::HashMap;

use base::{AppId, Error, PostId, Refusal, UserId};
use identity::apps::{self, AccessLevel, AppCredentials, AppProfile, OAuthClientKind, Permission};
use network::follows::follow_approved;
use network::posts::{self, NewPost, PostAuthor};
use network::users::{self, NewUser};
use store::Tx;

use super::ads::FileAds;
use super::entries::{AppEntry, PostEntry, UserEntry, WorldEntry};
use super::moments::parse_moment;
use crate::dev::demo_world::{CALLBACK, DemoUserKeys, issue_user_keys};
use crate::dev::env_file::EnvFile;
use crate::dev::world_builder::moment_id;

/// What users without a time joined before the world was created.
const DEFAULT_AGE_MS: i64 = 400 * 86_400_000;

pub(super) struct FileWorldBuilder<'h> {
    password_hash: &'h str,
    users: HashMap<String, UserId>,
    posts: HashMap<String, PostId>,
    apps: Vec<CreatedApp>,
    ads: FileAds,
}

struct CreatedApp {
    id: AppId,
    credentials: AppCredentials,
    users: Vec<DemoUserKeys>,
}

impl<'h> FileWorldBuilder<'h> {
    pub(super) fn new(password_hash: &'h str) -> Self {
        Self { password_hash, users: HashMap::new(), posts: HashMap::new(), apps: Vec::new(), ads: FileAds::default() }
    }

    pub(super) fn create(&mut self, tx: &mut Tx<'_>, entry: &WorldEntry) -> Result<(), Error> {
        match entry {
            WorldEntry::User(user) => self.create_user(tx, user),
            WorldEntry::Follow(follow) => {
                let (from, to) = (self.user_id("from", &follow.from)?, self.user_id("to", &follow.to)?);
                follow_approved(tx, from, to)?;
                Ok(())
            }
            WorldEntry::App(app) => self.create_app(tx, app),
            WorldEntry::Post(post) => self.create_post(tx, post),
            WorldEntry::AdsAccount(account) => {
                let owner = self.user_id("owner", &account.owner)?;
                self.ads.create_account(tx, owner, account)
            }
            WorldEntry::Ads(entity) => self.ads.create_entity(tx, entity),
        }
    }

    fn create_user(&mut self, tx: &mut Tx<'_>, entry: &UserEntry) -> Result<(), Error> {
        let joined = match &entry.joined {
            Some(text) => parse_moment("joined", text, tx.now())?,
            None => tx.now().plus_ms(-DEFAULT_AGE_MS),
        };
        let new = NewUser {
            username: entry.username.clone(),
            name: entry.name.clone().unwrap_or_else(|| entry.username.clone()),
            password_hash: Some(self.password_hash.to_owned()),
            id: Some(moment_id(tx.rng(), joined)?),
            created_at: Some(joined),
            description: entry.description.clone(),
            location: entry.location.clone(),
            url: entry.url.clone(),
            profile_image_url: String::new(),
            protected: entry.protected,
            verified_type: String::new(),
            subscription_type: String::new(),
            email: entry.email.clone().unwrap_or_else(|| format!("{}@example.com", entry.username)),
        };
        let user = users::create(tx, &new)?;
        self.users.insert(entry.username.to_lowercase(), user.id);
        Ok(())
    }

    fn create_app(&mut self, tx: &mut Tx<'_>, entry: &AppEntry) -> Result<(), Error> {
        let owner = self.user_id("owner", &entry.owner)?;
        let level = parse_word(
            "access_level",
            entry.access_level.as_deref(),
            AccessLevel::Enterprise,
            &AccessLevel::ALL,
            AccessLevel::name,
        )?;
        let profile = AppProfile {
            name: entry.name.clone(),
            kind: parse_word(
                "kind",
                entry.kind.as_deref(),
                OAuthClientKind::Web,
                &OAuthClientKind::ALL,
                OAuthClientKind::name,
            )?,
            permission: parse_word(
                "permission",
                entry.permission.as_deref(),
                Permission::Messages,
                &Permission::ALL,
                Permission::name,
            )?,
            callback_urls: if entry.callback_urls.is_empty() {
                vec![CALLBACK.to_owned()]
            } else {
                entry.callback_urls.clone()
            },
            description: String::new(),
            website_url: "https://example.com".to_owned(),
            request_email: true,
            sign_in: true,
        };
        let (app, credentials) = apps::create(tx, owner, level, &profile)?;
        let mut users = Vec::new();
        for username in &entry.tokens {
            let user = self.user_id("tokens", username)?;
            users.push(issue_user_keys(tx, app.id, user, username, profile.permission)?);
        }
        self.apps.push(CreatedApp { id: app.id, credentials, users });
        Ok(())
    }

    fn create_post(&mut self, tx: &mut Tx<'_>, entry: &PostEntry) -> Result<(), Error> {
        let at = match &entry.at {
            Some(text) => parse_moment("at", text, tx.now())?,
            None => tx.now(),
        };
        let app_id = self.apps.first().map(|app| app.id);
        let author = PostAuthor { user_id: self.user_id("author", &entry.author)?, app_id, self_serve: false };
        let reference = |field, tag: &Option<String>| tag.as_ref().map(|tag| self.post_id(field, tag)).transpose();
        let new = NewPost {
            text: entry.text.clone(),
            id: Some(moment_id(tx.rng(), at)?),
            reply_to: reference("reply_to", &entry.reply_to)?,
            quote: reference("quote", &entry.quote)?,
            ..NewPost::default()
        };
        let post = posts::create(tx, &author, &new)?;
        if let Some(tag) = &entry.tag {
            self.posts.insert(tag.clone(), post.id);
            self.ads.add_tag(tag, post.id.to_string());
        }
        Ok(())
    }

    fn user_id(&self, field: &'static str, username: &str) -> Result<UserId, Error> {
        let found = self.users.get(&username.trim_start_matches('@').to_lowercase());
        found.copied().ok_or_else(|| {
            let message = format!("`{field}`: no user [{username}] is declared above");
            Refusal::invalid_parameter(field, username, message).into()
        })
    }

    fn post_id(&self, field: &'static str, tag: &str) -> Result<PostId, Error> {
        self.posts.get(tag).copied().ok_or_else(|| {
            let message = format!("`{field}`: no post with the tag [{tag}] is declared above");
            Refusal::invalid_parameter(field, tag, message).into()
        })
    }

    pub(super) fn env_lines(&self) -> EnvFile {
        let mut lines = EnvFile::default();
        for (app, suffix) in self.apps.iter().zip(["", "_2"]) {
            lines.add_api_keys(&app.credentials, suffix);
            lines.add_oauth_client(&app.credentials, suffix);
        }
        let users = self.apps.first().map(|app| app.users.as_slice()).unwrap_or_default();
        for (user, suffix) in users.iter().zip(["", "_2"]) {
            lines.add_user(user, suffix);
        }
        if let Some(account) = self.ads.first_account() {
            lines.add_line("ADS_ACCOUNT_ID", account);
        }
        lines
    }
}

fn parse_word<T: Copy>(
    field: &'static str,
    text: Option<&str>,
    default: T,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<T, Error> {
    let Some(text) = text else { return Ok(default) };
    all.iter().copied().find(|known| name(*known) == text).ok_or_else(|| {
        let known: Vec<_> = all.iter().map(|known| name(*known)).collect();
        let message = format!("`{field}`: [{text}] is not one of {}", known.join(", "));
        Refusal::invalid_parameter(field, text, message).into()
    })
}
