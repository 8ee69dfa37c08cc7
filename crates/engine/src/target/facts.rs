//! Facts about the targets of a run for its report.

use truetail_model::record::TargetLedger;
use truetail_run::{Mix, MixTarget, TargetBooks};

use super::request_set::RequestSet;
use super::target_requests::TargetRequests;

impl TargetRequests {
    /// Returns the books of this target in the form that is saved.
    pub fn books(&self, ledger: &TargetLedger) -> TargetBooks {
        TargetBooks {
            method: self.method().as_str().to_owned(),
            url: self.url().to_owned(),
            tally: ledger.tally,
            statuses: ledger.statuses.to_map(),
        }
    }
}

impl RequestSet {
    /// Returns the mix of targets and rows; `None` if all arrivals make the same request.
    pub fn mix(&self) -> Option<Mix> {
        let targets = self.targets().iter().map(|target| MixTarget {
            method: target.method().as_str().to_owned(),
            url: target.url().to_owned(),
            weight: target.weight(),
            name: target.name().map(str::to_owned),
        });
        (!self.is_uniform() || self.rows() > 0).then(|| Mix {
            targets: targets.collect(),
            rows: self.rows(),
            order: (self.rows() > 0).then(|| self.order().name().to_owned()),
            seed: Some(self.seed()),
            hash: format!("{:016x}", self.hash()),
        })
    }

    /// Returns the seed of the values that requests get when they begin; `None` if all were made before the run.
    pub fn values_seed(&self) -> Option<u64> {
        self.maker().map(|_| self.seed())
    }
}
