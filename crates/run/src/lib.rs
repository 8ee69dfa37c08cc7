//! A `Run`, whether it was obtained by sockets, in virtual time, around a callable, or from another tool's file.
//!
//! A [`Run`] is [`Facts`] (what is known of it) and a [`Snapshot`] (what was recorded). [`Findings`] are computed from
//! it by `truetail-analysis`. This crate holds the values, and writes, reads and merges the run folder ([`folder`],
//! [`wire`], [`merge()`]); it takes no decision about a number.

mod claims;
mod facts;
mod findings;
pub mod folder;
mod merge;
pub mod wire;

pub use claims::{ClaimedQuantile, Claims, LatencyFrom};
pub use facts::{
    CheckCounts, CpuContention, CpuTime, EndClock, Facts, GeneratorStats, HostInfo, Http2Config, Http2Stats,
    LONGEST_PAUSES, Mix, MixTarget, OfferedLoad, Pause, RunSource, TargetBooks, Timing,
};
pub use findings::{
    ArrivalFidelity, ClosedLoopShadow, Contribution, Dispersion, Distribution, Exponential, Findings, Gaps,
    GateFinding, GateState, MetricDistributions, Quantile, Reason, Settling, SettlingState, ShadowQuantile, Shift,
    TargetFindings, Uncertainty, Verdict, VerdictState,
};
pub use merge::{MergeError, merge};

use truetail_model::record::Snapshot;

/// What was offered, what was recorded, and by whom.
#[derive(Clone, Debug)]
pub struct Run {
    /// What is known of the run.
    pub facts: Facts,
    /// What was recorded.
    pub snapshot: Snapshot,
}
