//! Precision of sending, and its cost.

use std::thread;

use truetail_engine::{Plan, host};
use truetail_run::Timing;

use crate::args::run::{RunArgs, TimingName};
use crate::error::{Result, runtime_error, usage_error};

/// Refuses `cheap` without kernel receive stamps: answers would be stamped a whole tick late.
pub(super) fn timing(args: &RunArgs) -> Result<Timing> {
    match args.timing {
        Some(TimingName::Cheap) if args.unix_socket.is_some() => Err(usage_error(
            "--timing cheap and --unix-socket contradict each other: cheap reads answers once a millisecond and needs \
             receive timestamps of the kernel, which Unix sockets do not have; leave one out",
        )),
        Some(TimingName::Cheap) if args.user_timestamps => Err(usage_error(
            "--timing cheap and --user-timestamps contradict each other: cheap reads answers once a millisecond and needs \
             receive timestamps of the kernel; leave one out",
        )),
        Some(TimingName::Cheap) => Ok(Timing::Cheap),
        Some(TimingName::Precise) => Ok(Timing::Precise),
        Some(TimingName::Balanced) => Ok(Timing::Balanced),
        Some(TimingName::Auto) | None => Ok(Timing::Auto),
    }
}

/// Returns true if workers get real-time priority. Fails if this process may not use it, or if workers would spin on
/// every processor so that nothing else could run.
pub(super) fn realtime(args: &RunArgs, plan: &Plan) -> Result<bool> {
    if !args.realtime {
        return Ok(false);
    }
    let workers = plan.effective_threads();
    let processors = host::cpus();
    if plan.precision.timing == Timing::Precise && workers >= processors {
        return Err(usage_error(format!(
            "--realtime and --timing precise would spin on all {processors} processors and let nothing else run; use fewer \
             --threads or another --timing"
        )));
    }
    may_run_at_real_time()?;
    Ok(true)
}

/// Checks by trying, on a thread that ends at once.
fn may_run_at_real_time() -> Result<()> {
    let tried = thread::spawn(host::run_at_real_time).join();
    let Ok(Err(error)) = tried else { return Ok(()) };
    Err(runtime_error(format!(
        "--realtime: this process may not use real-time priority ({error}); run truetail as root, or allow it once with \
         'sudo setcap cap_sys_nice+ep PATH/truetail'"
    )))
}
