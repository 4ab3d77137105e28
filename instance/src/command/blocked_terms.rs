//! `locum mod term`.

use base::Error;
use clap::{Subcommand, ValueEnum};
use network::audit::AuditActor;
use network::blocked_terms::{self, TermKind};
use serde_json::{Value, json};
use store::Tx;

use super::moderation::render_term;
use crate::Instance;

#[derive(Clone, Debug, Subcommand)]
pub enum TermCommand {
    /// List blocked terms
    List,
    /// Refuse posts, messages, profiles and lists with a word or link, or registrations with an email domain
    Block {
        /// What the term is
        kind: TermKindName,
        /// A word or phrase, or a domain, which includes its subdomains
        term: String,
        /// Accept and report it, posts out of search, or let the registration wait for approval
        #[arg(long)]
        hold: bool,
    },
    /// Stop blocking a term
    Unblock {
        /// What the term is
        kind: TermKindName,
        /// The term
        term: String,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum TermKindName {
    Word,
    LinkHost,
    EmailDomain,
}

impl From<TermKindName> for TermKind {
    fn from(name: TermKindName) -> Self {
        match name {
            TermKindName::Word => Self::Word,
            TermKindName::LinkHost => Self::LinkHost,
            TermKindName::EmailDomain => Self::EmailDomain,
        }
    }
}

pub(super) async fn execute_term_command(instance: &Instance, command: TermCommand) -> Result<Value, Error> {
    match command {
        TermCommand::List => {
            let found = instance.store.read(|tx| Ok::<_, Error>(blocked_terms::list(tx)?)).await?;
            Ok(found.iter().map(render_term).collect())
        }
        TermCommand::Block { kind, term, hold } => {
            let work = move |tx: &mut Tx<'_>| blocked_terms::set(tx, &AuditActor::operator(), kind.into(), &term, hold);
            instance.write(work).await.map(|term| render_term(&term))
        }
        TermCommand::Unblock { kind, term } => {
            let shown = term.clone();
            let work = move |tx: &mut Tx<'_>| blocked_terms::delete(tx, &AuditActor::operator(), kind.into(), &term);
            instance.write(work).await?;
            Ok(json!({ "term": shown, "blocked": false }))
        }
    }
}
