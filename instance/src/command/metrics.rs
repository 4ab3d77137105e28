//! `locum metrics`: figures for tests, of which a development server sees no cause.

use base::{Error, Refusal};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use store::posts::PostState;
use store::views::{self, PostHourCounts, hour_number};

use super::find;
use crate::Instance;
use crate::config::RunMode;

pub(super) const DEV_ONLY: &str = "metrics can be added on a development server only";
const MAX_COUNT: i64 = 1_000_000_000;

#[derive(Clone, Debug, Subcommand)]
pub enum MetricsCommand {
    /// Add to the metrics of a post, in the current hour
    Add(AddedMetrics),
}

#[derive(Args, Clone, Debug)]
pub struct AddedMetrics {
    /// The post's id
    post: String,
    /// Impressions, besides those of ads
    #[arg(long, value_name = "N", default_value_t, value_parser = clap::value_parser!(i64).range(0..=MAX_COUNT))]
    impressions: i64,
    /// Clicks on links, besides those on ads
    #[arg(long, value_name = "N", default_value_t, value_parser = clap::value_parser!(i64).range(0..=MAX_COUNT))]
    link_clicks: i64,
    /// Clicks on the author's profile
    #[arg(long, value_name = "N", default_value_t, value_parser = clap::value_parser!(i64).range(0..=MAX_COUNT))]
    profile_clicks: i64,
}

pub(super) async fn execute(instance: &Instance, command: MetricsCommand) -> Result<Value, Error> {
    if instance.settings.mode != RunMode::Dev {
        return Err(Refusal::forbidden(DEV_ONLY).into());
    }
    let MetricsCommand::Add(AddedMetrics { post, impressions, link_clicks, profile_clicks }) = command;
    for (name, count) in
        [("impressions", impressions), ("link-clicks", link_clicks), ("profile-clicks", profile_clicks)]
    {
        if !(0..=MAX_COUNT).contains(&count) {
            let message = format!("The number must be between 0 and {MAX_COUNT}");
            return Err(Refusal::invalid_parameter(name, count.to_string(), message).into());
        }
    }
    let counts = PostHourCounts { impressions, link_clicks, profile_clicks };
    let add = instance.write(move |tx| {
        let id = find::post_id(&post)?;
        let found = store::posts::find_by_id(tx, id)?.filter(|post| post.state == PostState::Live);
        // Views of a repost are those of the original.
        let found = found.ok_or_else(|| find::not_found("post", &post))?;
        let id = found.repost_of_id.unwrap_or(found.id);
        let hour = hour_number(tx.now());
        views::add_counts(tx, id, hour, counts)?;
        Ok(id)
    });
    let id = add.await?;
    Ok(json!({
        "post": id.to_string(),
        "impressions": impressions,
        "link_clicks": link_clicks,
        "profile_clicks": profile_clicks,
    }))
}
