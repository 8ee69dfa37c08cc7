//! The search for capacity: applies the rules of [`truetail_analysis::capacity`] through a [`Probe`].
//!
//! | module | content |
//! |---|---|
//! | `probe` | the interface of a service that can be probed |
//! | `journal` | the folder of a search, so that an interrupted search can continue |
//! | `drive` | the loop: cool down, probe, write down, until there is an answer |

mod drive;
mod journal;
mod probe;

pub use drive::{Ended, Finding, Stopped, search};
pub use journal::{Journal, JournalError, Question};
pub use probe::{CoolDown, Figures, Probe, ProbeError, ProbeRecord, ProbeResult};
