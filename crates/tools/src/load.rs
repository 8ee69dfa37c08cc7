//! What a tool is asked to do.

use truetail_model::time::{NANOS_PER_SECOND, Nanos, Rate};

use crate::CommandError;

const NANOS_PER_MILLI: u64 = 1_000_000;
const NEARLY_ALL: f64 = 0.99;

/// What a tool is asked to do. A closed tool takes `users`, an open one `rate`, with at most `connections` or workers.
#[derive(Clone, PartialEq, Debug)]
pub struct LoadSpec {
    /// The target, with a path: `http://127.0.0.1:8080/api`.
    pub url: String,
    /// Requests a second that an open tool is to offer.
    pub rate: Rate,
    /// For how long.
    pub duration: Nanos,
    /// Users of a closed tool.
    pub users: u32,
    /// Connections, workers or virtual users that an open tool may use: enough for the longest stall.
    pub connections: u32,
    /// Timeout of a request; `None` for the tool's own default, or none.
    pub timeout: Option<Nanos>,
}

impl LoadSpec {
    /// The duration in whole seconds, rounded up: what most tools take.
    pub fn whole_seconds(&self) -> u64 {
        whole(self.duration, NANOS_PER_SECOND)
    }

    /// The duration in whole milliseconds, rounded up.
    pub fn whole_millis(&self) -> u64 {
        whole(self.duration, NANOS_PER_MILLI)
    }

    /// The rate as a whole number of requests in 1, 60 or 3600 seconds: (requests, seconds).
    ///
    /// # Errors
    /// [`CommandError`] of `tool` where it is none.
    pub fn whole_rate(&self, tool: &'static str) -> Result<(u64, u64), CommandError> {
        let rate = self.rate.as_per_second();
        let whole = |seconds: u64| {
            let requests = (rate * seconds as f64).round();
            // A seventh of a second does not come out whole, 0.1 requests a second do in spite of their rounding.
            let is_whole = requests >= 1.0 && (requests / seconds as f64 - rate).abs() <= rate * 1e-12;
            is_whole.then_some((requests as u64, seconds))
        };
        let why = || format!("it takes whole requests a second, a minute or an hour, not {rate} a second");
        [1, 60, 3_600].into_iter().find_map(whole).ok_or_else(|| CommandError { tool, why: why() })
    }

    /// What to note of an open tool that made fewer requests than were due and does not mention it. The last one or two
    /// may fall beyond the end.
    pub(crate) fn shortfall(&self, tool: &str, made: u64) -> Option<String> {
        let due = self.rate.as_per_second() * self.duration.as_secs_f64();
        let note = || format!("{due} requests were due and {made} were made, which {tool} does not mention");
        ((made as f64) < due * NEARLY_ALL).then(note)
    }

    /// The timeout, where there is one, in whole seconds, rounded up.
    pub fn timeout_seconds(&self) -> Option<u64> {
        self.timeout.map(|timeout| whole(timeout, NANOS_PER_SECOND))
    }

    /// The timeout, where there is one, in whole milliseconds, rounded up.
    pub fn timeout_millis(&self) -> Option<u64> {
        self.timeout.map(|timeout| whole(timeout, NANOS_PER_MILLI))
    }
}

/// At least one.
fn whole(time: Nanos, unit_ns: u64) -> u64 {
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
        };
        for (per_second, whole) in [(1000.0, (1000, 1)), (0.5, (30, 60)), (0.1, (6, 60)), (1.0 / 3600.0, (1, 3600))] {
            assert_eq!(of(per_second).whole_rate("k6"), Ok(whole), "{per_second}");
        }
        let error = of(1.0 / 7.0).whole_rate("k6").expect_err("a seventh").to_string();
        assert!(error.starts_with("k6 cannot offer this: it takes whole requests"), "{error}");
    }
}
