//! What a run has recorded so far, saved every few seconds: `truetail report` can read it where the process was killed.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use truetail_engine::{Plan, host};
use truetail_model::workload::LoadModel;
use truetail_run::{CheckpointFacts, Findings, Run, folder};

use super::feed::rest_after;
use super::so_far::{FeedSource, SoFar};
use crate::background::BackgroundThread;

/// The shortest time from one checkpoint to the next.
const SHORTEST_WAIT: Duration = Duration::from_secs(5);

/// Saves checkpoints of a run until it is dropped.
#[derive(Debug)]
pub struct Checkpoints {
    _thread: Option<BackgroundThread>,
}

impl Checkpoints {
    /// Begins to save the run of `source` in `folder`, which is there. If no thread can be started, there are none.
    pub fn start(folder: &Path, source: FeedSource) -> Checkpoints {
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
                // Where this fails, the end of the run says why.
                let _ = folder::save_checkpoint(&self.folder, run, &findings);
            }
            wait = rest_after(host::thread_cpu_time().saturating_sub(before), SHORTEST_WAIT);
        }
    }

    /// The run as it is left if nothing more is saved of it.
    fn round(&mut self) -> Option<(Run, Findings)> {
        let (mut run, mut findings) = self.so_far.now()?;
        // Whose arrivals they are is known of all of them at the end only.
        run.snapshot.targets.clear();
        run.facts.checkpoint = Some(CheckpointFacts { scheduled: self.scheduled });
        let gates = std::mem::take(&mut findings.gates);
        findings = Findings { gates, ..truetail_analysis::findings(&run) };
        Some((run, findings))
    }
}

/// All arrivals that this stripe of a load has; `None` where answers decide it.
fn scheduled_in(plan: &Plan) -> Option<u64> {
    let LoadModel::Open(schedule) = &plan.workload.model else { return None };
    schedule.count().map(|all| plan.stripe.share_of(all))
}
