//! Output of a run, merged from the results of its workers.

use std::collections::BTreeMap;

use truetail_model::driver::Driver;
use truetail_model::record::{Recorder, RecorderOptions, SamplesOptions, Snapshot, Unbalanced};
use truetail_model::time::{NANOS_PER_SECOND, Nanos, Timestamp};
use truetail_model::workload::Workload;
use truetail_run::{
    CpuTime, Facts, GeneratorStats, MessageBooks, OfferedLoad, Run, RunSource, StartFacts, TargetBooks,
};

use crate::control::Control;
use crate::host;
use crate::plan::Plan;
use crate::start::Start;
use crate::worker::PauseDetector;
use crate::worker::target_tallies::TargetTallies;

/// Output of a run.
#[derive(Debug)]
pub struct RunOutput {
    /// Everything that was recorded.
    pub snapshot: Snapshot,
    /// The books of each target, if there are several; otherwise empty.
    pub by_target: Vec<TargetBooks>,
    /// Facts about the generator.
    pub generator: GeneratorStats,
    /// The requested start, if one was given.
    pub start: Option<StartFacts>,
    /// The origin of the run, in nanoseconds since 1970 UTC.
    pub started_at_unix_ns: u64,
    /// From the origin to the end of the last worker.
    pub elapsed: Nanos,
    /// True if the run was ended before its time, so that later arrivals were not planned.
    pub cut_short: bool,
}

impl RunOutput {
    /// Converts the output to a run on this machine. The caller adds who ended the run, the checks and everything else
    /// that the engine does not know.
    pub fn into_run(self, source: RunSource, offered: OfferedLoad) -> Run {
        let about_channels = self.generator.messages.iter().filter_map(MessageBooks::note_about_channels);
        let has_answered = self.snapshot.tally.responses > 0;
        let books = self.generator.messages.iter().zip(&offered.messages);
        let compression = books.filter_map(|(books, config)| books.note_about_compression(config, has_answered));
        let skipped = self.generator.skipped_lines.iter().map(ToString::to_string);
        let notes = skipped.chain(about_channels).chain(compression).collect();
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
            checkpoint: None,
            bytes_in: self.snapshot.bytes_in,
            notes,
            command: None,
            tags: BTreeMap::new(),
            claims: None,
            stripe: None,
            start: self.start,
            shards: None,
            trace: None,
            server_timing: None,
            kept_headers: None,
            scrapes: Vec::new(),
            marks: Vec::new(),
            by_target: self.by_target,
            checks: Vec::new(),
            failed_answers: Vec::new(),
            stream: None,
            sessions: None,
        };
        Run { facts, snapshot: self.snapshot }
    }

    /// Converts the output of [`run`](crate::run()) with this plan and control to a run over sockets.
    ///
    /// # Errors
    /// If the books do not balance, which is a bug.
    pub fn into_checked_run(self, plan: &Plan, control: &Control) -> Result<Run, Unbalanced> {
        self.snapshot.tally.check()?;
        self.snapshot.warmup.check()?;
        self.snapshot.cancelled.check()?;
        let mut run = self.into_run(RunSource::Sockets, plan.offered());
        plan.target.requests().tell_rows(&mut run.snapshot.samples);
        run.facts.stripe = plan.stripe_facts();
        run.facts.trace = plan.target.trace_facts().cloned();
        run.facts.interrupted = control.was_stopped();
        Ok(run)
    }
}

#[derive(Debug)]
pub(crate) struct WorkerResult {
    pub(crate) recorder: Recorder,
    pub(crate) target_tallies: TargetTallies,
    pub(crate) driver: Driver,
    pub(crate) generator: GeneratorStats,
    pub(crate) ended: Timestamp,
}

/// Returns the options of each worker's recorder. Each worker may keep as many samples as the whole run, because only
/// the merge shows which samples belong to the run's.
pub(crate) fn recorder_options(workload: &Workload, samples: SamplesOptions) -> RecorderOptions {
    let length = workload.model.horizon().duration.unwrap_or(Nanos::from_secs(60)) + workload.limits.drain;
    RecorderOptions {
        measure_from: Timestamp(workload.warmup.0),
        // Room is made for at most a day, in case of an absurd duration.
        expected_seconds: (length.0 / NANOS_PER_SECOND).min(86_400) as usize + 2,
        per_second: true,
        samples,
    }
}

/// Returns the facts about a worker at its end, apart from its connections. Runs on the worker's thread; `cpu_before`
/// is the processor time of that thread at the worker's start.
pub(crate) fn worker_stats(pauses: PauseDetector, cpu_before: CpuTime) -> GeneratorStats {
    let now = host::thread_cpu();
    let user_ns = now.user_ns.saturating_sub(cpu_before.user_ns);
    let system_ns = now.system_ns.saturating_sub(cpu_before.system_ns);
    let (pauses, pause_count, paused) = pauses.finish();
    GeneratorStats {
        threads: 1,
        cpu: CpuTime { user_ns, system_ns },
        busiest_worker_cpu_ns: user_ns + system_ns,
        pauses,
        pause_count,
        paused_ns: paused.0,
        ..GeneratorStats::default()
    }
}

pub(crate) fn merge_results(results: Vec<WorkerResult>, start: Start) -> RunOutput {
    let mut snapshot: Option<Snapshot> = None;
    let mut generator: Option<GeneratorStats> = None;
    let mut elapsed = Nanos::ZERO;
    let missed = results.iter().map(|result| result.driver.missed()).sum();
    let cut_short = results.iter().any(|result| result.driver.was_cut_short());
    for result in results {
        elapsed = elapsed.max(result.ended.since_origin());
        generator = Some(match generator {
            None => result.generator,
            Some(whole) => whole.merged_with(result.generator),
        });
        let part = result.recorder.finish(result.driver.schedule_hash());
        match &mut snapshot {
            None => snapshot = Some(part),
            Some(whole) => whole.merge(&part),
        }
    }
    RunOutput {
        snapshot: snapshot.unwrap_or_default(),
        by_target: Vec::new(),
        generator: GeneratorStats {
            peak_memory_bytes: host::peak_memory_bytes(),
            open_files_limit: host::open_file_limits().map(|limits| limits.soft),
            clock_reading_ns: Some(truetail_reactor::clock_reading_ns()),
            ..generator.unwrap_or_default()
        },
        start: start.facts(missed),
        started_at_unix_ns: start.clock.origin_unix_ns(),
        elapsed,
        cut_short,
    }
}
