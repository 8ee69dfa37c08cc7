//! The record of one arrival. Every number of a run is computed from these records.

use super::Outcome;
use crate::arrival::Arrival;
use crate::time::{Nanos, Timestamp};

/// Why a request started later than intended. The parts add up to `actual_start - intended_start`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StartDelay {
    /// A connection was free and the generator was late.
    pub generator_lag: Nanos,
    /// The user's own cap on connections, or on requests in flight, was reached.
    pub connection_wait: Nanos,
    /// A new connection was opened: TCP, and TLS where it is spoken. Names are resolved before the run.
    pub connect: Nanos,
}

impl StartDelay {
    /// Splits the time from `intended` to `actual`. `connection_wait` and `connect` are known; the rest is generator lag.
    /// Where the two are longer than the whole, `connect` counts first.
    pub fn split(intended: Timestamp, actual: Timestamp, connection_wait: Nanos, connect: Nanos) -> StartDelay {
        let total = actual.since(intended);
        let connect = Nanos(connect.0.min(total.0));
        let connection_wait = Nanos(connection_wait.0.min(total.0 - connect.0));
        StartDelay { generator_lag: Nanos(total.0 - connect.0 - connection_wait.0), connection_wait, connect }
    }

    /// The whole delay.
    pub fn total(&self) -> Nanos {
        self.generator_lag + self.connection_wait + self.connect
    }
}

/// What happened to one arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestRecord {
    /// Its place in the whole schedule, from 0.
    pub index: u64,
    /// When it should have started.
    pub intended_start: Timestamp,
    /// Just before its first byte was handed to the socket. Where that never happened, the beginning of its attempt to
    /// connect; for [`Outcome::NeverIssued`] the same as `end`.
    pub actual_start: Timestamp,
    /// When the first byte of the answer had reached this host; `None` where that is not known.
    pub first_byte: Option<Timestamp>,
    /// When the last byte of the answer had reached this host, or when the request failed, timed out or was still open at
    /// the end of the run.
    pub end: Timestamp,
    /// The owners of `actual_start - intended_start`.
    pub delay: StartDelay,
    /// What the generator may have added to the response time beyond `delay.generator_lag`, at most: the lag of earlier
    /// requests that this one may have queued behind ([`KnockOn`](super::KnockOn)), and the time for which its answer
    /// may have lain unread, where `end` is the instant at which the generator noticed it.
    pub knock_on: Nanos,
    /// A connection was opened for this request, so `delay.connect` is measured even where it is zero.
    pub connected: bool,
    /// The TLS part of `delay.connect`, from the TCP connection to the end of the handshake. `None` where this request
    /// completed no handshake.
    pub tls_handshake: Option<Nanos>,
    /// From `end` to the instant at which the generator noticed it. Known where the kernel stamped the last byte, and
    /// where the generator was paused: then `end` is taken to be earlier by the pause. `None` elsewhere: `end` is the
    /// instant at which the generator noticed it.
    pub read_lag: Option<Nanos>,
    /// From the handing over of its first byte until the transport or the peer had taken its last one. `None` where all
    /// of it was taken at once. A part of the service time.
    pub send_wait: Option<Nanos>,
    /// What became of it.
    pub outcome: Outcome,
    /// Bytes of the answer that were read: head and body.
    pub bytes_in: u64,
}

impl RequestRecord {
    /// A record with only the required facts: no connection was opened, and all of the start delay is generator lag. Set
    /// what else is known on top: `RequestRecord { bytes_in, ..RequestRecord::new(…) }`.
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
            bytes_in: 0,
        }
    }

    /// An arrival that was planned and never issued, as it stands at `now`. It has no start delay.
    pub fn never_issued(arrival: Arrival, now: Timestamp) -> RequestRecord {
        let now = now.max(arrival.intended_start);
        RequestRecord { delay: StartDelay::default(), ..RequestRecord::new(arrival, now, now, Outcome::NeverIssued) }
    }

    /// The same with its start delay split: the wait for a connection, and the time to open one, where one was opened. The
    /// rest is generator lag.
    #[inline]
    #[must_use]
    pub fn with_start_delay(self, connection_wait: Nanos, connect: Option<Nanos>) -> RequestRecord {
        let delay =
            StartDelay::split(self.intended_start, self.actual_start, connection_wait, connect.unwrap_or(Nanos::ZERO));
        RequestRecord { delay, connected: connect.is_some(), ..self }
    }

    /// What a user felt: `end - intended_start`. For an unanswered arrival, what was waited.
    pub fn response_time(&self) -> Nanos {
        self.end.since(self.intended_start)
    }

    /// The response time less what the generator may have added to it. The response time with a generator that is never
    /// late lies between this and [`RequestRecord::response_time`], where `knock_on` covers what earlier requests
    /// passed on.
    #[inline]
    pub fn without_generator(&self) -> Nanos {
        self.response_time().saturating_sub(self.delay.generator_lag + self.knock_on)
    }

    /// What a naive tool reports: `end - actual_start`.
    pub fn service_time(&self) -> Nanos {
        self.end.since(self.actual_start)
    }
}
