//! `locum place`.

use base::Error;
use clap::{Args, Subcommand};
use network::places::{self, NewPlace};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::places::Place;

use super::find;
use crate::instance::Instance;

/// What may be done about places.
#[derive(Clone, Debug, Serialize, Deserialize, Subcommand)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PlaceCommand {
    /// Adds a place that posts can be tagged with
    Add(NewPlaceArgs),
    /// Lists places
    List {
        /// Begins after this id
        #[arg(long)]
        after: Option<String>,
        /// At most so many
        #[arg(long, default_value_t = 100)]
        limit: i64,
    },
    /// Shows a place
    Show {
        /// Its id
        place: String,
    },
}

/// A new place.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct NewPlaceArgs {
    /// Its name
    name: String,
    /// Its name and what it lies in; the name when absent
    #[arg(long, default_value = "")]
    full_name: String,
    /// Its country
    #[arg(long, default_value = "")]
    country: String,
    /// Its country, ISO 3166-1 alpha-2
    #[arg(long, default_value = "", value_name = "CODE")]
    country_code: String,
    /// poi, neighborhood, city, admin, country or unknown
    #[arg(long = "type", default_value = "unknown", value_name = "KIND")]
    kind: String,
    /// Its bounds in degrees
    #[arg(
        long,
        value_name = "WEST,SOUTH,EAST,NORTH",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    bbox: Vec<f64>,
    /// A place that it lies in, by id; may be repeated
    #[arg(long, value_name = "PLACE")]
    within: Vec<String>,
    /// Its id, sixteen hexadecimal digits; made up when absent
    #[arg(long, default_value = "")]
    id: String,
}

/// Does it.
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
            let made = instance.store.write(move |tx| places::create(tx, &new));
            Ok(render_place(&made.await?))
        }
        PlaceCommand::List { after, limit } => {
            let after = match after {
                None => i64::MIN,
                Some(text) => places::parse_place_id(&text).ok_or_else(|| find::not_found("place", &text))?,
            };
            let read = instance
                .store
                .read(move |tx| Ok(store::places::list(tx, after, limit)?));
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
