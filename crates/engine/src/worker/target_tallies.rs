//! What becomes of the arrivals of each target, where there are several.

use std::collections::BTreeMap;

use truetail_model::record::{Outcome, RequestRecord, Tally};
use truetail_model::time::Timestamp;
use truetail_model::workload::Workload;
use truetail_run::TargetBooks;

use crate::target::request_set::{RequestId, RequestSet};

/// The books of one worker.
#[derive(Default, Debug)]
pub(crate) struct TargetTallies {
    measure_from: Timestamp,
    /// Empty where there is one target: its books are those of the run.
    books: Vec<(Tally, BTreeMap<u16, u64>)>,
}

impl TargetTallies {
    pub(crate) fn new(requests: &RequestSet, workload: &Workload) -> TargetTallies {
        let several = requests.only().is_none();
        let books = if several { vec![Default::default(); requests.targets().len()] } else { Vec::new() };
        TargetTallies { measure_from: Timestamp(workload.warmup.0), books }
    }

    fn books(&mut self, request: RequestId, intended: Timestamp) -> Option<&mut (Tally, BTreeMap<u16, u64>)> {
        if intended < self.measure_from { None } else { self.books.get_mut(request.target as usize) }
    }

    /// An arrival was taken from the schedule.
    #[inline]
    pub(crate) fn plan(&mut self, request: RequestId, intended: Timestamp) {
        if let Some((tally, _)) = self.books(request, intended) {
            tally.plan(1);
        }
    }

    /// An arrival ended.
    #[inline]
    pub(crate) fn record(&mut self, request: RequestId, record: &RequestRecord) {
        let Some((tally, statuses)) = self.books(request, record.intended_start) else { return };
        tally.count(record.outcome);
        if let Outcome::Response { status } = record.outcome {
            *statuses.entry(status).or_default() += 1;
        }
    }
}

/// The books of all workers together.
pub(crate) fn merge_tallies<'a>(
    requests: &RequestSet,
    parts: impl Iterator<Item = &'a TargetTallies>,
) -> Vec<TargetBooks> {
    let mut whole: Vec<TargetBooks> = Vec::new();
    for part in parts {
        let of_part = requests.targets().iter().zip(&part.books).map(|(target, (tally, statuses))| TargetBooks {
            method: target.method().as_str().to_owned(),
            url: target.url().to_owned(),
            tally: *tally,
            statuses: statuses.clone(),
        });
        if whole.is_empty() {
            whole = of_part.collect();
        } else {
            whole.iter_mut().zip(of_part).for_each(|(whole, part)| whole.merge(&part));
        }
    }
    whole
}
