//! Virtual time that does not advance.

use truetail_model::time::Timestamp;
use truetail_model::workload::LoadModel;

use crate::SimError;

/// Detects that virtual time does not advance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LivelockGuard {
    at: Timestamp,
    starts: u64,
    limit: u64,
}

/// Starts at one instant, per user on average, above which a closed workload without a number of requests is stuck.
const LIVELOCK_LIMIT: u64 = 1_000_000;

impl LivelockGuard {
    pub(crate) fn new(model: &LoadModel) -> LivelockGuard {
        let limit = match model {
            LoadModel::Closed { users, horizon, .. } if horizon.requests.is_none() => {
                LIVELOCK_LIMIT.saturating_mul(u64::from(*users))
            }
            LoadModel::Open(_) | LoadModel::Closed { .. } | LoadModel::PartlyOpen { .. } => u64::MAX,
        };
        LivelockGuard { at: Timestamp::ZERO, starts: 0, limit }
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
        Ok(())
    }
}
