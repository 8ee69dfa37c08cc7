//! Progress lines in the log of a pod. `truetail run --pack` writes them, and the driver reads the last one.

use serde::{Deserialize, Serialize};

const MARK: &str = "truetail.progress/1 ";

/// A line about the state of a shard.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ShardLine {
    /// The shard is prepared and waits for its start.
    Waiting,
    /// The shard is sending.
    Running(ShardProgress),
}

/// Progress of a shard.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct ShardProgress {
    /// Time since the origin of the schedule.
    pub elapsed_ns: u64,
    /// Arrivals planned until now.
    pub planned: u64,
    /// Requests issued until now.
    pub sent: u64,
    /// Complete answers until now.
    pub answered: u64,
    /// Requests that failed or timed out until now.
    pub failed: u64,
    /// Requests in flight.
    pub in_flight: u64,
    /// Requests issued per second, lately.
    pub sent_per_second: f64,
}

impl ShardProgress {
    /// Describes the progress in words, such as `it had sent 35 requests 0.7s after the start`.
    pub(crate) fn in_words(&self) -> String {
        format!("it had sent {} requests {:.1}s after the start", self.sent, self.elapsed_ns as f64 / 1e9)
    }
}

impl ShardLine {
    /// Formats the line, without a line break.
    pub fn to_line(&self) -> String {
        format!("{MARK}{}", serde_json::to_string(self).expect("numbers"))
    }

    /// Parses a line; `None` if it is not a progress line.
    pub fn parse(line: &str) -> Option<ShardLine> {
        serde_json::from_str(line.strip_prefix(MARK)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let sent = ShardProgress {
            elapsed_ns: 5,
            planned: 4,
            sent: 3,
            answered: 2,
            failed: 1,
            in_flight: 1,
            sent_per_second: 0.5,
        };
        for line in [ShardLine::Waiting, ShardLine::Running(sent)] {
            assert_eq!(ShardLine::parse(&line.to_line()), Some(line));
        }
        assert_eq!(ShardLine::Waiting.to_line(), "truetail.progress/1 {\"state\":\"waiting\"}");
        for line in [
            "",
            "truetail.progress/1 ",
            "truetail.progress/1 {}",
            "truetail: beginning",
            "truetail.progress/2 {\"state\":\"waiting\"}",
        ] {
            assert_eq!(ShardLine::parse(line), None, "{line}");
        }
    }
}
