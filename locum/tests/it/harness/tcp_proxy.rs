//! A network between a server and its database that can be cut without anybody noticing.

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
    is_cut: Mutex<bool>,
    changed: Condvar,
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
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let link = Arc::clone(&shared);
                    thread::spawn(move || link.forward(from, to));
                }
            }
        });
        Self { address, link }
    }

    pub(crate) fn set_cut(&self, is_cut: bool) {
        *self.link.is_cut.lock().unwrap() = is_cut;
        self.link.changed.notify_all();
    }
}

impl Link {
    fn forward(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let length = from.read(&mut buffer).unwrap_or(0);
            drop(self.changed.wait_while(self.is_cut.lock().unwrap(), |is_cut| *is_cut).unwrap());
            if length == 0 || to.write_all(&buffer[..length]).is_err() {
                // Neither side is open any more.
                drop(to.shutdown(std::net::Shutdown::Both));
                return;
            }
        }
    }
}
