//! Opens the search index of a data directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{Error, Fault, clock};
use post_search::PostSearch;
use store::{Store, meta};

use super::open::NETWORK_ID_KEY;
use super::private_files::write_private;
use crate::config::{RunMode, ServerSettings};

const SEARCH_INDEX_DIR: &str = "search";
/// In the index folder: the network whose posts it contains.
pub const OWNER_FILE: &str = "network_id";

pub fn search_index_folder(settings: &ServerSettings) -> PathBuf {
    settings.core.data_dir.join(SEARCH_INDEX_DIR)
}

/// Moves aside what is no index of this network: a file always, the index of another network in development. In
/// production that is refused.
pub async fn open_search_index(settings: &ServerSettings, store: &Store) -> Result<Arc<PostSearch>, Error> {
    let folder = search_index_folder(settings);
    let network_id = store.read(|tx| Ok::<_, Error>(meta::get(tx, NETWORK_ID_KEY)?)).await?;
    let network_id = network_id.ok_or_else(|| Fault::new("the database has no network id"))?;
    claim_folder(&folder, &network_id, settings.mode)?;
    Ok(PostSearch::open(&folder)?)
}

fn claim_folder(folder: &Path, network_id: &str, mode: RunMode) -> Result<(), Fault> {
    if fs::metadata(folder).is_ok_and(|found| !found.is_dir()) {
        move_aside(folder, "it is not a folder")?;
    }
    let owner_file = folder.join(OWNER_FILE);
    match fs::read_to_string(&owner_file) {
        Ok(owner) if owner.trim() == network_id => return Ok(()),
        Ok(_) if mode == RunMode::Serve => {
            return Err(Fault::new(format!(
                "{} is the search index of another network: set core.data_dir to this network's data directory, or \
                 move the index away, and the next start rebuilds it from the database",
                folder.display()
            )));
        }
        Ok(_) => move_aside(folder, "it belongs to another network")?,
        Err(_) => {}
    }
    fs::create_dir_all(folder).map_err(Fault::context("failed to create the index folder"))?;
    write_private(&owner_file, network_id)
}

fn move_aside(folder: &Path, reason: &str) -> Result<(), Fault> {
    let name_at = |ms: i64| {
        let mut name = folder.as_os_str().to_owned();
        name.push(format!(".aside-{ms}"));
        PathBuf::from(name)
    };
    let now = clock::wall_time().ms();
    let mut names = (now..now.saturating_add(100)).map(name_at);
    let aside =
        names.find(|name| !name.exists()).ok_or_else(|| Fault::new("other indexes were moved aside just now"))?;
    fs::rename(folder, &aside).map_err(Fault::context("moving the search index aside"))?;
    tracing::warn!(reason, path = %folder.display(), aside = %aside.display(), "moved the search index aside");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{OWNER_FILE, RunMode, claim_folder};

    fn entries(folder: &std::path::Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn index_of_another_network_is_moved_aside_or_refused() {
        let data = tempfile::tempdir().unwrap();
        let folder = data.path().join("search");
        claim_folder(&folder, "one", RunMode::Serve).unwrap();
        fs::create_dir(folder.join("1")).unwrap();
        claim_folder(&folder, "one", RunMode::Serve).unwrap();
        let refused = claim_folder(&folder, "two", RunMode::Serve).unwrap_err().to_string();
        assert!(refused.contains("another network") && folder.join("1").exists(), "{refused}");
        claim_folder(&folder, "two", RunMode::Dev).unwrap();
        assert_eq!((entries(data.path()), entries(&folder)), (2, 1));
        assert_eq!(fs::read_to_string(folder.join(OWNER_FILE)).unwrap(), "two");
    }

    #[test]
    fn file_in_place_of_the_index_is_moved_aside() {
        let data = tempfile::tempdir().unwrap();
        let folder = data.path().join("search");
        for mode in [RunMode::Serve, RunMode::Dev] {
            fs::write(&folder, "not an index").unwrap();
            claim_folder(&folder, "one", mode).unwrap();
            assert_eq!(entries(&folder), 1);
            fs::remove_dir_all(&folder).unwrap();
        }
        assert_eq!(entries(data.path()), 2);
    }
}
