//! The loop of a search.

use std::io;

use truetail_analysis::capacity::{Objective, ProbeJudge, Search, SearchLimits, SearchState, Step};
use truetail_model::time::Nanos;

use super::journal::Journal;
use super::probe::{CoolDown, Probe, ProbeError, ProbeRecord};

/// Why a search ended before it had its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// Its time was up.
    TimeUp,
    /// The user ended it.
    Interrupted,
    /// The service does not answer any more.
    ServiceGone(String),
    /// A probe could not be made.
    Failed(String),
}

/// How a search ended.
#[derive(Clone, PartialEq, Debug)]
pub struct Ended {
    /// What was found.
    pub finding: Finding,
    /// Why it ended early, if it did.
    pub stopped: Option<Stopped>,
}

/// What a search has found so far.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Finding {
    /// Its state.
    pub state: SearchState,
    /// The highest rate that meets the objectives, requests per second, and whether it was probed again at full length.
    pub proven: Option<(f64, bool)>,
    /// The lowest rate that misses one, and whether it was probed again at full length.
    pub refuted: Option<(f64, bool)>,
}

impl Finding {
    fn new(search: &Search, state: SearchState) -> Finding {
        Finding { state, proven: search.proven(), refuted: search.refuted() }
    }
}

/// Searches until there is an answer, `most_time` has passed, or the search cannot go on. `told` hears of each probe.
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
) -> io::Result<Ended> {
    let mut search = Search::new(limits);
    journal.records().iter().for_each(|record| search.record(&record.probed));
    loop {
        let mut trial = match search.next_step() {
            Step::Done(state) => return Ok(Ended { finding: Finding::new(&search, state), stopped: None }),
            Step::Probe(trial) => trial,
        };
        let stop = |stopped| Ok(Ended { finding: Finding::new(&search, SearchState::OutOfTime), stopped: Some(stopped) });
        let cooled = match probe.cool_down() {
            Ok(cooled) => cooled,
            Err(error) => return stop(stopped(error, probe, most_time)),
        };
        let left = most_time.saturating_sub(probe.elapsed());
        if left < trial.shortest {
            return stop(Stopped::TimeUp);
        }
        // A probe that the end of the search cuts short spends its level by then.
        trial.longest = trial.longest.min(left);
        let number = journal.records().len();
        let result = match probe.offer(number, &trial, ProbeJudge::new(objectives, &trial)) {
            Ok(result) => result,
            Err(error) => return stop(stopped(error, probe, most_time)),
        };
        let mut record = ProbeRecord::new(trial, result);
        if cooled == CoolDown::StillSlow {
            let slow = "before it, the service was still slower than without load".to_owned();
            record.note = Some(record.note.map_or(slow.clone(), |note| format!("{note}; {slow}")));
        }
        search.record(&record.probed);
        told(&record);
        journal.append(record)?;
    }
}

fn stopped(error: ProbeError, probe: &impl Probe, most_time: Nanos) -> Stopped {
    match error {
        ProbeError::Interrupted if probe.elapsed() >= most_time => Stopped::TimeUp,
        ProbeError::Interrupted => Stopped::Interrupted,
        ProbeError::Gone(why) => Stopped::ServiceGone(why),
        ProbeError::Failed(why) => Stopped::Failed(why),
    }
}
