//! Copies bytes between a client and a host that the proxy passes through.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

const COPY_BYTES: usize = 16 * 1024;

/// Ends when both sides have closed, one fails, or nothing has passed for between one and two times `idle_timeout`.
pub(crate) async fn copy_until_idle(client: &mut TcpStream, host: &mut TcpStream, idle_timeout: Duration) {
    let (from_client, to_client) = client.split();
    let (from_host, to_host) = host.split();
    let is_active = AtomicBool::new(true);
    let both = async {
        let sent = copy_bytes(from_client, to_host, &is_active);
        tokio::try_join!(sent, copy_bytes(from_host, to_client, &is_active))
    };
    let idle = async {
        while is_active.swap(false, Ordering::Relaxed) {
            sleep(idle_timeout).await;
        }
    };
    tokio::select! {
        _ = both => {}
        () = idle => {}
    }
}

async fn copy_bytes(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    is_active: &AtomicBool,
) -> io::Result<()> {
    let mut buffer = vec![0; COPY_BYTES];
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 {
            return to.shutdown().await;
        }
        is_active.store(true, Ordering::Relaxed);
        to.write_all(buffer.get(..count).unwrap_or_default()).await?;
        is_active.store(true, Ordering::Relaxed);
    }
}
