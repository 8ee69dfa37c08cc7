//! Channels: connections on which many messages wait for their replies.

use truetail_model::service::{ReplyOrder, Service};
use truetail_model::time::Timestamp;
use truetail_model::workload::Workload;

/// Channels whose replies leave in the order of their messages. A reply that is ready waits for those before it.
#[derive(Clone, Debug)]
pub(crate) struct Channels {
    /// Instant when the last reply of each channel leaves, on the fault clock.
    last: Vec<Timestamp>,
}

impl Channels {
    /// Returns the channels of a workload; `None` if it has none, or if replies do not wait for each other.
    pub(crate) fn in_order(service: &Service, workload: &Workload) -> Option<Channels> {
        let count = workload.limits.channels.filter(|_| service.replies == ReplyOrder::InOrder)?;
        Some(Channels { last: vec![Timestamp::ZERO; count as usize] })
    }

    /// Returns when the reply to the message of this arrival leaves, if it is ready at `ready`. Arrivals go to the
    /// channels in turn. Call it for the messages of a channel in the order in which they are sent.
    #[inline]
    pub(crate) fn leaves(&mut self, arrival: u64, ready: Timestamp) -> Timestamp {
        let channel = (arrival % self.last.len() as u64) as usize;
        let last = &mut self.last[channel];
        *last = ready.max(*last);
        *last
    }
}
