//! What is known of a run besides what was recorded. These types are the wire form of `run.json`, version 1: a field
//! may be added, none may change its meaning.

mod checks;
mod generator;
mod mix;
mod offered;

use serde::{Deserialize, Serialize};

pub use checks::CheckCounts;
pub use generator::{
    CpuContention, CpuTime, EndClock, GeneratorStats, HostInfo, Http2Stats, LONGEST_PAUSES, Pause, Timing,
};
pub use mix::{Mix, MixTarget, TargetBooks};
pub use offered::{Http2Config, OfferedLoad};

/// How a run was obtained.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum RunSource {
    /// Real sockets.
    Sockets,
    /// Virtual time.
    Simulator,
    /// A callable in this process.
    Callable,
    /// Another tool's result.
    Import {
        /// Its name.
        tool: String,
        /// Its version, where known.
        version: Option<String>,
    },
}

/// What is known of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Facts {
    /// The version of truetail that made this.
    pub version: String,
    /// How the run was obtained.
    pub source: RunSource,
    /// When the run's origin was, nanoseconds since 1970 UTC; `None` in virtual time.
    pub started_at_unix_ns: Option<u64>,
    /// From the origin to the end of the drain, nanoseconds.
    pub elapsed_ns: u64,
    /// What was offered.
    pub offered: OfferedLoad,
    /// The machine that offered it; `None` in virtual time.
    pub host: Option<HostInfo>,
    /// What the generator knows of itself; `None` in virtual time.
    pub generator: Option<GeneratorStats>,
    /// The run was ended before its time, by the user or by a rule such as `--until`, which a note then names.
    pub interrupted: bool,
    /// Arrivals that were still to come were not planned because of that. `None`: nobody knows, as of runs that were saved
    /// before it was written down.
    pub cut_short: Option<bool>,
    /// Bytes of answers that were read.
    pub bytes_in: u64,
    /// Things to say that belong to no number, such as a preflight that met a status 404.
    pub notes: Vec<String>,
    /// What the tool itself said, where the run is another tool's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claims: Option<crate::Claims>,
    /// The books of each target, in the order of [`Mix::targets`]; empty where there is but one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_target: Vec<TargetBooks>,
    /// What became of the checks of answers, in the order in which they were set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckCounts>,
}

impl Facts {
    /// The schedule went to its end, as far as is known.
    pub fn is_complete(&self) -> bool {
        !self.interrupted || self.cut_short == Some(false)
    }
}
