//! `locum community`.

use base::{Error, Id, UserId};
use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use network::communities::{self, NewCommunity};
use serde_json::{Value, json};
use store::Tx;
use store::communities::Community;

use super::find;
use super::limit::LimitArgs;
use crate::Instance;

#[derive(Clone, Debug, Subcommand)]
pub enum CommunityCommand {
    /// Create a community; its owner is its first member
    Create {
        /// The name
        name: String,
        /// The owner: @username or id
        #[arg(long)]
        owner: String,
        /// The description
        #[arg(long, default_value = "", hide_default_value = true)]
        description: String,
        /// Who sees its posts
        #[arg(long, default_value = "Public", value_parser = PossibleValuesParser::new(communities::ACCESS_LEVELS))]
        access: String,
        /// Who may join
        #[arg(long, default_value = "Open", value_parser = PossibleValuesParser::new(communities::JOIN_POLICIES))]
        join_policy: String,
    },
    /// List communities, oldest first
    List {
        /// Start after this id
        #[arg(long)]
        after: Option<String>,
        #[command(flatten)]
        limit: LimitArgs,
    },
    /// Show a community
    Show {
        /// The id
        community: String,
    },
    /// List a community's members in the order they joined
    Members {
        /// The id
        community: String,
        #[command(flatten)]
        limit: LimitArgs,
    },
    /// Add a member
    Join {
        /// The id
        community: String,
        /// @username or id
        user: String,
        /// The join request is approved; required unless everyone may join
        #[arg(long)]
        approved: bool,
    },
    /// Remove a member
    Leave {
        /// The id
        community: String,
        /// @username or id
        user: String,
    },
}

pub(super) async fn execute(instance: &Instance, command: CommunityCommand) -> Result<Value, Error> {
    match command {
        CommunityCommand::Create { name, owner, description, access, join_policy } => {
            let new = NewCommunity { name, description, access, join_policy };
            let made = instance.write(move |tx| {
                let owner = find::user(tx, &owner)?;
                communities::create(tx, owner.id, &new)
            });
            Ok(render_community(&made.await?))
        }
        CommunityCommand::List { after, limit: LimitArgs { limit } } => {
            let after = after.map_or(Ok(0), |text| parse_id(&text))?;
            let read = instance.store.read(move |tx| Ok(store::communities::list(tx, after, limit)?));
            Ok(read.await?.iter().map(render_community).collect())
        }
        CommunityCommand::Show { community } => {
            let id = parse_id(&community)?;
            let read = instance.store.read(move |tx| communities::find(tx, id));
            Ok(render_community(&read.await?))
        }
        CommunityCommand::Members { community, limit: LimitArgs { limit } } => {
            list_members(instance, &community, limit).await
        }
        CommunityCommand::Join { community, user, approved } => {
            let join = move |tx: &mut Tx<'_>, id, user| communities::join(tx, id, user, approved);
            change_membership(instance, &community, user, join).await
        }
        CommunityCommand::Leave { community, user } => {
            change_membership(instance, &community, user, communities::leave).await
        }
    }
}

async fn change_membership(
    instance: &Instance,
    community: &str,
    user: String,
    act: impl Fn(&mut Tx<'_>, i64, UserId) -> Result<Community, Error> + Send + 'static,
) -> Result<Value, Error> {
    let id = parse_id(community)?;
    let changed = instance.write(move |tx| {
        let user = find::user(tx, &user)?;
        act(tx, id, user.id)
    });
    Ok(render_community(&changed.await?))
}

async fn list_members(instance: &Instance, community: &str, limit: i64) -> Result<Value, Error> {
    let id = parse_id(community)?;
    let read = instance.store.read(move |tx| {
        communities::find(tx, id)?;
        let members = store::communities::list_members(tx, id, 0, limit)?;
        let ids: Vec<UserId> = members.iter().map(|(_, user)| *user).collect();
        let users = store::users::find_by_ids(tx, &ids)?;
        let named = ids.iter().filter_map(|id| users.iter().find(|user| user.id == *id));
        let rows = named.map(|user| json!({"id": user.id.to_string(), "username": user.username}));
        Ok(rows.collect::<Value>())
    });
    read.await
}

fn parse_id(text: &str) -> Result<i64, Error> {
    let id = Id::<()>::parse(text);
    id.map(Id::get).ok_or_else(|| find::not_found("community", text))
}

fn render_community(community: &Community) -> Value {
    json!({
        "id": community.id.to_string(),
        "name": community.name,
        "description": community.description,
        "access": community.access,
        "join_policy": community.join_policy,
        "owner": community.owner_id.to_string(),
        "created_at": community.created_at.to_string(),
        "members": community.member_count,
    })
}
