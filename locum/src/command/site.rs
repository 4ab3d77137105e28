//! `locum site`: the settings that change while the server runs.

use std::path::PathBuf;

use base::Error;
use clap::Subcommand;
use network::audit::AuditActor;
use network::site_settings;
use serde_json::{Map, Value};
use store::Tx;

use super::request::LocalInputs;
use crate::command_error::CommandError;
use crate::instance::Instance;

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum SiteCommand {
    /// Show the settings; empty ones follow the configuration
    Show,
    /// Change a setting: name, registrations, indexing, about, rules, terms, privacy or contact
    Set {
        /// The setting
        setting: String,
        /// The value; pages are Markdown
        #[arg(required_unless_present = "file")]
        value: Option<String>,
        /// Read the value from this file
        #[arg(long, conflicts_with = "value")]
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
        instance.store.write(work).await?;
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
