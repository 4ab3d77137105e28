//! `locum role`.

use base::Error;
use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use identity::first_owner;
use network::audit::AuditActor;
use network::user_roles;
use serde_json::{Value, json};
use store::Tx;

use super::{find, invite};
use crate::Instance;

#[derive(Clone, Debug, Subcommand)]
pub enum RoleCommand {
    /// Grant a role
    Grant {
        /// @username or id
        user: String,
        /// The role
        #[arg(value_parser = PossibleValuesParser::new(user_roles::ROLE_NAMES.map(|(_, name)| name)))]
        role: String,
    },
    /// Take a user's role away
    Revoke {
        /// @username or id
        user: String,
    },
    /// List users with a role, the highest first
    List,
    /// Create a link that makes the person who opens it the first owner, once and within 30 minutes; earlier links stop working
    Setup,
}

pub(super) async fn execute(instance: &Instance, command: RoleCommand) -> Result<Value, Error> {
    match command {
        RoleCommand::Grant { user, role } => {
            let role = user_roles::parse_role(&role)?;
            let work = move |tx: &mut Tx<'_>| {
                let found = find::user(tx, &user)?;
                user_roles::grant(tx, &AuditActor::operator(), found.id, role)?;
                Ok::<_, Error>(json!({ "username": found.username, "role": user_roles::role_name(role) }))
            };
            instance.write(work).await
        }
        RoleCommand::Revoke { user } => {
            let work = move |tx: &mut Tx<'_>| {
                let found = find::user_or_deleted(tx, &user)?;
                let had_role = user_roles::revoke(tx, &AuditActor::operator(), found.id)?;
                Ok::<_, Error>(json!({ "username": found.username, "role": Value::Null, "changed": had_role }))
            };
            instance.write(work).await
        }
        RoleCommand::List => instance.store.read(list_roles).await,
        RoleCommand::Setup => {
            let site = invite::email_site(instance).await?;
            let work = move |tx: &mut Tx<'_>| first_owner::replace_setup_links(tx, &site);
            Ok(json!({ "link": instance.write(work).await? }))
        }
    }
}

fn list_roles(tx: &mut Tx<'_>) -> Result<Value, Error> {
    let mut all = Vec::new();
    for (id, role) in user_roles::list(tx)? {
        let user = store::users::find_by_id(tx, id)?;
        all.push(json!({
            "id": id.to_string(),
            "username": user.map(|user| user.username),
            "role": user_roles::role_name(role),
        }));
    }
    Ok(Value::Array(all))
}
