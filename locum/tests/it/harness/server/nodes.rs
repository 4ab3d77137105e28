//! Further nodes of a real network that has a database server.

use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

use base::encryption::MasterKey;

use super::TestServer;
use crate::harness::{DatabaseEngine, TestRequest, free_address, wait_until};

impl TestServer {
    /// Starts one more node, with the media files of the first one.
    pub(crate) fn start_another_node(&self, node: u16) -> Self {
        self.start_another_node_with(node, &[])
    }

    /// The same, with further settings.
    pub(crate) fn start_another_node_with(&self, node: u16, settings: &[&str]) -> Self {
        let mut server = self.prepare_another_node(node, settings);
        server.restart_as_node();
        server
    }

    /// The same, not started yet.
    pub(crate) fn prepare_another_node(&self, node: u16, settings: &[&str]) -> Self {
        let address = free_address();
        let mut server = Self::prepare_on_engine(DatabaseEngine::Sqlite, &[]);
        server.database.clone_from(&self.database);
        std::fs::create_dir(server.data_dir()).unwrap();
        std::fs::copy(self.data_dir().join("master.key"), server.data_dir().join("master.key")).unwrap();
        server.args = Vec::new();
        let media = format!("media.dir={}", self.data_dir().join("media").display());
        let own = [format!("listen.addr={address}"), format!("core.node={node}"), media];
        let own =
            own.into_iter().chain(settings.iter().map(ToString::to_string)).flat_map(|key| ["--set".to_owned(), key]);
        server.network = self.network.clone().map(|sets| sets.into_iter().chain(own).collect());
        server
    }

    /// Starts a node, whose public address may be that of another one, and waits until it serves.
    pub(crate) fn restart_as_node(&mut self) {
        self.spawn();
        self.await_ready_as_node();
    }

    pub(crate) fn await_ready_as_node(&mut self) {
        wait_until("the node says where it is", || {
            assert!(self.is_running(), "it ended\n{}\n{}", self.stdout(), self.stderr());
            let address = self.listening_address(self.pid(), "addr").unwrap_or_default();
            self.url = format!("http://{address}");
            !address.is_empty()
        });
        wait_until("the node is ready", || {
            self.try_send(TestRequest::get("/readyz")).is_some_and(|response| response.status == 200)
        });
    }

    /// As the first start would, so that other nodes can be prepared before it.
    pub(crate) fn create_master_key(&self) {
        std::fs::DirBuilder::new().mode(0o700).create(self.data_dir()).unwrap();
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let mut file = options.open(self.data_dir().join("master.key")).unwrap();
        let key = MasterKey::generate(&base::Rng::Os).unwrap().encode();
        std::io::Write::write_all(&mut file, key.expose_secret().as_bytes()).unwrap();
    }
}
