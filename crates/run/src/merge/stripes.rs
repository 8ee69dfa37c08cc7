//! The added stripes of a load, and the result of each.

use truetail_model::record::Metric;

use super::error::MergeError;
use crate::{Run, Shard, Shards, StripeFacts, Verdict};

#[derive(Debug)]
pub(super) struct Stripes {
    of: u32,
    /// Number of the run, and its result, by stripe.
    added: Vec<(usize, Shard)>,
}

impl Stripes {
    /// Returns an empty set of stripes, for the load that `first` is a stripe of.
    pub(super) fn new(first: &StripeFacts) -> Stripes {
        Stripes { of: first.of, added: Vec::new() }
    }

    pub(super) fn count(&self) -> u32 {
        self.of
    }

    pub(super) fn add(
        &mut self,
        run: &Run,
        stripe: &StripeFacts,
        verdict: Option<&Verdict>,
        number: usize,
    ) -> Result<(), MergeError> {
        let index = stripe.index;
        let of = stripe.of;
        if stripe.stripe().is_none() {
            return Err(MergeError::NoSuchStripe { run: number, index, of });
        }
        match self.added.binary_search_by_key(&index, |(_, shard)| shard.index) {
            Ok(at) => Err(MergeError::StripeTwice { index, of, first: self.added[at].0, second: number }),
            Err(at) => {
                self.added.insert(at, (number, shard(run, index, verdict)));
                Ok(())
            }
        }
    }

    /// Returns the stripes that were not added, ascending.
    pub(super) fn missing(&self) -> Vec<u32> {
        let mut added = self.added.iter().map(|(_, shard)| shard.index).peekable();
        (1..=self.of).filter(|index| added.next_if_eq(index).is_none()).collect()
    }

    pub(super) fn into_shards(self) -> Shards {
        let of = self.of;
        let missing = self.missing();
        Shards { of, missing, by_stripe: self.added.into_iter().map(|(_, shard)| shard).collect() }
    }
}

fn shard(run: &Run, index: u32, verdict: Option<&Verdict>) -> Shard {
    let tally = &run.snapshot.tally;
    let lag = run.snapshot.metric(Metric::GeneratorLag);
    Shard {
        index,
        started_at_unix_ns: run.facts.started_at_unix_ns,
        late_ns: run.facts.start.map_or(0, |start| start.late_ns),
        planned: tally.planned,
        never_issued: tally.never_issued,
        responses: tally.responses,
        generator_lag_p99_ns: lag.quantile(0.99).map(|lag| lag.0),
        generator_lag_max_ns: lag.max().map(|lag| lag.0),
        verdict: verdict.map(|verdict| verdict.state),
        reasons: verdict
            .map_or(Vec::new(), |verdict| verdict.reasons.iter().map(|reason| reason.code.clone()).collect()),
    }
}
