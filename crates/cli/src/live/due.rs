//! Number of arrivals due during a run.

use truetail_engine::Plan;
use truetail_model::arrival::Arrivals;
use truetail_model::cancellation::Cancellation;
use truetail_model::time::{NANOS_PER_SECOND, Timestamp};
use truetail_model::workload::LoadModel;

/// Counts the arrivals of an open load as they become due. In other loads, arrivals depend on answers: none is counted.
#[derive(Debug)]
pub(crate) struct DueArrivals {
    arrivals: Option<Arrivals>,
    /// All arrivals before this instant are counted.
    reached: Timestamp,
    measure_from: Timestamp,
    /// Chooses arrivals that are not measured.
    cancel: Option<Cancellation>,
    /// Measured arrivals by second from the origin.
    by_second: Vec<u64>,
    /// All arrivals, warm-up included.
    count: u64,
}

impl DueArrivals {
    pub(crate) fn new(plan: &Plan) -> DueArrivals {
        let workload = &plan.workload;
        let arrivals = match &workload.model {
            LoadModel::Open(schedule) => {
                let first = plan.stripe.index();
                let stride = plan.stripe.count();
                Some(schedule.stripe(u64::from(first), u64::from(stride)))
            }
            LoadModel::Closed { .. } | LoadModel::PartlyOpen { .. } => None,
        };
        let measure_from = Timestamp(workload.warmup.0);
        DueArrivals {
            arrivals,
            reached: Timestamp::ZERO,
            measure_from,
            cancel: plan.cancel,
            by_second: Vec::new(),
            count: 0,
        }
    }

    /// Counts arrivals due before `now`. Arrivals before `begins` are left out, because a late run never sends them.
    pub(crate) fn advance(&mut self, begins: Timestamp, now: Timestamp) {
        let Some(arrivals) = &mut self.arrivals else { return };
        while self.reached < now {
            let from = self.reached;
            let next_second = Timestamp((from.second() as u64 + 1) * NANOS_PER_SECOND);
            let boundaries = [now, next_second, begins, self.measure_from].into_iter();
            self.reached = boundaries.filter(|boundary| *boundary > from).min().unwrap_or(now);
            let Some(block) = arrivals.take_before(self.reached) else { continue };
            self.count += if from >= begins { block.count } else { 0 };
            if from >= self.measure_from.max(begins) {
                let second = from.second();
                if self.by_second.len() <= second {
                    self.by_second.resize(second + 1, 0);
                }
                self.by_second[second] += match self.cancel {
                    Some(cancel) => block.indices().filter(|index| !cancel.chooses(*index)).count() as u64,
                    None => block.count,
                };
            }
        }
    }

    /// Returns the measured arrivals that were due, by second from the origin.
    pub(crate) fn by_second(&self) -> &[u64] {
        &self.by_second
    }

    /// Returns the number of arrivals that were due, warm-up included.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}
