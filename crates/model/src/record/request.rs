//! The record of one arrival. Every number of a run is computed from these records.

use super::Outcome;
use crate::arrival::Arrival;
use crate::time::{Nanos, Timestamp};

/// Causes of a late start. The parts add up to `actual_start - intended_start`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StartDelay {
    /// A connection was free, but the generator was late.
    pub generator_lag: Nanos,
    /// The user's own cap on connections, or on requests in flight, was reached.
    pub connection_wait: Nanos,
    /// A new connection was opened: TCP, and TLS if used. Names are resolved before the run.
    pub connect: Nanos,
}

impl StartDelay {
    /// Splits the time from `intended` to `actual`. `connection_wait` and `connect` are known; the rest is generator
    /// lag. If the two are longer than the whole, `connect` counts first.
    pub fn split(intended: Timestamp, actual: Timestamp, connection_wait: Nanos, connect: Nanos) -> StartDelay {
        let total = actual.since(intended);
        let connect = Nanos(connect.0.min(total.0));
        let connection_wait = Nanos(connection_wait.0.min(total.0 - connect.0));
        StartDelay { generator_lag: Nanos(total.0 - connect.0 - connection_wait.0), connection_wait, connect }
    }

    /// Returns the whole delay.
    pub fn total(&self) -> Nanos {
        self.generator_lag + self.connection_wait + self.connect
    }
}

/// Place of a request's target among the targets of its run, in 16 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TargetPlace(u16);

impl TargetPlace {
    /// The target is not known, or the run has only one.
    pub const UNKNOWN: TargetPlace = TargetPlace(u16::MAX);

    /// Returns the place of the target with this index. A target after 65,534 others has no place.
    #[inline]
    pub fn new(index: u32) -> TargetPlace {
        TargetPlace(u16::try_from(index).unwrap_or(u16::MAX))
    }

    /// Returns the place of this target among `targets`. A single target has none.
    #[inline]
    pub fn among(targets: usize, index: u32) -> TargetPlace {
        if targets == 1 { TargetPlace::UNKNOWN } else { TargetPlace::new(index) }
    }

    /// Returns the index of the target; `None` if it has no place.
    pub fn index(self) -> Option<usize> {
        (self != TargetPlace::UNKNOWN).then_some(usize::from(self.0))
    }
}

/// Place in a sequence of the run, from 0, in 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ordinal(u32);

impl Ordinal {
    /// Not known, or missing.
    pub const UNKNOWN: Ordinal = Ordinal(u32::MAX);

    /// Returns this place; [`Ordinal::UNKNOWN`] after 4,294,967,294 others.
    #[inline]
    pub fn new(place: u64) -> Ordinal {
        Ordinal(u32::try_from(place).unwrap_or(u32::MAX))
    }

    /// Returns the place; `None` if it is unknown.
    #[inline]
    pub fn get(self) -> Option<u32> {
        (self != Ordinal::UNKNOWN).then_some(self.0)
    }
}

/// Place of a request in its session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionPlace {
    /// Number of the session among all sessions of the schedule.
    pub session: Ordinal,
    /// Number of the request in its session.
    pub turn: Ordinal,
}

impl SessionPlace {
    /// The load has no sessions.
    pub const NONE: SessionPlace = SessionPlace { session: Ordinal::UNKNOWN, turn: Ordinal::UNKNOWN };
}

/// Record of one arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestRecord {
    /// Place in the whole schedule, from 0.
    pub index: u64,
    /// Intended start.
    pub intended_start: Timestamp,
    /// Instant just before the first byte was sent, or else the start of the connect attempt; `end` if never issued.
    pub actual_start: Timestamp,
    /// Instant when the first byte of the answer had reached this host; `None` if unknown.
    pub first_byte: Option<Timestamp>,
    /// Instant when the last byte of the answer had reached this host, or when the request failed, timed out or was cut
    /// off.
    pub end: Timestamp,
    /// Parts of `actual_start - intended_start`.
    pub delay: StartDelay,
    /// Upper bound on what the generator added to the response time beyond `delay.generator_lag`. One part is the lag
    /// of earlier requests that this one may have queued behind ([`KnockOn`](super::KnockOn)). If `end` is when the
    /// generator noticed the answer, the other part is the time that the answer may have lain unread.
    pub knock_on: Nanos,
    /// True if a connection was opened for this request, so `delay.connect` is measured even if it is zero.
    pub connected: bool,
    /// TLS part of `delay.connect`, after the TCP connection; `None` if this request completed no handshake.
    pub tls_handshake: Option<Nanos>,
    /// Time from `end` until the generator noticed the answer. Known if the kernel stamped the last byte, or if the
    /// generator was paused (`end` is then earlier by the pause). Otherwise `None`: `end` is when the generator noticed
    /// the answer.
    pub read_lag: Option<Nanos>,
    /// Part of the service time from the first byte until the last one was taken; `None` if all were taken at once.
    pub send_wait: Option<Nanos>,
    /// Outcome of the arrival.
    pub outcome: Outcome,
    /// Target of the request, if the run has several.
    pub target: TargetPlace,
    /// Place of the request in its session.
    pub place: SessionPlace,
    /// Row of data that the request was made of.
    pub row: Ordinal,
    /// Number of the connection that carried it, among all connections of the run.
    pub connection: Ordinal,
    /// Bytes of the answer that were read: head and body.
    pub bytes_in: u64,
}

impl RequestRecord {
    /// Creates a record with only the required facts: no connection was opened, and all of the start delay is generator
    /// lag. Set other facts on top: `RequestRecord { bytes_in, ..RequestRecord::new(…) }`.
    #[inline]
    pub fn new(arrival: Arrival, actual_start: Timestamp, end: Timestamp, outcome: Outcome) -> RequestRecord {
        RequestRecord {
            index: arrival.index,
            intended_start: arrival.intended_start,
            actual_start,
            first_byte: None,
            end,
            delay: StartDelay::split(arrival.intended_start, actual_start, Nanos::ZERO, Nanos::ZERO),
            knock_on: Nanos::ZERO,
            connected: false,
            tls_handshake: None,
            read_lag: None,
            send_wait: None,
            outcome,
            target: TargetPlace::UNKNOWN,
            place: SessionPlace::NONE,
            row: Ordinal::UNKNOWN,
            connection: Ordinal::UNKNOWN,
            bytes_in: 0,
        }
    }

    /// Creates the record of an arrival that is not issued by `now`. It has no start delay.
    pub fn never_issued(arrival: Arrival, now: Timestamp) -> RequestRecord {
        let now = now.max(arrival.intended_start);
        RequestRecord { delay: StartDelay::default(), ..RequestRecord::new(arrival, now, now, Outcome::NeverIssued) }
    }

    /// Splits the start delay: wait for a connection, time to open one (if opened), and the rest as generator lag.
    #[inline]
    #[must_use]
    pub fn with_start_delay(self, connection_wait: Nanos, connect: Option<Nanos>) -> RequestRecord {
        let delay =
            StartDelay::split(self.intended_start, self.actual_start, connection_wait, connect.unwrap_or(Nanos::ZERO));
        RequestRecord { delay, connected: connect.is_some(), ..self }
    }

    /// Returns what a user felt: `end - intended_start`. For an unanswered arrival, this is the time waited.
    pub fn response_time(&self) -> Nanos {
        self.end.since(self.intended_start)
    }

    /// Returns the response time less what the generator may have added. Between this and
    /// [`RequestRecord::response_time`] lies the response time with a generator that is never late, if `knock_on`
    /// covers the delay by earlier requests.
    #[inline]
    pub fn without_generator(&self) -> Nanos {
        self.response_time().saturating_sub(self.delay.generator_lag + self.knock_on)
    }

    /// Returns what a naive tool reports: `end - actual_start`.
    pub fn service_time(&self) -> Nanos {
        self.end.since(self.actual_start)
    }
}
