//! Simulations that would take forever: virtual time does not advance, or only with more requests than the limit.

use truetail_model::service::Service;
use truetail_model::time::Timestamp;
use truetail_model::workload::LoadModel;

use crate::{SimError, limits};

/// Counts starts, at one instant and in all, and refuses too many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LivelockGuard {
    at: Timestamp,
    starts: u64,
    limit: u64,
    total: u64,
    max_total: u64,
}

/// Starts at one instant, per user on average, above which a closed workload without a number of requests is stuck.
const LIVELOCK_LIMIT: u64 = 1_000_000;

impl LivelockGuard {
    pub(crate) fn new(model: &LoadModel, service: &Service) -> LivelockGuard {
        let limit = match model {
            LoadModel::Closed { users, horizon, .. } if horizon.requests.is_none() => {
                LIVELOCK_LIMIT.saturating_mul(u64::from(users.most()))
            }
            LoadModel::Open(_) | LoadModel::Closed { .. } | LoadModel::PartlyOpen { .. } => u64::MAX,
        };
        let max_total = limits::max_requests(service);
        LivelockGuard { at: Timestamp::ZERO, starts: 0, limit, total: 0, max_total }
    }

    #[inline]
    pub(crate) fn check(&mut self, now: Timestamp) -> Result<(), SimError> {
        if now > self.at {
            *self = LivelockGuard { at: now, starts: 0, ..*self };
        }
        self.starts += 1;
        if self.starts > self.limit {
            return Err(SimError::NoProgress { at: now, starts: self.starts });
        }
        self.total += 1;
        if self.total > self.max_total {
            return Err(SimError::TooLong { at: now, requests: self.max_total });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use truetail_model::arrival::Horizon;
    use truetail_model::time::Nanos;

    use super::*;

    #[test]
    fn users_that_never_stop_are_stopped_by_the_number_of_requests() {
        let service = Service::healthy(Nanos(1));
        let horizon = Horizon { duration: Some(Nanos::from_secs(3_600)), requests: None };
        let model = LoadModel::Closed { users: 1.into(), think_time: Nanos::ZERO, horizon };
        let mut guard = LivelockGuard { max_total: 1_000, ..LivelockGuard::new(&model, &service) };
        assert!((1..=1_000).all(|at| guard.check(Timestamp(at)).is_ok()));
        let refused = guard.check(Timestamp(1_001)).expect_err("one too many");
        assert_eq!(refused, SimError::TooLong { at: Timestamp(1_001), requests: 1_000 });
        assert_eq!(LivelockGuard::new(&model, &service).max_total, 100_000_000);
    }
}
