//! Configuration of one worker.

use truetail_model::driver::WorkerShare;
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModelKind;
use truetail_run::Timing;

use crate::control::Control;
use crate::start::WorkerStart;
use crate::target::destination::DestinationSettings;
use crate::target::request_set::RequestSet;

pub(crate) struct WorkerConfig {
    pub(crate) share: WorkerShare,
    pub(crate) start: WorkerStart,
    pub(crate) destinations: Vec<DestinationSettings>,
    pub(crate) requests: RequestSet,
    /// The request of each arrival is made when it is due.
    pub(crate) makes_requests: bool,
    /// Limit on the connections of this worker; see [`Placement::new`](crate::placement::Placement::new).
    pub(crate) most_connections: u64,
    pub(crate) timeout: Option<Nanos>,
    /// True if the kernel stamps the arrival of answers.
    pub(crate) stamped: bool,
    pub(crate) timing: Timing,
    /// The load model, which decides when a request is due.
    pub(crate) model: LoadModelKind,
    /// True if truetail derived the driver's cap from this machine: it is neither the user's nor the server's.
    pub(crate) has_own_cap: bool,
    pub(crate) control: Control,
}

impl WorkerConfig {
    /// Returns true if a schedule decides when requests are due, so that one may become due between two answers.
    #[inline]
    pub(super) fn is_scheduled(&self) -> bool {
        self.model != LoadModelKind::Closed
    }
}
