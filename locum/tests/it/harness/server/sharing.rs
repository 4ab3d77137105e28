//! Servers that several tests use, or that outlive the expression that starts them.

use std::cell::RefCell;
use std::sync::OnceLock;

use super::TestServer;

/// The server that tests share which leave each other alone: demo world, no rate limits, quick audiences.
pub(crate) fn shared_server() -> &'static TestServer {
    static SHARED: OnceLock<TestServer> = OnceLock::new();
    SHARED.get_or_init(|| TestServer::start(&["--set", "ads.audience_delay=1s"]))
}

/// A server of each test's own: others neither read its posts nor promote any.
pub(crate) fn own_server() -> &'static TestServer {
    thread_local! {
        static OWN: &'static TestServer = keep_for_test(TestServer::start(&[]));
    }
    OWN.with(|server| *server)
}

/// Keeps a server for as long as the test runs that asks: one without an owner would run, and be
/// in the way of the others, until all tests have ended.
pub(crate) fn keep_for_test(server: TestServer) -> &'static TestServer {
    let server: &'static TestServer = Box::leak(Box::new(server));
    KEPT.with(|stored| stored.0.borrow_mut().push(server));
    server
}

thread_local! {
    static KEPT: Kept = const { Kept(RefCell::new(Vec::new())) };
}

/// The servers of the test that runs on this thread.
struct Kept(RefCell<Vec<&'static TestServer>>);

impl Drop for Kept {
    fn drop(&mut self) {
        for server in self.0.take() {
            server.kill_if_running();
        }
    }
}
