//! A network between a server and its database or bucket that can be cut without anybody noticing.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// Forwards connections. Bytes that are sent while it is cut arrive when it is healed.
pub(crate) struct TcpProxy {
    pub(crate) address: SocketAddr,
    link: Arc<Link>,
}

#[derive(Default)]
struct Link {
    state: Mutex<LinkState>,
    changed: Condvar,
}

#[derive(Default)]
struct LinkState {
    is_cut: bool,
    /// What cuts it as soon as it is to be forwarded.
    cut_before: Option<String>,
    /// Connections of earlier eras are closed.
    era: u64,
}

impl LinkState {
    fn check(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        if self.cut_before.take_if(|end| text.contains(end.as_str())).is_some() {
            self.is_cut = true;
        }
    }
}

impl TcpProxy {
    /// Its threads end with the connections and with the process.
    pub(crate) fn start(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let link = Arc::new(Link::default());
        let shared = Arc::clone(&link);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(target).unwrap());
                let era = shared.state.lock().unwrap().era;
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let link = Arc::clone(&shared);
                    thread::spawn(move || link.forward(from, to, era));
                }
            }
        });
        Self { address, link }
    }

    pub(crate) fn set_cut(&self, is_cut: bool) {
        self.link.state.lock().unwrap().is_cut = is_cut;
        self.link.changed.notify_all();
    }

    /// Cuts it before a request that contains this text is forwarded.
    pub(crate) fn cut_before(&self, text: &str) {
        self.link.state.lock().unwrap().cut_before = Some(text.to_owned());
    }

    /// Heals it for new connections. What was sent on the others is lost.
    pub(crate) fn close_connections(&self) {
        let mut state = self.link.state.lock().unwrap();
        (state.is_cut, state.era) = (false, state.era + 1);
        self.link.changed.notify_all();
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.link.state.lock().unwrap().is_cut
    }
}

impl Link {
    fn forward(&self, mut from: TcpStream, mut to: TcpStream, era: u64) {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let length = from.read(&mut buffer).unwrap_or(0);
            let mut state = self.state.lock().unwrap();
            state.check(&buffer[..length]);
            let is_lost = self.changed.wait_while(state, |state| state.is_cut).unwrap().era > era;
            if length == 0 || is_lost || to.write_all(&buffer[..length]).is_err() {
                // Neither side is open any more.
                drop(to.shutdown(std::net::Shutdown::Both));
                return;
            }
        }
    }
}
