//! `locum post`.

use base::Error;
use clap::Subcommand;
use network::withholding;
use serde_json::{Value, json};

use super::find;
use crate::Instance;

#[derive(Clone, Debug, Subcommand)]
pub enum PostCommand {
    /// Withhold a post in the given countries; without any, lift the restriction
    Withhold {
        /// The post's id
        post: String,
        /// Two-letter codes (ISO 3166-1 alpha-2), such as DE FR
        countries: Vec<String>,
        /// Withhold because of a copyright claim
        #[arg(long)]
        copyright: bool,
    },
}

pub(super) async fn execute(instance: &Instance, command: PostCommand) -> Result<Value, Error> {
    let PostCommand::Withhold { post, countries, copyright } = command;
    let id = find::post_id(&post)?;
    let withheld = instance.write(move |tx| withholding::withhold_post(tx, id, &countries, copyright));
    let post = withheld.await?;
    Ok(json!({
        "id": post.id.to_string(),
        "withheld": serde_json::from_str::<Value>(&post.withheld).ok(),
    }))
}
