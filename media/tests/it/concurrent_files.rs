//! Files that are written and deleted at the same time.

use futures_util::future::join_all;
use media::FileStore;
use tempfile::TempDir;

#[tokio::test]
async fn concurrent_deletes_in_a_folder_do_not_fail_writes() {
    let folder = TempDir::new().unwrap();
    let files = FileStore::local(&folder.path().join("media")).unwrap();
    let writers = (0..3).map(async |writer| {
        for number in 0..2000 {
            let name = format!("uploads/incoming/{writer}-{number}");
            files.put(&name, "segment").await.unwrap();
            files.delete(&name).await.unwrap();
        }
    });
    join_all(writers).await;
}
