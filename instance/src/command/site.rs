//! `locum site`: the settings that change while the server runs.

use std::path::PathBuf;

use base::Error;
use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Subcommand};
use network::audit::AuditActor;
use network::site_settings;
use serde_json::{Map, Value};
use store::Tx;

use super::request::LocalInputs;
use crate::Instance;
use crate::command_error::CommandError;

#[derive(Clone, Debug, Subcommand)]
pub enum SiteCommand {
    /// Show the settings; empty ones follow the configuration
    Show,
    /// Change a setting
    #[command(
        group(ArgGroup::new("content").args(["value", "file"]).required(true)),
        override_usage = "locum site set [OPTIONS] <SETTING> <VALUE|--file <FILE>>"
    )]
    Set {
        /// The setting
        #[arg(value_parser = PossibleValuesParser::new(site_settings::NAMES))]
        setting: String,
        /// registrations: open, approval, invite or closed; indexing: allowed or refused; about, rules, terms, privacy
        /// and contact are pages in Markdown; empty returns to the configuration
        value: Option<String>,
        /// Read the value from this file
        #[arg(long)]
        file: Option<PathBuf>,
    },
}

impl SiteCommand {
    pub(super) fn read_file(&mut self, inputs: &mut LocalInputs) -> Result<(), CommandError> {
        if let Self::Set { value, file: Some(file), .. } = self {
            *value = Some(inputs.read_file(file, site_settings::MAX_PAGE_BYTES)?);
        }
        Ok(())
    }
}

pub(super) async fn execute(instance: &Instance, command: SiteCommand) -> Result<Value, Error> {
    if let SiteCommand::Set { setting, value, .. } = command {
        let value = value.unwrap_or_default();
        let work = move |tx: &mut Tx<'_>| site_settings::set_all(tx, &AuditActor::operator(), &[(&setting, &value)]);
        instance.write(work).await?;
    }
    let work = |tx: &mut Tx<'_>| {
        let mut all = Map::new();
        for name in site_settings::NAMES {
            all.insert(name.to_owned(), Value::String(site_settings::get(tx, name)?));
        }
        Ok::<_, Error>(Value::Object(all))
    };
    instance.store.read(work).await
}
