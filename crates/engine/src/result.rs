//! What workers measured, merged into one.

use truetail_model::driver::Driver;
use truetail_model::record::{Recorder, RecorderOptions, RequestRecord, SamplesOptions, Snapshot};
use truetail_model::time::{NANOS_PER_SECOND, Nanos, Timestamp};
use truetail_model::workload::Workload;
use truetail_reactor::MonotonicClock;
use truetail_run::{
    CpuTime, Facts, GeneratorStats, Http2Stats, OfferedLoad, Pause, Run, RunSource, TargetBooks, Ticks,
};

use crate::host;
use crate::worker::PauseDetector;
use crate::worker::target_tallies::TargetTallies;

/// The longest so many pauses of a run are kept one by one.
const PAUSES_KEPT: usize = 100;

/// What was measured.
#[derive(Debug)]
pub struct RunOutput {
    /// All that was recorded.
    pub snapshot: Snapshot,
    /// The books of each target, where there are several; empty else.
    pub by_target: Vec<TargetBooks>,
    /// What the generator knows of itself.
    pub generator: GeneratorStats,
    /// The origin of the run, nanoseconds since 1970 UTC.
    pub started_at_unix_ns: u64,
    /// From the origin to the end of the last worker.
    pub elapsed: Nanos,
    /// Arrivals that were still to come were not planned, because the run was ended before its time.
    pub cut_short: bool,
}

impl RunOutput {
    /// The run, on this machine. Who ended it and what else is to be said of it, the caller adds.
    pub fn into_run(self, source: RunSource, offered: OfferedLoad) -> Run {
        let facts = Facts {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            source,
            started_at_unix_ns: Some(self.started_at_unix_ns),
            elapsed_ns: self.elapsed.0,
            offered,
            host: Some(host::describe()),
            generator: Some(self.generator),
            interrupted: false,
            cut_short: Some(self.cut_short),
            bytes_in: self.snapshot.bytes_in,
            notes: Vec::new(),
            command: None,
            claims: None,
            by_target: self.by_target,
            checks: Vec::new(),
            failed_answers: Vec::new(),
        };
        Run { facts, snapshot: self.snapshot }
    }
}

/// What one worker brings home.
#[derive(Debug)]
pub(crate) struct WorkerResult {
    pub(crate) recorder: Recorder,
    pub(crate) target_tallies: TargetTallies,
    pub(crate) driver: Driver,
    pub(crate) pauses: PauseDetector,
    pub(crate) cpu: CpuTime,
    pub(crate) connections: ConnectionCounts,
    /// What was held back so that several requests could be sent in one go.
    pub(crate) ticks: Option<Ticks>,
    /// Requests that shared connections.
    pub(crate) streams: Option<Http2Stats>,
    pub(crate) stray_answers: u64,
    pub(crate) unstamped: u64,
    pub(crate) clock_steps: u64,
    pub(crate) ended: Timestamp,
}

/// Connections of one worker.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct ConnectionCounts {
    pub(crate) opened: u64,
    /// Most at once.
    pub(crate) peak: u64,
}

impl WorkerResult {
    /// Of calls, which have no connections, once those in flight are counted out: counts out what was never issued.
    /// `cpu_before` is the processor time of the thread at its beginning.
    pub(crate) fn of_calls(
        mut driver: Driver,
        mut recorder: Recorder,
        pauses: PauseDetector,
        cpu_before: CpuTime,
        ended: Timestamp,
    ) -> WorkerResult {
        while let Some(arrival) = driver.unissued() {
            recorder.plan(arrival.intended_start);
            recorder.record(&RequestRecord::never_issued(arrival, ended));
        }
        WorkerResult {
            recorder,
            target_tallies: TargetTallies::default(),
            driver,
            pauses,
            cpu: cpu_since(cpu_before),
            connections: ConnectionCounts::default(),
            ticks: None,
            streams: None,
            stray_answers: 0,
            unstamped: 0,
            clock_steps: 0,
            ended,
        }
    }
}

/// What the recorder of each worker keeps. Each may keep as many samples as the whole run: what does not fit is left out
/// when they are put together, and only then is it known what that is.
pub(crate) fn recorder_options(workload: &Workload, samples: SamplesOptions) -> RecorderOptions {
    let length = workload.model.horizon().duration.unwrap_or(Nanos::from_secs(60)) + workload.limits.drain;
    RecorderOptions {
        measure_from: Timestamp(workload.warmup.0),
        // An absurd duration may be asked for; room is made for at most a day of it.
        expected_seconds: (length.0 / NANOS_PER_SECOND).min(86_400) as usize + 2,
        per_second: true,
        samples,
    }
}

/// CPU time from `before` to now, of this thread.
pub(crate) fn cpu_since(before: CpuTime) -> CpuTime {
    let now = host::thread_cpu();
    CpuTime {
        user_ns: now.user_ns.saturating_sub(before.user_ns),
        system_ns: now.system_ns.saturating_sub(before.system_ns),
    }
}

pub(crate) fn merge_results(results: Vec<WorkerResult>, clock: MonotonicClock) -> RunOutput {
    let mut snapshot: Option<Snapshot> = None;
    let mut generator = GeneratorStats {
        threads: results.len() as u32,
        peak_memory_bytes: host::peak_memory_bytes(),
        open_files_limit: host::open_file_limits().map(|limits| limits.soft),
        clock_reading_ns: Some(truetail_reactor::clock_reading_ns()),
        ..GeneratorStats::default()
    };
    let mut elapsed = Nanos::ZERO;
    let cut_short = results.iter().any(|result| result.driver.was_cut_short());
    for result in results {
        elapsed = elapsed.max(result.ended.since_origin());
        generator.busiest_worker_cpu_ns =
            generator.busiest_worker_cpu_ns.max(result.cpu.user_ns + result.cpu.system_ns);
        generator.cpu.user_ns += result.cpu.user_ns;
        generator.cpu.system_ns += result.cpu.system_ns;
        generator.connections_opened += result.connections.opened;
        generator.connections_peak += result.connections.peak;
        generator.ticks = [generator.ticks, result.ticks].into_iter().flatten().reduce(Ticks::and);
        generator.streams = match (generator.streams, result.streams) {
            (Some(whole), Some(part)) => Some(whole.and(part)),
            (one, other) => one.or(other),
        };
        generator.stray_answers += result.stray_answers;
        generator.unstamped += result.unstamped;
        generator.clock_steps = generator.clock_steps.max(result.clock_steps);
        let (pauses, count, total) = result.pauses.finish();
        add_pauses(&mut generator, pauses, count, total);
        let part = result.recorder.finish(result.driver.schedule_hash());
        match &mut snapshot {
            None => snapshot = Some(part),
            Some(whole) => whole.merge(&part),
        }
    }
    RunOutput {
        snapshot: snapshot.unwrap_or_default(),
        by_target: Vec::new(),
        generator,
        started_at_unix_ns: clock.origin_unix_ns(),
        elapsed,
        cut_short,
    }
}

fn add_pauses(generator: &mut GeneratorStats, pauses: Vec<Pause>, count: u64, total: Nanos) {
    generator.pause_count += count;
    generator.paused_ns += total.0;
    generator.pauses.extend(pauses);
    generator.pauses.sort_by_key(|pause| std::cmp::Reverse(pause.length_ns));
    generator.pauses.truncate(PAUSES_KEPT);
}
