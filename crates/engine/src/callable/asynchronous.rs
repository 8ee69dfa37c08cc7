//! Async callables on tokio.

use std::future::Future;

use tokio::runtime::Handle;
use tokio::task::JoinSet;
use truetail_model::record::Outcome;
use truetail_model::time::Nanos;

use super::launched::{CallHandle, CallLauncher, bench_launched};
use super::{CallOutcome, CallPlan};
use crate::control::Control;
use crate::harvest::RunOutput;

/// Starts `call()` on `runtime` at each intended start, whether or not earlier calls have ended, and measures each from
/// its intended start. To be called from a thread that is not one of the runtime's workers; it returns when the run is
/// over.
///
/// The actual start is when the task of a call was first run, so what the runtime took to get round to it is the
/// generator's lag and not the callable's time. `limits.connections` caps the calls in flight; `limits.timeout` gives a
/// call up (it is cancelled and counted as timed out); what is in flight when the drain is over is cancelled and counted
/// as in flight at the end.
pub fn bench_async<F, Fut>(plan: &CallPlan, control: &Control, runtime: &Handle, call: F) -> RunOutput
where
    F: Fn() -> Fut,
    Fut: Future + Send + 'static,
    Fut::Output: CallOutcome,
{
    // Timers and sockets of the runtime may be made by `call()` itself, before its future first runs.
    let _inside = runtime.enter();
    let tasks = JoinSet::new();
    let timeout = plan.workload.limits.timeout;
    bench_launched(plan, control, Tasks { call, timeout, runtime: runtime.clone(), tasks })
}

/// Each call is a task of the runtime; all are cancelled when this is dropped.
struct Tasks<F> {
    call: F,
    timeout: Option<Nanos>,
    runtime: Handle,
    tasks: JoinSet<()>,
}

impl<F, Fut> CallLauncher for Tasks<F>
where
    F: Fn() -> Fut,
    Fut: Future + Send + 'static,
    Fut::Output: CallOutcome,
{
    fn launch(&mut self, handle: CallHandle) {
        self.tasks.spawn_on(measured((self.call)(), handle, self.timeout), &self.runtime);
        // A task that panicked dropped its handle, which told so.
        while self.tasks.try_join_next().is_some() {}
    }
}

async fn measured<Fut>(future: Fut, mut handle: CallHandle, timeout: Option<Nanos>)
where
    Fut: Future,
    Fut::Output: CallOutcome,
{
    handle.begin();
    let outcome = match timeout {
        None => future.await.outcome(),
        Some(timeout) => match tokio::time::timeout(timeout.into(), future).await {
            Ok(answer) => answer.outcome(),
            Err(_) => Outcome::TimedOut,
        },
    };
    handle.end(outcome);
}
