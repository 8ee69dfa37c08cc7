//! Linux backend: epoll with `epoll_pwait2`, whose timeout is in nanoseconds, and a timerfd for deadlines.

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

/// A wait for a deadline uses a timer that stays set between waits, instead of a timeout per wait. On a virtual
/// machine, a wait that an event ends costs 3.7 µs with the timer and 8.7 µs with a timeout (`cargo run --release -p
/// truetail-reactor --example waits`).
const TIMER_IS_KEPT: bool = true;

const NO_TIME: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

#[derive(Debug)]
pub(crate) struct Backend {
    epoll: OwnedFd,
    wake: Arc<OwnedFd>,
    timer: OwnedFd,
    /// Expiry of the timer, in nanoseconds of the system's monotonic clock; `None` if it is not set.
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
        // Nothing needs to read the timer: setting it again also clears its expiry.
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

    /// Waits until the deadline; see [`TIMER_IS_KEPT`].
    ///
    /// On a virtual processor, a timeout per wait is expensive: the guest exits to the host to set the processor's
    /// timer, and again to reset it if an event comes first. Therefore the timer is set only if nothing is ready yet
    /// and the timer is not set to this instant already.
    pub(crate) fn wait_until(
        &self,
        raw: &mut RawEvents,
        happened: &mut Vec<Readiness>,
        monotonic_ns: u64,
    ) -> io::Result<bool> {
        if !TIMER_IS_KEPT {
            let now = clock_gettime(ClockId::Monotonic);
            let left = monotonic_ns.saturating_sub(now.tv_sec as u64 * NANOS_PER_SECOND + now.tv_nsec as u64);
            // It is unknown whether the call had to wait, so report that it did not.
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

    /// Waits once. Returns true if anything happened, including a wake.
    fn poll(&self, raw: &mut RawEvents, happened: &mut Vec<Readiness>, timeout: Option<&Timespec>) -> io::Result<bool> {
        let waited = match epoll::wait(&self.epoll, &mut raw.0[..], timeout) {
            // A signal ends a wait before the kernel has looked for events, for example after the process was stopped.
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
        // Writing fails only if the eventfd's counter is full, and then a wake is pending anyway.
        let _ = rustix::io::write(&*self.0, &1u64.to_ne_bytes());
    }
}
