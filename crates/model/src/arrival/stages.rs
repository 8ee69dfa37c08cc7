//! A rate in stages, each of which stays, climbs or falls.

use std::fmt;

use super::RateProfile;
use crate::time::Nanos;

/// Stretch of time whose rate changes in a straight line: λ(t) = a + (b − a)·t/T.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stage {
    /// a: requests/s at the start, ≥ 0.
    pub from_per_second: f64,
    /// b: requests/s at the end, ≥ 0.
    pub to_per_second: f64,
    /// T: duration, above zero.
    pub length: Nanos,
}

impl Stage {
    /// Creates a stage of a constant rate (0 is a pause).
    pub fn constant(per_second: f64, length: Nanos) -> Stage {
        Stage { from_per_second: per_second, to_per_second: per_second, length }
    }

    fn is_constant(&self) -> bool {
        self.from_per_second == self.to_per_second
    }

    fn is_pause(&self) -> bool {
        self.from_per_second == 0.0 && self.to_per_second == 0.0
    }

    /// (b − a)/T.
    fn slope(&self) -> f64 {
        (self.to_per_second - self.from_per_second) / self.length.as_secs_f64()
    }

    /// Returns the arrivals in the first `seconds`: a·t + (b − a)·t²/(2T).
    fn count(&self, seconds: f64) -> f64 {
        self.from_per_second * seconds + self.slope() * seconds * seconds / 2.0
    }

    /// Returns the arrivals of the whole stage.
    fn whole(&self) -> f64 {
        (self.from_per_second + self.to_per_second) / 2.0 * self.length.as_secs_f64()
    }

    /// Returns the time until `count` > 0 arrivals. This form of the solution avoids cancellation in the quadratic:
    /// t = 2k / (a + √(a² + 2k(b − a)/T)).
    fn time_until(&self, count: f64) -> f64 {
        let a = self.from_per_second;
        if self.is_constant() {
            return count / a;
        }
        let root = libm::sqrt((a * a + 2.0 * count * self.slope()).max(0.0));
        (2.0 * count / (a + root)).min(self.length.as_secs_f64())
    }
}

/// Stages in the order of time; the last rate stays after them.
#[derive(Clone, PartialEq, Debug)]
pub struct Stages {
    stages: Vec<Stage>,
    /// For each stage: (seconds, arrivals) at its start.
    starts: Vec<(f64, f64)>,
}

impl Stages {
    /// Creates a profile of at least one stage.
    ///
    /// # Panics
    /// If no rate is above zero.
    pub fn new(stages: Vec<Stage>) -> Stages {
        assert!(!stages.iter().all(Stage::is_pause), "stages without a rate above zero");
        let mut starts = Vec::with_capacity(stages.len());
        let mut length = Nanos::ZERO;
        let mut count = 0.0;
        for stage in &stages {
            starts.push((length.as_secs_f64(), count));
            length += stage.length;
            count += stage.whole();
        }
        Stages { stages, starts }
    }

    /// Returns the stages in the order of time.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// Returns the length of all stages.
    pub fn length(&self) -> Nanos {
        self.stages.iter().fold(Nanos::ZERO, |sum, stage| sum + stage.length)
    }

    /// Returns true if the rate is constant in each stage.
    pub fn are_steps(&self) -> bool {
        self.stages.iter().all(Stage::is_constant)
    }
}

impl fmt::Display for Stages {
    /// Writes `5..30/5s,30/15s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, stage) in self.stages.iter().enumerate() {
            f.write_str(if i > 0 { "," } else { "" })?;
            match stage.is_constant() {
                true => write!(f, "{}/{}", stage.to_per_second, stage.length)?,
                false => write!(f, "{}..{}/{}", stage.from_per_second, stage.to_per_second, stage.length)?,
            }
        }
        Ok(())
    }
}

impl RateProfile for Stages {
    fn cumulative(&self, seconds: f64) -> f64 {
        let i = self.starts.partition_point(|(start, _)| *start <= seconds).max(1) - 1;
        let (start, count) = self.starts[i];
        let stage = &self.stages[i];
        let after = seconds - start - stage.length.as_secs_f64();
        if i + 1 == self.stages.len() && after > 0.0 && !stage.is_constant() {
            return count + stage.whole() + stage.to_per_second * after;
        }
        count + stage.count(seconds - start)
    }

    fn inverse(&self, count: f64) -> Option<f64> {
        // An arrival on a border, known to a few units in the last place, belongs to the next stage that is no pause.
        let on_border = count + count * 8.0 * f64::EPSILON;
        let reached = self.starts.partition_point(|(_, at_start)| *at_start <= on_border).max(1) - 1;
        let i = (reached..self.stages.len()).find(|&i| !self.stages[i].is_pause()).unwrap_or(reached);
        let (start, at_start) = self.starts[i];
        let stage = &self.stages[i];
        let rest = (count - at_start).max(0.0);
        let is_last = i + 1 == self.stages.len();
        if stage.is_pause() || is_last && stage.to_per_second == 0.0 && rest >= stage.whole() {
            return None;
        }
        if rest == 0.0 {
            return Some(start);
        }
        if is_last && !stage.is_constant() && rest > stage.whole() {
            let length = stage.length.as_secs_f64();
            return Some(start + length + (rest - stage.whole()) / stage.to_per_second);
        }
        Some(start + stage.time_until(rest))
    }

    fn peak_per_second(&self) -> f64 {
        self.stages.iter().map(|stage| stage.from_per_second.max(stage.to_per_second)).fold(0.0, f64::max)
    }
}
