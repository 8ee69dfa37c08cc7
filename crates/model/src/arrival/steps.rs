//! A rate that changes at stated instants.

use super::RateProfile;
use crate::time::Nanos;

/// Stretch of constant rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    /// Requests/s, ≥ 0 (0 is a pause).
    pub per_second: f64,
    /// Duration, above zero.
    pub length: Nanos,
}

/// Stretches of constant rate; the rate of the last step stays after it.
#[derive(Clone, PartialEq, Debug)]
pub struct Steps {
    steps: Vec<Step>,
    /// For each step: (seconds, arrivals) at its start.
    starts: Vec<(f64, f64)>,
}

impl Steps {
    /// Creates a profile of steps in the order of time. At least one rate must be above zero.
    pub fn new(steps: Vec<Step>) -> Steps {
        assert!(steps.iter().any(|step| step.per_second > 0.0), "steps without a rate above zero");
        let mut starts = Vec::with_capacity(steps.len());
        let mut length = Nanos::ZERO;
        let mut count = 0.0;
        for step in &steps {
            starts.push((length.as_secs_f64(), count));
            length += step.length;
            count += step.per_second * step.length.as_secs_f64();
        }
        Steps { steps, starts }
    }

    /// Returns the steps in the order of time.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}

impl RateProfile for Steps {
    fn cumulative(&self, seconds: f64) -> f64 {
        let i = self.starts.partition_point(|(start, _)| *start <= seconds).max(1) - 1;
        let (start, count) = self.starts[i];
        count + self.steps[i].per_second * (seconds - start)
    }

    fn inverse(&self, count: f64) -> Option<f64> {
        // An arrival on a border, known to a few units in the last place, belongs to the next step with a rate above
        // zero.
        let on_border = count + count * 8.0 * f64::EPSILON;
        let reached = self.starts.partition_point(|(_, at_start)| *at_start <= on_border).max(1) - 1;
        let i = (reached..self.steps.len()).find(|&i| self.steps[i].per_second > 0.0).unwrap_or(reached);
        let (start, at_start) = self.starts[i];
        let rate = self.steps[i].per_second;
        (rate > 0.0).then(|| start + (count - at_start).max(0.0) / rate)
    }

    fn peak_per_second(&self) -> f64 {
        self.steps.iter().map(|step| step.per_second).fold(0.0, f64::max)
    }
}
