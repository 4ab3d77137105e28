//! Relays connections that arrive inside the sandbox to the server outside.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Of one program; further ones wait to be accepted. As many as the server takes of one address by default.
const MAX_CONNECTIONS: usize = 256;
/// Before connections are accepted again after a failure, which is mostly a lack of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Must be called inside a Tokio runtime. Dropping the tasks closes the connections.
pub(super) fn start(sockets: impl Iterator<Item = (TcpListener, SocketAddr)>) -> io::Result<JoinSet<()>> {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut tasks = JoinSet::new();
    for (listener, target) in sockets {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        tasks.spawn(relay_connections(listener, target, Arc::clone(&permits)));
    }
    Ok(tasks)
}

async fn relay_connections(listener: tokio::net::TcpListener, target: SocketAddr, permits: Arc<Semaphore>) {
    let mut connections = JoinSet::new();
    while let Ok(permit) = Arc::clone(&permits).acquire_owned().await {
        match listener.accept().await {
            Ok((inside, _)) => {
                connections.spawn(async move {
                    let _closed = relay_connection(inside, target).await;
                    drop(permit);
                });
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn relay_connection(mut inside: TcpStream, target: SocketAddr) -> io::Result<()> {
    let mut server = TcpStream::connect(target).await?;
    inside.set_nodelay(true)?;
    server.set_nodelay(true)?;
    copy_bidirectional(&mut inside, &mut server).await?;
    Ok(())
}
