//! Async callables on tokio.

use std::future::Future;

use tokio::runtime::Handle;
use tokio::task::JoinSet;
use truetail_model::record::Outcome;
use truetail_model::time::Nanos;

use super::call::CallOutcome;
use super::launched::{CallHandle, CallLauncher, bench_launched};
use super::plan::CallPlan;
use crate::control::Control;
use crate::result::RunOutput;

/// Starts `call()` on `runtime` at each intended start, whether or not earlier calls have ended, and measures each from
/// its intended start. Returns when the run is over. Must not be called on a worker thread of the runtime.
///
/// The actual start of a call is when its task first ran; the time that the runtime took to run it is generator lag.
/// `limits.connections` limits the calls in flight. A call that takes longer than `limits.timeout` is cancelled and
/// counted as timed out. Calls in flight when the drain is over are cancelled and counted as in flight at end.
pub fn bench_async<F, Fut>(plan: &CallPlan, control: &Control, runtime: &Handle, call: F) -> RunOutput
where
    F: Fn() -> Fut,
    Fut: Future + Send + 'static,
    Fut::Output: CallOutcome,
{
    // `call()` itself may create timers and sockets of the runtime, before its future first runs.
    let _inside = runtime.enter();
    let tasks = JoinSet::new();
    let timeout = plan.workload.limits.timeout;
    bench_launched(plan, control, Tasks { call, timeout, runtime: runtime.clone(), tasks })
}

/// Runs each call as a task of the runtime. Dropping it cancels all tasks.
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
        // A task that panicked dropped its handle, which reported the failure.
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
