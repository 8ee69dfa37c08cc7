//! A run that is going on, as it was at one instant.

use truetail_analysis::series::RunSeries;
use truetail_run::{Findings, Run};

use crate::progress::RunProgress;

/// A run that is going on, as it was at one instant: what the live page, the full-screen view and the metrics show.
#[derive(Clone, Debug)]
pub struct LiveState {
    /// Everything recorded so far, as a run of its own that was stopped now.
    pub run: Run,
    /// Its findings, gates included, as if it had ended now.
    pub findings: Findings,
    /// What is drawn of it.
    pub series: RunSeries,
    /// How far it is. Newer than the rest by up to one round.
    pub progress: RunProgress,
    /// The run has ended: this is the result.
    pub ended: bool,
}
