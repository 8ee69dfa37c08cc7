//! The arrivals that were due so far.

use std::iter::Peekable;

use truetail_engine::Plan;
use truetail_model::arrival::Arrivals;
use truetail_model::time::Timestamp;
use truetail_model::workload::LoadModel;

/// At most this many arrivals are walked in one round, a few tens of milliseconds. Beyond that the count stays behind, and
/// arrivals that are due and not begun are not shown as waiting.
const MOST_AT_ONCE: u64 = 1 << 19;

/// Walks the schedule of an open load as time goes on. Other loads have none that is known in advance.
#[derive(Debug)]
pub struct DueArrivals {
    arrivals: Option<Peekable<Arrivals>>,
    measure_from: Timestamp,
    /// The measured ones, by second from the origin.
    by_second: Vec<u64>,
    /// All of them, the warm-up included.
    count: u64,
}

impl DueArrivals {
    pub fn new(plan: &Plan) -> DueArrivals {
        let workload = &plan.workload;
        let arrivals = match &workload.model {
            LoadModel::Open(schedule) => {
                let (first, stride) = (plan.stripe.index(), plan.stripe.of());
                Some(schedule.stripe(u64::from(first), u64::from(stride)).peekable())
            }
            LoadModel::Closed { .. } | LoadModel::PartlyOpen { .. } => None,
        };
        let measure_from = Timestamp(workload.warmup.0);
        DueArrivals { arrivals, measure_from, by_second: Vec::new(), count: 0 }
    }

    /// Counts those that were due before `now`, and not before `begins`: a run that is late leaves those out.
    pub fn advance(&mut self, begins: Timestamp, now: Timestamp) {
        let Some(arrivals) = &mut self.arrivals else { return };
        for _ in 0..MOST_AT_ONCE {
            let Some(arrival) = arrivals.next_if(|arrival| arrival.intended_start < now) else { return };
            self.count += u64::from(arrival.intended_start >= begins);
            if arrival.intended_start >= self.measure_from.max(begins) {
                let second = arrival.intended_start.second();
                if self.by_second.len() <= second {
                    self.by_second.resize(second + 1, 0);
                }
                self.by_second[second] += 1;
            }
        }
    }

    /// The measured arrivals that were due, by second from the origin.
    pub fn by_second(&self) -> &[u64] {
        &self.by_second
    }

    /// All arrivals that were due, the warm-up included.
    pub fn count(&self) -> u64 {
        self.count
    }
}
