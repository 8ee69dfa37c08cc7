//! Checkpoints, saved every few seconds, so that `truetail report` can read a run whose process was killed.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use truetail_engine::{Plan, host};
use truetail_model::workload::LoadModel;
use truetail_run::{CheckpointFacts, Findings, Run, folder};

use super::so_far::{FeedSource, SoFar};
use crate::background::{BackgroundThread, rest_after};

/// Shortest time from one checkpoint to the next.
const SHORTEST_WAIT: Duration = Duration::from_secs(5);

/// Saves checkpoints of a run until it is dropped.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    _thread: Option<BackgroundThread>,
}

impl Checkpoints {
    /// Starts to save the run of `source` in `folder`, which must exist. If no thread can be started, nothing is saved.
    pub(crate) fn start(folder: &Path, source: FeedSource) -> Checkpoints {
        let scheduled = scheduled_in(&source.plan);
        let rounds = Rounds { folder: folder.to_owned(), scheduled, so_far: SoFar::new(source) };
        Checkpoints { _thread: BackgroundThread::start_behind_workers("saver", |ended| rounds.work_until(ended)).ok() }
    }
}

struct Rounds {
    folder: PathBuf,
    scheduled: Option<u64>,
    so_far: SoFar,
}

impl Rounds {
    fn work_until(mut self, ended: &Receiver<()>) {
        let mut wait = SHORTEST_WAIT;
        while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            let before = host::thread_cpu_time();
            if let Some((run, findings)) = self.round() {
                // If this fails, saving the run at its end fails too and reports the error.
                let _ = folder::save_checkpoint(&self.folder, run, &findings);
            }
            wait = rest_after(host::thread_cpu_time().saturating_sub(before), SHORTEST_WAIT);
        }
    }

    /// Returns the run as a checkpoint saves it.
    fn round(&mut self) -> Option<(Run, Findings)> {
        let (mut run, mut findings) = self.so_far.now()?;
        // The targets of all arrivals are known only at the end.
        run.snapshot.targets.clear();
        run.facts.checkpoint = Some(CheckpointFacts { scheduled: self.scheduled });
        let gates = std::mem::take(&mut findings.gates);
        findings = Findings { gates, ..truetail_analysis::findings(&run) };
        Some((run, findings))
    }
}

/// Returns the number of arrivals of this stripe; `None` if it depends on answers.
fn scheduled_in(plan: &Plan) -> Option<u64> {
    let LoadModel::Open(schedule) = &plan.workload.model else { return None };
    schedule.count().map(|all| plan.stripe.share_of(all))
}
