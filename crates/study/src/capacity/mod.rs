//! The search for capacity: applies the rules of [`truetail_analysis::capacity`] through a [`Probe`].

mod drive;
mod journal;
mod probe;

pub use drive::{Finding, SearchOutcome, StopReason, search};
pub use journal::{Journal, JournalError, Question};
pub use probe::{CoolDown, Figures, ObjectiveRecord, Probe, ProbeError, ProbeRecord, ProbeResult};
