//! Backend for all other systems: the `polling` crate, edge-triggered (kqueue on macOS and the BSDs).

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use polling::{Event, PollMode, Poller};
use truetail_model::time::Nanos;

use crate::readiness::Readiness;

#[derive(Debug)]
pub(crate) struct Backend(Arc<Poller>);

#[derive(Clone, Debug)]
pub(crate) struct BackendWaker(Arc<Poller>);

#[derive(Debug)]
pub(crate) struct RawEvents(polling::Events);

impl RawEvents {
    pub(crate) fn new(capacity: usize) -> RawEvents {
        RawEvents(polling::Events::with_capacity(std::num::NonZeroUsize::new(capacity.max(1)).expect("at least one")))
    }
}

impl Backend {
    pub(crate) fn new() -> io::Result<Backend> {
        Ok(Backend(Arc::new(Poller::new()?)))
    }

    pub(crate) fn add(&self, source: BorrowedFd<'_>, token: u64) -> io::Result<()> {
        use std::os::fd::AsRawFd;
        // SAFETY: the contract of `Reactor::remove` is that a source is removed before it is closed.
        unsafe { self.0.add_with_mode(source.as_raw_fd(), Event::all(token as usize), PollMode::Edge) }
    }

    pub(crate) fn remove(&self, source: BorrowedFd<'_>) -> io::Result<()> {
        self.0.delete(source)
    }

    pub(crate) fn wait(
        &self,
        raw: &mut RawEvents,
        happened: &mut Vec<Readiness>,
        timeout: Option<Nanos>,
    ) -> io::Result<()> {
        raw.0.clear();
        match self.0.wait(&mut raw.0, timeout.map(std::time::Duration::from)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            other => other?,
        };
        happened.extend(raw.0.iter().map(|event| Readiness {
            token: event.key as u64,
            readable: event.readable,
            writable: event.writable,
            may_have_ended: event.readable,
        }));
        Ok(())
    }

    pub(crate) fn wait_until(
        &self,
        raw: &mut RawEvents,
        happened: &mut Vec<Readiness>,
        monotonic_ns: u64,
    ) -> io::Result<bool> {
        // It is unknown whether the call has to wait, so report that it did not.
        let left = Nanos(monotonic_ns.saturating_sub(crate::clock::monotonic_ns()));
        self.wait(raw, happened, Some(left)).map(|()| false)
    }

    pub(crate) fn waker(&self) -> BackendWaker {
        BackendWaker(Arc::clone(&self.0))
    }
}

impl BackendWaker {
    pub(crate) fn wake(&self) {
        let _ = self.0.notify();
    }
}
