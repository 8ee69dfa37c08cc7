//! Outcomes of the arrivals of each target, if there are several targets.

use truetail_model::arrival::{Arrival, ArrivalBlock};
use truetail_model::record::{RequestRecord, TargetLedger, TargetTimes};
use truetail_model::time::Timestamp;
use truetail_model::workload::Workload;
use truetail_run::TargetBooks;

use crate::target::request_set::{RequestId, RequestSet};

/// The books and distributions of each target, for one worker.
#[derive(Default, Debug)]
pub(crate) struct TargetTallies {
    measure_from: Timestamp,
    /// Empty if there is one target, whose books equal the run's.
    targets: Vec<TargetLedger>,
}

impl TargetTallies {
    pub(crate) fn new(requests: &RequestSet, workload: &Workload) -> TargetTallies {
        let several = requests.only().is_none();
        let targets = if several { vec![TargetLedger::default(); requests.targets().len()] } else { Vec::new() };
        TargetTallies { measure_from: Timestamp(workload.warmup.0), targets }
    }

    fn ledger_for(&mut self, request: RequestId, intended: Timestamp) -> Option<&mut TargetLedger> {
        if intended < self.measure_from { None } else { self.targets.get_mut(request.target as usize) }
    }

    #[inline]
    pub(crate) fn plan(&mut self, request: RequestId, intended: Timestamp) {
        if let Some(target) = self.ledger_for(request, intended) {
            target.plan();
        }
    }

    /// Records that the arrivals of `block`, all during or all after the warm-up, were never issued by `ended`.
    pub(super) fn never_issued_block(&mut self, requests: &RequestSet, block: &ArrivalBlock, ended: Timestamp) {
        if self.targets.is_empty() || block.middle() < self.measure_from {
            return;
        }
        let arrival = Arrival { intended_start: block.middle(), ..block.first };
        let record = RequestRecord::never_issued(arrival, ended.max(block.last_start));
        let mut counts = vec![0; self.targets.len()];
        block.indices().for_each(|index| counts[requests.choose(index).target as usize] += 1);
        for (target, count) in self.targets.iter_mut().zip(counts) {
            target.record_never_issued(&record, count);
        }
    }

    #[inline]
    pub(crate) fn record(&mut self, request: RequestId, record: &RequestRecord) {
        if let Some(target) = self.ledger_for(request, record.intended_start) {
            target.record(record);
        }
    }
}

/// Returns the books and distributions of all workers together.
pub(crate) fn merge_tallies<'a>(
    requests: &RequestSet,
    parts: impl Iterator<Item = &'a TargetTallies>,
) -> (Vec<TargetBooks>, Vec<TargetTimes>) {
    let (mut books, mut times): (Vec<TargetBooks>, Vec<TargetTimes>) = Default::default();
    for part in parts {
        let of_part = requests.targets().iter().zip(&part.targets).map(|(target, ledger)| target.books(ledger));
        if books.is_empty() {
            books = of_part.collect();
            times = part.targets.iter().map(|ledger| ledger.times.clone()).collect();
        } else {
            books.iter_mut().zip(of_part).for_each(|(whole, part)| whole.merge(&part));
            times.iter_mut().zip(&part.targets).for_each(|(whole, part)| whole.merge(&part.times));
        }
    }
    (books, times)
}
