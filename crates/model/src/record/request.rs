//! The record of one arrival: all that any number is computed from.

use super::Outcome;
use crate::arrival::Arrival;
use crate::time::{Nanos, Timestamp};

/// Why a request began later than intended. The parts add up to `actual_start - intended_start`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StartDelay {
    /// A connection was free and the generator was late.
    pub generator_lag: Nanos,
    /// The user's own cap on connections or requests in flight was reached.
    pub connection_wait: Nanos,
    /// A new connection was opened: DNS, TCP, TLS.
    pub connect: Nanos,
}

impl StartDelay {
    /// Splits the time from `intended` to `actual`: `connection_wait` and `connect` are known, the generator answers
    /// for the rest.
    pub fn split(intended: Timestamp, actual: Timestamp, connection_wait: Nanos, connect: Nanos) -> StartDelay {
        let total = actual.since(intended);
        let connect = Nanos(connect.0.min(total.0));
        let connection_wait = Nanos(connection_wait.0.min(total.0 - connect.0));
        StartDelay { generator_lag: Nanos(total.0 - connect.0 - connection_wait.0), connection_wait, connect }
    }

    /// All of it.
    pub fn total(&self) -> Nanos {
        self.generator_lag + self.connection_wait + self.connect
    }
}

/// What happened to one arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestRecord {
    /// Its place in the whole schedule.
    pub index: u64,
    /// When it should have started.
    pub intended_start: Timestamp,
    /// Just before its first byte was handed to the socket. Where that never happened: when its attempt to connect
    /// began, or for [`Outcome::NeverIssued`] the same as `end`.
    pub actual_start: Timestamp,
    /// When the first byte of the answer had reached this host; `None` where that is not known.
    pub first_byte: Option<Timestamp>,
    /// When the last byte of the answer was there, or when it failed, was given up or was counted out.
    pub end: Timestamp,
    /// Who was responsible for `actual_start - intended_start`.
    pub delay: StartDelay,
    /// A connection was opened for this request, so that `delay.connect` is a measured time even where it is zero.
    pub connected: bool,
    /// The TLS part of `delay.connect`, from the TCP connection to the end of the handshake; `None` where no handshake was
    /// brought to its end for this request.
    pub tls_handshake: Option<Nanos>,
    /// From the moment at which the last byte of the answer reached this host, which is `end`, to the moment at which
    /// the generator read it. `None` where the system does not say when it arrived: then `end` is the reading.
    pub read_lag: Option<Nanos>,
    /// From the moment at which its first byte was handed over to the moment at which the transport or the peer had taken
    /// its last one. `None` where all of it was taken at once. A part of the service time.
    pub send_wait: Option<Nanos>,
    /// What became of it.
    pub outcome: Outcome,
    /// Bytes of the answer that were read, head and body.
    pub bytes_in: u64,
}

impl RequestRecord {
    /// What became of `arrival`, of which nothing else is known: no connection was opened for it, and the generator
    /// answers for all of its start delay. What is known besides is set on top: `RequestRecord { bytes_in, ..new }`.
    #[inline]
    pub fn new(arrival: Arrival, actual_start: Timestamp, end: Timestamp, outcome: Outcome) -> RequestRecord {
        RequestRecord {
            index: arrival.index,
            intended_start: arrival.intended_start,
            actual_start,
            first_byte: None,
            end,
            delay: StartDelay::split(arrival.intended_start, actual_start, Nanos::ZERO, Nanos::ZERO),
            connected: false,
            tls_handshake: None,
            read_lag: None,
            send_wait: None,
            outcome,
            bytes_in: 0,
        }
    }

    /// The record of an arrival that was planned and never issued, counted out at `now`.
    pub fn never_issued(arrival: Arrival, now: Timestamp) -> RequestRecord {
        let now = now.max(arrival.intended_start);
        RequestRecord { delay: StartDelay::default(), ..RequestRecord::new(arrival, now, now, Outcome::NeverIssued) }
    }

    /// The same with this start delay: it waited so long for a connection, and opened one that took so long, where it
    /// opened one. The generator answers for the rest.
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

    /// What a naive tool reports: `end - actual_start`.
    pub fn service_time(&self) -> Nanos {
        self.end.since(self.actual_start)
    }
}
