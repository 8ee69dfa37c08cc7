//! Linux: epoll with `epoll_pwait2`, whose timeout is in nanoseconds.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::Errno;
use truetail_model::time::{NANOS_PER_SECOND, Nanos};

use crate::{Readiness, WAKE};

const NO_TIME: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

#[derive(Debug)]
pub(crate) struct Backend {
    epoll: OwnedFd,
    wake: Arc<OwnedFd>,
}

#[derive(Clone, Debug)]
pub(crate) struct BackendWaker(Arc<OwnedFd>);

#[derive(Debug)]
pub(crate) struct RawEvents(Vec<MaybeUninit<epoll::Event>>);

impl RawEvents {
    pub(crate) fn new(capacity: usize) -> RawEvents {
        RawEvents(vec![MaybeUninit::uninit(); capacity.max(1)])
    }
}

impl Backend {
    pub(crate) fn new() -> io::Result<Backend> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        epoll::add(&epoll, &wake, EventData::new_u64(WAKE), EventFlags::IN)?;
        Ok(Backend { epoll, wake: Arc::new(wake) })
    }

    pub(crate) fn add(&self, source: BorrowedFd<'_>, token: u64) -> io::Result<()> {
        let interest = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        Ok(epoll::add(&self.epoll, source, EventData::new_u64(token), interest)?)
    }

    pub(crate) fn remove(&self, source: BorrowedFd<'_>) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, source)?)
    }

    pub(crate) fn wait(
        &self,
        raw: &mut RawEvents,
        happened: &mut Vec<Readiness>,
        timeout: Option<Nanos>,
    ) -> io::Result<()> {
        let timeout = timeout
            .map(|t| Timespec { tv_sec: (t.0 / NANOS_PER_SECOND) as i64, tv_nsec: (t.0 % NANOS_PER_SECOND) as i64 });
        let waited = match epoll::wait(&self.epoll, &mut raw.0[..], timeout.as_ref()) {
            // A signal ends a wait without a look at what is ready: so it is when the process was stopped for a while.
            Err(Errno::INTR) => epoll::wait(&self.epoll, &mut raw.0[..], Some(&NO_TIME)),
            waited => waited,
        };
        let (events, _) = waited?;
        for event in events.iter() {
            let token = event.data.u64();
            if token == WAKE {
                let _ = rustix::io::read(&*self.wake, &mut [0u8; 8]);
                continue;
            }
            let flags = event.flags;
            let ended = flags.intersects(EventFlags::ERR | EventFlags::HUP);
            happened.push(Readiness {
                token,
                readable: ended || flags.intersects(EventFlags::IN | EventFlags::RDHUP),
                writable: ended || flags.contains(EventFlags::OUT),
                may_have_ended: ended || flags.contains(EventFlags::RDHUP),
            });
        }
        Ok(())
    }

    pub(crate) fn waker(&self) -> BackendWaker {
        BackendWaker(Arc::clone(&self.wake))
    }
}

impl BackendWaker {
    pub(crate) fn wake(&self) {
        // The counter of an eventfd is full only when it was not read for ages: then a wake is pending anyway.
        let _ = rustix::io::write(&*self.0, &1u64.to_ne_bytes());
    }
}
