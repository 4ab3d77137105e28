//! Limits on what one client may use: time, bytes and connections.

use std::net::IpAddr;
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct ListenerLimits {
    /// From accept, or from the first byte of a later request, to the complete head.
    pub header_timeout: Duration,
    /// The longest wait for the next bytes of a request body.
    pub body_timeout: Duration,
    /// The longest time for a whole request body.
    pub body_total_timeout: Duration,
    /// Bytes a second that a body must arrive with on average, after `body_timeout`.
    pub min_body_rate: u32,
    /// The longest time between a response and the next request.
    pub idle_timeout: Duration,
    /// The longest time that a client may accept no bytes of a response; on HTTP/2, that it makes no room for the next
    /// part of a file or stream, or the first of another response, after which the stream is reset.
    pub write_timeout: Duration,
    pub max_connections: usize,
    /// Open connections of one address (IPv6: one /64), and requests that trusted proxies forward for it; as many requests on
    /// HTTP/2. Unix sockets are not counted.
    pub max_connections_per_ip: usize,
    /// Bytes of request bodies that are kept in memory while they arrive, of all clients; the first 4 KiB of each are not
    /// counted.
    pub max_body_memory: usize,
    /// The same of one address (IPv6: one /64); requests of Unix sockets, and those that a proxy makes itself, have no
    /// address.
    pub max_body_memory_per_ip: usize,
    /// Peers whose `x-forwarded-for` is believed. Their own connections have no limit but the total.
    pub trusted_proxies: Vec<IpAddr>,
    pub max_headers: usize,
    pub max_header_bytes: usize,
    pub max_uri: usize,
    /// From the shutdown signal until remaining connections are aborted.
    pub shutdown_grace: Duration,
    pub http2: Http2Limits,
}

#[derive(Clone, Debug)]
pub struct Http2Limits {
    pub max_streams: u32,
    /// Streams reset by the client before the server accepted them (rapid reset).
    pub max_pending_resets: usize,
    /// Streams that the server reset because of client errors.
    pub max_error_resets: usize,
    /// In bytes.
    pub stream_window: u32,
    /// In bytes.
    pub connection_window: u32,
    /// Bytes of a response buffered for one stream.
    pub max_send_buffer: usize,
    pub ping_interval: Duration,
    pub ping_timeout: Duration,
}

impl Default for ListenerLimits {
    fn default() -> Self {
        Self {
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            body_total_timeout: Duration::from_mins(10),
            min_body_rate: 512,
            idle_timeout: Duration::from_secs(75),
            write_timeout: Duration::from_secs(30),
            max_connections: 10_000,
            max_connections_per_ip: 256,
            max_body_memory: 384 * 1024 * 1024,
            max_body_memory_per_ip: 128 * 1024 * 1024,
            trusted_proxies: Vec::new(),
            max_headers: 100,
            max_header_bytes: 64 * 1024,
            max_uri: 48 * 1024, // a search of 4,096 CJK characters takes 36 KiB
            shutdown_grace: Duration::from_secs(20),
            http2: Http2Limits::default(),
        }
    }
}

impl Default for Http2Limits {
    fn default() -> Self {
        Self {
            max_streams: 128,
            max_pending_resets: 20,
            max_error_resets: 64,
            stream_window: 256 * 1024,
            connection_window: 1024 * 1024,
            max_send_buffer: 256 * 1024,
            ping_interval: Duration::from_secs(30),
            ping_timeout: Duration::from_secs(20),
        }
    }
}
