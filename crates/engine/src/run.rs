//! Runs a plan: sets up the workers, runs them and merges what they measured.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use truetail_model::driver::{Driver, WorkerShare};
use truetail_model::time::Timestamp;
use truetail_model::workload::Workload;
use truetail_reactor::Reactor;
use truetail_run::EndClock;

use crate::Plan;
use crate::checkpoint::Mailbox;
use crate::connection::timestamps;
use crate::control::Control;
use crate::host::{self, surroundings};
use crate::live::Live;
use crate::placement::Placement;
use crate::plan::{EffectiveCap, RateTooHigh};
use crate::protocol::canceller::Canceller;
use crate::protocol::choice::{ProtocolOptions, WithProtocol, with_protocol};
use crate::protocol::observer::ObserverFactory;
use crate::protocol::{Events, Protocol};
use crate::result::{RunOutput, WorkerResult, merge_results, recorder_options};
use crate::start::{OpenAhead, SharedStart, Start};
use crate::target::destination::DestinationSettings;
use crate::tls::TlsError;
use crate::worker::target_tallies;
use crate::worker::{Ledger, Worker, WorkerConfig};

/// Reason why no load could be offered.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The requests use https, but TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// No machine can send this rate.
    #[error(transparent)]
    Rate(#[from] RateTooHigh),
    /// A worker could not be set up. Workers that had begun were stopped within 20 ms.
    #[error("worker {worker} could not be set up: {source}")]
    Worker {
        /// Index of the worker.
        worker: u32,
        /// The system's error.
        source: io::Error,
    },
    /// A worker ended before its time. The other results are lost, because the schedule is incomplete.
    #[error("worker {worker} failed in mid-run: {problem}; this is a bug in truetail, please report it")]
    Failed {
        /// Index of the worker.
        worker: u32,
        /// Description of the failure.
        problem: String,
    },
}

/// Offers the load of `plan`, measures it and returns at the end. Other threads can watch and end it through `control`.
///
/// # Errors
/// See [`EngineError`]. Failures of the *server* are outcomes, not errors.
pub fn run(plan: &Plan, control: &Control) -> Result<RunOutput, EngineError> {
    let options = ProtocolOptions {
        protocol: plan.target.protocol(),
        origin: plan.target.origin(),
        requests: plan.target.requests(),
        keep_alive: plan.keep_alive,
        max_streams: plan.max_streams,
        keeps_fields: plan.observer.is_some(),
        is_made_in_run: plan.is_scripted() || plan.makes_requests(),
        measured_from: Timestamp(plan.workload.warmup.0),
        has_connection_per_session: plan.workload.has_connection_per_session(),
    };
    let run = || with_protocol(&options, RunPlan { plan, control });
    let output = plan.check_rate().map_err(EngineError::Rate).and_then(|()| run());
    control.end();
    output
}

struct RunPlan<'a> {
    plan: &'a Plan,
    control: &'a Control,
}

impl WithProtocol for RunPlan<'_> {
    type Output = Result<RunOutput, EngineError>;

    fn with<P: Protocol + Clone + Send + 'static, L: Placement<P>>(
        self,
        protocol: P,
    ) -> Result<RunOutput, EngineError> {
        let RunPlan { plan, control } = self;
        let mut workload = plan.workload_here();
        // Computed once: files that the run itself opens would lower a second result.
        let cap = plan.effective_cap();
        workload.limits.connections = Some(cap.connections);
        // Kept during the run, because the kernel stamps only while some socket of the system asks for it.
        let _stamping = (plan.effective_end_clock() == EndClock::Kernel).then(timestamps::switch_on);
        let before = surroundings::read();
        let (results, start) = run_workers::<P, L>(plan, &workload, cap, control, &protocol)?;
        let tallies = results.iter().map(|result| &result.target_tallies);
        let (by_target, targets) = target_tallies::merge_tallies(plan.target.requests(), tallies);
        let mut output = RunOutput { by_target, ..merge_results(results, start) };
        output.snapshot.targets = targets;
        if let Some(published) = control.published_so_far() {
            output.snapshot.merge(&published);
        }
        output.generator.end_clock = plan.effective_end_clock();
        output.generator.timing = plan.precision.timing;
        output.generator.realtime = plan.precision.realtime;
        output.generator.connections_available =
            cap.machine_connections().map(|available| available * u64::from(plan.connections_per_session()));
        output.generator.connections_limited_by = cap.machine_limit();
        output.generator.surroundings = surroundings::since(&before);
        Ok(output)
    }
}

fn run_workers<P: Protocol + Clone + Send + 'static, L: Placement<P>>(
    plan: &Plan,
    workload: &Workload,
    cap: EffectiveCap,
    control: &Control,
    protocol: &P,
) -> Result<(Vec<WorkerResult>, Start), EngineError> {
    let threads = plan.effective_threads();
    let ways = plan.target.destination_settings()?;
    // Made before the clock is set, because finding the end of a schedule takes a moment.
    let shares = (0..threads).map(|index| WorkerShare { index, workers: threads, stripe: plan.stripe });
    let mut drivers: Vec<_> = shares.map(|share| (share, Driver::new(workload, share))).collect();
    let opens_ahead = plan.opens_channels_ahead();
    let start = match plan.start_at_unix_ns {
        None if opens_ahead => SharedStart::when_ready(),
        at => SharedStart::known(Start::at(at)),
    };
    if plan.is_scripted() {
        drivers.iter_mut().for_each(|(_, driver)| driver.follow_script());
    }
    match start.get() {
        None => control.begin_preparing(),
        Some(start) => {
            start.skip_missed(drivers.iter_mut().map(|(_, driver)| driver));
            control.set_start(start);
        }
    }
    let mut running = Vec::new();
    for (share, driver) in drivers {
        let config = config_of(plan, workload, share, (cap, &ways), &start, control);
        let ledger = ledger_of(plan, workload, control);
        let observer = plan.observer.as_ref().map(ObserverFactory::observer);
        let events = Events::new(match plan.cancel {
            Some(cancel) => Some(Box::new(Canceller::new(cancel, observer))),
            None => observer,
        });
        let protocol = protocol.clone();
        let realtime = plan.precision.realtime;
        let work = move || {
            work(config, realtime, |config, reactor| {
                Worker::<P, L>::new(config, driver, ledger, protocol, events, reactor)
            })
        };
        match thread::Builder::new().name(format!("truetail-{}", share.index)).spawn(work) {
            Ok(worker) => running.push(worker),
            Err(source) => {
                control.stop_now();
                start.wait();
                running.into_iter().for_each(|worker: JoinHandle<_>| drop(worker.join()));
                return Err(EngineError::Worker { worker: share.index, source });
            }
        }
    }
    let start = start.wait();
    control.set_start(start);
    let results = (0..threads).zip(running).map(|(worker, thread)| join(worker, thread)).collect::<Vec<_>>();
    Ok((results.into_iter().collect::<Result<Vec<_>, _>>()?, start))
}

fn work<P: Protocol, L: Placement<P>>(
    config: WorkerConfig,
    realtime: bool,
    worker: impl FnOnce(WorkerConfig, Reactor) -> Worker<P, L>,
) -> Result<WorkerResult, WorkerError> {
    let others = StopsTheOthers(Some(config.control.clone()));
    if realtime {
        host::run_at_real_time().map_err(WorkerError::SettingUp)?;
    }
    let reactor = Reactor::new().map_err(WorkerError::SettingUp)?;
    let result = worker(config, reactor).run().map_err(WorkerError::Running)?;
    others.may_go_on();
    Ok(result)
}

fn config_of(
    plan: &Plan,
    workload: &Workload,
    share: WorkerShare,
    (cap, ways): (EffectiveCap, &[DestinationSettings]),
    start: &SharedStart,
    control: &Control,
) -> WorkerConfig {
    let most_connections = plan.most_connections(cap, share);
    let ahead = || OpenAhead::new(most_connections, workload.limits.timeout, share);
    let ahead = plan.opens_channels_ahead().then(ahead);
    WorkerConfig {
        share,
        start: start.for_worker(ahead),
        destinations: ways.iter().map(|way| way.for_one_worker(!workload.has_connection_per_session())).collect(),
        requests: plan.target.requests().clone(),
        makes_requests: plan.makes_requests(),
        most_connections,
        timeout: workload.limits.timeout,
        stamped: plan.effective_end_clock() == EndClock::Kernel,
        timing: plan.precision.timing,
        model: workload.model.kind(),
        has_own_cap: cap.machine_connections().is_some(),
        control: control.clone(),
    }
}

/// Returns the ledger of one worker, and makes it readable through `control`.
fn ledger_of(plan: &Plan, workload: &Workload, control: &Control) -> Ledger {
    let live = Arc::new(Live::default());
    let options = recorder_options(workload, plan.samples);
    let mailbox = Arc::new(Mailbox::new(options));
    control.attach(Arc::clone(&live), Some(Arc::clone(&mailbox)));
    Ledger::new(options, plan.target.requests(), workload, live, mailbox).leaving_out(plan.cancel)
}

/// Reason why a worker has no result.
enum WorkerError {
    SettingUp(io::Error),
    Running(io::Error),
}

/// Ends the run when a worker fails or panics, because the schedule is incomplete without it.
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

fn join(worker: u32, thread: JoinHandle<Result<WorkerResult, WorkerError>>) -> Result<WorkerResult, EngineError> {
    let failed = |problem: String| EngineError::Failed { worker, problem };
    match thread.join() {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(WorkerError::SettingUp(source))) => Err(EngineError::Worker { worker, source }),
        Ok(Err(WorkerError::Running(error))) => Err(failed(error.to_string())),
        Err(_) => Err(failed("it panicked".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_ends_before_its_time_ends_the_run() {
        let control = Control::new();
        StopsTheOthers(Some(control.clone())).may_go_on();
        assert!(!control.was_stopped());
        let worker = control.clone();
        let ended = thread::spawn(move || {
            let _others = StopsTheOthers(Some(worker));
            panic!("as a bug in a worker would");
        });
        assert!(matches!(join(3, thread::spawn(|| panic!("as above"))), Err(EngineError::Failed { worker: 3, .. })));
        assert!(ended.join().is_err() && control.was_stopped());
    }
}
