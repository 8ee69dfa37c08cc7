//! A run in progress, as it was at one instant.

use truetail_analysis::series::RunSeries;
use truetail_run::{Findings, Run};

use crate::progress::RunProgress;

/// A run in progress, as it was at one instant: the data of the live page, the full-screen view and the metrics.
#[derive(Clone, Debug)]
pub struct LiveState {
    /// Everything recorded until now, as a run that was stopped now.
    pub run: Run,
    /// Its findings, gates included, as if the run had ended now.
    pub findings: Findings,
    /// Data for its pictures.
    pub series: RunSeries,
    /// Its progress, up to one round newer than the rest.
    pub progress: RunProgress,
    /// True if the run has ended and this is the result.
    pub ended: bool,
}
