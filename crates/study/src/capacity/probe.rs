//! The interface between a search and the service that it probes.

use serde::{Deserialize, Serialize};
use truetail_analysis::capacity::{Answer, FinishedProbe, ProbeJudge, ProbeSpec};
use truetail_model::time::Nanos;

/// A service that can be probed: the engine in front of a server, or a simulator.
pub trait Probe {
    /// Returns the time since the search began.
    fn elapsed(&self) -> Nanos;

    /// Returns the time that [`Probe::offer`] spends at another rate before that of `trial`.
    fn approach_time(&self, trial: &ProbeSpec) -> Nanos;

    /// Waits until the service answers as fast as without load. The first call measures how fast that is.
    ///
    /// # Errors
    /// [`ProbeError::Gone`] if the service no longer answers, [`ProbeError::Interrupted`], or [`ProbeError::Failed`].
    fn cool_down(&mut self) -> Result<CoolDown, ProbeError>;

    /// Offers the rate of `trial` until `judge` has an answer or the time of the trial is up. `number` counts from 0. A
    /// confirmation starts with a higher rate ([`Purpose::ConfirmUpper`]) or a lower one ([`Purpose::ConfirmLower`]).
    ///
    /// # Errors
    /// [`ProbeError::Interrupted`] or [`ProbeError::Failed`].
    ///
    /// [`Purpose::ConfirmUpper`]: truetail_analysis::capacity::Purpose::ConfirmUpper
    /// [`Purpose::ConfirmLower`]: truetail_analysis::capacity::Purpose::ConfirmLower
    fn offer(&mut self, number: usize, trial: &ProbeSpec, judge: ProbeJudge) -> Result<ProbeResult, ProbeError>;
}

/// Reason why a probe has no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProbeError {
    /// The time of the search is up.
    TimeUp,
    /// The user ended the search.
    Interrupted,
    /// The service no longer answers.
    Gone(String),
    /// The probe could not be made.
    Failed(String),
}

/// Result of a cool-down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CoolDown {
    /// The service is as fast as without load.
    Done,
    /// The service is still slower, after the maximum time of a cool-down.
    StillSlow,
}

/// The figures of a probe at the first objective that is a percentile.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Figures {
    /// The percentile, nanoseconds.
    pub value_ns: Option<u64>,
    /// The lower end of its 95 % confidence interval.
    pub low_ns: Option<u64>,
    /// The upper end.
    pub high_ns: Option<u64>,
}

/// What a probe shows about one objective.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ObjectiveRecord {
    /// The objective, as given.
    pub slo: String,
    /// The answer about this objective alone.
    pub answer: Answer,
    /// Number of requests, streams or gaps that count.
    pub counted: u64,
    /// Number of bad ones among them.
    pub bad: u64,
    /// The share that may be bad, in (0, 1).
    pub allowed: f64,
    /// The percentile in nanoseconds, if the objective limits one.
    pub value_ns: Option<u64>,
}

/// The result of a probe.
#[derive(Clone, PartialEq, Debug)]
pub struct ProbeResult {
    /// The answer about the rate.
    pub answer: Answer,
    /// The share of bad requests divided by the allowed share, if it is known.
    pub ratio: Option<f64>,
    /// Duration of the probe.
    pub length: Nanos,
    /// Number of requests, without the approach to the rate.
    pub requests: u64,
    /// Number of these requests without an answer, or with an error status.
    pub errors: u64,
    /// The figures.
    pub figures: Figures,
    /// The evidence, by objective.
    pub objectives: Vec<ObjectiveRecord>,
    /// Folder of the saved run, if any.
    pub run: Option<String>,
    /// A note for the user.
    pub note: Option<String>,
}

/// A probe in the journal of a search.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProbeRecord {
    /// The data that a search needs to continue.
    #[serde(flatten)]
    pub probed: FinishedProbe,
    /// Duration of the probe.
    pub length: Nanos,
    /// Number of requests.
    pub requests: u64,
    /// Number of these requests without an answer, or with an error status.
    #[serde(default)]
    pub errors: u64,
    /// The figures.
    pub figures: Figures,
    /// The evidence, by objective. Empty in an older journal.
    #[serde(default)]
    pub objectives: Vec<ObjectiveRecord>,
    /// Folder of the saved run, if any.
    pub run: Option<String>,
    /// A note for the user.
    pub note: Option<String>,
}

impl ProbeRecord {
    /// Combines a trial with its result.
    pub fn new(trial: ProbeSpec, result: ProbeResult) -> ProbeRecord {
        let ProbeResult { answer, ratio, length, requests, errors, figures, objectives, run, note } = result;
        let probed = FinishedProbe { trial, answer, ratio };
        ProbeRecord { probed, length, requests, errors, figures, objectives, run, note }
    }
}
