//! From a plan to what was measured: workers are set up, run, and what they bring home is put together.

use std::io;
use std::sync::Arc;
use std::thread;

use truetail_model::driver::{Driver, Hand};
use truetail_model::record::{Recorder, RecorderOptions, Snapshot};
use truetail_model::time::{NANOS_PER_SECOND, Nanos, Timestamp};
use truetail_model::workload::{LoadModelKind, Workload};
use truetail_reactor::{MonotonicClock, Reactor};
use truetail_run::{Generator, Pause};

use crate::control::Control;
use crate::live::Live;
use crate::target::Method;
use crate::worker::{Harvest, Setting, Worker};
use crate::{Plan, host};

/// From the call to the first intended start: time for every worker to be ready.
const LEAD: Nanos = Nanos::from_millis(20);

/// Why no load could be offered.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A worker could not be set up.
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

/// What was measured.
#[derive(Debug)]
pub struct Measured {
    /// All that was recorded.
    pub snapshot: Snapshot,
    /// What the generator knows of itself.
    pub generator: Generator,
    /// The origin of the run, nanoseconds since 1970 UTC.
    pub started_at_unix_ns: u64,
    /// From the origin to the end of the last worker.
    pub elapsed: Nanos,
}

/// Offers the load of `plan` and measures it. Returns when the run is over; `control` watches and ends it from other
/// threads.
///
/// # Errors
/// See [`EngineError`]. Whatever the *server* does is no error but an outcome.
pub fn run(plan: &Plan, control: &Control) -> Result<Measured, EngineError> {
    let threads = plan.effective_threads();
    let mut workload = plan.workload.clone();
    workload.limits.connections = Some(plan.effective_cap().connections);
    let clock = MonotonicClock::starting_in(LEAD);
    let mut running = Vec::new();
    for number in 0..threads {
        let started = start_worker(plan, &workload, Hand { index: number, of: threads }, clock, control);
        match started {
            Ok(worker) => running.push(worker),
            Err(source) => {
                control.stop_now();
                running.into_iter().for_each(|worker| drop(worker.join()));
                return Err(EngineError::Worker { worker: number, source });
            }
        }
    }
    let harvests = (0..threads).zip(running).map(|(worker, thread)| reap(worker, thread)).collect::<Vec<_>>();
    let harvests = harvests.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(put_together(harvests, clock))
}

type Running = thread::JoinHandle<io::Result<Harvest>>;

fn start_worker(
    plan: &Plan,
    workload: &Workload,
    hand: Hand,
    clock: MonotonicClock,
    control: &Control,
) -> io::Result<Running> {
    let reactor = Reactor::new()?;
    let live = Arc::new(Live::default());
    control.attach(reactor.waker(), Arc::clone(&live));
    let setting = Setting {
        number: hand.index,
        driver: Driver::new(workload, hand),
        recorder: Recorder::new(recorder_options(plan, hand)),
        clock,
        address: plan.target.address(),
        request: plan.target.http1_request(&[]).into(),
        to_head: *plan.target.method() == Method::Head,
        timeout: workload.limits.timeout,
        scheduled: workload.model.kind() != LoadModelKind::Closed,
        control: control.clone(),
        live,
    };
    let worker = Worker::new(setting, reactor);
    thread::Builder::new().name(format!("truetail-{}", hand.index)).spawn(move || worker.run())
}

fn recorder_options(plan: &Plan, hand: Hand) -> RecorderOptions {
    let length = plan.expected_length().unwrap_or(Nanos::from_secs(60)) + plan.workload.limits.drain;
    let mut samples = plan.samples;
    samples.capacity /= hand.of as usize;
    samples.slowest /= hand.of as usize;
    RecorderOptions {
        measure_from: Timestamp(plan.workload.warmup.0),
        // An absurd duration may be asked for; room is made for at most a day of it.
        expected_seconds: (length.0 / NANOS_PER_SECOND).min(86_400) as usize + 2,
        per_second: true,
        samples,
    }
}

fn reap(worker: u32, thread: Running) -> Result<Harvest, EngineError> {
    let failed = |problem: String| EngineError::Failed { worker, problem };
    match thread.join() {
        Ok(Ok(harvest)) => Ok(harvest),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(_) => Err(failed("it panicked".into())),
    }
}

fn put_together(harvests: Vec<Harvest>, clock: MonotonicClock) -> Measured {
    let mut snapshot: Option<Snapshot> = None;
    let mut generator = Generator {
        threads: harvests.len() as u32,
        peak_memory_bytes: host::peak_memory_bytes(),
        open_files_limit: host::open_files().map(|limits| limits.soft),
        ..Generator::default()
    };
    let mut elapsed = Nanos::ZERO;
    for harvest in harvests {
        elapsed = elapsed.max(harvest.ended.since_origin());
        generator.cpu.user_ns += harvest.cpu.user_ns;
        generator.cpu.system_ns += harvest.cpu.system_ns;
        generator.connections_opened += harvest.connections_opened;
        generator.connections_peak += harvest.connections_peak;
        generator.stray_answers += harvest.stray_answers;
        let (pauses, count, total) = harvest.watch.finish();
        add_pauses(&mut generator, pauses, count, total);
        let part = harvest.recorder.finish(harvest.driver.schedule_hash());
        match &mut snapshot {
            None => snapshot = Some(part),
            Some(whole) => whole.merge(&part),
        }
    }
    Measured { snapshot: snapshot.unwrap_or_default(), generator, started_at_unix_ns: clock.origin_unix_ns(), elapsed }
}

fn add_pauses(generator: &mut Generator, pauses: Vec<Pause>, count: u64, total: Nanos) {
    generator.pause_count += count;
    generator.paused_ns += total.0;
    generator.pauses.extend(pauses);
    generator.pauses.sort_by_key(|pause| std::cmp::Reverse(pause.length_ns));
    generator.pauses.truncate(100);
}
