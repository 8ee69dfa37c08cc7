//! Thread that publishes the live states of a run.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use truetail_analysis::series::series;
use truetail_engine::host;
use truetail_model::time::Nanos;
use truetail_report::{LiveState, RunProgress};
use truetail_run::{Findings, Run};

use super::so_far::{FeedSource, SoFar};
use super::states::LiveStates;
use crate::background::{BackgroundThread, rest_after};
use crate::progress::Figures;

/// Shortest time from the end of one round to the start of the next.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);

/// Publishes states of a run until dropped or finished. Workers are asked for their records, and disturbed no further.
#[derive(Debug)]
pub(super) struct Feed {
    states: LiveStates,
    thread: Option<BackgroundThread>,
}

impl Feed {
    /// Starts the feed, before or during the run, on a thread with a lower priority than the workers. If no thread can
    /// be started, the only state is the result.
    pub(super) fn start(source: FeedSource) -> Feed {
        let states = LiveStates::default();
        let rounds = Rounds::new(source, states.clone());
        let thread = BackgroundThread::start_behind_workers("feed", |ended| rounds.work_until(ended)).ok();
        Feed { states, thread }
    }

    pub(super) fn states(&self) -> LiveStates {
        self.states.clone()
    }

    /// Publishes the result of the ended run as the last state, after passing it to `before`.
    pub(super) fn finish(mut self, run: &Run, findings: &Findings, before: impl FnOnce(&LiveState)) {
        self.thread.take();
        let state = LiveState {
            series: series(run, findings),
            progress: progress_at_end(run),
            run: run.clone(),
            findings: findings.clone(),
            ended: true,
        };
        before(&state);
        self.states.publish(state);
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.thread.take();
        self.states.close();
    }
}

struct Rounds {
    so_far: SoFar,
    states: LiveStates,
    figures: Figures,
}

impl Rounds {
    fn new(source: FeedSource, states: LiveStates) -> Rounds {
        let figures =
            Figures::new(source.plan.workload.model.clone(), source.control.clone()).for_stripe(source.plan.stripe);
        Rounds { so_far: SoFar::new(source), states, figures }
    }

    fn work_until(mut self, ended: &Receiver<()>) {
        let mut wait = SHORTEST_WAIT;
        while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            let before = host::thread_cpu_time();
            if let Some(state) = self.round() {
                self.states.publish(state);
            }
            let cost = host::thread_cpu_time().saturating_sub(before) + self.states.take_spent();
            wait = rest_after(cost, SHORTEST_WAIT);
        }
    }

    /// Returns the current state; `None` before the run has begun.
    fn round(&mut self) -> Option<LiveState> {
        let (run, findings) = self.so_far.now()?;
        let progress = self.figures.now();
        let planned = progress.planned.max(self.so_far.due());
        let progress = RunProgress { elapsed: Nanos(run.facts.elapsed_ns), planned, ..progress };
        Some(LiveState { series: series(&run, &findings), run, findings, progress, ended: false })
    }
}

/// Returns the progress of a run that has ended, from its books.
fn progress_at_end(run: &Run) -> RunProgress {
    let all = run.snapshot.all_arrivals();
    // A request that was cancelled as planned did not fail.
    let done = all.responses + run.snapshot.cancelled.timed_out;
    let seconds = run.facts.elapsed_ns as f64 / 1e9;
    let quantile = |q| run.snapshot.metric(truetail_model::record::Metric::ResponseTime).quantile(q);
    let errors = run.snapshot.statuses.range(400..).map(|(_, count)| count).sum::<u64>();
    RunProgress {
        elapsed: Nanos(run.facts.elapsed_ns),
        total: run.facts.offered.duration_ns.map(Nanos),
        requests: run.facts.offered.requests,
        planned: all.planned,
        sent: all.issued,
        answered: all.responses,
        failed: all.issued - done - all.in_flight_at_end + errors,
        in_flight: 0,
        sent_per_second: if seconds > 0.0 { all.issued as f64 / seconds } else { 0.0 },
        p50: quantile(0.5),
        p99: quantile(0.99),
    }
}
