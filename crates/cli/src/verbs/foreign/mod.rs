//! The verbs that read result files of other tools.

mod audit;
mod correct;
mod reading;

pub use audit::audit;
pub use correct::correct;
