//! `locum annotation`.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use base::{Error, Fault, Refusal};
use clap::{Args, Subcommand};
use network::annotations::{self, MAX_ENTITIES, NewAnnotationEntity};
use serde_json::{Value, json};
use store::annotations::AnnotationEntity;

use super::find;
use super::limit::LimitArgs;
use crate::Instance;

#[derive(Clone, Debug, Subcommand)]
pub enum AnnotationCommand {
    /// Add an entity that posts are annotated with, or replace the one with the same ids
    Add(NewEntityArgs),
    /// Add the entities of a JSON Lines file
    Import {
        /// The file
        path: PathBuf,
    },
    /// Remove an entity
    Remove {
        /// The domain's id
        domain: i64,
        /// The entity's id
        entity: i64,
    },
    /// List the entities that were added, in the order of domains and ids
    List {
        /// Start after this entity
        #[arg(long, value_name = "DOMAIN.ENTITY")]
        after: Option<String>,
        #[command(flatten)]
        limit: LimitArgs,
    },
}

#[derive(Args, Clone, Debug)]
pub struct NewEntityArgs {
    /// The name
    name: String,
    /// The id, the same in every domain
    #[arg(long)]
    id: String,
    /// The domain's id
    #[arg(long)]
    domain: String,
    /// The domain's name
    #[arg(long)]
    domain_name: String,
    /// The domain's description
    #[arg(long, default_value = "", hide_default_value = true)]
    domain_description: String,
    /// Person, Place, Product, Organization or Other
    #[arg(long = "type", default_value = "Other", value_name = "TYPE")]
    kind: String,
    /// The description
    #[arg(long, default_value = "", hide_default_value = true)]
    description: String,
    /// Another name; repeatable up to ten times
    #[arg(long = "alias", value_name = "NAME")]
    aliases: Vec<String>,
}

/// More than the longest entity has.
const MAX_LINE_BYTES: u64 = 64 << 10;

impl AnnotationCommand {
    /// Relative to the caller's working directory until it is made absolute.
    pub(super) fn path_mut(&mut self) -> Option<&mut PathBuf> {
        match self {
            Self::Import { path } => Some(path),
            Self::Add(_) | Self::Remove { .. } | Self::List { .. } => None,
        }
    }
}

pub(super) async fn execute(instance: &Instance, command: AnnotationCommand) -> Result<Value, Error> {
    match command {
        AnnotationCommand::Add(new) => {
            let entity = new.into_entity()?;
            put_entities(instance, vec![entity.clone()]).await?;
            Ok(render_entity(&entity))
        }
        AnnotationCommand::Import { path } => import_file(instance, &path).await,
        AnnotationCommand::Remove { domain, entity } => {
            let version = instance.write(move |tx| annotations::remove_entity(tx, domain, entity)).await?;
            let version = version.ok_or_else(|| find::not_found("entity", &format!("{domain}.{entity}")))?;
            instance.store.context().annotations.expect_version(version);
            Ok(json!({}))
        }
        AnnotationCommand::List { after, limit: LimitArgs { limit } } => {
            let after = after.map_or(Ok((0, 0)), |text| parse_after(&text))?;
            let read = instance.store.read(move |tx| Ok(store::annotations::list(tx, after, limit)?));
            Ok(read.await?.iter().map(render_entity).collect())
        }
    }
}

impl NewEntityArgs {
    fn into_entity(self) -> Result<AnnotationEntity, Refusal> {
        let new = NewAnnotationEntity {
            domain_id: self.domain,
            domain_name: self.domain_name,
            domain_description: self.domain_description,
            id: self.id,
            kind: self.kind,
            name: self.name,
            description: self.description,
            aliases: self.aliases,
        };
        new.validate()
    }
}

fn parse_after(text: &str) -> Result<(i64, i64), Error> {
    let ids = text.split_once('.').and_then(|(domain, entity)| Some((domain.parse().ok()?, entity.parse().ok()?)));
    ids.ok_or_else(|| find::not_found("entity", text))
}

async fn put_entities(instance: &Instance, entities: Vec<AnnotationEntity>) -> Result<(), Error> {
    let version = instance.write(move |tx| annotations::put_entities(tx, &entities)).await?;
    instance.store.context().annotations.expect_version(version);
    Ok(())
}

/// All or nothing: each version of the catalogue is compiled anew.
async fn import_file(instance: &Instance, path: &Path) -> Result<Value, Error> {
    let entities = read_entities(path)?;
    let count = entities.len();
    put_entities(instance, entities).await?;
    Ok(json!({ "entities": count }))
}

fn read_entities(path: &Path) -> Result<Vec<AnnotationEntity>, Error> {
    let unreadable = |error: std::io::Error| Fault::new(format!("{}: {error}", path.display()));
    let mut reader = BufReader::new(File::open(path).map_err(unreadable)?);
    let (mut entities, mut line, mut number) = (Vec::new(), String::new(), 0_u64);
    loop {
        line.clear();
        if reader.by_ref().take(MAX_LINE_BYTES).read_line(&mut line).map_err(unreadable)? == 0 {
            return Ok(entities);
        }
        number += 1;
        if line.trim().is_empty() {
            continue;
        }
        let entity = NewAnnotationEntity::parse_line(&line);
        let refused =
            |refusal: Refusal| Refusal::invalid_parameter("path", path.display(), format!("line {number}: {refusal}"));
        entities.push(entity.map_err(refused)?);
        if i64::try_from(entities.len()).unwrap_or(i64::MAX) > MAX_ENTITIES {
            let message = format!("the catalogue contains at most {MAX_ENTITIES} entities");
            return Err(Refusal::invalid_parameter("path", path.display(), message).into());
        }
    }
}

fn render_entity(entity: &AnnotationEntity) -> Value {
    json!({
        "domain_id": entity.domain_id.to_string(),
        "domain_name": entity.domain_name,
        "domain_description": entity.domain_description,
        "id": entity.id.to_string(),
        "type": entity.kind,
        "name": entity.name,
        "description": entity.description,
        "aliases": entity.aliases.lines().collect::<Vec<_>>(),
    })
}
