//! Verbs that read result files of other tools.

mod audit;
mod correct;
mod prometheus;
pub(super) mod reading;

pub(super) use audit::audit;
pub(super) use correct::correct;
