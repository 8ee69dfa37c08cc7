//! Probes of a real server with the engine.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use truetail_analysis::capacity::{Answer, Objective, ObjectiveEvidence, ProbeJudge, ProbeSpec, Purpose, is_spoilt};
use truetail_analysis::gates;
use truetail_engine::{Control, Plan, host};
use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::record::Metric;
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::{LoadModel, Workload};
use truetail_run::{Findings, Run, StreamTime, VerdictState};
use truetail_stream::StreamRun;
use truetail_study::capacity::{CoolDown, Figures, ObjectiveRecord, Probe, ProbeError, ProbeResult};

use super::looking::Looking;
use super::question::Asked;
use super::stop::SearchStop;
use crate::output;
use crate::output_folder::{OutputFolder, SaveTo};
use crate::progress::ProgressReporter;

/// Number and rate per second of the requests that measure the server without load.
const UNLOADED: (u64, f64) = (10, 20.0);
/// Time that each of these requests may take.
const UNLOADED_WAIT: Nanos = Nanos::from_secs(2);
/// A server has recovered if its median is at most the unloaded median times this factor, plus this time. They cover
/// the noise of ten requests.
const BACK_WITHIN: (f64, Nanos) = (1.25, Nanos::from_millis(1));
const LONGEST_COOL_DOWN: Duration = Duration::from_secs(30);
/// A server that has not answered for this long counts as gone.
const GONE_AFTER: Duration = Duration::from_secs(10);
/// The lower end of the bracket is approached from this part of its rate, the upper end from its rate divided by this.
const APPROACH: f64 = 0.8;
/// The approach takes this part of the shortest probe, up to [`LONGEST_APPROACH`].
const APPROACH_PART: u64 = 10;
const LONGEST_APPROACH: Nanos = Nanos::from_secs(10);
/// Time to wait for the last answers of a probe, beyond the limits of its objectives.
const DRAIN: Nanos = Nanos::from_secs(2);

/// Effect of prompts that are sent again, and what helps.
const USED_AGAIN: &str = "a server may have their prompts in its cache, which makes answers faster; --data-from a longer file, or \
                          --prompts with more rows=, helps";

pub(super) struct EngineProbe<'a> {
    pub(super) asked: &'a Asked,
    folder: PathBuf,
    stop: SearchStop,
    pub(super) quiet: bool,
    began: Instant,
    /// Median response time without load; of streams the median time to the first event.
    unloaded: Option<Nanos>,
    /// Rows of prompts that runs have used.
    rows_used: Cell<u64>,
}

impl<'a> EngineProbe<'a> {
    /// Prepares probes of the server in `asked`. The clock of the search starts now, and runs are saved in `folder`.
    pub(super) fn new(asked: &'a Asked, folder: PathBuf, stop: SearchStop, quiet: bool) -> EngineProbe<'a> {
        EngineProbe { asked, folder, stop, quiet, began: Instant::now(), unloaded: None, rows_used: Cell::new(0) }
    }

    /// Goes on after a search that has made this many requests, and more between its probes.
    pub(super) fn after_requests(self, requests: u64) -> EngineProbe<'a> {
        self.after_rows(requests.saturating_add(requests / 2))
    }

    /// Goes on after runs that used this many rows of prompts.
    pub(super) fn after_rows(self, rows: u64) -> EngineProbe<'a> {
        self.rows_used.set(rows);
        self
    }

    /// Returns the number of rows of prompts that were used.
    pub(super) fn rows_used(&self) -> u64 {
        self.rows_used.get()
    }

    /// Returns the plan of a run at `rate` per second.
    pub(super) fn plan(&self, rate: f64, horizon: Horizon, seed: u64) -> Result<Plan, ProbeError> {
        let rate = Rate::per_second(rate).map_err(|error| ProbeError::Failed(error.to_string()))?;
        let schedule = Schedule { profile: Profile::constant(rate), spacing: self.spacing(), seed, horizon };
        let mut plan = self.asked.plan.clone();
        plan.workload = Workload { model: LoadModel::Open(schedule), warmup: Nanos::ZERO, ..plan.workload };
        plan.workload.limits.drain = plan.workload.limits.drain.min(self.drain());
        if self.asked.prompt_rows() > 0 {
            plan.target.begin_at_row(self.rows_used.get());
        }
        Ok(plan)
    }

    /// Counts the rows of prompts that a run used. Notes of the run say where it began, and if it used rows again.
    fn use_rows(&self, run: &mut Run) {
        let rows = self.asked.prompt_rows();
        if rows == 0 {
            return;
        }
        let before = self.rows_used.get();
        let after = before.saturating_add(run.snapshot.tally.planned);
        self.rows_used.set(after);
        run.facts.notes.push(format!(
            "its first request has row {} of {rows}; earlier runs had the rows before",
            before % rows + 1
        ));
        if after > rows {
            run.facts.notes.push(format!("rows are used again: {USED_AGAIN}"));
        }
        if before <= rows && after > rows && !self.quiet {
            output::note(&format!("the {rows} rows are used up, and the first one is used again: {USED_AGAIN}"));
        }
    }

    fn spacing(&self) -> Spacing {
        match &self.asked.plan.workload.model {
            LoadModel::Open(schedule) => schedule.spacing,
            LoadModel::Closed { .. } | LoadModel::PartlyOpen { .. } => Spacing::Poisson,
        }
    }

    /// Time to wait for answers. A request that takes longer than every limit is bad, so its end does not matter. If an
    /// objective has no time limit, requests must be waited for until they time out.
    fn drain(&self) -> Nanos {
        let limits: Option<Vec<u64>> = self.asked.objectives.iter().map(Objective::limit_ns).collect();
        let longest = limits.and_then(|limits| limits.into_iter().max());
        longest.map_or(Nanos::MAX, |limit| Nanos(limit.saturating_mul(2)) + DRAIN)
    }

    pub(super) fn seed(&self, number: usize) -> u64 {
        self.asked.plan.workload.model.seed().unwrap_or(1).wrapping_add(number as u64)
    }

    /// Begins a run, with empty books of streams.
    pub(super) fn begin_run(&self) -> Control {
        self.asked.streams.iter().for_each(StreamRun::restart);
        self.stop.begin_run()
    }

    /// Makes a run without judging it.
    fn run(&self, plan: &Plan) -> Result<Run, ProbeError> {
        let control = self.begin_run();
        let measured = truetail_engine::run(plan, &control);
        self.finish(plan, measured, &control)
    }

    pub(super) fn finish(
        &self,
        plan: &Plan,
        measured: Result<truetail_engine::RunOutput, truetail_engine::EngineError>,
        control: &Control,
    ) -> Result<Run, ProbeError> {
        if self.stop.was_stopped() {
            return Err(ProbeError::Interrupted);
        }
        let measured = measured.map_err(|error| ProbeError::Failed(error.to_string()))?;
        let run = measured.into_checked_run(plan, control);
        let mut run = run.map_err(|error| ProbeError::Failed(error.to_string()))?;
        run.facts.command = Some(self.asked.command_of(plan));
        run.facts.stream = self.asked.streams.as_ref().map(|streams| streams.facts(&run.snapshot.samples));
        self.use_rows(&mut run);
        Ok(run)
    }

    /// Returns the median of a few requests without load; `None` if no request was answered. A stream may take any
    /// time, so the first event counts, and the stream is given up when the time is over.
    fn median_without_load(&self) -> Result<Option<Nanos>, ProbeError> {
        let horizon = Horizon { duration: None, requests: Some(UNLOADED.0) };
        let mut plan = self.plan(UNLOADED.1.min(self.asked.question.limits.max_rate), horizon, 1)?;
        plan.workload.limits.drain = UNLOADED_WAIT;
        plan.workload.limits.timeout = Some(UNLOADED_WAIT);
        let run = self.run(&plan)?;
        Ok(match &run.facts.stream {
            None => run.snapshot.metric(Metric::ResponseTime).quantile(0.5),
            Some(streams) => streams.times.get(StreamTime::FirstEvent).to_histogram().quantile(0.5),
        })
    }

    fn is_back(&self, median: Nanos, unloaded: Nanos) -> bool {
        median.0 as f64 <= unloaded.0 as f64 * BACK_WITHIN.0 + BACK_WITHIN.1.0 as f64
    }

    /// Approaches the end of a bracket from the other side.
    fn approach(&self, trial: &ProbeSpec) -> Result<(), ProbeError> {
        let Some(rate) = approach_rate(trial, self.asked.question.limits.max_rate) else { return Ok(()) };
        let horizon = Horizon { duration: Some(self.approach_time(trial)), requests: None };
        self.run(&self.plan(rate, horizon, self.seed(0))?)?;
        Ok(())
    }

    /// Makes the run of a probe. Returns the run, its answer, and the looks at it.
    fn look_at(
        &self,
        plan: &Plan,
        trial: &ProbeSpec,
        judge: ProbeJudge,
    ) -> Result<(Run, Answer, Looking<'_>), ProbeError> {
        let control = self.begin_run();
        let mut looking = Looking::new(plan, self.asked, control.clone(), judge, trial.longest);
        let (end, ended) = channel();
        let reporter = (!self.quiet).then(|| ProgressReporter::start(plan.workload.model.clone(), control.clone()));
        let (measured, answer) = thread::scope(|scope| {
            let looking = &mut looking;
            let looks = scope.spawn(move || {
                host::lower_thread_priority();
                looking.until(&ended)
            });
            let measured = truetail_engine::run(plan, &control);
            drop(end);
            (measured, looks.join().unwrap_or(None))
        });
        drop(reporter);
        let run = self.finish(plan, measured, &control)?;
        let answer = answer.unwrap_or_else(|| looking.at_the_end(&run));
        Ok((run, answer, looking))
    }

    fn figures(&self, run: &Run) -> Figures {
        let quantile = self.asked.percentile(run);
        if !quantile.supported {
            return Figures::default();
        }
        Figures { value_ns: quantile.value_ns, low_ns: quantile.low_ns, high_ns: quantile.high_ns }
    }

    fn objectives(&self, run: &Run, evidence: &[ObjectiveEvidence]) -> Vec<ObjectiveRecord> {
        let record = |(objective, evidence): (&Objective, &ObjectiveEvidence)| ObjectiveRecord {
            slo: objective.to_string(),
            answer: evidence.answer,
            counted: evidence.counted,
            bad: evidence.bad,
            allowed: evidence.allowed,
            value_ns: objective.quantile_in(run).filter(|quantile| quantile.supported).and_then(|q| q.value_ns),
        };
        self.asked.objectives.iter().zip(evidence).map(record).collect()
    }

    /// Saves a run in the folder of the search, and returns its folder. `number` counts from 0.
    pub(super) fn save(
        &self,
        (what, number): (&str, usize),
        rate: f64,
        run: &Run,
        findings: &Findings,
    ) -> Result<String, ProbeError> {
        let name = format!("{what}-{:03}-{rate}", number + 1);
        // A search that was killed during this probe left a folder, which is replaced.
        let place = SaveTo::Replace(self.folder.join(name));
        let folder = OutputFolder::prepare(&place, what).and_then(|folder| match folder {
            Some(folder) => folder.save(run, findings),
            None => Ok(PathBuf::new()),
        });
        folder.map(|folder| folder.display().to_string()).map_err(|error| ProbeError::Failed(error.message))
    }
}

impl Probe for EngineProbe<'_> {
    fn elapsed(&self) -> Nanos {
        Nanos::from(self.began.elapsed())
    }

    fn approach_time(&self, trial: &ProbeSpec) -> Nanos {
        match trial.purpose {
            Purpose::Bracket | Purpose::Refine => Nanos::ZERO,
            Purpose::ConfirmUpper | Purpose::ConfirmLower => {
                Nanos(trial.shortest.0 / APPROACH_PART).min(LONGEST_APPROACH)
            }
        }
    }

    fn cool_down(&mut self) -> Result<CoolDown, ProbeError> {
        let began = Instant::now();
        let mut last_answer = began;
        loop {
            match self.median_without_load()? {
                Some(median) => {
                    let unloaded = *self.unloaded.get_or_insert(median);
                    if self.is_back(median, unloaded) {
                        // The first median may be from a server that was still busy, so later ones can only lower it.
                        self.unloaded = Some(unloaded.min(median));
                        return Ok(CoolDown::Done);
                    }
                    last_answer = Instant::now();
                }
                None if last_answer.elapsed() >= GONE_AFTER => {
                    return Err(ProbeError::Gone("the server does not answer any more".to_owned()));
                }
                None => {}
            }
            if began.elapsed() >= LONGEST_COOL_DOWN {
                return Ok(CoolDown::StillSlow);
            }
        }
    }

    fn offer(&mut self, number: usize, trial: &ProbeSpec, judge: ProbeJudge) -> Result<ProbeResult, ProbeError> {
        self.approach(trial)?;
        let horizon = Horizon { duration: Some(trial.longest), requests: None };
        let plan = self.plan(trial.rate, horizon, self.seed(number))?;
        let (run, answer, looked) = self.look_at(&plan, trial, judge)?;
        let mut findings = truetail_analysis::findings(&run);
        findings.gates = gates::judge_all(&self.asked.gates, &run, &findings);
        let is_spoilt = is_spoilt(answer, &findings.verdict);
        Ok(ProbeResult {
            answer: if is_spoilt { Answer::GeneratorLimit } else { answer },
            ratio: looked.ratio(),
            length: offered_for(&run),
            requests: run.snapshot.tally.planned,
            errors: errors(&run),
            figures: self.figures(&run),
            objectives: self.objectives(&run, looked.each_objective()),
            run: Some(self.save(("probe", number), trial.rate, &run, &findings)?),
            note: match is_spoilt {
                true => Some(reasons(&findings)),
                false => looked.backlog_grows().then(|| "the backlog kept growing".to_owned()),
            },
        })
    }
}

/// Returns the rate of the load before a confirming trial, at most `max_rate`; `None` if the trial has no approach.
fn approach_rate(trial: &ProbeSpec, max_rate: f64) -> Option<f64> {
    match trial.purpose {
        Purpose::Bracket | Purpose::Refine => None,
        Purpose::ConfirmUpper => Some((trial.rate / APPROACH).min(max_rate)),
        Purpose::ConfirmLower => Some(trial.rate * APPROACH),
    }
}

/// Requests without an answer, or with an error status, except for those cut off when a look ended the probe.
fn errors(run: &Run) -> u64 {
    let statuses: u64 = run.snapshot.statuses.iter().filter(|(status, _)| **status >= 400).map(|(_, n)| n).sum();
    let tally = &run.snapshot.tally;
    let cut_off = if run.facts.interrupted { tally.never_issued + tally.in_flight_at_end } else { 0 };
    tally.unanswered().saturating_sub(cut_off) + statuses + run.facts.error_replies()
}

/// Returns the time from the origin to the last intended start, rounded up to a second.
fn offered_for(run: &Run) -> Nanos {
    let seconds = run.snapshot.seconds.iter().rposition(|row| row.planned > 0).map_or(0, |last| last + 1);
    Nanos::from_secs(seconds as u64).min(Nanos(run.facts.elapsed_ns))
}

/// Returns why a run is INVALID, as text.
fn reasons(findings: &Findings) -> String {
    let invalid = findings.verdict.reasons.iter().filter(|reason| reason.state == VerdictState::Invalid);
    let messages: Vec<&str> = invalid.map(|reason| reason.message.as_str()).collect();
    if messages.is_empty() { "truetail itself may have made the requests slow".to_owned() } else { messages.join("; ") }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn the_approach_does_not_exceed_the_highest_rate() {
        let trial = |purpose| ProbeSpec { rate: 900.0, purpose, level: 0.01, shortest: Nanos(1), longest: Nanos(1) };
        let from = |purpose| approach_rate(&trial(purpose), 1_000.0);
        assert_eq!(from(Purpose::ConfirmUpper), Some(1_000.0));
        assert_eq!(from(Purpose::ConfirmLower), Some(720.0));
        assert_eq!(from(Purpose::Refine), None);
    }
}
