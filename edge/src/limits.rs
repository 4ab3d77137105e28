//! What one client may take, in time, bytes and connections.

use std::time::Duration;

/// The limits that a listener holds every connection to.
#[derive(Clone, Debug)]
pub struct ListenerLimits {
    /// From accept, or from the first byte of a later request, to the complete head.
    pub header_timeout: Duration,
    /// The longest silence while a request body is awaited.
    pub body_timeout: Duration,
    /// The longest that one request body may take altogether.
    pub body_total_timeout: Duration,
    /// The longest rest between an answer and the next request.
    pub idle_timeout: Duration,
    /// The longest time that a client may refuse to take bytes of an answer.
    pub write_timeout: Duration,
    /// Open connections altogether.
    pub max_connections: usize,
    /// Open connections of one address (IPv6: one /64); Unix sockets are not counted.
    pub max_connections_per_ip: usize,
    /// Header lines in one request.
    pub max_headers: usize,
    /// Bytes in one request's head.
    pub max_header_bytes: usize,
    /// Bytes in one request's target.
    pub max_uri: usize,
    /// From the shutdown signal until what is still open is cut off.
    pub shutdown_grace: Duration,
    /// What one HTTP/2 connection may do beyond that.
    pub http2: Http2Limits,
}

/// The limits of one HTTP/2 connection.
#[derive(Clone, Debug)]
pub struct Http2Limits {
    /// Streams open at once.
    pub max_streams: u32,
    /// Streams reset by the client before the server took them up (rapid reset).
    pub max_pending_resets: usize,
    /// Streams that the server itself reset because of client errors.
    pub max_error_resets: usize,
    /// The receive window of one stream.
    pub stream_window: u32,
    /// The receive window of the connection.
    pub connection_window: u32,
    /// Bytes of an answer buffered for one stream.
    pub max_send_buffer: usize,
    /// How often a quiet client is asked whether it lives.
    pub ping_interval: Duration,
    /// How long it may take to say so.
    pub ping_timeout: Duration,
}

impl Default for ListenerLimits {
    fn default() -> Self {
        Self {
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            body_total_timeout: Duration::from_mins(10),
            idle_timeout: Duration::from_secs(75),
            write_timeout: Duration::from_secs(30),
            max_connections: 10_000,
            max_connections_per_ip: 256,
            max_headers: 100,
            max_header_bytes: 64 * 1024,
            max_uri: 8 * 1024,
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
