//! The load that a tool must offer.

use truetail_model::time::{NANOS_PER_SECOND, Nanos, Rate};
use truetail_run::split_origin;

use crate::CommandError;

const NANOS_PER_MILLI: u64 = 1_000_000;
const MIN_SHARE_OF_DUE: f64 = 0.99;

/// The load that a tool must offer. A closed tool uses `users`; an open tool uses `rate` with at most `connections`.
#[derive(Clone, PartialEq, Debug)]
pub struct LoadSpec {
    /// Target URL with a path, such as `http://127.0.0.1:8080/api`.
    pub url: String,
    /// Rate of an open tool.
    pub rate: Rate,
    /// Duration of the load.
    pub duration: Nanos,
    /// Users of a closed tool.
    pub users: u32,
    /// Connections, workers or virtual users that an open tool may use: enough for the longest stall.
    pub connections: u32,
    /// Timeout of a request; `None` leaves it to the tool's default.
    pub timeout: Option<Nanos>,
    /// Tokens in an answer of a language model; `None` leaves it to the server.
    pub answer_tokens: Option<u64>,
}

impl LoadSpec {
    /// Returns the target without its path, such as `http://127.0.0.1:8080`, for tools that know the paths of models.
    pub fn origin(&self) -> &str {
        split_origin(&self.url).0
    }

    /// Returns true if requests are calls of gRPC.
    pub(crate) fn is_grpc(&self) -> bool {
        self.url.starts_with("grpc://")
    }

    /// Returns the number of requests that are due.
    pub(crate) fn due(&self) -> u64 {
        (self.rate.as_per_second() * self.duration.as_secs_f64()).round() as u64
    }

    /// Returns the duration in whole seconds, rounded up, for tools that take no other unit.
    pub fn whole_seconds(&self) -> u64 {
        rounded_up(self.duration, NANOS_PER_SECOND)
    }

    /// Returns the duration in whole milliseconds, rounded up.
    pub fn whole_millis(&self) -> u64 {
        rounded_up(self.duration, NANOS_PER_MILLI)
    }

    /// Returns the rate as a whole number of requests in 1, 60 or 3,600 seconds: (requests, seconds).
    ///
    /// # Errors
    /// [`CommandError`] of `tool` if the rate has no such form.
    pub fn whole_rate(&self, tool: &'static str) -> Result<(u64, u64), CommandError> {
        let rate = self.rate.as_per_second();
        let whole = |seconds: u64| {
            let requests = (rate * seconds as f64).round();
            // Accepts 0.1 per second despite rounding, and rejects one request in seven seconds.
            let is_whole = requests >= 1.0 && (requests / seconds as f64 - rate).abs() <= rate * 1e-12;
            is_whole.then_some((requests as u64, seconds))
        };
        let why = || format!("it takes a whole number of requests per second, minute or hour, not {rate} per second");
        [1, 60, 3_600].into_iter().find_map(whole).ok_or_else(|| CommandError { tool, why: why() })
    }

    /// Returns a note if an open tool made fewer requests than were due and does not report it. Tolerates one per cent,
    /// because the last one or two may fall beyond the end.
    pub(crate) fn shortfall(&self, tool: &str, made: u64) -> Option<String> {
        let due = self.rate.as_per_second() * self.duration.as_secs_f64();
        let note = || format!("{due} requests were due but only {made} were sent, which {tool} does not report");
        ((made as f64) < due * MIN_SHARE_OF_DUE).then(note)
    }

    /// Returns the timeout in whole seconds, rounded up.
    pub fn timeout_seconds(&self) -> Option<u64> {
        self.timeout.map(|timeout| rounded_up(timeout, NANOS_PER_SECOND))
    }

    /// Returns the timeout in whole milliseconds, rounded up.
    pub fn timeout_millis(&self) -> Option<u64> {
        self.timeout.map(|timeout| rounded_up(timeout, NANOS_PER_MILLI))
    }
}

/// Returns the time in whole units, at least one.
fn rounded_up(time: Nanos, unit_ns: u64) -> u64 {
    time.0.div_ceil(unit_ns).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_in_whole_requests() {
        let of = |per_second: f64| LoadSpec {
            url: String::new(),
            rate: Rate::per_second(per_second).expect("a rate"),
            duration: Nanos::ZERO,
            users: 1,
            connections: 1,
            timeout: None,
            answer_tokens: None,
        };
        for (per_second, whole) in [(1000.0, (1000, 1)), (0.5, (30, 60)), (0.1, (6, 60)), (1.0 / 3600.0, (1, 3600))] {
            assert_eq!(of(per_second).whole_rate("k6"), Ok(whole), "{per_second}");
        }
        let error = of(1.0 / 7.0).whole_rate("k6").expect_err("a seventh").to_string();
        assert!(error.starts_with("k6 cannot offer this: it takes a whole number"), "{error}");
    }
}
