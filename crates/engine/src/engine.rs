//! From a plan to what was measured: workers are set up, run, and what they bring home is put together.

use std::io;
use std::sync::Arc;
use std::thread;

use truetail_model::driver::{Driver, WorkerShare};
use truetail_model::time::Nanos;
use truetail_model::workload::{LoadModelKind, Workload};
use truetail_reactor::{MonotonicClock, Reactor};

use truetail_run::EndClock;

use crate::Plan;
use crate::by_target;
use crate::checkpoint::Mailbox;
use crate::control::Control;
use crate::harvest::{Harvest, Measured, put_together, recorder_options};
use crate::ledger::Ledger;
use crate::live::Live;
use crate::own_files;
use crate::stamps;
use crate::surroundings;
use crate::tls::{Tls, TlsError};
use crate::worker::{Setting, Worker};

/// From the call to the first intended start: time for every worker to be ready.
const LEAD: Nanos = Nanos::from_millis(20);

/// Why no load could be offered.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The requests are for https, and there can be no TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// A worker could not be set up. Others may have begun, and were stopped within 20 ms.
    #[error("worker {worker} could not be set up: {source}")]
    Worker {
        /// Which one.
        worker: u32,
        /// What the system said.
        source: io::Error,
    },
    /// A worker ended before its time. What the others measured is lost, because the schedule is not whole without it.
    #[error("worker {worker} failed in mid-run: {problem}; this is a bug in truetail, please report it")]
    Failed {
        /// Which one.
        worker: u32,
        /// What happened.
        problem: String,
    },
}

/// Offers the load of `plan` and measures it. Returns when the run is over; `control` watches and ends it from other
/// threads.
///
/// # Errors
/// See [`EngineError`]. Whatever the *server* does is no error but an outcome.
pub fn run(plan: &Plan, control: &Control) -> Result<Measured, EngineError> {
    let threads = plan.effective_threads();
    let tls = plan.target.tls()?;
    let mut workload = plan.workload.clone();
    workload.limits.connections = Some(plan.effective_cap().connections);
    // Kept for the run: stamping is on in the whole system from the first socket that asks for it to the last one.
    let _stamping = (plan.effective_end_clock() == EndClock::Kernel).then(stamps::switch_on);
    let before = surroundings::read();
    // Before the clock is set: to find the end of a schedule may take longer than what it gives to be ready.
    let shares = (0..threads).map(|index| WorkerShare { index, workers: threads });
    let drivers: Vec<_> = shares.map(|share| (share, Driver::new(&workload, share))).collect();
    let clock = MonotonicClock::starting_in(LEAD);
    let mut running = Vec::new();
    for (share, driver) in drivers {
        let setting = setting_of(plan, &workload, (share, driver), tls.as_ref(), clock, control);
        match thread::Builder::new().name(format!("truetail-{}", share.index)).spawn(move || work(setting)) {
            Ok(worker) => running.push(worker),
            Err(source) => {
                control.stop_now();
                running.into_iter().for_each(|worker| drop(worker.join()));
                return Err(EngineError::Worker { worker: share.index, source });
            }
        }
    }
    let harvests = (0..threads).zip(running).map(|(worker, thread)| reap(worker, thread)).collect::<Vec<_>>();
    let harvests = harvests.into_iter().collect::<Result<Vec<_>, _>>()?;
    let by_target = by_target::put_together(plan.target.requests(), harvests.iter().map(|harvest| &harvest.by_target));
    let mut measured = Measured { by_target, ..put_together(harvests, clock) };
    if let Some(given_away) = control.given_away() {
        measured.snapshot.merge(&given_away);
    }
    measured.generator.end_clock = plan.effective_end_clock();
    measured.generator.timing = plan.timing;
    measured.generator.surroundings = surroundings::since(&before);
    Ok(measured)
}

fn setting_of(
    plan: &Plan,
    workload: &Workload,
    (share, driver): (WorkerShare, Driver),
    tls: Option<&Tls>,
    clock: MonotonicClock,
    control: &Control,
) -> Setting {
    let live = Arc::new(Live::default());
    let options = recorder_options(workload, plan.samples);
    let mailbox = Arc::new(Mailbox::new(options));
    control.attach(Arc::clone(&live), Some(Arc::clone(&mailbox)));
    Setting {
        share,
        driver,
        ledger: Ledger::new(options, plan.target.requests(), workload, live, mailbox),
        clock,
        endpoint: plan.target.endpoint().clone(),
        tls: tls.map(Tls::for_one_worker),
        keep_alive: plan.keep_alive,
        multiplexing: plan.multiplexing(share.of(u64::from(workload.limits.connections.unwrap_or(1)))),
        requests: plan.target.requests().clone(),
        timeout: workload.limits.timeout,
        stamped: plan.effective_end_clock() == EndClock::Kernel,
        timing: plan.timing,
        scheduled: workload.model.kind() != LoadModelKind::Closed,
        control: control.clone(),
    }
}

/// Why a worker brings nothing home.
enum Trouble {
    /// It could not begin.
    SettingUp(io::Error),
    /// It could not go on.
    Running(io::Error),
}

/// What a worker does, in its thread.
fn work(setting: Setting) -> Result<Harvest, Trouble> {
    let others = StopsTheOthers(Some(setting.control.clone()));
    // SAFETY: a setting holds no descriptor, this thread has opened none so far, and a harvest holds none either. Of the
    // libraries that a worker calls, those that make random numbers would keep one for all threads, and only where there is
    // no other way to have them, which `take` looks at.
    unsafe { own_files::take() };
    let reactor = Reactor::new().map_err(Trouble::SettingUp)?;
    let harvest = Worker::new(setting, reactor).run().map_err(Trouble::Running)?;
    others.may_go_on();
    Ok(harvest)
}

/// Ends the run when a worker fails or panics: the schedule is not whole without it.
struct StopsTheOthers(Option<Control>);

impl StopsTheOthers {
    fn may_go_on(mut self) {
        self.0 = None;
    }
}

impl Drop for StopsTheOthers {
    fn drop(&mut self) {
        if let Some(control) = &self.0 {
            control.stop_now();
        }
    }
}

fn reap(worker: u32, thread: thread::JoinHandle<Result<Harvest, Trouble>>) -> Result<Harvest, EngineError> {
    let failed = |problem: String| EngineError::Failed { worker, problem };
    match thread.join() {
        Ok(Ok(harvest)) => Ok(harvest),
        Ok(Err(Trouble::SettingUp(source))) => Err(EngineError::Worker { worker, source }),
        Ok(Err(Trouble::Running(error))) => Err(failed(error.to_string())),
        Err(_) => Err(failed("it panicked".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_ends_before_its_time_ends_the_run() {
        let control = Control::new();
        StopsTheOthers(Some(control.clone())).may_go_on();
        assert!(!control.was_stopped());
        let worker = control.clone();
        let ended = thread::spawn(move || {
            let _others = StopsTheOthers(Some(worker));
            panic!("as a bug in a worker would");
        });
        assert!(matches!(reap(3, thread::spawn(|| panic!("as above"))), Err(EngineError::Failed { worker: 3, .. })));
        assert!(ended.join().is_err() && control.was_stopped());
    }
}
