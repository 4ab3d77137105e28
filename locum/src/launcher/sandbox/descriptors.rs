//! Passes listening sockets out of the sandbox; a socket stays in the network namespace in which it was created.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

const MAX_SOCKETS: usize = 8;
const MAX_MESSAGE_BYTES: usize = 4096;
/// The message that comes with sockets; any other says why there are none.
const READY: &str = "ready";

pub(super) enum ReceivedSockets {
    Listening(Vec<TcpListener>),
    Failed(String),
}

pub(super) fn send_sockets(to: &UnixStream, sockets: &[TcpListener]) -> io::Result<()> {
    let descriptors: Vec<BorrowedFd<'_>> = sockets.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_SOCKETS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("too many sockets"));
    }
    sendmsg(to, &[IoSlice::new(READY.as_bytes())], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

pub(super) fn send_failure(to: &UnixStream, reason: &str) -> io::Result<()> {
    let reason = reason.as_bytes();
    let length = reason.len().min(MAX_MESSAGE_BYTES);
    let reason = reason.get(..length).unwrap_or_default();
    sendmsg(to, &[IoSlice::new(reason)], &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL)?;
    Ok(())
}

pub(super) fn receive_sockets(from: &UnixStream) -> io::Result<ReceivedSockets> {
    let mut text = [0; MAX_MESSAGE_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_SOCKETS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let message = recvmsg(from, &mut [IoSliceMut::new(&mut text)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let text = String::from_utf8_lossy(text.get(..message.bytes).unwrap_or_default());
    if text != READY {
        let reason = if text.is_empty() { "it ended without a message" } else { text.as_ref() };
        return Ok(ReceivedSockets::Failed(reason.to_owned()));
    }
    let mut sockets = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            sockets.extend(descriptors.map(TcpListener::from));
        }
    }
    Ok(ReceivedSockets::Listening(sockets))
}
