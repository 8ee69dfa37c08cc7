//! The bytes between a connection and the crate that speaks HTTP/2.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that may wait to be sent before no more are taken: what a client gets that asks on and on and reads nothing. It is more than
/// streams hand on at once, so that what they hand on is here after a poll.
const MAX_UNSENT: usize = 4 * 1024 * 1024;

/// Bytes in memory, in both directions. Clones are of the same.
#[derive(Clone, Default, Debug)]
pub(super) struct Pipe(Arc<Mutex<Ends>>);

#[derive(Default, Debug)]
struct Ends {
    received: Vec<u8>,
    unsent: Vec<u8>,
}

impl Pipe {
    /// Adds bytes that came.
    pub(super) fn receive(&self, bytes: &[u8]) {
        self.ends().received.extend_from_slice(bytes);
    }

    /// Moves the bytes that are to be sent to `out`, which is empty.
    pub(super) fn take_unsent(&self, out: &mut Vec<u8>) {
        std::mem::swap(&mut self.ends().unsent, out);
    }

    /// How many bytes are to be sent.
    pub(super) fn unsent(&self) -> usize {
        self.ends().unsent.len()
    }

    fn ends(&self) -> MutexGuard<'_, Ends> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsyncRead for Pipe {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut ends = self.ends();
        if ends.received.is_empty() {
            return Poll::Pending;
        }
        let length = ends.received.len().min(buffer.remaining());
        buffer.put_slice(&ends.received[..length]);
        ends.received.drain(..length);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut ends = self.ends();
        if ends.unsent.len() >= MAX_UNSENT {
            return Poll::Pending;
        }
        ends.unsent.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
