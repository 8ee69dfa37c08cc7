//! Recorded arrivals.

use std::sync::Arc;

use super::{ProfileError, RateProfile};
use crate::time::{Nanos, Timestamp};

/// Recorded arrivals: L(t) is the line through the points (t_k, k). Even spacing replays the recorded instants to the
/// nanosecond, and exponential spacing replays their rate with other instants.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace {
    /// Shared between the workers, which all have a copy of the profile.
    instants: Arc<[Timestamp]>,
}

impl Trace {
    /// Creates a trace of at least one arrival, in ascending order.
    ///
    /// # Errors
    /// [`ProfileError::Trace`] names the first entry (counted from 1) that is earlier than the one before it.
    pub fn new(instants: Vec<Timestamp>) -> Result<Trace, ProfileError> {
        if instants.is_empty() {
            return Err(ProfileError::Trace { line: 0, problem: "no arrivals in it".into() });
        }
        match instants.windows(2).position(|pair| pair[1] < pair[0]) {
            Some(i) => Err(ProfileError::Trace { line: i + 2, problem: "earlier than the line before".into() }),
            None => Ok(Trace { instants: instants.into() }),
        }
    }

    /// Reads one arrival a line: seconds since the start (`0.0015`) or a duration with a unit (`1500us`). Text after a
    /// comma is ignored, as are empty lines, lines that start with `#`, and a heading in the first line.
    ///
    /// # Errors
    /// [`ProfileError::Trace`] with the line, counted from 1.
    pub fn parse(text: &str) -> Result<Trace, ProfileError> {
        Trace::parse_with(text, |_, _| Ok(()))
    }

    /// Reads a trace like [`Trace::parse`]. `visit` gets the line of each arrival and the text after its comma.
    ///
    /// # Errors
    /// [`ProfileError::Trace`] with the line, also for problems that `visit` returns.
    pub fn parse_with<'t>(
        text: &'t str,
        mut visit: impl FnMut(usize, &'t str) -> Result<(), String>,
    ) -> Result<Trace, ProfileError> {
        let mut instants: Vec<Timestamp> = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let (field, rest) = line.split_once(',').unwrap_or((line, ""));
            let field = field.trim();
            let heading = i == 0 && field.starts_with(|c: char| c.is_alphabetic());
            if field.is_empty() || field.starts_with('#') || heading {
                continue;
            }
            let error = |problem: &str| ProfileError::Trace { line: i + 1, problem: problem.to_owned() };
            let instant = parse_instant(field).ok_or_else(|| error("neither seconds nor a duration"))?;
            if instants.last().is_some_and(|last| *last > instant) {
                return Err(error("earlier than the arrival before it"));
            }
            visit(i + 1, rest.trim()).map_err(|problem| error(&problem))?;
            instants.push(instant);
        }
        Trace::new(instants)
    }

    /// Returns the same arrivals in less time: at speed 2, each comes after half the time, to the nanosecond.
    ///
    /// # Panics
    /// If `speed` is not above 0.
    #[must_use]
    pub fn at_speed(&self, speed: f64) -> Trace {
        assert!(speed > 0.0, "a speed of {speed}");
        let faster = |instant: &Timestamp| Timestamp((instant.0 as f64 / speed).round() as u64);
        Trace { instants: self.instants.iter().map(faster).collect() }
    }

    /// Returns the recorded instants, ascending.
    pub fn instants(&self) -> &[Timestamp] {
        &self.instants
    }

    pub(super) fn exact(&self, k: u64) -> Option<Timestamp> {
        self.instants.get(usize::try_from(k).ok()?).copied()
    }
}

/// Reads an instant, in seconds unless it has a unit.
fn parse_instant(field: &str) -> Option<Timestamp> {
    Nanos::parse_in(field, Nanos::from_secs(1)).ok().map(|since_origin| Timestamp(since_origin.0))
}

impl RateProfile for Trace {
    fn cumulative(&self, seconds: f64) -> f64 {
        let after = self.instants.partition_point(|t| t.as_secs_f64() <= seconds);
        if after == 0 {
            return 0.0;
        }
        let last = (after - 1) as f64;
        match self.instants.get(after) {
            Some(next) => {
                let here = self.instants[after - 1].as_secs_f64();
                last + (seconds - here) / (next.as_secs_f64() - here)
            }
            None => last,
        }
    }

    fn inverse(&self, count: f64) -> Option<f64> {
        let k = count as usize;
        let here = self.instants.get(k)?.as_secs_f64();
        let part = count - k as f64;
        if part == 0.0 {
            return Some(here);
        }
        self.instants.get(k + 1).map(|next| here + part * (next.as_secs_f64() - here))
    }

    /// Returns the mean rate over the recording: a trace says nothing about the rate between two arrivals.
    fn peak_per_second(&self) -> f64 {
        let length = self.instants.last().map_or(0.0, |t| t.as_secs_f64());
        if length > 0.0 { self.instants.len() as f64 / length } else { self.instants.len() as f64 }
    }
}
