//! The record of one arrival: all that any number is computed from.

use super::Outcome;
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
    /// What became of it.
    pub outcome: Outcome,
    /// Bytes of the answer that were read, head and body.
    pub bytes_in: u64,
}

impl RequestRecord {
    /// What a user felt: `end - intended_start`. For an unanswered arrival, what was waited.
    pub fn response_time(&self) -> Nanos {
        self.end.since(self.intended_start)
    }

    /// What a naive tool reports: `end - actual_start`.
    pub fn service_time(&self) -> Nanos {
        self.end.since(self.actual_start)
    }

    /// Each of its times, with the distribution that it belongs to.
    #[inline]
    pub(super) fn times(&self, mut each: impl FnMut(Metric, Nanos)) {
        match self.outcome {
            Outcome::Response { .. } => {
                each(Metric::ResponseTime, self.response_time());
                each(Metric::ServiceTime, self.service_time());
                if let Some(lag) = self.read_lag {
                    each(Metric::ReadLag, lag);
                }
            }
            outcome if outcome.is_censored() => each(Metric::Censored, self.response_time()),
            _ => each(Metric::Failed, self.response_time()),
        }
        if self.outcome != Outcome::NeverIssued {
            self.times_of_start(each);
        }
    }

    #[inline]
    fn times_of_start(&self, mut each: impl FnMut(Metric, Nanos)) {
        each(Metric::StartDelay, self.delay.total());
        each(Metric::GeneratorLag, self.delay.generator_lag);
        each(Metric::ConnectionWait, self.delay.connection_wait);
        if self.connected {
            each(Metric::ConnectTime, self.delay.connect);
        }
        if let Some(time) = self.tls_handshake {
            each(Metric::TlsHandshakeTime, time);
        }
    }

    /// The record of an arrival that was planned and never issued, counted out at `now`.
    pub fn never_issued(arrival: crate::arrival::Arrival, now: Timestamp) -> RequestRecord {
        let now = now.max(arrival.intended_start);
        RequestRecord {
            index: arrival.index,
            intended_start: arrival.intended_start,
            actual_start: now,
            end: now,
            delay: StartDelay::default(),
            connected: false,
            tls_handshake: None,
            read_lag: None,
            outcome: Outcome::NeverIssued,
            bytes_in: 0,
        }
    }
}

/// What is kept as a distribution. All in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Metric {
    /// Response time of arrivals that were answered.
    ResponseTime,
    /// What was waited for arrivals that were censored: a bound from below on their response time.
    Censored,
    /// What was waited until arrivals failed.
    Failed,
    /// Service time of arrivals that were answered.
    ServiceTime,
    /// Start delay of arrivals that were issued.
    StartDelay,
    /// The generator's part of the start delay.
    GeneratorLag,
    /// The connection cap's part of the start delay.
    ConnectionWait,
    /// Time to open a connection, for the arrivals that had to.
    ConnectTime,
    /// How long answers lay in this host before the generator read them, where the system says so. In no other metric.
    ReadLag,
    /// The TLS part of the time to open a connection, for the arrivals that had to shake hands.
    TlsHandshakeTime,
}

impl Metric {
    /// Every metric.
    pub const ALL: [Metric; 10] = [
        Metric::ResponseTime,
        Metric::Censored,
        Metric::Failed,
        Metric::ServiceTime,
        Metric::StartDelay,
        Metric::GeneratorLag,
        Metric::ConnectionWait,
        Metric::ConnectTime,
        Metric::ReadLag,
        Metric::TlsHandshakeTime,
    ];
    /// How many there are.
    pub const COUNT: usize = Metric::ALL.len();

    /// Its name in files, such as the tag of a histogram log.
    pub const fn name(self) -> &'static str {
        match self {
            Metric::ResponseTime => "response_time",
            Metric::Censored => "censored",
            Metric::Failed => "failed",
            Metric::ServiceTime => "service_time",
            Metric::StartDelay => "start_delay",
            Metric::GeneratorLag => "generator_lag",
            Metric::ConnectionWait => "connection_wait",
            Metric::ConnectTime => "connect_time",
            Metric::ReadLag => "read_lag",
            Metric::TlsHandshakeTime => "tls_handshake_time",
        }
    }

    /// The metric of that name.
    pub fn from_name(name: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.name() == name)
    }
}
