//! Arrival times of answers as the kernel saw them, rather than the time when a worker read them.
//!
//! The kernel stamps each segment with the wall clock (`SO_TIMESTAMPNS`), and a run uses the monotonic clock. Paired
//! readings of both clocks convert one into the other, and show when the wall clock was set.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use socket2::{Domain, Socket, Type};
use syscalls::{Sysno, syscall};
use truetail_model::time::{Clock, NANOS_PER_SECOND, Nanos, Timestamp};
use truetail_reactor::MonotonicClock;

/// A wall-clock instant in nanoseconds since 1970 UTC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WallTime(u64);

/// Room for one control message with stamps, with the alignment of its header.
#[repr(C)]
union ControlBuffer {
    _align: libc::cmsghdr,
    bytes: [u8; 64],
}

/// Switches stamping on until the returned socket is dropped. The kernel begins to stamp a moment after the first
/// socket of the whole system asks for it. Without this call the first answers of a run would have no stamp.
pub(crate) fn switch_on() -> Option<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).ok()?;
    enable(socket.as_fd()).ok()?;
    Some(socket)
}

/// Asks the kernel to stamp what `socket` receives.
///
/// # Errors
/// If the system does not support it.
pub(crate) fn enable(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the descriptor is open while it is borrowed, and the kernel reads exactly the bytes of `on`, which has
    // the type that this option takes.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Reads once. Returns the number of bytes, and the stamp of the last segment that was read, if there is one.
#[inline(always)]
pub(crate) fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<(usize, Option<WallTime>)> {
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let mut control = MaybeUninit::<ControlBuffer>::uninit();
    // SAFETY: a `msghdr` of zeros is valid: null pointers with zero lengths.
    let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of::<ControlBuffer>() as _;
    // SAFETY: `message` points to one part, which is `buffer`, borrowed for writing, and to a control buffer of the
    // stated length. Both outlive the call, and the kernel writes within the lengths.
    let n = unsafe { syscall!(Sysno::recvmsg, socket.as_raw_fd(), &raw mut message, 0) };
    let n = n.map_err(|error| io::Error::from_raw_os_error(error.into_raw()))?;
    // SAFETY: `message` was filled by a successful `recvmsg`, and its control buffer is still alive.
    let stamp = unsafe { stamp_of(&message) };
    Ok((n, stamp))
}

/// Returns the stamp in the control messages.
///
/// # Safety
/// `message` must have been filled by a successful `recvmsg`, and its control buffer must still be alive.
#[inline(always)]
unsafe fn stamp_of(message: &libc::msghdr) -> Option<WallTime> {
    // SAFETY: by the contract, the control part of `message` is valid, which is all that these macros require, and each
    // header that they return lies within it. The payload is read without alignment, and only if the header says that
    // it has the length of the type that is read.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        while let Some(control) = header.as_ref() {
            let whole = control.cmsg_len >= libc::CMSG_LEN(size_of::<libc::timespec>() as u32) as _;
            if control.cmsg_level == libc::SOL_SOCKET && control.cmsg_type == libc::SCM_TIMESTAMPNS && whole {
                return wall_time(libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned());
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
    None
}

/// Returns how many segments on this connection arrived before an earlier one; `None`: the system does not tell.
pub(crate) fn out_of_order(socket: BorrowedFd<'_>) -> Option<u32> {
    /// Index of `tcpi_rcv_ooopack` in `struct tcp_info`, in 32-bit words (Linux 5.4 and later).
    const OUT_OF_ORDER: usize = 56;
    let mut info = [0u32; OUT_OF_ORDER + 1];
    let mut length = size_of_val(&info) as libc::socklen_t;
    // SAFETY: the descriptor is open while it is borrowed. The kernel writes at most `length` bytes to `info`, which
    // has that size, and any bytes are valid there.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    (result == 0 && length as usize == size_of_val(&info)).then_some(info[OUT_OF_ORDER])
}

/// Converts a stamp. Zero means no stamp, as on the first segments after stamping was switched on.
fn wall_time(t: libc::timespec) -> Option<WallTime> {
    let seconds = u64::try_from(t.tv_sec).ok()?;
    let nanos = u64::try_from(t.tv_nsec).ok()?;
    (seconds > 0).then(|| WallTime(seconds * NANOS_PER_SECOND + nanos))
}

/// Compares the clocks once after each sleep, rather than for each stamp. This saves three clock readings per stamp, of
/// 47 ns each when last measured (`clock_reading_ns` in run.json).
const ONCE_A_WAKE_UP: bool = true;
/// Longest time between the two readings of a pair. If it is longer, something came between them.
const PAIR_WITHIN: Nanos = Nanos::from_micros(5);
/// Most attempts at a pair whose readings were interrupted.
const TRIES: u32 = 4;
/// Difference in nanoseconds that shows a step of the clock: several times the possible difference of two pairs. Linux
/// steers both clocks alike, so only a step moves them further apart. Without a step between, two instants of different
/// clocks that are this far apart are certainly in order.
const STEP_THRESHOLD_NS: u64 = 4 * PAIR_WITHIN.0;

/// The offset between wall clock and monotonic clock when they were last compared.
#[derive(Debug)]
pub(crate) struct ClockCorrelation {
    /// Wall time of the run's origin.
    origin: Option<u64>,
    /// The wall clock was set since the previous pair, so stamps from before and after cannot be told apart.
    doubtful: bool,
    steps: u64,
    /// The worker has slept since the last pair.
    stale: bool,
}

impl ClockCorrelation {
    pub(crate) fn new() -> ClockCorrelation {
        ClockCorrelation { origin: None, doubtful: false, steps: 0, stale: true }
    }

    /// Makes the next conversion read the clocks again. Must be called each time the worker wakes. Without a stamp to
    /// convert, the clocks are not read.
    #[inline]
    pub(crate) fn mark_stale(&mut self) {
        self.stale = true;
    }

    /// Converts a stamp like [`ClockCorrelation::convert`], after comparing the clocks if the worker has slept.
    #[inline]
    pub(crate) fn instant(
        &mut self,
        clock: &MonotonicClock,
        stamp: Option<WallTime>,
        earliest: Timestamp,
        now: Timestamp,
    ) -> Option<Timestamp> {
        if (self.stale || !ONCE_A_WAKE_UP) && stamp.is_some() {
            self.refresh(clock);
        }
        self.convert(stamp, earliest, now)
    }

    /// Returns how often the wall clock was set.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Compares the clocks. Returns false if every attempt was interrupted.
    fn refresh(&mut self, clock: &MonotonicClock) -> bool {
        self.stale = false;
        for _ in 0..TRIES {
            let before = clock.now();
            let wall = wall_now();
            let after = clock.now();
            if after.since(before) <= PAIR_WITHIN {
                self.set_pair(wall, before + Nanos(after.since(before).0 / 2));
                return true;
            }
        }
        false
    }

    fn set_pair(&mut self, wall: u64, monotonic: Timestamp) {
        let origin = wall.wrapping_sub(monotonic.0);
        self.doubtful = self.origin.is_some_and(|before| before.abs_diff(origin) > STEP_THRESHOLD_NS);
        self.steps += u64::from(self.doubtful);
        self.origin = Some(origin);
    }

    /// Converts the stamp to the run's clock. Returns `None` if the result is implausible: before `earliest`, when it
    /// was requested, or after `now`.
    fn convert(&self, stamp: Option<WallTime>, earliest: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let origin = self.origin.filter(|_| !self.doubtful)?;
        let instant = Timestamp(stamp?.0.checked_sub(origin)?);
        (instant >= earliest && instant <= now).then_some(instant)
    }

    /// Returns true if the stamp is certainly from before `instant`. Compares the clocks again, because setting one
    /// could make it seem so. Returns false if they cannot be compared.
    pub(crate) fn is_before(&mut self, clock: &MonotonicClock, stamp: Option<WallTime>, instant: Timestamp) -> bool {
        let (Some(WallTime(stamp)), Some(origin)) = (stamp, self.origin.filter(|_| !self.doubtful)) else {
            return false;
        };
        let is_before = |origin: u64| stamp.saturating_add(STEP_THRESHOLD_NS) < origin.saturating_add(instant.0);
        if !is_before(origin) {
            return false;
        }
        self.refresh(clock) && !self.doubtful && self.origin.is_some_and(is_before)
    }
}

fn wall_now() -> u64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    t.tv_sec as u64 * NANOS_PER_SECOND + t.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_segment_is_stamped_on_arrival_and_not_when_read() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        enable(near.as_fd()).unwrap();
        let clock = MonotonicClock::starting_now();
        let mut buffer = [0; 16];
        // The kernel switches stamping on a moment after it was asked, so the first segments may have no stamp.
        for _ in 0..1000 {
            let before = clock.now();
            far.write_all(b"x").unwrap();
            let sent = clock.now();
            std::thread::sleep(std::time::Duration::from_millis(20));
            let (n, stamp) = receive(near.as_fd(), &mut buffer).unwrap();
            let read = clock.now();
            let mut correlation = ClockCorrelation::new();
            correlation.refresh(&clock);
            assert_eq!(n, 1);
            assert_eq!(out_of_order(near.as_fd()), Some(0));
            if let Some(arrived) = correlation.convert(stamp, before, read) {
                assert!(arrived <= sent + Nanos::from_micros(50), "on loopback it arrives inside the write");
                return;
            }
        }
        panic!("no segment in a thousand was stamped");
    }

    #[test]
    fn stamps_that_cannot_be_are_not_believed() {
        let earliest = Timestamp(1_000);
        let now = Timestamp(2_000);
        let mut correlation = ClockCorrelation::new();
        assert_eq!(correlation.convert(Some(WallTime(1_500)), earliest, now), None, "no pair yet");
        correlation.set_pair(1_000_000, Timestamp(0));
        let convert = |correlation: &ClockCorrelation, wall| correlation.convert(Some(WallTime(wall)), earliest, now);
        assert_eq!(convert(&correlation, 1_001_500), Some(Timestamp(1_500)));
        assert_eq!(convert(&correlation, 1_000_999), None, "before it was asked for");
        assert_eq!(convert(&correlation, 1_002_001), None, "in the future");
        assert_eq!(convert(&correlation, 5), None, "before the origin");
        assert_eq!(correlation.convert(None, earliest, now), None);
        correlation.set_pair(3_600_000_000_000, Timestamp(0));
        assert_eq!((convert(&correlation, 1_001_500), correlation.steps()), (None, 1), "the clock was set");
        let clock = MonotonicClock::starting_now();
        assert!(!correlation.is_before(&clock, Some(WallTime(5)), now), "nobody knows, as long as the clock was set");
        correlation.set_pair(3_600_000_000_100, Timestamp(100));
        assert_eq!(convert(&correlation, 3_600_000_001_500), Some(Timestamp(1_500)), "and is believed again");
    }

    #[test]
    fn what_is_before_an_instant_is_so_by_both_clocks() {
        let clock = MonotonicClock::starting_now();
        let stamp = WallTime(wall_now());
        let instant = clock.now();
        let later = Timestamp(instant.0 + 10 * NANOS_PER_SECOND);
        let mut correlation = ClockCorrelation::new();
        assert!(!correlation.is_before(&clock, Some(stamp), later), "no pair yet");
        while correlation.origin.is_none() {
            correlation.refresh(&clock);
        }
        assert!(correlation.is_before(&clock, Some(stamp), later));
        assert!(
            !correlation.is_before(&clock, Some(stamp), Timestamp::ZERO) && !correlation.is_before(&clock, None, later)
        );
        // By a pair from before the clock was set, everything would seem to be long ago.
        correlation.origin = correlation.origin.map(|origin| origin + 60 * NANOS_PER_SECOND);
        assert!(!correlation.is_before(&clock, Some(stamp), instant));
    }

    /// The clock is set forward by 0.9 ms after the stamp. By the new offset, an answer seems older than its request.
    #[test]
    fn a_small_step_makes_no_answer_early() {
        const STEP: u64 = 900_000;
        let clock = MonotonicClock::starting_now();
        let mut correlation = ClockCorrelation::new();
        while !correlation.refresh(&clock) {}
        correlation.origin = correlation.origin.map(|origin| origin - STEP);
        let sent = clock.now();
        let stamp = Some(WallTime(wall_now() - STEP));
        while !correlation.refresh(&clock) {}
        assert!(!correlation.is_before(&clock, stamp, sent));
        assert_eq!(correlation.convert(stamp, Timestamp::ZERO, clock.now()), None);
        assert_eq!(correlation.steps(), 1);
    }
}
