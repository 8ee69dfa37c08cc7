//! The loop of a search.

use std::io;

use truetail_analysis::capacity::{
    Answer, LimitEstimate, Objective, ProbeJudge, Search, SearchLimits, SearchState, Step,
};
use truetail_model::time::Nanos;

use super::journal::Journal;
use super::probe::{CoolDown, Probe, ProbeError, ProbeRecord};

/// Reason why a search ended early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StopReason {
    /// Its time was up.
    TimeUp,
    /// The user ended it.
    Interrupted,
    /// The service no longer answers.
    ServiceGone(String),
    /// A probe could not be made.
    Failed(String),
}

/// Result of a search.
#[derive(Clone, PartialEq, Debug)]
pub struct SearchOutcome {
    /// The finding.
    pub finding: Finding,
    /// Reason why the search ended early, if it did.
    pub stopped: Option<StopReason>,
    /// A probe that the end of the time cut off before it had an answer. It is not in the journal.
    pub cut: Option<ProbeRecord>,
}

/// State and results of a search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Finding {
    /// State of the search.
    pub state: SearchState,
    /// The highest rate that meets the objectives, requests per second, and whether it was probed again at full length.
    pub proven: Option<(f64, bool)>,
    /// The lowest rate that misses one, and whether it was probed again at full length.
    pub refuted: Option<(f64, bool)>,
    /// Estimate of the limit.
    pub estimate: Option<LimitEstimate>,
}

impl Finding {
    fn new(search: &Search, state: SearchState) -> Finding {
        Finding { state, proven: search.proven(), refuted: search.refuted(), estimate: search.estimate() }
    }
}

/// Searches until there is an answer, `most_time` has passed, or the search fails. Calls `told` with each probe.
///
/// # Errors
/// If the journal cannot be written.
pub fn search(
    probe: &mut impl Probe,
    objectives: &[Objective],
    limits: SearchLimits,
    journal: &mut Journal,
    most_time: Nanos,
    mut told: impl FnMut(&ProbeRecord),
) -> io::Result<SearchOutcome> {
    let mut search = Search::new(limits);
    journal.records().iter().for_each(|record| search.record(&record.probed));
    let mut cooled = None;
    loop {
        let mut trial = match search.next_step() {
            Step::Done(state) => {
                return Ok(SearchOutcome { finding: Finding::new(&search, state), stopped: None, cut: None });
            }
            Step::Probe(trial) => trial,
        };
        let stop = |error| {
            let stopped = Some(stopped(error));
            Ok(SearchOutcome { finding: Finding::new(&search, SearchState::OutOfTime), stopped, cut: None })
        };
        let before = match cooled.map_or_else(|| probe.cool_down(), Ok) {
            Ok(before) => before,
            Err(error) => return stop(error),
        };
        let left = most_time.saturating_sub(probe.elapsed() + probe.approach_time(&trial));
        if left < trial.shortest {
            return stop(ProbeError::TimeUp);
        }
        // A probe that the end of the search cuts short uses up its share of the error probability by then.
        let is_cut = left < trial.longest;
        trial.longest = trial.longest.min(left);
        let number = journal.records().len();
        // A service that is gone after a probe says nothing about the rate, because the cause is not known.
        let made = probe.offer(number, &trial, ProbeJudge::new(objectives, &trial));
        let (result, after) = match made.and_then(|result| probe.cool_down().map(|after| (result, after))) {
            Ok(made) => made,
            Err(error) => return stop(error),
        };
        cooled = Some(after);
        let mut record = ProbeRecord::new(trial, result);
        if before == CoolDown::StillSlow {
            let slow = "before this probe the service was still slower than without load".to_owned();
            record.note = Some(record.note.map_or(slow.clone(), |note| format!("{note}; {slow}")));
        }
        if is_cut && record.probed.answer == Answer::Open {
            // The probe was too short for an answer. A continued search repeats it.
            told(&record);
            return stop(ProbeError::TimeUp).map(|ended| SearchOutcome { cut: Some(record), ..ended });
        }
        search.record(&record.probed);
        told(&record);
        journal.append(record)?;
    }
}

fn stopped(error: ProbeError) -> StopReason {
    match error {
        ProbeError::TimeUp => StopReason::TimeUp,
        ProbeError::Interrupted => StopReason::Interrupted,
        ProbeError::Gone(why) => StopReason::ServiceGone(why),
        ProbeError::Failed(why) => StopReason::Failed(why),
    }
}
