//! What a worker is given.

use truetail_model::driver::WorkerShare;
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModelKind;
use truetail_run::Timing;

use crate::control::Control;
use crate::start::Start;
use crate::target::endpoint::Endpoint;
use crate::target::request_set::RequestSet;
use crate::tls::Tls;

/// What a worker needs to know.
pub(crate) struct WorkerConfig {
    pub(crate) share: WorkerShare,
    /// The clock, and when sending begins.
    pub(crate) start: Start,
    pub(crate) endpoint: Endpoint,
    /// How connections are secured, if they are.
    pub(crate) tls: Option<Tls>,
    pub(crate) requests: RequestSet,
    /// Most connections of a worker whose connections are multiplexed; `None`: each session has one of its own, which is
    /// closed when it is over.
    pub(crate) most_shared: Option<u64>,
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
