//! Limits on simulations, which might take hours or all of the memory.

use truetail_model::service::Service;
use truetail_model::workload::{LoadModel, Workload};

use crate::SimError;

/// Maximum number of requests and events of streams together: some minutes and a few GiB at worst.
const MAX_STEPS: u64 = 100_000_000;

/// Returns the number of requests that may begin. With closed users or sessions, it is not known in advance.
pub(crate) fn max_requests(service: &Service) -> u64 {
    MAX_STEPS / (events(service) + 1)
}

fn events(service: &Service) -> u64 {
    service.stream.as_ref().map_or(0, |stream| stream.content.events)
}

/// Refuses a workload with more steps or users, as far as they are known in advance.
///
/// # Errors
/// [`SimError::TooLarge`].
pub(crate) fn check(service: &Service, workload: &Workload) -> Result<(), SimError> {
    let requests = match &workload.model {
        LoadModel::Open(schedule) => schedule.count(),
        LoadModel::PartlyOpen { sessions, requests_per_session, .. } => {
            sessions.count().map(|sessions| sessions.saturating_mul(u64::from(*requests_per_session)))
        }
        LoadModel::Closed { users, horizon, .. } => Some(horizon.requests.unwrap_or(0).max(u64::from(users.most()))),
    };
    let requests = requests.unwrap_or(u64::MAX);
    let events = events(service);
    let steps = requests.saturating_mul(events.saturating_add(1));
    if steps <= MAX_STEPS { Ok(()) } else { Err(SimError::TooLarge { requests, events, most: MAX_STEPS }) }
}
