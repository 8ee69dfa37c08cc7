//! The search for capacity: drives the rules of [`truetail_analysis::capacity`] over a [`Probe`].
//!
//! | module | content |
//! |---|---|
//! | `probe` | the seam: what a probe of a service must be able to do |
//! | `journal` | the folder of a search, so that an interrupted one goes on |
//! | `drive` | the loop: cool down, probe, write down, until there is an answer |

mod drive;
mod journal;
mod probe;

pub use drive::{Ended, Finding, Stopped, search};
pub use journal::{Journal, JournalError, Question};
pub use probe::{CoolDown, Figures, Probe, ProbeError, ProbeRecord, ProbeResult};
