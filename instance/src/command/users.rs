//! `locum user`.

use base::{Error, Fault, Refusal, Secret, UserId};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use identity::account_deletion::{self, ErasureTime};
use identity::{passkeys, passwords, registration, sessions, two_factor};
use network::audit::{AuditAction, AuditActor};
use network::{profiles, subscriptions, users, withholding};
use serde_json::{Value, json};
use store::users::{User, UserState};

use super::invite::email_site;
use super::limit::LimitArgs;
use super::notes::OnOff;
use super::profile_edits::{AffiliationArgs, ProfileEditArgs};
use super::request::LocalInputs;
use super::{audit, find, notes};
use crate::Instance;
use crate::command_error::CommandError;
use crate::config::RunMode;

#[derive(Clone, Debug, Subcommand)]
pub enum UserCommand {
    /// Create an account; without a password, one is generated and printed once
    Create(NewUserArgs),
    /// List accounts, oldest first
    List {
        /// Start after this id
        #[arg(long)]
        after: Option<String>,
        #[command(flatten)]
        limit: LimitArgs,
    },
    /// Show an account
    Show {
        /// @username or id
        user: String,
    },
    /// Set a password and end all sessions; without a password, one is generated and printed once
    Password {
        /// @username or id
        user: String,
        /// Also revoke all app authorizations
        #[arg(long)]
        end_tokens: bool,
        #[command(flatten)]
        password: PasswordArgs,
    },
    /// Turn two-factor sign-in off for somebody who lost app and recovery codes
    TwoFactorOff {
        /// @username or id
        user: String,
    },
    /// Remove all passkeys of an account, for somebody who lost a device
    PasskeysRemove {
        /// @username or id
        user: String,
    },
    /// Suspend an account and hide its posts
    Suspend {
        /// @username or id
        user: String,
    },
    /// Restore a suspended account, or a deleted one whose data is not erased yet
    Restore {
        /// @username or id
        user: String,
    },
    /// Edit a profile
    Edit {
        /// @username or id
        user: String,
        #[command(flatten)]
        edit: ProfileEditArgs,
    },
    /// Protect an account: show its posts to approved followers only
    Protect {
        /// @username or id
        user: String,
    },
    /// Unprotect an account: show its posts to everyone; drops pending follow requests
    Unprotect {
        /// @username or id
        user: String,
    },
    /// Set the verification type
    Verify {
        /// @username or id
        user: String,
        /// The type
        #[arg(default_value = "blue", value_parser = PossibleValuesParser::new(network::profile_fields::VERIFIED_TYPES))]
        kind: String,
    },
    /// Set the premium subscription
    Premium {
        /// @username or id
        user: String,
        /// The subscription
        #[arg(default_value = "Premium", value_parser = PossibleValuesParser::new(network::profile_fields::SUBSCRIPTION_TYPES))]
        kind: String,
    },
    /// Affiliate an account with an organization and show its badge
    Affiliate {
        /// @username or id
        user: String,
        #[command(flatten)]
        affiliation: AffiliationArgs,
    },
    /// Remove an account's affiliation and badge
    Unaffiliate {
        /// @username or id
        user: String,
    },
    /// Withhold an account in the given countries; without any, lift the restriction
    Withhold {
        /// @username or id
        user: String,
        /// Two-letter codes (ISO 3166-1 alpha-2), such as DE FR
        countries: Vec<String>,
    },
    /// Subscribe a user to an author
    Subscribe {
        /// The subscriber: @username or id
        user: String,
        /// The author: @username or id
        author: String,
        /// End the subscription
        #[arg(long)]
        end: bool,
    },
    /// Enable or disable writing community notes through the API
    NoteWriter {
        /// on or off
        switch: OnOff,
        /// @username or id
        user: String,
    },
    /// Delete an account: hide it at once, and erase its data after 30 days
    Delete {
        /// @username or id
        user: String,
        /// Begin to erase its data at once, also that of an account that is deleted already
        #[arg(long)]
        now: bool,
    },
}

#[derive(Args, Clone, Debug)]
pub struct NewUserArgs {
    /// The username: 1–15 characters of A–Z a–z 0–9 _
    username: String,
    /// The display name
    #[arg(long, default_value = "", hide_default_value = true)]
    name: String,
    #[command(flatten)]
    password: PasswordArgs,
    /// The bio
    #[arg(long, default_value = "", hide_default_value = true)]
    description: String,
    /// The location
    #[arg(long, default_value = "", hide_default_value = true)]
    location: String,
    /// The website URL
    #[arg(long = "website", value_name = "URL", default_value = "", hide_default_value = true)]
    website: String,
    /// The email address
    #[arg(long, default_value = "", hide_default_value = true)]
    email: String,
    /// Protect the account: show its posts to approved followers only
    #[arg(long)]
    protected: bool,
    /// The verification type
    #[arg(long, default_value = "none", value_parser = PossibleValuesParser::new(network::profile_fields::VERIFIED_TYPES))]
    verified_type: String,
    /// The premium subscription
    #[arg(long, default_value = "None", value_parser = PossibleValuesParser::new(network::profile_fields::SUBSCRIPTION_TYPES))]
    subscription_type: String,
}

#[derive(Args, Clone, Debug)]
#[group(id = "password-given")]
pub struct PasswordArgs {
    /// The password (visible in the process list; prefer --password-stdin)
    #[arg(long, conflicts_with = "password_stdin")]
    password: Option<String>,
    /// Read the password from the first line of stdin
    #[arg(long)]
    password_stdin: bool,
}

impl PasswordArgs {
    fn read(&mut self, inputs: &mut LocalInputs) -> Result<(), CommandError> {
        if self.password_stdin {
            let line = inputs.read_stdin_line()?;
            self.password = Some(line.trim_end_matches(['\r', '\n']).to_owned());
        }
        Ok(())
    }

    /// Slow: do not call inside a transaction.
    fn hash_or_generate(&self, instance: &Instance) -> Result<HashedPassword, Error> {
        let rng = &instance.store.context().rng;
        let made_up = self.password.is_none();
        let text = match &self.password {
            Some(text) => text.clone(),
            None => rng.random_token(20)?,
        };
        if text.is_empty() {
            return Err(Refusal::invalid_parameter("password", "", "The password is empty").into());
        }
        Ok(HashedPassword { hash: passwords::hash(&text, rng)?, generated: made_up.then_some(text) })
    }
}

struct HashedPassword {
    hash: String,
    /// Set if the password was generated.
    generated: Option<String>,
}

impl UserCommand {
    pub(super) fn read_password(&mut self, inputs: &mut LocalInputs) -> Result<(), CommandError> {
        match self {
            Self::Create(new) => new.password.read(inputs),
            Self::Password { password, .. } => password.read(inputs),
            _ => Ok(()),
        }
    }
}

pub(super) async fn execute(instance: &Instance, command: UserCommand) -> Result<Value, Error> {
    match command {
        UserCommand::Create(new) => create_user(instance, new).await,
        UserCommand::List { after, limit: LimitArgs { limit } } => list_users(instance, after, limit).await,
        UserCommand::Show { user } => show_user(instance, user).await,
        UserCommand::Password { user, end_tokens, password } => {
            set_password(instance, user, &password, end_tokens).await
        }
        UserCommand::TwoFactorOff { user } => turn_two_factor_off(instance, user).await,
        UserCommand::PasskeysRemove { user } => remove_passkeys(instance, user).await,
        UserCommand::Suspend { user } => change_user(instance, user, identity::account_states::suspend).await,
        UserCommand::Restore { user } => restore_user(instance, user).await,
        UserCommand::Edit { user, edit } => change_user(instance, user, move |tx, id| edit.apply(tx, id)).await,
        UserCommand::Protect { user } => {
            change_user(instance, user, |tx, id| profiles::set_protected(tx, &AuditActor::operator(), id, true)).await
        }
        UserCommand::Unprotect { user } => {
            change_user(instance, user, |tx, id| profiles::set_protected(tx, &AuditActor::operator(), id, false)).await
        }
        UserCommand::Verify { user, kind } => {
            let by = AuditActor::operator();
            change_user(instance, user, move |tx, id| profiles::set_verified_type(tx, &by, id, &kind)).await
        }
        UserCommand::Premium { user, kind } => {
            let by = AuditActor::operator();
            change_user(instance, user, move |tx, id| profiles::set_subscription_type(tx, &by, id, &kind)).await
        }
        UserCommand::Affiliate { user, affiliation } => {
            change_user(instance, user, move |tx, id| affiliation.apply(tx, id)).await
        }
        UserCommand::Unaffiliate { user } => {
            let by = AuditActor::operator();
            change_user(instance, user, move |tx, id| profiles::set_affiliation(tx, &by, id, None)).await
        }
        UserCommand::Withhold { user, countries } => {
            change_user(instance, user, move |tx, id| withholding::withhold_user(tx, id, &countries)).await
        }
        UserCommand::Subscribe { user, author, end } => {
            let act = if end { subscriptions::unsubscribe } else { subscriptions::subscribe };
            change_user(instance, user, move |tx, id| {
                let author = find::user(tx, &author)?.id;
                act(tx, id, author)
            })
            .await
        }
        UserCommand::NoteWriter { switch, user } => notes::set_note_writer(instance, user, switch).await,
        UserCommand::Delete { user, now } => delete_user(instance, user, now).await,
    }
}

async fn restore_user(instance: &Instance, user: String) -> Result<Value, Error> {
    let restored = instance.write(move |tx| {
        let found = find::user_or_deleted(tx, &user)?;
        identity::account_states::restore(tx, found.id)
    });
    restored.await.map(|user| render_user(&user))
}

/// Development servers accept any password.
fn validate_password(instance: &Instance, args: &PasswordArgs, username: &str, email: &str) -> Result<(), Refusal> {
    match &args.password {
        Some(text) if instance.settings.mode == RunMode::Serve => {
            registration::validate_password(&Secret::new(text.as_str()), username, email)
        }
        _ => Ok(()),
    }
}

async fn create_user(instance: &Instance, new: NewUserArgs) -> Result<Value, Error> {
    validate_password(instance, &new.password, &new.username, &new.email)?;
    let settled = hash_password(instance, &new.password).await?;
    let shown = settled.generated;
    let new = users::NewUser {
        username: new.username,
        name: new.name,
        password_hash: Some(settled.hash),
        description: new.description,
        location: new.location,
        url: new.website,
        protected: new.protected,
        verified_type: new.verified_type,
        subscription_type: new.subscription_type,
        email: new.email,
        ..users::NewUser::default()
    };
    let made = instance.write(move |tx| {
        let user = users::create(tx, &new)?;
        record_audit(tx, AuditAction::USER_CREATE, user.id)?;
        Ok::<_, Error>(user)
    });
    Ok(add_password(render_user(&made.await?), shown))
}

async fn list_users(instance: &Instance, after: Option<String>, limit: i64) -> Result<Value, Error> {
    let after = match after {
        Some(text) => Some(UserId::parse(&text).ok_or_else(|| find::not_found("user", &text))?),
        None => None,
    };
    let read = instance.store.read(move |tx| Ok(users::list(tx, after, limit)?));
    Ok(read.await?.iter().map(user_summary).collect())
}

async fn show_user(instance: &Instance, user: String) -> Result<Value, Error> {
    instance.store.read(move |tx| Ok(render_user(&find::user(tx, &user)?))).await
}

fn record_audit(tx: &mut store::Tx<'_>, kind: AuditAction, user: UserId) -> Result<(), Error> {
    let detail = json!({"user": user.to_string()});
    Ok(audit::record(tx, kind, None, &detail)?)
}

async fn set_password(
    instance: &Instance,
    user: String,
    password: &PasswordArgs,
    end_tokens: bool,
) -> Result<Value, Error> {
    let name = user.clone();
    let found = instance.store.read(move |tx| find::user_or_deleted(tx, &name)).await?;
    validate_password(instance, password, &found.username, &found.email)?;
    let settled = hash_password(instance, password).await?;
    let (hash, shown) = (settled.hash, settled.generated);
    let done = change_user(instance, user, move |tx, id| {
        identity::account_states::set_password(tx, id, &hash)?;
        sessions::revoke_all(tx, &AuditActor::operator(), id, None)?;
        if end_tokens {
            identity::grants::revoke_all(tx, &AuditActor::operator(), id)?;
        }
        let detail = json!({"user": id.to_string(), "tokens": end_tokens});
        Ok(audit::record(tx, AuditAction::PASSWORD_SET, None, &detail)?)
    });
    Ok(add_password(done.await?, shown))
}

async fn turn_two_factor_off(instance: &Instance, user: String) -> Result<Value, Error> {
    let site = email_site(instance).await?;
    let work = move |tx: &mut store::Tx<'_>| {
        let found = find::user(tx, &user)?;
        let was_enabled = two_factor::disable(tx, &site, &AuditActor::operator(), found.id)?;
        Ok::<_, Error>(json!({"id": found.id.to_string(), "username": found.username, "changed": was_enabled}))
    };
    instance.write(work).await
}

async fn remove_passkeys(instance: &Instance, user: String) -> Result<Value, Error> {
    let site = email_site(instance).await?;
    let work = move |tx: &mut store::Tx<'_>| {
        let found = find::user(tx, &user)?;
        let removed = passkeys::remove_all(tx, &site, &AuditActor::operator(), &found)?;
        Ok::<_, Error>(json!({"id": found.id.to_string(), "username": found.username, "removed": removed}))
    };
    instance.write(work).await
}

async fn delete_user(instance: &Instance, user: String, now: bool) -> Result<Value, Error> {
    let site = email_site(instance).await?;
    let deleted = instance.write(move |tx| {
        let (found, time) = if now {
            (find::user_or_deleted(tx, &user)?, ErasureTime::Now)
        } else {
            (find::user(tx, &user)?, ErasureTime::Later)
        };
        let erase_at = account_deletion::order(tx, Some(&site), found.id, time)?;
        Ok::<_, Error>((found, erase_at))
    });
    let (user, erase_at) = deleted.await?;
    let erase_at = erase_at.to_string();
    Ok(json!({"id": user.id.to_string(), "username": user.username, "deleted": true, "erase_at": erase_at}))
}

async fn change_user<T>(
    instance: &Instance,
    user: String,
    act: impl Fn(&mut store::Tx<'_>, UserId) -> Result<T, Error> + Send + 'static,
) -> Result<Value, Error> {
    let changed = instance.write(move |tx| {
        let found = find::user(tx, &user)?;
        act(tx, found.id)?;
        users::find(tx, found.id)
    });
    changed.await.map(|user| render_user(&user))
}

/// Hashing takes tens of milliseconds of CPU time, so it runs on a blocking thread.
async fn hash_password(instance: &Instance, password: &PasswordArgs) -> Result<HashedPassword, Error> {
    let (world, password) = (instance.clone(), password.clone());
    let hashing = tokio::task::spawn_blocking(move || password.hash_or_generate(&world));
    hashing.await.map_err(Fault::context("hashing a password"))?
}

fn add_password(mut value: Value, shown: Option<String>) -> Value {
    if let (Some(password), Some(map)) = (shown, value.as_object_mut()) {
        map.insert("password".to_owned(), Value::String(password));
    }
    value
}

fn user_summary(user: &User) -> Value {
    json!({
        "id": user.id.to_string(),
        "username": user.username,
        "name": user.name,
        "state": account_state(user),
        "posts": user.post_count,
        "followers": user.followers_count,
    })
}

fn render_user(user: &User) -> Value {
    json!({
        "id": user.id.to_string(),
        "username": user.username,
        "name": user.name,
        "state": account_state(user),
        "created_at": user.created_at.to_string(),
        "description": user.description,
        "location": user.location,
        "website": user.url,
        "email": user.email,
        "protected": user.protected,
        "withheld": serde_json::from_str::<Value>(&user.withheld).ok(),
        "verified_type": user.verified_type,
        "subscription_type": user.subscription_type,
        "affiliation": serde_json::from_str::<Value>(&user.affiliation).ok(),
        "posts": user.post_count,
        "followers": user.followers_count,
        "following": user.following_count,
    })
}

const fn account_state(user: &User) -> &'static str {
    match user.state {
        UserState::Active => "active",
        UserState::Suspended => "suspended",
        UserState::Deleted => "deleted",
        UserState::Placeholder => "placeholder",
    }
}
