//! Writes the data of one account as an archive that [`crate::import`] reads.

mod elements;
mod unshared_data;
mod zip_stream;

use std::sync::Arc;

use base::{Fault, UserId};
use bytes::Bytes;
use futures_util::TryStreamExt;
use media::FileStore;
use serde_json::json;
use store::graph::{self, RelationKind};
use store::users::{self, User};
use store::{Store, follows};
use tokio::sync::mpsc;

use crate::error::TransferError;
use elements::{ElementPage, ElementQuery, LoadElements};
use zip_stream::ZipStream;

/// Chunks of at least 64 KiB, but the last, that wait for the reader.
const CHUNK_QUEUE_LENGTH: usize = 4;

#[derive(Clone)]
pub struct AccountArchiveSource {
    pub store: Arc<Store>,
    pub files: FileStore,
    pub user: UserId,
    /// `https://example.org`.
    pub site_url: String,
}

/// The file, the data type in the manifest, the name of the variable, and what loads a page of elements.
type DataFile = (&'static str, &'static str, &'static str, LoadElements);

const DATA_FILES: &[DataFile] = &[
    ("account.js", "account", "account", elements::load_account),
    ("profile.js", "profile", "profile", elements::load_profile),
    ("tweets.js", "tweets", "tweets", elements::load_posts),
    ("follower.js", "follower", "follower", |tx, query| {
        elements::load_accounts(tx, query, "follower", follows::follower_page)
    }),
    ("following.js", "following", "following", |tx, query| {
        elements::load_accounts(tx, query, "following", follows::following_page)
    }),
    ("like.js", "like", "like", elements::load_likes),
    ("bookmark.js", "bookmark", "bookmark", unshared_data::load_bookmarks),
    ("muted-words.js", "mutedWords", "muted_words", unshared_data::load_muted_words),
    ("drafts.js", "drafts", "drafts", unshared_data::load_drafts),
    ("block.js", "block", "block", |tx, query| {
        elements::load_accounts(tx, query, "blocking", |tx, user, range| {
            graph::target_page(tx, RelationKind::Block, user, range)
        })
    }),
    ("mute.js", "mute", "mute", |tx, query| {
        elements::load_accounts(tx, query, "muting", |tx, user, range| {
            graph::target_page(tx, RelationKind::Mute, user, range)
        })
    }),
    ("lists-created.js", "listsCreated", "lists_created", elements::load_lists),
    ("direct-messages.js", "directMessages", "direct_messages", elements::load_messages),
];

/// The bytes of a zip file, which are made while they are read. Each page of data is read in its own transaction.
/// Ends with an error if the archive is incomplete.
#[expect(clippy::disallowed_methods, reason = "the task ends with the archive or its reader")]
pub fn stream_account_archive(source: AccountArchiveSource) -> mpsc::Receiver<Result<Bytes, TransferError>> {
    let (out, chunks) = mpsc::channel(CHUNK_QUEUE_LENGTH);
    let limits = store::current_query_limits().unwrap_or_default();
    tokio::spawn(async move {
        let zip = ZipStream::new(out.clone());
        let work = store::limit_queries(limits, Box::pin(write_archive(&source, zip)));
        tokio::select! {
            () = out.closed() => {}
            done = work => {
                if let Err(error) = done {
                    // The reader may have left.
                    let _gone = out.send(Err(error)).await;
                }
            }
        }
    });
    chunks
}

async fn write_archive(source: &AccountArchiveSource, mut zip: ZipStream) -> Result<(), TransferError> {
    let user = source.user;
    let found = source.store.read(move |tx| Ok(users::find_by_id(tx, user)?)).await?;
    let user = found.ok_or_else(|| TransferError::Owner(format!("there is no user {user}")))?;
    let mut data_types = serde_json::Map::new();
    for (file, data_type, variable, load) in DATA_FILES {
        let name = format!("data/{file}");
        let count = write_elements(source, &mut zip, &name, variable, *load).await?;
        let file = json!({
            "fileName": name,
            "globalName": format!("YTD.{variable}.part0"),
            "count": count.to_string(),
        });
        data_types.insert((*data_type).to_owned(), json!({ "files": [file] }));
    }
    write_files(source, &mut zip, &user).await?;
    let manifest = json!({
        "userInfo": { "accountId": user.id.to_string(), "userName": user.username, "displayName": user.name },
        "dataTypes": data_types,
    });
    zip.start_file("data/manifest.js")?;
    zip.write(format!("window.__THAR_CONFIG = {manifest}").as_bytes()).await?;
    Box::pin(zip.finish()).await
}

/// Returns how many elements were written.
async fn write_elements(
    source: &AccountArchiveSource,
    zip: &mut ZipStream,
    name: &str,
    variable: &str,
    load: LoadElements,
) -> Result<u64, TransferError> {
    zip.start_file(name)?;
    zip.write(format!("window.YTD.{variable}.part0 = [").as_bytes()).await?;
    let (mut count, mut below) = (0, Some(i64::MAX));
    while let Some(end) = below {
        let page = load_page(source, load, end).await?;
        for element in &page.elements {
            let separator = if count == 0 { "\n" } else { ",\n" };
            zip.write(format!("{separator}{element}").as_bytes()).await?;
            count += 1;
        }
        below = page.next;
    }
    zip.write(b"\n]\n").await?;
    Ok(count)
}

async fn load_page<T: Send + 'static>(
    source: &AccountArchiveSource,
    load: LoadElements<T>,
    below: i64,
) -> Result<ElementPage<T>, TransferError> {
    let query = ElementQuery { site: source.site_url.clone(), user: source.user, below };
    Ok(source.store.read(move |tx| Ok(load(tx, &query)?)).await?)
}

/// Pictures of the profile, and the files of posts and messages. Those that are missing are left out.
async fn write_files(source: &AccountArchiveSource, zip: &mut ZipStream, user: &User) -> Result<(), TransferError> {
    let owner = user.clone();
    for (name, path) in source.store.read(move |tx| Ok(elements::list_profile_files(tx, &owner)?)).await? {
        write_file(source, zip, &name, &path).await?;
    }
    let lists: [LoadElements<_>; 2] = [elements::list_post_files, elements::list_message_files];
    for list_files in lists {
        let mut below = Some(i64::MAX);
        while let Some(end) = below {
            let page = load_page(source, list_files, end).await?;
            for (name, path) in &page.elements {
                write_file(source, zip, name, path).await?;
            }
            below = page.next;
        }
    }
    Ok(())
}

async fn write_file(
    source: &AccountArchiveSource,
    zip: &mut ZipStream,
    name: &str,
    path: &str,
) -> Result<(), TransferError> {
    let failed = Fault::context::<media::FileStoreError>("reading a file for an archive");
    let Some(mut file) = source.files.read(path, None).await.map_err(failed)? else {
        return Ok(());
    };
    zip.start_stored_file(name)?;
    while let Some(bytes) = file.bytes.try_next().await.map_err(Fault::context("reading a file for an archive"))? {
        zip.write(&bytes).await?;
    }
    Ok(())
}
