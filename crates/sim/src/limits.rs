//! What is not simulated, because it would take hours or all of the memory.

use truetail_model::service::Service;
use truetail_model::workload::{LoadModel, Workload};

use crate::SimError;

/// The most requests of a simulation, with the events of their streams: some minutes and a few GiB at worst.
const MAX_STEPS: u64 = 100_000_000;

/// Refuses a workload of more steps, as far as they are known in advance, and of as many users.
///
/// # Errors
/// [`SimError::TooLarge`].
pub(crate) fn check(service: &Service, workload: &Workload) -> Result<(), SimError> {
    let requests = match &workload.model {
        LoadModel::Open(schedule) => schedule.count(),
        LoadModel::PartlyOpen { sessions, requests_per_session, .. } => {
            sessions.count().map(|sessions| sessions.saturating_mul(u64::from(*requests_per_session)))
        }
        LoadModel::Closed { users, horizon, .. } => Some(horizon.requests.unwrap_or(0).max(u64::from(*users))),
    };
    let requests = requests.unwrap_or(u64::MAX);
    let events = service.stream.as_ref().map_or(0, |stream| stream.content.events);
    let steps = requests.saturating_mul(events.saturating_add(1));
    if steps <= MAX_STEPS { Ok(()) } else { Err(SimError::TooLarge { requests, events, most: MAX_STEPS }) }
}
