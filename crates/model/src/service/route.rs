//! Paths that a service treats in a way of their own.

use super::fault::Fault;
use crate::time::Nanos;

/// A path that is served in a way of its own. Work and faults are its own; the queue, the seed and the faults of the service are
/// those of all paths.
#[derive(Clone, PartialEq, Debug)]
pub struct Route {
    /// The whole path, without a query; or what it begins with, before a `*`.
    pub path: String,
    /// The time to process one request of it when nothing is wrong.
    pub baseline: Nanos,
    /// What goes wrong here, before the faults of the service. Where a fault counts requests, it counts those of this path.
    pub faults: Vec<Fault>,
}

/// The route of a request; the default is that of no route.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RouteId(pub(super) usize);

impl Route {
    /// Is a request for `path` treated so?
    pub fn meets(&self, path: &str) -> bool {
        match self.path.strip_suffix('*') {
            Some(beginning) => path.starts_with(beginning),
            None => self.path == path,
        }
    }

    /// The same of a path of which only its beginning is known; `None` if that does not say.
    pub(super) fn meets_beginning(&self, known: &str) -> Option<bool> {
        let own = self.path.strip_suffix('*').unwrap_or(&self.path);
        match (known.starts_with(own), own.starts_with(known)) {
            (true, _) if own.len() < self.path.len() => Some(true),
            (true, _) => (known.len() > own.len()).then_some(false),
            (false, can_be) => (!can_be).then_some(false),
        }
    }
}
