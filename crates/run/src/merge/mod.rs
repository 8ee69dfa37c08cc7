//! Merging of several runs of one workload: stripes that machines shared, or repetitions.
//!
//! Counts are added, second by second and bucket by bucket; no quantile is ever averaged. The runs must have offered
//! the same load. The numbers cannot tell whether the services behind them were the same.
//!
//! Runs are added one by one, and the memory of a merge grows by about two hundred bytes per run.

mod error;
mod facts;
mod missing;
mod notes;
mod same_load;
mod stripes;

use truetail_model::arrival::{ScheduleHash, Trace};
use truetail_model::record::{ByInterval, Ordinal, Samples, SamplesOptions, Snapshot, Tally};
use truetail_model::time::Timestamp;

pub use error::{MergeError, ranges};

use crate::limits::{MAX_ARRIVALS, MAX_BYTES, too_large};
use crate::wire::v1::IntervalWidth;
use crate::{Run, Verdict};
use facts::{add_facts, add_note};
use notes::Notes;
use same_load::difference;
use stripes::Stripes;

/// Treatment of missing stripes.
#[derive(Clone, PartialEq, Debug)]
pub enum MissingStripes {
    /// The merge is refused.
    Refused,
    /// The result names them, and their arrivals count as never issued, as far as they are known.
    NeverIssued {
        /// The recording that the runs replayed, if any: `run.json` does not contain it.
        recording: Option<Trace>,
    },
}

/// Merges several runs of one workload into one. Seeds may differ, except among stripes; the result then has no seed.
///
/// Runs with the same arrivals are repetitions and not stripes. The rates of the merged run are then sums over the
/// repetitions, and a note says so. The merged run has the longest intervals of all runs. If a run lacks distributions
/// by second, or single requests, the merged run lacks them too, and a note says so.
///
/// # Errors
/// [`MergeError`]. It numbers the runs from 1 in the given order.
pub fn merge(runs: Vec<Run>) -> Result<Run, MergeError> {
    let mut merger = Merger::default();
    runs.into_iter().try_for_each(|run| merger.add(run, None))?;
    merger.finish(MissingStripes::Refused)
}

/// A merge in progress. It keeps the sum of the added runs, and about two hundred bytes for each.
#[derive(Default, Debug)]
pub struct Merger {
    whole: Option<Run>,
    stripes: Option<Stripes>,
    added: Vec<Identity>,
    notes: Notes,
    planned: u128,
    sample_bytes: u128,
    lacks_seconds: bool,
    lacks_samples: bool,
    lacks_targets: bool,
}

impl Merger {
    /// Adds a run with its own verdict.
    ///
    /// # Errors
    /// [`MergeError`]. It numbers the runs from 1 in the order of addition. After an error, the sum is unchanged.
    pub fn add(&mut self, mut part: Run, verdict: Option<&Verdict>) -> Result<(), MergeError> {
        let number = self.added.len() + 1;
        let identity = Identity::from_run(&part);
        self.check(&part, &identity, number)?;
        let (planned, sample_bytes) = self.sizes_with(&part)?;
        self.take_stripe(&part, verdict, number)?;
        (self.planned, self.sample_bytes) = (planned, sample_bytes);
        self.added.push(identity);
        self.notes.add(&part);
        self.lacks_seconds |= IntervalWidth::from_snapshot(&part.snapshot) == IntervalWidth::WholeRun;
        self.lacks_samples |= !has_samples(&part.snapshot.samples);
        self.lacks_targets |= part.snapshot.targets.len() != part.facts.by_target.len();
        match &mut self.whole {
            None => self.whole = Some(part),
            Some(whole) => {
                number_connections_after(&whole.snapshot.samples, &mut part.snapshot.samples);
                whole.snapshot.merge(&part.snapshot);
                add_facts(&mut whole.facts, part.facts);
                keep_streams_of_samples(whole);
            }
        }
        Ok(())
    }

    /// Returns the merged run.
    ///
    /// # Errors
    /// [`MergeError::Nothing`], [`MergeError::TooLarge`], and for stripes the errors about missing stripes or
    /// recordings.
    pub fn finish(mut self, holes: MissingStripes) -> Result<Run, MergeError> {
        let mut whole = self.whole.take().ok_or(MergeError::Nothing)?;
        if let Some(stripes) = self.stripes.take() {
            self.fill_holes(&mut whole, &stripes, holes)?;
            whole.facts.stripe = None;
            whole.facts.shards = Some(stripes.into_shards());
        }
        let notes = self.notes.texts(self.added.len(), &whole, [self.lacks_seconds, self.lacks_samples]);
        if self.lacks_targets {
            whole.snapshot.targets.clear();
        }
        if self.lacks_seconds {
            whole.snapshot.seconds.clear();
            whole.snapshot.intervals = ByInterval::default();
        }
        if self.lacks_samples {
            let seen = whole.snapshot.samples.offered();
            whole.snapshot.samples = Samples::from_parts(SamplesOptions::NONE, Vec::new(), 1, &[], seen);
            keep_streams_of_samples(&mut whole);
        }
        notes.into_iter().for_each(|note| add_note(&mut whole.facts.notes, note));
        match too_large(&whole.facts).filter(|_| self.added.len() > 1) {
            Some(excess) => Err(MergeError::TooLarge(excess.to_string())),
            None => Ok(whole),
        }
    }

    /// Refuses a run of another load, and a run that was added before.
    fn check(&self, part: &Run, identity: &Identity, number: usize) -> Result<(), MergeError> {
        let Some(whole) = &self.whole else { return Ok(()) };
        if let Some(run) = [(&whole.facts, 1), (&part.facts, number)].iter().find(|(facts, _)| facts.shards.is_some()) {
            return Err(MergeError::MergedAlready { run: run.1 });
        }
        if let Some((field, first, other)) = difference(&whole.facts, &part.facts) {
            return Err(MergeError::Different { run: number, field, first, other });
        }
        match self.added.iter().position(|added| added.is_same(identity)) {
            Some(first) => Err(MergeError::Twice { first: first + 1, second: number }),
            None => Ok(()),
        }
    }

    fn take_stripe(&mut self, part: &Run, verdict: Option<&Verdict>, number: usize) -> Result<(), MergeError> {
        match (&mut self.stripes, &part.facts.stripe) {
            (None, None) => Ok(()),
            (Some(stripes), Some(stripe)) => stripes.add(part, stripe, verdict, number),
            (None, Some(stripe)) if self.whole.is_none() => {
                let mut stripes = Stripes::new(stripe);
                stripes.add(part, stripe, verdict, number)?;
                self.stripes = Some(stripes);
                Ok(())
            }
            (Some(_), None) | (None, Some(_)) => Err(MergeError::NotAllStripes { run: number }),
        }
    }

    /// Returns the arrivals, and the bytes of single answers, including `part`. Refuses more than one run can have.
    fn sizes_with(&self, part: &Run) -> Result<(u128, u128), MergeError> {
        let planned = self.planned + u128::from(part.snapshot.all_arrivals().planned);
        let bytes = self.sample_bytes + bytes_of_samples(&part.snapshot.samples);
        if self.whole.is_some() && planned > u128::from(MAX_ARRIVALS) {
            return Err(MergeError::TooMany { planned });
        }
        if self.whole.is_some() && bytes > u128::from(MAX_BYTES) {
            return Err(MergeError::TooManyBytes { bytes });
        }
        Ok((planned, bytes))
    }

    fn fill_holes(&mut self, whole: &mut Run, stripes: &Stripes, holes: MissingStripes) -> Result<(), MergeError> {
        let missing = stripes.missing();
        if missing.is_empty() {
            return Ok(());
        }
        let MissingStripes::NeverIssued { recording } = holes else {
            return Err(MergeError::Holes { missing, of: stripes.count() });
        };
        if whole.facts.cut_short == Some(true) {
            return Err(MergeError::HolesOfStopped);
        }
        let held = missing::never_issued(whole, &missing, stripes.count(), recording)?;
        whole.snapshot.merge(&held);
        if !whole.facts.by_target.is_empty() {
            let note = "the targets of arrivals that a missing stripe held are not known: there are no books by target";
            add_note(&mut whole.facts.notes, note.to_owned());
            whole.facts.by_target.clear();
            self.lacks_targets = true;
        }
        if whole.facts.stream.take().is_some() {
            let note =
                "what the streams of a missing stripe would have been is not known: there are no books of streams";
            add_note(&mut whole.facts.notes, note.to_owned());
        }
        if whole.facts.sessions.take().is_some() {
            let note =
                "what the sessions of a missing stripe would have been is not known: there are no books of sessions";
            add_note(&mut whole.facts.notes, note.to_owned());
        }
        Ok(())
    }
}

fn keep_streams_of_samples(whole: &mut Run) {
    let Run { facts, snapshot } = whole;
    facts.stream.iter_mut().for_each(|streams| streams.requests.keep_only(&snapshot.samples));
}

/// Renumbers the connections of `part`, so that none has a number of `whole`.
fn number_connections_after(whole: &Samples, part: &mut Samples) {
    let connections = whole.even().iter().chain(whole.slowest_left_out()).filter_map(|record| record.connection.get());
    let Some(last) = connections.max() else { return };
    part.change_each(|record| {
        let number = record.connection.get().map(|number| u64::from(last) + 1 + u64::from(number));
        record.connection = number.map_or(Ordinal::UNKNOWN, Ordinal::new);
    });
}

fn bytes_of_samples(samples: &Samples) -> u128 {
    samples.even().iter().chain(samples.slowest_left_out()).map(|record| u128::from(record.bytes_in)).sum()
}

fn has_samples(samples: &Samples) -> bool {
    samples.offered() == 0 || samples.options().capacity > 0
}

#[derive(Clone, Copy, Debug)]
struct Identity {
    started_at_unix_ns: Option<u64>,
    arrivals: u64,
    schedule_hash: ScheduleHash,
    tally: Tally,
    last_end: Timestamp,
}

impl Identity {
    fn from_run(run: &Run) -> Identity {
        let Snapshot { tally, schedule_hash, last_end, .. } = &run.snapshot;
        Identity {
            started_at_unix_ns: run.facts.started_at_unix_ns,
            arrivals: run.snapshot.all_arrivals().planned,
            schedule_hash: *schedule_hash,
            tally: *tally,
            last_end: *last_end,
        }
    }

    /// Returns true if both are the same run. Two different runs never begin in the same nanosecond with the same
    /// arrivals and outcomes. Runs without arrivals may, but counting them twice changes nothing.
    fn is_same(&self, other: &Identity) -> bool {
        self.arrivals > 0
            && matches!((self.started_at_unix_ns, other.started_at_unix_ns), (Some(a), Some(b)) if a == b)
            && self.schedule_hash == other.schedule_hash
            && self.tally == other.tally
            && self.last_end == other.last_end
    }
}
