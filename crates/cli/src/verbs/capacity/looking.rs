//! Looks at a probe while it runs.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use truetail_analysis::capacity::{Answer, Objective, ObjectiveEvidence, ProbeJudge, ProbeState, SoFar};
use truetail_analysis::saturation_detector::{RunCounts, SaturationDetector};
use truetail_engine::{Control, Plan};
use truetail_model::time::{NANOS_PER_SECOND, Nanos, Timestamp};
use truetail_run::{Run, StreamRows};
use truetail_stream::StreamRun;

use super::question::Asked;
use crate::live::DueArrivals;

/// Time between two checks whether a look is due.
const INTERVAL: Duration = Duration::from_millis(50);

/// Looks at a probe and ends it as soon as it has an answer.
pub(super) struct Looking<'a> {
    objectives: &'a [Objective],
    streams: Option<StreamRun>,
    control: Control,
    judge: ProbeJudge,
    due: DueArrivals,
    due_now: DueArrivals,
    longest: Nanos,
    saturation: SaturationDetector,
    seconds: u64,
}

impl<'a> Looking<'a> {
    /// Prepares looks at the run of `plan`, which ends after `longest`, for the question of `asked`.
    pub(super) fn new(
        plan: &Plan,
        asked: &'a Asked,
        control: Control,
        judge: ProbeJudge,
        longest: Nanos,
    ) -> Looking<'a> {
        Looking {
            objectives: &asked.objectives,
            streams: asked.streams.clone(),
            control,
            judge,
            due: DueArrivals::new(plan),
            due_now: DueArrivals::new(plan),
            longest,
            saturation: SaturationDetector::with_timeout(plan.workload.limits.timeout),
            seconds: 0,
        }
    }

    /// Looks until an answer is found or the run has `ended`.
    pub(super) fn until(&mut self, ended: &Receiver<()>) -> Option<Answer> {
        while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
            let Some(elapsed) = self.control.elapsed().filter(|_| !self.control.was_stopped()) else { continue };
            // After `longest`, only the look at the complete run counts: it has all answers.
            if elapsed >= self.longest {
                continue;
            }
            let answer = self.look(elapsed);
            if answer.is_some() {
                self.end_run(answer);
                return answer;
            }
        }
        None
    }

    /// Ends the run. After a miss it also drops the backlog, which would only take time.
    fn end_run(&self, answer: Option<Answer>) {
        match answer {
            Some(Answer::Misses) => self.control.stop_now(),
            _ => self.control.stop(),
        }
    }

    fn look(&mut self, elapsed: Nanos) -> Option<Answer> {
        let backlog_grows = self.backlog_grows_now(elapsed);
        let due = self.judge.next_look().is_some_and(|look| elapsed >= look);
        if !due && !backlog_grows {
            return None;
        }
        let snapshot = self.control.recorded_so_far()?;
        let streams = self.rows();
        let so_far = SoFar { snapshot: &snapshot, streams: streams.as_ref() };
        let judged = self.objectives.iter().map(|objective| objective.judged_before(so_far, Timestamp(elapsed.0)));
        let before = judged.min().unwrap_or_default();
        let due = walked(&mut self.due, before);
        let sample = |objective: &Objective| objective.sample_so_far(so_far, before, due);
        let samples = self.objectives.iter().map(sample).collect();
        self.judge.look(ProbeState { elapsed, samples, backlog_grows })
    }

    /// Returns true if the backlog grows. Checks once a second.
    fn backlog_grows_now(&mut self, elapsed: Nanos) -> bool {
        let second = elapsed.0 / NANOS_PER_SECOND;
        if second <= self.seconds {
            return false;
        }
        self.seconds = second;
        let seen = self.control.progress();
        let ended = seen.responses + seen.unanswered;
        let planned = walked(&mut self.due_now, Timestamp(elapsed.0)).max(ended);
        let counts = RunCounts { planned, ended, answered: seen.responses, median: seen.p50 };
        self.saturation.observe(counts).is_some()
    }

    /// Returns the answer of the last look, at the whole run. Without an answer the probe stays open.
    pub(super) fn at_the_end(&mut self, run: &Run) -> Answer {
        let streams = self.rows();
        let sample = |objective: &Objective| objective.sample(run, streams.as_ref());
        let samples = self.objectives.iter().map(sample).collect();
        let look = ProbeState { elapsed: self.longest, samples, backlog_grows: false };
        self.judge.look(look).unwrap_or(Answer::Open)
    }

    fn rows(&self) -> Option<StreamRows> {
        self.streams.as_ref().map(StreamRun::rows)
    }

    pub(super) fn ratio(&self) -> Option<f64> {
        self.judge.ratio()
    }

    pub(super) fn each_objective(&self) -> &[ObjectiveEvidence] {
        self.judge.each_objective()
    }

    pub(super) fn backlog_grows(&self) -> bool {
        self.judge.backlog_grows()
    }
}

fn walked(due: &mut DueArrivals, before: Timestamp) -> u64 {
    due.advance(Timestamp::ZERO, before);
    due.count()
}
