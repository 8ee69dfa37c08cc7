//! The bytes between a connection and the crate h2.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Limit of unsent bytes, for clients that send requests without reading the answers. The limit exceeds the bytes that
/// streams hand over at once, so that a poll moves all of them here.
const MAX_UNSENT: usize = 4 * 1024 * 1024;

/// Bytes in memory, in both directions. Clones share them.
#[derive(Clone, Default, Debug)]
pub(super) struct Pipe(Arc<Mutex<Buffers>>);

#[derive(Default, Debug)]
struct Buffers {
    received: Vec<u8>,
    unsent: Vec<u8>,
}

impl Pipe {
    pub(super) fn receive(&self, bytes: &[u8]) {
        self.ends().received.extend_from_slice(bytes);
    }

    /// Moves the unsent bytes to `out`, which is empty.
    pub(super) fn take_unsent(&self, out: &mut Vec<u8>) {
        std::mem::swap(&mut self.ends().unsent, out);
    }

    pub(super) fn unsent(&self) -> usize {
        self.ends().unsent.len()
    }

    fn ends(&self) -> MutexGuard<'_, Buffers> {
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
