//! Verbs that read result files of other tools.

mod audit;
mod correct;
pub mod reading;

pub use audit::audit;
pub use correct::correct;
