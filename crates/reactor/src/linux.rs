//! Linux: epoll with `epoll_pwait2`, whose timeout is in nanoseconds, and a timer of its own for instants.

use std::cell::Cell;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::Errno;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, clock_gettime, timerfd_create,
    timerfd_settime,
};
use truetail_model::time::{NANOS_PER_SECOND, Nanos};

use crate::readiness::{Readiness, TIMER, WAKE};

/// A wait for an instant uses a timer that is set once for it, and not a timeout of each wait. On a virtual machine a wait that
/// something else ends takes 3.7 µs so, and 8.7 with a timeout (`cargo run --release -p truetail-reactor --example waits`).
const TIMER_IS_KEPT: bool = true;

const NO_TIME: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

#[derive(Debug)]
pub(crate) struct Backend {
    epoll: OwnedFd,
    wake: Arc<OwnedFd>,
    timer: OwnedFd,
    /// When the timer goes off, in nanoseconds of the system's monotonic clock; `None` when it is not set.
    set_to: Cell<Option<u64>>,
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
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        // Setting the timer again also clears that it has gone off, so it need not be read.
        epoll::add(&epoll, &timer, EventData::new_u64(TIMER), EventFlags::IN | EventFlags::ET)?;
        Ok(Backend { epoll, wake: Arc::new(wake), timer, set_to: Cell::new(None) })
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
        self.poll(raw, happened, timeout.map(timespec).as_ref()).map(|_| ())
    }

    /// Waits until the deadline. See [`TIMER_IS_KEPT`] for how.
    ///
    /// On a virtual processor a timeout for each wait is expensive: setting the processor's timer leaves the virtual
    /// machine, and so does resetting it when something happened first. Therefore the timer is set only when there is
    /// nothing to report yet, and when it is not set to this instant already.
    pub(crate) fn wait_until(
        &self,
        raw: &mut RawEvents,
        happened: &mut Vec<Readiness>,
        monotonic_ns: u64,
    ) -> io::Result<bool> {
        if !TIMER_IS_KEPT {
            let now = clock_gettime(ClockId::Monotonic);
            let left = monotonic_ns.saturating_sub(now.tv_sec as u64 * NANOS_PER_SECOND + now.tv_nsec as u64);
            // Whether it had to wait is not known, so it says that it had not.
            return self.poll(raw, happened, Some(&timespec(Nanos(left)))).map(|_| false);
        }
        if self.poll(raw, happened, Some(&NO_TIME))? {
            return Ok(false);
        }
        if self.set_to.get() != Some(monotonic_ns) {
            self.set_timer(monotonic_ns)?;
        }
        self.poll(raw, happened, None).map(|_| true)
    }

    fn set_timer(&self, monotonic_ns: u64) -> io::Result<()> {
        // Zero would switch the timer off.
        let instant = timespec(Nanos(monotonic_ns.max(1)));
        let once = Itimerspec { it_interval: NO_TIME, it_value: instant };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &once)?;
        self.set_to.set(Some(monotonic_ns));
        Ok(())
    }

    /// Waits once. Returns true when anything happened, a wake included.
    fn poll(&self, raw: &mut RawEvents, happened: &mut Vec<Readiness>, timeout: Option<&Timespec>) -> io::Result<bool> {
        let waited = match epoll::wait(&self.epoll, &mut raw.0[..], timeout) {
            // A signal ends a wait before the system has looked for events. Happens when the process was stopped for a
            // while.
            Err(Errno::INTR) => epoll::wait(&self.epoll, &mut raw.0[..], Some(&NO_TIME)),
            waited => waited,
        };
        let (events, _) = waited?;
        let mut woken = false;
        for event in events.iter() {
            match event.data.u64() {
                WAKE => {
                    woken = true;
                    let _ = rustix::io::read(&*self.wake, &mut [0u8; 8]);
                }
                TIMER => self.set_to.set(None),
                token => happened.push(readiness(token, event.flags)),
            }
        }
        Ok(woken || !happened.is_empty())
    }

    pub(crate) fn waker(&self) -> BackendWaker {
        BackendWaker(Arc::clone(&self.wake))
    }
}

fn timespec(t: Nanos) -> Timespec {
    Timespec { tv_sec: (t.0 / NANOS_PER_SECOND) as i64, tv_nsec: (t.0 % NANOS_PER_SECOND) as i64 }
}

#[inline]
fn readiness(token: u64, flags: EventFlags) -> Readiness {
    let ended = flags.intersects(EventFlags::ERR | EventFlags::HUP);
    Readiness {
        token,
        readable: ended || flags.intersects(EventFlags::IN | EventFlags::RDHUP),
        writable: ended || flags.contains(EventFlags::OUT),
        may_have_ended: ended || flags.contains(EventFlags::RDHUP),
    }
}

impl BackendWaker {
    pub(crate) fn wake(&self) {
        // Writing fails only when the counter of the eventfd is full, and then a wake is pending anyway.
        let _ = rustix::io::write(&*self.0, &1u64.to_ne_bytes());
    }
}
