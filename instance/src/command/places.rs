//! `locum place`.

use base::Error;
use clap::{Args, Subcommand};
use network::places::{self, NewPlace};
use serde_json::{Value, json};
use store::places::Place;

use super::find;
use super::limit::LimitArgs;
use crate::Instance;

#[derive(Clone, Debug, Subcommand)]
pub enum PlaceCommand {
    /// Add a place that posts can be tagged with
    Add(NewPlaceArgs),
    /// List places
    List {
        /// Start after this id
        #[arg(long)]
        after: Option<String>,
        #[command(flatten)]
        limit: LimitArgs,
    },
    /// Show a place
    Show {
        /// The id
        place: String,
    },
}

#[derive(Args, Clone, Debug)]
pub struct NewPlaceArgs {
    /// The name
    name: String,
    /// The full name, including the containing place [default: the name]
    #[arg(long, default_value = "", hide_default_value = true)]
    full_name: String,
    /// The country's name
    #[arg(long, default_value = "", hide_default_value = true)]
    country: String,
    /// The country's ISO 3166-1 alpha-2 code
    #[arg(long, default_value = "", hide_default_value = true, value_name = "CODE")]
    country_code: String,
    /// poi, neighborhood, city, admin, country or unknown
    #[arg(long = "type", default_value = "unknown", value_name = "TYPE")]
    kind: String,
    /// The bounding box in degrees
    #[arg(long, value_name = "WEST,SOUTH,EAST,NORTH", value_delimiter = ',', allow_hyphen_values = true)]
    bbox: Vec<f64>,
    /// The id of a place that contains it; repeatable
    #[arg(long, value_name = "PLACE")]
    within: Vec<String>,
    /// The id, sixteen hexadecimal digits [default: generated]
    #[arg(long, default_value = "", hide_default_value = true)]
    id: String,
}

pub(super) async fn execute(instance: &Instance, command: PlaceCommand) -> Result<Value, Error> {
    match command {
        PlaceCommand::Add(new) => {
            let new = NewPlace {
                id: new.id,
                name: new.name,
                full_name: new.full_name,
                country: new.country,
                country_code: new.country_code,
                kind: new.kind,
                bbox: new.bbox,
                contained_within: new.within,
            };
            let made = instance.write(move |tx| places::create(tx, &new));
            Ok(render_place(&made.await?))
        }
        PlaceCommand::List { after, limit: LimitArgs { limit } } => {
            let after = match after {
                None => i64::MIN,
                Some(text) => places::parse_place_id(&text).ok_or_else(|| find::not_found("place", &text))?,
            };
            let read = instance.store.read(move |tx| Ok(store::places::list(tx, after, limit)?));
            Ok(read.await?.iter().map(render_place).collect())
        }
        PlaceCommand::Show { place } => {
            let read = instance.store.read(move |tx| {
                let found = places::find_by_text_id(tx, &place)?;
                found.ok_or_else(|| find::not_found("place", &place))
            });
            Ok(render_place(&read.await?))
        }
    }
}

fn render_place(place: &Place) -> Value {
    json!({
        "id": places::format_place_id(place.id),
        "name": place.name,
        "full_name": place.full_name,
        "country": place.country,
        "country_code": place.country_code,
        "type": place.kind,
        "bbox": place.bbox,
        "within": place.contained_within,
    })
}
