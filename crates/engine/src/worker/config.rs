//! What a worker is given.

use truetail_model::driver::WorkerShare;
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModelKind;
use truetail_run::Timing;

use crate::control::Control;
use crate::start::Start;
use crate::target::destination::Way;
use crate::target::request_set::RequestSet;

/// What a worker needs to know.
pub(crate) struct WorkerConfig {
    pub(crate) share: WorkerShare,
    /// The clock, and when sending begins.
    pub(crate) start: Start,
    /// How each origin is connected to.
    pub(crate) ways: Vec<Way>,
    pub(crate) requests: RequestSet,
    /// Most connections of this worker: to all origins together, or where they are multiplexed, to each. `None`: each session
    /// has its own, which are closed when it is over.
    pub(crate) most_connections: Option<u64>,
    pub(crate) timeout: Option<Nanos>,
    /// The kernel is to say when answers arrived.
    pub(crate) stamped: bool,
    /// What to do between two requests.
    pub(crate) timing: Timing,
    /// Who decides when a request is due.
    pub(crate) model: LoadModelKind,
    /// The driver's cap is not the user's, nor the server's: truetail chose it by what this machine has.
    pub(crate) has_own_cap: bool,
    pub(crate) control: Control,
}

impl WorkerConfig {
    /// Requests are due on a schedule, so that one may fall due between two answers.
    #[inline]
    pub(super) fn is_scheduled(&self) -> bool {
        self.model != LoadModelKind::Closed
    }
}
