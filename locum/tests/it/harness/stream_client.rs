//! A client of a stream that sees every byte: chunks, line ends and silences.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use base::clock::monotonic_now;
use serde_json::Value;

use super::{TestServer, WAIT_TIMEOUT};

/// What a stream brought.
#[derive(Debug)]
enum StreamLine {
    Message(Value),
    KeepAlive,
}

/// An open stream.
pub(crate) struct StreamClient {
    pub(crate) head: String,
    socket: TcpStream,
    lines: Receiver<StreamLine>,
    pub(crate) keep_alives: usize,
}

impl StreamClient {
    /// Connects, and panics unless the answer is a stream.
    #[track_caller]
    pub(crate) fn open(server: &TestServer, target: &str, bearer: &str) -> Self {
        Self::open_with_header(server, target, &format!("authorization: Bearer {bearer}"))
    }

    /// The same with what a browser sends, or another header.
    #[track_caller]
    pub(crate) fn open_with_header(server: &TestServer, target: &str, header: &str) -> Self {
        let (socket, head) = Self::send_request(server, target, header);
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        assert!(head.to_lowercase().contains("transfer-encoding: chunked"), "{head}");
        let reading = BufReader::new(socket.try_clone().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut reading = reading;
            while let Some(chunk) = read_chunk(&mut reading) {
                // A message a chunk, each with its line end.
                let text = chunk.strip_suffix("\r\n").expect("a chunk ends its line");
                assert!(!text.contains(['\r', '\n']), "one line: {text:?}");
                let line = if text.is_empty() {
                    StreamLine::KeepAlive
                } else {
                    StreamLine::Message(serde_json::from_str(text).expect("a message is JSON"))
                };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { head, socket, lines, keep_alives: 0 }
    }

    /// Connects and reads nothing but the head.
    pub(crate) fn connect_raw(server: &TestServer, target: &str, bearer: &str) -> (TcpStream, String) {
        Self::send_request(server, target, &format!("authorization: Bearer {bearer}"))
    }

    /// Sends a request with one more header; the connection and the head of the answer.
    pub(crate) fn send_request(server: &TestServer, target: &str, header: &str) -> (TcpStream, String) {
        let address = server.url.strip_prefix("http://").unwrap();
        let mut socket = TcpStream::connect(address).unwrap();
        let head = format!("GET {target} HTTP/1.1\r\nhost: {address}\r\n{header}\r\n\r\n");
        socket.write_all(head.as_bytes()).unwrap();
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            assert_eq!(socket.read(&mut byte).unwrap(), 1, "the head breaks off");
            head.push(byte[0]);
        }
        (socket, String::from_utf8(head).unwrap())
    }

    /// The next message within a time; none when there is none or the stream ends.
    pub(crate) fn next_within(&mut self, time: Duration) -> Option<Value> {
        let until: Instant = monotonic_now() + time;
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(monotonic_now())) {
                Ok(StreamLine::Message(message)) => return Some(message),
                Ok(StreamLine::KeepAlive) => self.keep_alives += 1,
                Err(_) => return None,
            }
        }
    }

    /// The next message.
    #[track_caller]
    pub(crate) fn next_message(&mut self) -> Value {
        self.next_within(WAIT_TIMEOUT).expect("a message comes")
    }

    /// Nothing comes for a while.
    #[track_caller]
    pub(crate) fn assert_silent(&mut self) {
        let came = self.next_within(Duration::from_millis(400));
        assert!(came.is_none(), "{came:?}");
    }

    /// The texts of the next messages.
    #[track_caller]
    pub(crate) fn next_texts(&mut self, count: usize) -> Vec<String> {
        let text = |message: Value| message["data"]["text"].as_str().unwrap_or("").to_owned();
        (0..count).map(|_| text(self.next_message())).collect()
    }

    /// Waits for the end; whether it came, and the last message before it.
    pub(crate) fn wait_for_end(&mut self) -> (bool, Option<Value>) {
        let until = monotonic_now() + WAIT_TIMEOUT;
        let mut last = None;
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(monotonic_now())) {
                Ok(StreamLine::Message(message)) => last = Some(message),
                Ok(StreamLine::KeepAlive) => self.keep_alives += 1,
                Err(RecvTimeoutError::Disconnected) => return (true, last),
                Err(RecvTimeoutError::Timeout) => return (false, last),
            }
        }
    }

    /// The type of disconnect that it ends with.
    #[track_caller]
    pub(crate) fn disconnect_type(&mut self) -> String {
        let (ended, last) = self.wait_for_end();
        assert!(ended, "the stream goes on");
        let last = last.unwrap();
        let error = &last["errors"][0];
        assert_eq!(error["title"], "operational-disconnect", "{last}");
        error["disconnect_type"].as_str().unwrap().to_owned()
    }
}

impl Drop for StreamClient {
    fn drop(&mut self) {
        let _gone = self.socket.shutdown(Shutdown::Both);
    }
}

fn read_chunk(reading: &mut BufReader<TcpStream>) -> Option<String> {
    let mut size = String::new();
    reading.read_line(&mut size).ok()?;
    let size = usize::from_str_radix(size.trim(), 16).ok()?;
    let mut bytes = vec![0; size + 2];
    reading.read_exact(&mut bytes).ok()?;
    bytes.truncate(size);
    let chunk = String::from_utf8(bytes).expect("no character is cut in two");
    (size > 0).then_some(chunk)
}
