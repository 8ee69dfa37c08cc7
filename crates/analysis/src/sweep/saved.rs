//! A sweep as it is saved and read.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::step::{StepState, SweepStep};
use crate::capacity::Answer;

/// Schema of a saved sweep.
pub const SCHEMA: &str = "truetail.sweep/1";
/// Limit on the steps of a saved sweep, more than a ladder has.
const MAX_STEPS: usize = 1_000;

/// Reason why a sweep ended before its last rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// The backlog kept growing, so a higher rate would show the same capacity.
    Saturated,
    /// The generator could not offer more.
    GeneratorLimit,
    /// The user ended it.
    User,
    /// The service no longer answered.
    ServiceGone,
    /// A step could not be made.
    Error,
}

/// A sweep.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Sweep {
    /// Its schema.
    pub schema: String,
    /// Name of the server.
    pub server: String,
    /// The URL, without secrets.
    pub target: String,
    /// The objectives of the service.
    pub slo: Vec<String>,
    /// The objectives that each request must meet to count in goodput.
    pub goodput_slo: Vec<String>,
    /// Length of each step in seconds.
    pub step_s: f64,
    /// The planned rates per second.
    pub planned_rates: Vec<f64>,
    /// Reason why it ended early; `None` if every rate was offered.
    pub ended_by: Option<EndedBy>,
    /// The steps, by rate.
    pub steps: Vec<SweepStep>,
}

/// Error for a text that is not a saved sweep, in words that follow the name of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SweepError(String);

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SweepError {}

impl Sweep {
    /// Reads a saved sweep.
    ///
    /// # Errors
    /// If the text is not one, or has a figure that cannot be.
    pub fn parse(text: &str) -> Result<Sweep, SweepError> {
        let sweep: Sweep =
            serde_json::from_str(text).map_err(|error| SweepError(format!("is not a saved sweep: {error}")))?;
        if sweep.schema != SCHEMA {
            return Err(SweepError(format!("has the schema '{}', and {SCHEMA} is known", sweep.schema)));
        }
        let is_rate = |rate: f64| rate.is_finite() && (0.0..=1e12).contains(&rate);
        let is_possible = |step: &SweepStep| {
            let figures = [step.answered_per_second, step.output_tokens_per_second];
            is_rate(step.rate) && figures.into_iter().flatten().all(is_rate)
        };
        if sweep.steps.len() > MAX_STEPS || !sweep.steps.iter().all(is_possible) {
            return Err(SweepError("has a figure that cannot be, or too many steps".to_owned()));
        }
        Ok(sweep)
    }

    /// Returns the names of the times that the steps have: the same for all.
    pub fn time_names(&self) -> Vec<&str> {
        let most = self.steps.iter().max_by_key(|step| step.times.len());
        most.map_or(Vec::new(), |step| step.times.iter().map(|time| time.name.as_str()).collect())
    }

    /// Returns true if tokens were counted in a step.
    pub fn has_tokens(&self) -> bool {
        self.steps.iter().any(|step| step.output_tokens_per_second.is_some())
    }

    /// Returns the highest rate up to which every step met an objective, and the lowest rate that missed it. Steps in
    /// between are open.
    pub fn limits_of(&self, slo: &str) -> (Option<f64>, Option<f64>) {
        let answer =
            |step: &SweepStep| step.objectives.iter().find(|objective| objective.slo == slo).map(|of| of.answer);
        let missed = self.steps.iter().find(|step| answer(step) == Some(Answer::Misses)).map(|step| step.rate);
        let met = self.steps.iter().take_while(|step| answer(step) == Some(Answer::Meets));
        (met.last().map(|step| step.rate), missed)
    }

    /// Returns the first step that was saturated.
    pub fn first_saturated(&self) -> Option<&SweepStep> {
        self.steps.iter().find(|step| step.state == StepState::Saturated)
    }
}
