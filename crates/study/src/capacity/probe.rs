//! The seam between a search and what it probes.

use serde::{Deserialize, Serialize};
use truetail_analysis::capacity::{Answer, ProbeJudge, Probed, Trial};
use truetail_model::time::Nanos;

/// A service that can be probed: the engine in front of a server, or a simulator.
pub trait Probe {
    /// The time since the search began.
    fn elapsed(&self) -> Nanos;

    /// How long [`Probe::offer`] offers another rate before that of `trial`.
    fn approach_time(&self, trial: &Trial) -> Nanos;

    /// Waits until the service answers as fast as without load. The first call learns how fast that is.
    ///
    /// # Errors
    /// [`ProbeError::Gone`] if the service does not answer any more, [`ProbeError::Interrupted`], or
    /// [`ProbeError::Failed`].
    fn cool_down(&mut self) -> Result<CoolDown, ProbeError>;

    /// Offers the rate of `trial`, the probe with this number from 0, until `judge` has an answer or the time of the trial
    /// is up. Before a confirmation it offers a higher rate for a while ([`Purpose::ConfirmUpper`]), or a lower one
    /// ([`Purpose::ConfirmLower`]).
    ///
    /// # Errors
    /// [`ProbeError::Interrupted`] or [`ProbeError::Failed`].
    ///
    /// [`Purpose::ConfirmUpper`]: truetail_analysis::capacity::Purpose::ConfirmUpper
    /// [`Purpose::ConfirmLower`]: truetail_analysis::capacity::Purpose::ConfirmLower
    fn offer(&mut self, number: usize, trial: &Trial, judge: ProbeJudge) -> Result<ProbeResult, ProbeError>;
}

/// Why a probe has no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProbeError {
    /// The time of the search is up.
    TimeUp,
    /// The user ended it.
    Interrupted,
    /// The service does not answer any more.
    Gone(String),
    /// It could not be made.
    Failed(String),
}

/// How a cool-down ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CoolDown {
    /// The service is as fast as without load.
    Done,
    /// It is still slower, after all the time that a cool-down may take.
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

/// The result of a probe.
#[derive(Clone, PartialEq, Debug)]
pub struct ProbeResult {
    /// What it says of its rate.
    pub answer: Answer,
    /// The share of bad requests divided by the share that is allowed, if it is known.
    pub ratio: Option<f64>,
    /// How long the rate was offered.
    pub length: Nanos,
    /// How many requests that took, without those that came before it to approach the rate.
    pub requests: u64,
    /// How many of them had no answer, or an error status.
    pub errors: u64,
    /// Its figures.
    pub figures: Figures,
    /// Where the run is saved, if it is.
    pub run: Option<String>,
    /// Something to say about it.
    pub note: Option<String>,
}

/// A probe in the journal of a search.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProbeRecord {
    /// What the search needs to go on.
    #[serde(flatten)]
    pub probed: Probed,
    /// How long the rate was offered.
    pub length: Nanos,
    /// How many requests that took.
    pub requests: u64,
    /// How many of them had no answer, or an error status.
    #[serde(default)]
    pub errors: u64,
    /// Its figures.
    pub figures: Figures,
    /// Where the run is saved, if it is.
    pub run: Option<String>,
    /// Something to say about it.
    pub note: Option<String>,
}

impl ProbeRecord {
    /// What is written down of a probe.
    pub fn new(trial: Trial, result: ProbeResult) -> ProbeRecord {
        let ProbeResult { answer, ratio, length, requests, errors, figures, run, note } = result;
        ProbeRecord { probed: Probed { trial, answer, ratio }, length, requests, errors, figures, run, note }
    }
}
