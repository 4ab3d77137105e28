//! A client of a stream that sees every byte: chunks, line ends and silences.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use base::clock::monotonic_now;
use serde_json::Value;

use super::{PATIENCE, Server};

/// What a stream brought.
#[derive(Debug)]
enum Line {
    Message(Value),
    KeepAlive,
}

/// An open stream.
pub(crate) struct Listener {
    pub(crate) head: String,
    socket: TcpStream,
    lines: Receiver<Line>,
    pub(crate) keep_alives: usize,
}

impl Listener {
    /// Connects, and panics unless the answer is a stream.
    #[track_caller]
    pub(crate) fn open(server: &Server, target: &str, bearer: &str) -> Self {
        Self::with(server, target, &format!("authorization: Bearer {bearer}"))
    }

    /// The same with what a browser sends, or another header.
    #[track_caller]
    pub(crate) fn with(server: &Server, target: &str, header: &str) -> Self {
        let (socket, head) = Self::send(server, target, header);
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        assert!(
            head.to_lowercase().contains("transfer-encoding: chunked"),
            "{head}"
        );
        let reading = BufReader::new(socket.try_clone().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut reading = reading;
            while let Some(chunk) = chunk(&mut reading) {
                // A message a chunk, each with its line end.
                let text = chunk.strip_suffix("\r\n").expect("a chunk ends its line");
                assert!(!text.contains(['\r', '\n']), "one line: {text:?}");
                let line = if text.is_empty() {
                    Line::KeepAlive
                } else {
                    Line::Message(serde_json::from_str(text).expect("a message is JSON"))
                };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            head,
            socket,
            lines,
            keep_alives: 0,
        }
    }

    /// Connects and reads nothing but the head.
    pub(crate) fn ask(server: &Server, target: &str, bearer: &str) -> (TcpStream, String) {
        Self::send(server, target, &format!("authorization: Bearer {bearer}"))
    }

    fn send(server: &Server, target: &str, header: &str) -> (TcpStream, String) {
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
    pub(crate) fn within(&mut self, time: Duration) -> Option<Value> {
        let until: Instant = monotonic_now() + time;
        loop {
            match self
                .lines
                .recv_timeout(until.saturating_duration_since(monotonic_now()))
            {
                Ok(Line::Message(message)) => return Some(message),
                Ok(Line::KeepAlive) => self.keep_alives += 1,
                Err(_) => return None,
            }
        }
    }

    /// The next message.
    #[track_caller]
    pub(crate) fn next(&mut self) -> Value {
        self.within(PATIENCE).expect("a message comes")
    }

    /// Nothing comes for a while.
    #[track_caller]
    pub(crate) fn is_silent(&mut self) {
        let came = self.within(Duration::from_millis(400));
        assert!(came.is_none(), "{came:?}");
    }

    /// The texts of the next messages.
    #[track_caller]
    pub(crate) fn texts(&mut self, count: usize) -> Vec<String> {
        let text = |message: Value| message["data"]["text"].as_str().unwrap_or("").to_owned();
        (0..count).map(|_| text(self.next())).collect()
    }

    /// Waits for the end; whether it came, and the last message before it.
    pub(crate) fn end(&mut self) -> (bool, Option<Value>) {
        let until = monotonic_now() + PATIENCE;
        let mut last = None;
        loop {
            match self
                .lines
                .recv_timeout(until.saturating_duration_since(monotonic_now()))
            {
                Ok(Line::Message(message)) => last = Some(message),
                Ok(Line::KeepAlive) => self.keep_alives += 1,
                Err(RecvTimeoutError::Disconnected) => return (true, last),
                Err(RecvTimeoutError::Timeout) => return (false, last),
            }
        }
    }

    /// The type of disconnect that it ends with.
    #[track_caller]
    pub(crate) fn farewell(&mut self) -> String {
        let (ended, last) = self.end();
        assert!(ended, "the stream goes on");
        let last = last.unwrap();
        let error = &last["errors"][0];
        assert_eq!(error["title"], "operational-disconnect", "{last}");
        error["disconnect_type"].as_str().unwrap().to_owned()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _gone = self.socket.shutdown(Shutdown::Both);
    }
}

fn chunk(reading: &mut BufReader<TcpStream>) -> Option<String> {
    let mut size = String::new();
    reading.read_line(&mut size).ok()?;
    let size = usize::from_str_radix(size.trim(), 16).ok()?;
    let mut bytes = vec![0; size + 2];
    reading.read_exact(&mut bytes).ok()?;
    bytes.truncate(size);
    let chunk = String::from_utf8(bytes).expect("no character is cut in two");
    (size > 0).then_some(chunk)
}
