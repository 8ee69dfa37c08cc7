//! Connections that carry one request at a time. The one that became idle last is used first.

use truetail_model::time::Timestamp;

use super::{Connections, Placement, Requester};
use crate::connection::Token;
use crate::protocol::Protocol;

/// An idle connection for each request. Of those that the pool keeps, few stay warm.
#[derive(Debug)]
pub(crate) struct OneEach {
    /// Limit on the connections, to all origins together.
    limit: u64,
}

impl<P: Protocol> Placement<P> for OneEach {
    fn new(_: usize, limit: u64) -> OneEach {
        OneEach { limit }
    }

    #[inline]
    fn choose(&mut self, pool: &mut Connections<P>, request: Requester, _: Timestamp) -> Option<u32> {
        pool.take_idle(request.origin)
    }

    /// Other idle connections may be as dead as the lost one.
    fn choose_again(&mut self, _: &mut Connections<P>, _: Requester, _: Timestamp) -> Option<u32> {
        None
    }

    fn spare(&self, pool: &Connections<P>) -> Option<u32> {
        if pool.open() >= self.limit { pool.spare() } else { None }
    }

    #[inline]
    fn add(&mut self, _: Token, _: Requester) {}

    #[inline]
    fn release(&mut self, pool: &mut Connections<P>, slot: u32) -> bool {
        let is_news = !pool.is_idle(slot);
        if is_news {
            pool.make_idle(slot);
        }
        is_news
    }

    /// Never true if the server closes each connection.
    #[inline]
    fn one_may_become_idle(&self, pool: &Connections<P>) -> bool {
        pool.reuses && pool.an_origin_has_no_idle()
    }
}
