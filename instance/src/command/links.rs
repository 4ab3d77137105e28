//! `locum link`.

use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use base::refusal::RefusalKind;
use base::{Error, Fault, Refusal};
use clap::{Args, Subcommand};
use network::link_facts::{self, DescribedImage, LinkDescription};
use serde_json::{Value, json};
use store::Tx;

use crate::Instance;

/// Lines per transaction.
const BATCH_LINES: usize = 500;
/// In bytes.
const MAX_LINE: u64 = 64 * 1024;

#[derive(Clone, Debug, Subcommand)]
pub enum LinkCommand {
    /// Say what is behind a URL: the title, description and images that posts with it show
    Describe(DescribeLinkArgs),
    /// Describe the URLs of a file of JSON Lines: url, title, description, images, `unwound_url`, status
    Import {
        /// The file
        path: PathBuf,
    },
    /// Show what is known about a URL
    Show {
        /// The URL
        #[arg(value_name = "URL")]
        link: String,
    },
}

#[derive(Args, Clone, Debug)]
pub struct DescribeLinkArgs {
    /// The URL, as posts contain it
    #[arg(value_name = "URL")]
    link: String,
    /// The title of the page: up to 300 characters
    #[arg(long, default_value = "", hide_default_value = true)]
    title: String,
    /// The description of the page: up to 1,000 characters
    #[arg(long, default_value = "", hide_default_value = true)]
    description: String,
    /// An image of the page and its size in pixels; repeatable, up to four
    #[arg(long, value_name = "URL,WIDTH,HEIGHT")]
    image: Vec<String>,
    /// The URL to which the URL redirects
    #[arg(long, default_value = "", hide_default_value = true, value_name = "URL")]
    unwound_url: String,
    /// The HTTP status of the page
    #[arg(long)]
    status: Option<i64>,
}

impl LinkCommand {
    /// The file to import, relative to the caller's working directory until it is made absolute.
    pub(super) const fn path_mut(&mut self) -> Option<&mut PathBuf> {
        match self {
            Self::Import { path } => Some(path),
            Self::Describe(_) | Self::Show { .. } => None,
        }
    }
}

pub(super) async fn execute(instance: &Instance, command: LinkCommand) -> Result<Value, Error> {
    match command {
        LinkCommand::Describe(args) => {
            let images: Result<Vec<DescribedImage>, Refusal> =
                args.image.iter().map(|text| parse_image(text)).collect();
            let page = LinkDescription {
                url: args.link,
                unwound_url: args.unwound_url,
                status: args.status,
                title: args.title,
                description: args.description,
                images: images?,
            };
            let url = page.url.clone();
            instance.write(move |tx| link_facts::describe(tx, &page)).await?;
            show(instance, url).await
        }
        LinkCommand::Import { path } => import(instance, &path).await,
        LinkCommand::Show { link } => show(instance, link).await,
    }
}

async fn show(instance: &Instance, url: String) -> Result<Value, Error> {
    let wanted = url.clone();
    let found = instance.store.read(move |tx| Ok(link_facts::find_description(tx, &wanted)?)).await?;
    let unknown = || Refusal::named_reason(RefusalKind::NotFound, "url", url, "Nothing is known about this URL.");
    let found = found.ok_or_else(unknown)?;
    serde_json::to_value(found).map_err(|error| Fault::context("rendering a link")(error).into())
}

/// `URL,WIDTH,HEIGHT`; the URL may contain commas.
fn parse_image(text: &str) -> Result<DescribedImage, Refusal> {
    let parse = || {
        let mut parts = text.rsplitn(3, ',');
        let (height, width) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some(DescribedImage { url: parts.next()?.to_owned(), width, height })
    };
    parse().ok_or_else(|| Refusal::invalid_parameter("image", text, "An image is written as URL,WIDTH,HEIGHT."))
}

/// Lines before a wrong one are imported.
async fn import(instance: &Instance, path: &Path) -> Result<Value, Error> {
    let shown = path.display();
    let refused = |message: String| Refusal::invalid_parameter("path", &shown, format!("{shown}: {message}"));
    let unreadable = |error: std::io::Error| {
        Refusal::named_reason(RefusalKind::Conflict, "path", &shown, format!("{shown}: {error}"))
    };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut lines = BufReader::new(file);
    let (mut batch, mut count) = (Vec::new(), 0_usize);
    for number in 1_usize.. {
        let mut line = String::new();
        let read = std::io::Read::take(&mut lines, MAX_LINE).read_line(&mut line);
        let read = read.map_err(|error| match error.kind() {
            ErrorKind::InvalidData => refused(format!("line {number}: {error}")),
            _ => unreadable(error),
        })?;
        if read == 0 {
            break;
        }
        if line.trim().is_empty() {
            continue;
        }
        let page: LinkDescription =
            serde_json::from_str(&line).map_err(|error| refused(format!("line {number}: {error}")))?;
        batch.push(page);
        if batch.len() == BATCH_LINES {
            count += describe_all(instance, std::mem::take(&mut batch)).await?;
        }
    }
    count += describe_all(instance, batch).await?;
    Ok(json!({ "described": count }))
}

async fn describe_all(instance: &Instance, pages: Vec<LinkDescription>) -> Result<usize, Error> {
    let count = pages.len();
    let write = move |tx: &mut Tx<'_>| pages.iter().try_for_each(|page| link_facts::describe(tx, page));
    instance.write(write).await?;
    Ok(count)
}
